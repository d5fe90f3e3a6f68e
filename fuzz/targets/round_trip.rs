//! See `castile_fuzz::round_trip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::round_trip(input));
