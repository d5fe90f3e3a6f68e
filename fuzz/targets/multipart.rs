//! See `castile_fuzz::multipart`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::multipart(input));
