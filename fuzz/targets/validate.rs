//! See `castile_fuzz::validate`.
#![no_main]

castile_fuzz_targets::target!("validate");
