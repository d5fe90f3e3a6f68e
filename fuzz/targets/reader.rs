//! See `castile_fuzz::reader`.
#![no_main]

castile_fuzz_targets::target!("reader");
