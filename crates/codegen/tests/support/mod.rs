//! Files that stand beside tests, and threads with small stacks.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, reason = "no test needs everything")]

use std::fmt::Debug;
use std::fs;
use std::path::Path;

/// The stack that every message must fit: 512 KiB, or 2 MiB where nothing is optimised.
const STACK: usize = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };

/// Waits for `work` on a thread with a small stack.
pub(crate) fn on_a_small_stack<W: Future<Output = ()>>(work: impl FnOnce() -> W + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work());
        });
        if let Err(panic) = thread.unwrap().join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// A socket that refuses connections: it has a port, so that no other test gets it, and doesn't listen.
pub(crate) fn refusing() -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    socket
}

/// The options of a client with a change.
pub(crate) fn options(change: impl FnOnce(&mut castile::ClientOptions)) -> castile::ClientOptions {
    let mut options = castile::ClientOptions::default();
    change(&mut options);
    options
}

/// A copy of a value, which was compared with it and printed.
pub(crate) fn handled<T: Clone + PartialEq + Debug>(value: T) -> T {
    let copy = value.clone();
    // What is not a number is not equal to itself.
    let is_equal = copy == value;
    let [copied, printed] = [&copy, &value].map(|value| format!("{value:?}"));
    assert!(copied == printed && (is_equal || printed.contains("NaN")), "{printed} became {copied}");
    copy
}

/// Says if a file is not as it was found; with `BLESS` set, makes it so. `None` is for a file that isn't.
pub(crate) fn compare(file: &Path, found: Option<&str>) -> Option<String> {
    let expected = fs::read_to_string(file).ok();
    if expected.as_deref() == found {
        return None;
    }
    if std::env::var_os("BLESS").is_some() {
        match found {
            Some(found) => fs::write(file, found).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        return None;
    }
    let (expected, found) = (expected.unwrap_or_default(), found.unwrap_or_default());
    let same = expected.lines().zip(found.lines()).take_while(|(expected, found)| expected == found).count();
    let [expected, found] = [expected.as_str(), found].map(|text| text.lines().nth(same).unwrap_or("nothing more"));
    Some(format!("{}:{}: expected {expected:?}, found {found:?}; BLESS=1 takes it", file.display(), same + 1))
}
