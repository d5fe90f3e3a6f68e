//! See `castile_fuzz::envelope`.
#![no_main]

castile_fuzz_targets::target!("envelope");
