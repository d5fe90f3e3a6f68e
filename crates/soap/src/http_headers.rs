//! HTTP headers that a message may have.

use std::sync::LazyLock;

use http::HeaderMap;

/// Returns these headers, or an empty map.
pub(crate) fn http_headers(headers: Option<&HeaderMap>) -> &HeaderMap {
    static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
    headers.unwrap_or(&NONE)
}
