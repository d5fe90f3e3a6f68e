//! HTTP headers and extensions that a message may have.

use std::sync::LazyLock;

use http::{Extensions, HeaderMap};

/// Returns these headers, or an empty map.
pub(crate) fn http_headers(headers: Option<&HeaderMap>) -> &HeaderMap {
    static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
    headers.unwrap_or(&NONE)
}

/// Returns an empty map.
pub(crate) fn no_extensions() -> &'static Extensions {
    static NONE: LazyLock<Extensions> = LazyLock::new(Extensions::new);
    &NONE
}
