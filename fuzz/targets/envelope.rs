//! See `castile_fuzz::envelope`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| castile_fuzz::envelope(input));
