//! See `castile_fuzz::reader`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::reader(input));
