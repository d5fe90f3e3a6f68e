//! See `castile_fuzz::document`.
#![no_main]

castile_fuzz_targets::target!("document");
