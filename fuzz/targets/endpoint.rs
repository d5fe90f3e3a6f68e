//! See `castile_fuzz::endpoint`.
#![no_main]

castile_fuzz_targets::target!("endpoint");
