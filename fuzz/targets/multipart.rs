//! See `castile_fuzz::multipart`.
#![no_main]

castile_fuzz_targets::target!("multipart");
