//! URI references as canonical forms need them: to join the `xml:base` of elements that are taken out of a document
//! (Canonical XML 1.1 §2.4, which modifies RFC 3986 §5.2).

/// Returns the scheme of a reference (RFC 3986 §3.1). `None` if the reference is relative.
pub(super) fn scheme(reference: &str) -> Option<&str> {
    let (scheme, _) = reference.split_once(':')?;
    let mut bytes = scheme.bytes();
    let is_scheme = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme.then_some(scheme)
}

/// Resolves `reference` against `base`. If both are relative, so is the result.
pub(super) fn join(base: &str, reference: &str) -> String {
    let base = Parts::of(base);
    let reference = Parts::of(reference);
    let (authority, path, query) = if reference.scheme.is_some() || reference.authority.is_some() {
        (reference.authority, without_dot_segments(reference.path), reference.query)
    } else if reference.path.is_empty() {
        (base.authority, base.directory_path(), reference.query.or(base.query))
    } else if reference.path.starts_with('/') {
        (base.authority, without_dot_segments(reference.path), reference.query)
    } else {
        (base.authority, without_dot_segments(&base.merge(reference.path)), reference.query)
    };
    let mut joined = String::new();
    if let Some(scheme) = reference.scheme.or(base.scheme) {
        joined.push_str(scheme);
        joined.push(':');
    }
    if let Some(authority) = authority {
        joined.push_str("//");
        joined.push_str(authority);
    }
    joined.push_str(&path);
    if let Some(query) = query {
        joined.push('?');
        joined.push_str(query);
    }
    joined
}

/// The parts of a reference (RFC 3986 appendix B). The fragment is dropped.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(reference: &'a str) -> Self {
        let scheme = scheme(reference);
        let rest = scheme.map_or(reference, |scheme| &reference[scheme.len() + 1..]);
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Parts { scheme, authority, path, query }
    }

    /// Returns the path. A path that ends in `..` is a directory, so a slash is added.
    fn directory_path(&self) -> String {
        let is_directory = self.path == ".." || self.path.ends_with("/..");
        format!("{}{}", self.path, if is_directory { "/" } else { "" })
    }

    /// Merges a relative path with that of the base (RFC 3986 §5.2.3).
    fn merge(&self, path: &str) -> String {
        if self.authority.is_some() && self.path.is_empty() {
            return format!("/{path}");
        }
        let base = self.directory_path();
        let directory = base.rfind('/').map_or("", |slash| &base[..=slash]);
        format!("{directory}{path}")
    }
}

