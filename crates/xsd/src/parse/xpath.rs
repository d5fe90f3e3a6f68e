//! The paths of identity constraints: the subset of XPath 1.0 in §3.11.6.
//!
//! ```text
//! Selector ::= Path ( '|' Path )*
//! Path     ::= ('.//')? Step ( '/' Step )*               a field's last step may be '@' NameTest
//! Step     ::= '.' | NameTest                            also written child::NameTest, and attribute::NameTest for '@'
//! NameTest ::= QName | '*' | NCName ':' '*'
//! ```

use castile_xml::tree::Element;
use castile_xml::{is_name_char, is_name_start_char};

pub(super) fn check_selector(path: &str, element: Element<'_>) -> Result<(), String> {
    check(path, element, false)
}

pub(super) fn check_field(path: &str, element: Element<'_>) -> Result<(), String> {
    check(path, element, true)
}

fn check(path: &str, element: Element<'_>, is_field: bool) -> Result<(), String> {
    let tokens = tokens(path)?;
    let mut rest = tokens.as_slice();
    loop {
        rest = one_path(rest, element, is_field)?;
        match rest.split_first() {
            None => return Ok(()),
            Some((Token::Bar, behind)) => rest = behind,
            Some((token, _)) => return Err(format!("found {} where the path could end", token.text())),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'p> {
    Dot,
    Slash,
    DoubleSlash,
    Bar,
    At,
    /// The `::` of `child::` and `attribute::`, which follows their name.
    Axis,
    /// `*`, `p:*` (prefix, any) or a QName (prefix, local).
    Name(&'p str, &'p str),
}

impl Token<'_> {
    fn text(self) -> String {
        match self {
            Self::Dot => "`.`".into(),
            Self::Slash => "`/`".into(),
            Self::DoubleSlash => "`//`".into(),
            Self::Bar => "`|`".into(),
            Self::At => "`@`".into(),
            Self::Axis => "`::`".into(),
            Self::Name("", local) => format!("`{local}`"),
            Self::Name(prefix, local) => format!("`{prefix}:{local}`"),
        }
    }
}

fn tokens(path: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = path.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '.' => (Token::Dot, 1),
            '/' if rest.starts_with("//") => (Token::DoubleSlash, 2),
            '/' => (Token::Slash, 1),
            '|' => (Token::Bar, 1),
            '@' => (Token::At, 1),
            '*' => (Token::Name("", "*"), 1),
            ':' if rest.starts_with("::") => (Token::Axis, 2),
            first if is_name_start_char(first) => name(rest),
            other => return Err(format!("found {other:?}")),
        };
        tokens.push(token);
        rest = rest[length..].trim_start_matches(is_space);
    }
    Ok(tokens)
}

/// Reads a name with its prefix, which contains no white space.
fn name(text: &str) -> (Token<'_>, usize) {
    let end_of = |text: &str| text.find(|c| !is_name_char(c)).unwrap_or(text.len());
    let first = end_of(text);
    let prefixed = text[first..].strip_prefix(':').filter(|behind| !behind.starts_with(':'));
    match prefixed {
        Some(behind) if behind.starts_with('*') => (Token::Name(&text[..first], "*"), first + 2),
        Some(behind) if behind.starts_with(is_name_start_char) => {
            let second = end_of(behind);
            (Token::Name(&text[..first], &behind[..second]), first + 1 + second)
        }
        _ => (Token::Name("", &text[..first]), first),
    }
}

/// Parses one path and returns the remaining tokens.
fn one_path<'t, 'p>(tokens: &'t [Token<'p>], element: Element<'_>, is_field: bool) -> Result<&'t [Token<'p>], String> {
    let mut rest = match tokens {
        [Token::Dot, Token::DoubleSlash, behind @ ..] => behind,
        _ => tokens,
    };
    loop {
        rest = match rest {
            [Token::Dot, behind @ ..] => behind,
            [Token::Name("", "child"), Token::Axis, Token::Name(prefix, _), behind @ ..] => {
                bound(prefix, element)?;
                behind
            }
            [Token::At, Token::Name(prefix, _), behind @ ..]
            | [Token::Name("", "attribute"), Token::Axis, Token::Name(prefix, _), behind @ ..] => {
                if !is_field {
                    return Err("attributes are only allowed in fields".into());
                }
                bound(prefix, element)?;
                return Ok(behind);
            }
            [Token::Name(..), Token::Axis, ..] => return Err("only the axes child and attribute are supported".into()),
            [Token::Name(prefix, _), behind @ ..] => {
                bound(prefix, element)?;
                behind
            }
            [token, ..] => return Err(format!("found {}, where a step was expected", token.text())),
            [] => return Err("it ends where a step was expected".into()),
        };
        match rest {
            [Token::Slash, behind @ ..] => rest = behind,
            _ => return Ok(rest),
        }
    }
}

fn bound(prefix: &str, element: Element<'_>) -> Result<(), String> {
    match prefix.is_empty() || element.namespace_of(prefix).is_some() {
        true => Ok(()),
        false => Err(format!("prefix {prefix:?} is not bound to a namespace here")),
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let document = castile_xml::tree::Document::parse("<a xmlns:p='urn:p'/>").expect("it is XML");
        for (path, selector, field) in [
            (".", true, true),
            (".//a", true, true),
            ("a/p:b/*/p:*", true, true),
            ("a | ./b|.//c", true, true),
            (" child :: a / . ", true, true),
            ("@a", false, true),
            ("a/@p:b|attribute::*", false, true),
            (".//@a", false, true),
            ("@a/b", false, false),
            ("", false, false),
            ("a|", false, false),
            ("/a", false, false),
            ("//a", false, false),
            ("a//b", false, false),
            ("..", false, false),
            ("a[1]", false, false),
            ("q:a", false, false),
            ("p: a", false, false),
            ("self::*", false, false),
            ("id('a')", false, false),
        ] {
            assert_eq!(check_selector(path, document.root()).is_ok(), selector, "{path}");
            assert_eq!(check_field(path, document.root()).is_ok(), field, "{path}");
        }
    }
}
