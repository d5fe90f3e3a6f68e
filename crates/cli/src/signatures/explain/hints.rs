//! Signs that a message is not what was sent.

/// How many masked elements are named.
const MOST: usize = 8;
/// In how many places they are looked for. Looking back for a name takes longer than finding a place.
const MAX_PLACES: usize = 1_000;

/// Returns the names of elements and attributes whose whole content is `***`: logs and `castile call` hide secrets in this way.
pub(super) fn masked(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let elements = text.match_indices(">***</").map(|(at, _)| name_before(&text[..at], '<'));
    let attributes = text.match_indices("=\"***\"").map(|(at, _)| name_before(&text[..at], ' '));
    for name in elements.take(MAX_PLACES).chain(attributes.take(MAX_PLACES)).flatten() {
        if names.len() == MOST {
            break;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns the local name that begins after the last `start`.
fn name_before(text: &str, start: char) -> Option<String> {
    /// A tag before a masked content may have attributes.
    const MAX_TAG_LENGTH: usize = 4 << 10;
    let from = text.floor_char_boundary(text.len().saturating_sub(MAX_TAG_LENGTH));
    let tag = &text[from..];
    let name = tag[tag.rfind(start)? + start.len_utf8()..].split([' ', '\t', '\r', '\n', '=']).next()?;
    let local = name.rsplit(':').next()?;
    (!local.is_empty()).then(|| local.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_content_is_named() {
        let text =
            "<w:Password T='x'>***</w:Password><a token=\"***\">t</a><Nonce>***</Nonce><b>***b</b><Nonce>***</Nonce>";
        assert_eq!(masked(text), ["Password", "Nonce", "token"]);
        assert_eq!(masked(&"<a>***</a>".repeat(100)), ["a"]);
        assert_eq!(masked(&format!("<é {}>***</é>", "x".repeat(5_000))), [""; 0]);
    }
}