/// Removes dot segments (RFC 3986 §5.2.4), with three differences: a `..` without a segment to remove stays in a
/// relative path, several slashes become one, and a `..` at the end becomes `../`.
fn without_dot_segments(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut is_directory = false;
    for segment in path.split('/') {
        is_directory = matches!(segment, "" | "." | "..");
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if is_absolute => {}
            _ => kept.push(segment),
        }
    }
    let end = if is_directory && !kept.is_empty() { "/" } else { "" };
    format!("{}{}{end}", if is_absolute { "/" } else { "" }, kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of Canonical XML 1.1 appendix A, without repetitions.
    #[test]
    fn dot_segments_are_removed_as_in_the_appendix() {
        for (path, expected) in [
            ("no/.././/pseudo-netpath/seg/file.ext", "pseudo-netpath/seg/file.ext"),
            ("no/..//.///pseudo-netpath/seg/file.ext", "pseudo-netpath/seg/file.ext"),
            ("yes/no//..//.///pseudo-netpath/seg/file.ext", "yes/pseudo-netpath/seg/file.ext"),
            ("no/../yes", "yes"),
            ("no/../yes/", "yes/"),
            ("no/../yes/no/..", "yes/"),
            ("../../no/../..", "../../../"),
            ("no/../..", "../"),
            ("no/..", ""),
            ("no/../", ""),
            ("/a/b/c/./../../g", "/a/g"),
            ("mid/content=5/../6", "mid/6"),
            ("../../..", "../../../"),
            ("no/../../", "../"),
            ("..yes/..no/..no/..no/../../../..yes", "..yes/..yes"),
            ("..yes/..no/..no/..no/../../../..yes/", "..yes/..yes/"),
            ("../..", "../../"),
            ("../../../", "../../../"),
            (".", ""),
            ("./", ""),
            ("./.", ""),
            ("//no/..", "/"),
            ("../../no/..", "../../"),
            ("../../no/../", "../../"),
            ("yes/no/../", "yes/"),
            ("yes/no/no/../..", "yes/"),
            ("yes/no/no/no/../../..", "yes/"),
            ("yes/no/../yes/no/no/../..", "yes/yes/"),
            ("yes/no/no/no/../../../yes", "yes/yes"),
            ("yes/no/no/no/../../../yes/", "yes/yes/"),
            ("/no/../", "/"),
            ("/yes/no/../", "/yes/"),
            ("/yes/no/no/../..", "/yes/"),
            ("/yes/no/no/no/../../..", "/yes/"),
            ("../../..no/..", "../../"),
            ("../../..no/../", "../../"),
            ("..yes/..no/../", "..yes/"),
            ("..yes/..no/..no/../..", "..yes/"),
            ("..yes/..no/..no/..no/../../..", "..yes/"),
            ("..yes/..no/../..yes/..no/..no/../..", "..yes/..yes/"),
            ("/..no/../", "/"),
            ("/..yes/..no/../", "/..yes/"),
            ("/..yes/..no/..no/../..", "/..yes/"),
            ("/..yes/..no/..no/..no/../../..", "/..yes/"),
            ("/", "/"),
            ("/.", "/"),
            ("/./", "/"),
            ("/./.", "/"),
            ("/././", "/"),
            ("/..", "/"),
            ("/../..", "/"),
            ("/../../..", "/"),
            ("//..", "/"),
            ("//..//..", "/"),
            ("//..//..//..", "/"),
            ("/./..", "/"),
            ("/./.././..", "/"),
            ("/./.././.././..", "/"),
            ("..", "../"),
            ("../", "../"),
        ] {
            assert_eq!(without_dot_segments(path), expected, "{path}");
        }
    }

    /// The examples of Canonical XML 1.1 §2.4 and §3.8, and those of RFC 3986 §5.4 that give the same result.
    #[test]
    fn references_are_joined() {
        let base = "http://a/b/c/d;p?q";
        for (base, reference, expected) in [
            ("abc/", "../", ""),
            ("../", "../", "../../"),
            ("..", "..", "../../"),
            ("..", "x", "../x"),
            ("bar/", "foo", "bar/foo"),
            ("something/else", "bar/foo", "something/bar/foo"),
            ("a", "", "a"),
            ("..", "", "../"),
            ("a/b?q", "?r", "a/b?r"),
            ("a/b?q", "#f", "a/b?q"),
            ("//host", "x", "//host/x"),
            ("a:b", "", "a:b"),
            (base, "g:h", "g:h"),
            (base, "g", "http://a/b/c/g"),
            (base, "./g", "http://a/b/c/g"),
            (base, "g/", "http://a/b/c/g/"),
            (base, "/g", "http://a/g"),
            (base, "//g", "http://g"),
            (base, "?y", "http://a/b/c/d;p?y"),
            (base, "g?y", "http://a/b/c/g?y"),
            (base, "g#s", "http://a/b/c/g"),
            (base, ";x", "http://a/b/c/;x"),
            (base, "", "http://a/b/c/d;p?q"),
            (base, "..", "http://a/b/"),
            (base, "../..", "http://a/"),
            (base, "../../../g", "http://a/g"),
            (base, "g;x=1/../y", "http://a/b/c/y"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} {reference}");
        }
    }

    #[test]
    fn a_scheme_has_letters_first() {
        for (reference, expected) in [
            ("urn:x", Some("urn")),
            ("a+b-c.1:", Some("a+b-c.1")),
            ("", None),
            ("x", None),
            (":x", None),
            ("1:x", None),
            ("./a:b", None),
            ("#a:b", None),
            ("é:x", None),
        ] {
            assert_eq!(scheme(reference), expected, "{reference}");
        }
    }
}
