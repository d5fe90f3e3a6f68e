//! See `castile_fuzz::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::decode(input));
