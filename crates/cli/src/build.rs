//! How this program was built, for reports.

use castile_report::Build;

/// Returns what the build script recorded.
pub(crate) fn of_this() -> Build {
    Build {
        commit: option_env!("CASTILE_COMMIT").map(str::to_owned),
        changed: option_env!("CASTILE_CHANGED").is_some(),
        compiler: env!("CASTILE_COMPILER").to_owned(),
        profile: env!("CASTILE_PROFILE").to_owned(),
        allocator: "mimalloc, without huge pages".to_owned(),
    }
}
