//! Paths of documents.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and `dir/..`, so that a file has one name however it is reached.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
