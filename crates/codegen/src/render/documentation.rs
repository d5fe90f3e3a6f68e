//! Texts of the contract as doc comments.
//!
//! Their authors didn't write Markdown: what they wrote is shown as it stands. Lists, paragraphs, addresses and names in
//! backticks are kept; everything else that rustdoc would take for markup is escaped.

use castile_xml::visible;
use proc_macro2::TokenStream;
use quote::quote;

/// Lines are not much longer than those of code.
const WIDTH: usize = 100;

/// The longest word that may have names or addresses in it, in bytes: people write shorter ones.
const LONGEST: usize = 2_000;

/// One line of documentation that is ours, with names of the contract in it.
pub(super) fn line(text: &str) -> TokenStream {
    let line = format!(" {}", visible(text));
    quote! { #[doc = #line] }
}

/// Documentation as attributes.
pub(super) fn documentation(text: &str) -> TokenStream {
    let lines = lines(text);
    quote! { #(#[doc = #lines])* }
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // What the lines of a paragraph begin with: those of a list's item stand under its text.
    let mut margin = " ";
    for source in text.trim().lines() {
        let mut words = source.split_whitespace().peekable();
        let marker = words.next_if(|word| ["-", "*", "+", "•"].contains(word)).is_some();
        let mut line = String::new();
        match (marker, words.peek()) {
            (true, Some(_)) => {
                line.push_str(" -");
                margin = "   ";
            }
            (false, Some(_)) => {}
            _ => margin = " ",
        }
        for word in words {
            let word = escaped(word);
            if !line.trim().is_empty() && line.chars().count() + word.chars().count() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            if line.is_empty() {
                line.push_str(margin);
                line.push_str(&at_line_start(word));
            } else {
                line.push(' ');
                line.push_str(&word);
            }
        }
        // Blank lines part paragraphs; one is enough.
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines
}

/// A word that stands for itself wherever it comes in a line.
fn escaped(word: &str) -> String {
    if word.len() > LONGEST {
        return plain(word);
    }
    let mut out = String::with_capacity(word.len());
    // What is still to be looked at, last part first, and what stands behind a part.
    let mut open = vec![(word, None)];
    while let Some((part, behind)) = open.pop() {
        match Span::find(part) {
            Some(Span { before, text, after }) => {
                open.push((after, behind));
                open.push((before, Some(text)));
            }
            None => {
                out.push_str(&plain(part));
                out.extend(behind);
            }
        }
    }
    out
}

/// A word in which nothing is Markdown that is meant, escaped.
fn plain(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut before = None;
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let is_markup = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '&' => rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '#'),
            // Inside a word it is nothing but itself.
            '_' => {
                !(before.is_some_and(char::is_alphanumeric) && rest.peek().is_some_and(|next| next.is_alphanumeric()))
            }
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        // Marks that turn the direction of writing could make code look like what it is not: rustc refuses them.
        match c {
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

/// An escaped word as it stands at the start of a line, where more means something.
fn at_line_start(word: String) -> String {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    match word.as_bytes() {
        [b'#' | b'>', ..] | [b'-' | b'+'] => format!("\\{word}"),
        [b'-' | b'=', rest @ ..] if rest.iter().all(|byte| [b'-', b'=', b'|', b':'].contains(byte)) => {
            format!("\\{word}")
        }
        [.., b'.' | b')'] if digits > 0 && digits + 1 == word.len() => {
            format!("{}\\{}", &word[..digits], &word[digits..])
        }
        _ => word,
    }
}

/// A part of a word that is Markdown, and meant.
struct Span<'a> {
    before: &'a str,
    text: String,
    after: &'a str,
}

impl<'a> Span<'a> {
    fn find(word: &'a str) -> Option<Self> {
        Span::code(word).or_else(|| Span::address(word))
    }

    /// A name in backticks.
    fn code(word: &'a str) -> Option<Self> {
        let mut parts = word.split('`');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(before), Some(code), Some(after), None) if !code.is_empty() => {
                Some(Span { before, text: format!("`{code}`"), after })
            }
            _ => None,
        }
    }

    /// An address of the web, which rustdoc wants marked as one.
    fn address(word: &'a str) -> Option<Self> {
        let start = ["http://", "https://"].iter().filter_map(|scheme| word.find(scheme)).min()?;
        let belongs = |c: char| c.is_ascii_alphanumeric() || "-@:%._+~#?&/=,;!$'()".contains(c);
        let (before, from) = word.split_at(start);
        let end = from.find(|c| !belongs(c)).unwrap_or(from.len());
        let address = from[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')']);
        // Two addresses could be run together; the rest of the word is looked at by itself.
        Some(Span { before, text: format!("<{address}>"), after: &from[address.len()..] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_themselves() {
        for (text, expected) in [
            ("plain snake_case 2 * 3", " plain snake_case 2 \\* 3"),
            ("_a_ [x] <b>bold</b> &lt; R&D", " \\_a\\_ \\[x\\] \\<b>bold\\</b> \\&lt; R\\&D"),
            ("the `Order` and `two words`", " the `Order` and \\`two words\\`"),
            ("(see http://a.example/b_c_?d=1).", " (see <http://a.example/b_c_?d=1>)."),
            ("# head", " \\# head"),
            ("1. one", " 1\\. one"),
            ("---", " \\---"),
            ("C:\\temp ~~~", " C:\\\\temp \\~\\~\\~"),
            ("left\u{202E}right", r" left\u{202e}right"),
        ] {
            assert_eq!(lines(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_word_without_end_is_neither_recursion_nor_quadratic_work() {
        let word = "`a`http://a".repeat(100_000);
        assert_eq!(escaped(&word), "\\`a\\`http://a".repeat(100_000));
        assert_eq!(escaped("x`a`http://b/`c"), "x`a`<http://b/>\\`c");
    }

    #[test]
    fn a_line_stays_one() {
        assert_eq!(line("of `a\n}\u{202e}`").to_string(), "# [doc = \" of `a\\\\n}\\\\u{202e}`\"]");
    }

    #[test]
    fn lines_keep_their_paragraphs_and_lists() {
        let text = "\n    One\n    paragraph.\n\n\n    ```\n    - item\n      of two lines\n    * other\n\n    end\n";
        let expected = [" One", " paragraph.", "", " \\`\\`\\`", " - item", "   of two lines", " - other", "", " end"];
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn a_line_that_is_wrapped_begins_no_list() {
        let text = format!("{} - and + 2. # more", "x".repeat(WIDTH - 1));
        assert_eq!(lines(&text)[1], " \\- and + 2. # more");
    }
}
