//! HTML in which what comes from a contract is text.

/// A document while it is written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup in which each `%` stands for the next of the texts, escaped for content and for attributes in double quotes.
    pub(super) fn put(&mut self, markup: &'static str, texts: &[&str]) {
        let mut texts = texts.iter();
        for (index, piece) in markup.split('%').enumerate() {
            if index > 0 {
                self.text(texts.next().copied().unwrap_or_default());
            }
            self.0.push_str(piece);
        }
        debug_assert!(texts.next().is_none(), "{markup} has fewer places than there are texts");
    }

    /// Adds markup as it is.
    pub(super) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            let (before, special) = rest.split_at(at);
            self.0.push_str(before);
            self.0.push_str(match special.as_bytes()[0] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            });
            rest = &special[1..];
        }
        self.0.push_str(rest);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A text as a word of a POSIX shell, whatever is in it.
pub(super) fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A text as a value in a query (RFC 3986 §3.4).
pub(super) fn query_value(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(byte.into());
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text that a value in a query stands for.
pub(super) fn of_query(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, behind @ ..] = rest {
        let digit = |at: usize| behind.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_text() {
        let mut html = Html::default();
        html.put("<a href=\"%\">%</a>", &["\"><script>", "é & 'f'%"]);
        assert_eq!(html.finish(), "<a href=\"&quot;&gt;&lt;script&gt;\">é &amp; &#39;f&#39;%</a>");
    }

    #[test]
    fn a_shell_takes_a_word_for_what_it_is() {
        assert_eq!(shell_quoted("<a b='$(c)'/>"), r"'<a b='\''$(c)'\''/>'");
    }

    #[test]
    fn a_query_gives_back_what_was_put_in() {
        for text in ["place", "é&=+%41 \"<", ""] {
            assert_eq!(of_query(&query_value(text)), text);
        }
        assert_eq!(of_query("a%4"), "a%4");
        assert_eq!(of_query("%zz%41"), "%zzA");
    }

    #[test]
    fn changed_texts_stay_texts() {
        let seeds: [&[u8]; 4] = [
            b"</pre><script>alert(1)</script>",
            b"' onload='x\" y=\"",
            b"%3Cscript%3E%27%22%00%FF",
            b"it's $(id) `id` \\'",
        ];
        crate::changed::changed(&seeds, |text, _| {
            let text = String::from_utf8_lossy(text);
            let read = of_query(&text);
            assert!(read.len() <= 3 * text.len(), "{text}");
            assert_eq!(of_query(&query_value(&text)), text);
            let mut html = Html::default();
            html.put("%", &[&read]);
            let html = html.finish();
            assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
            // A quote stands outside of quotes, behind a backslash.
            let word = shell_quoted(&read);
            let inside = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap();
            assert!(inside.split("'\\''").all(|piece| !piece.contains('\'')), "{word}");
        });
    }
}
