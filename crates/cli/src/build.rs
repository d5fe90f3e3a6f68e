//! How this program was built: what reports say of it.

use castile_load::report::Build;

/// Servers under test and the floor share the allocator, as all processes of this binary do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Its build script found out.
pub(crate) fn of_this() -> Build {
    Build {
        commit: option_env!("CASTILE_COMMIT").map(str::to_owned),
        changed: option_env!("CASTILE_CHANGED").is_some(),
        compiler: env!("CASTILE_COMPILER").to_owned(),
        profile: env!("CASTILE_PROFILE").to_owned(),
        allocator: "mimalloc, without huge pages".to_owned(),
    }
}
