//! See `castile_fuzz::bundle`.
#![no_main]

castile_fuzz_targets::target!("bundle");
