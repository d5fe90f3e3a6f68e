//! See `castile_fuzz::decode`.
#![no_main]

castile_fuzz_targets::target!("decode");
