//! See `castile_fuzz::contract`.
#![no_main]

castile_fuzz_targets::target!("contract");
