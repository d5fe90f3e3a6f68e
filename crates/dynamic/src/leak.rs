//! Values that stay in memory until the process ends. The tables of a contract refer to each other, and a decoder needs them to be
//! static, as those of generated code are.

pub(crate) fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(crate) fn leak_all<T>(values: Vec<T>) -> &'static [T] {
    if values.is_empty() { &[] } else { values.leak() }
}

pub(crate) fn leak_text(text: String) -> &'static str {
    text.leak()
}
