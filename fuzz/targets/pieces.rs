//! See `castile_fuzz::pieces`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::pieces(input));
