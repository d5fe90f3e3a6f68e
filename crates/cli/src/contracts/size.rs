//! Sizes in words.

/// Formats a size as `12.3 KB`, in units of 1,000 bytes.
pub(crate) fn kilobytes(bytes: usize) -> String {
    format!("{:.1} KB", bytes as f64 / 1_000.0)
}
