//! Counts work as executed edges of the control flow graph. Unlike time, the count is the same in each run and on each machine.
//! It detects long before any timeout that a short input causes too much work.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many edges were executed since the count began. Inputs run on one thread, but the work of other threads is counted too.
static COUNT: AtomicU64 = AtomicU64::new(0);
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Called at each edge (`-sanitizer-coverage-trace-pc-guard`). The compiler does not instrument functions of this name.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_trace_pc_guard(_: *mut u32) {
    let count = COUNT.load(Relaxed) + 1;
    COUNT.store(count, Relaxed);
    let limit = LIMIT.load(Relaxed);
    if count > limit {
        // The panic executes edges as well.
        LIMIT.store(u64::MAX, Relaxed);
        too_much(limit);
    }
}

/// Called once for each module.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_trace_pc_guard_init(_: *mut u32, _: *mut u32) {}

#[cold]
#[inline(never)]
fn too_much(limit: u64) {
    panic!("too much work: more than {limit} edges, the limit for this input");
}

/// Whether work is measured instead of limited: `FUZZ_WORK` is set.
static IS_MEASURED: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FUZZ_WORK").is_some());

/// Runs `check` and returns its work. Panics when the work exceeds `limit`.
pub(crate) fn limited(limit: u64, check: impl FnOnce()) -> u64 {
    COUNT.store(0, Relaxed);
    LIMIT.store(if *IS_MEASURED { u64::MAX } else { limit }, Relaxed);
    check();
    LIMIT.store(u64::MAX, Relaxed);
    COUNT.load(Relaxed)
}

/// If work is measured, prints the work of each input that takes more per byte, or more in total, than all inputs before. The
/// limits in `castile_fuzz::CHECKS` are based on this.
pub(crate) fn report(work: u64, bytes: usize) {
    static MAX_WORK: AtomicU64 = AtomicU64::new(0);
    static MAX_WORK_PER_BYTE: AtomicU64 = AtomicU64::new(0);
    if !*IS_MEASURED {
        return;
    }
    let per_byte = work / bytes.max(256) as u64;
    if work > MAX_WORK.fetch_max(work, Relaxed) || per_byte > MAX_WORK_PER_BYTE.fetch_max(per_byte, Relaxed) {
        eprintln!("work: {work} edges for {bytes} bytes, {per_byte} per byte");
    }
}
