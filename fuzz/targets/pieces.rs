//! See `castile_fuzz::pieces`.
#![no_main]

castile_fuzz_targets::target!("pieces");
