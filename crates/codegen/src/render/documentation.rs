//! Converts texts of the contract to doc comments.
//!
//! Authors of contracts don't write Markdown, so their text is shown as written. Lists, paragraphs, web addresses and
//! names in backticks are kept. Everything else that rustdoc would treat as markup is escaped.

use castile_xml::visible;
use proc_macro2::TokenStream;
use quote::quote;

/// Maximum length of a line, similar to lines of code.
const WIDTH: usize = 100;

/// Maximum length in bytes of a word in which names and addresses are detected. Real words are shorter.
const MAX_WORD_LENGTH: usize = 2_000;

/// Renders one line of generated documentation that contains names of the contract.
pub(super) fn line(text: &str) -> TokenStream {
    let line = format!(" {}", visible(text));
    quote! { #[doc = #line] }
}

/// Renders documentation as attributes.
pub(super) fn documentation(text: &str) -> TokenStream {
    let lines = lines(text);
    quote! { #(#[doc = #lines])* }
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // The indentation of the current paragraph. It is larger in list items.
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
        // Paragraphs are separated by a single blank line.
        if !line.is_empty() || lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(line);
        }
    }
    lines
}

/// Escapes a word for any position except the start of a line.
fn escaped(word: &str) -> String {
    if word.len() > MAX_WORD_LENGTH {
        return plain(word);
    }
    let mut out = String::with_capacity(word.len());
    // The parts that were not processed yet, last part first, with the text that follows each.
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

/// Escapes all Markdown in a word.
fn plain(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut before = None;
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        let is_markup = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '&' => rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '#'),
            // Within a word an underscore is not markup.
            '_' => {
                !(before.is_some_and(char::is_alphanumeric) && rest.peek().is_some_and(|next| next.is_alphanumeric()))
            }
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        // Characters that change the text direction could make code look different from what it is. rustc rejects them.
        match c {
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
        before = Some(c);
    }
    out
}

/// Escapes an escaped word further for the start of a line, where more characters are markup.
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

/// A part of a word that is kept as Markdown.
struct Span<'a> {
    before: &'a str,
    text: String,
    after: &'a str,
}

impl<'a> Span<'a> {
    fn find(word: &'a str) -> Option<Self> {
        Span::code(word).or_else(|| Span::address(word))
    }

    /// Finds a name in backticks.
    fn code(word: &'a str) -> Option<Self> {
        let mut parts = word.split('`');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(before), Some(code), Some(after), None) if !code.is_empty() => {
                Some(Span { before, text: format!("`{code}`"), after })
            }
            _ => None,
        }
    }

    /// Finds a web address, which rustdoc requires to be marked as a link.
    fn address(word: &'a str) -> Option<Self> {
        let start = ["http://", "https://"].iter().filter_map(|scheme| word.find(scheme)).min()?;
        let belongs = |c: char| c.is_ascii_alphanumeric() || "-@:%._+~#?&/=,;!$'()".contains(c);
        let (before, from) = word.split_at(start);
        let end = from.find(|c| !belongs(c)).unwrap_or(from.len());
        let address = from[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')']);
        // The rest of the word may contain another address, and is processed separately.
        Some(Span { before, text: format!("<{address}>"), after: &from[address.len()..] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_not_markup() {
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
