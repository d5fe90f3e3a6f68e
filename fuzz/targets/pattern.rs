//! See `castile_fuzz::pattern`.
#![no_main]

castile_fuzz_targets::target!("pattern");
