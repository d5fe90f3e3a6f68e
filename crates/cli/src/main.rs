//! The `castile` binary.

use std::process::ExitCode;

/// All processes of this binary use this allocator, including servers under test and the floor.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    castile_cli::main()
}
