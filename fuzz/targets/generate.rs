//! See `castile_fuzz::generate`.
#![no_main]

castile_fuzz_targets::target!("generate");
