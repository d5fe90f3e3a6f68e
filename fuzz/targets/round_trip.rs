//! See `castile_fuzz::round_trip`.
#![no_main]

castile_fuzz_targets::target!("round_trip");
