//! See `castile_fuzz::load`.
#![no_main]

castile_fuzz_targets::target!("load");
