//! HTML in which all text from a contract is escaped.

/// An HTML document that is being written.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup. Each `%` is replaced by the next text, escaped for content and for attributes in double quotes.
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

    /// Adds markup unchanged.
    pub(super) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Adds escaped text.
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

/// Quotes a text as one word of a POSIX shell.
pub(super) fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percent;

    #[test]
    fn inserted_texts_are_escaped() {
        let mut html = Html::default();
        html.put("<a href=\"%\">%</a>", &["\"><script>", "é & 'f'%"]);
        assert_eq!(html.finish(), "<a href=\"&quot;&gt;&lt;script&gt;\">é &amp; &#39;f&#39;%</a>");
    }

    #[test]
    fn quoted_words_are_one_word_in_a_shell() {
        assert_eq!(shell_quoted("<a b='$(c)'/>"), r"'<a b='\''$(c)'\''/>'");
    }

    #[test]
    fn changed_texts_stay_texts() {
        let seeds: [&[u8]; 4] = [
            b"</pre><script>alert(1)</script>",
            b"' onload='x\" y=\"",
            b"%3Cscript%3E%27%22%00%FF",
            b"it's $(id) `id` \\'",
        ];
        crate::mutations::check_mutations(&seeds, |text, _| {
            let text = String::from_utf8_lossy(text);
            let read = percent::decoded(&text);
            let read = String::from_utf8_lossy(&read);
            assert!(read.len() <= 3 * text.len(), "{text}");
            assert_eq!(percent::decoded(&percent::encoded(&text)), text.as_bytes());
            let mut html = Html::default();
            html.put("%", &[&read]);
            let html = html.finish();
            assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
            // A single quote is written outside of quotes, after a backslash.
            let word = shell_quoted(&read);
            let inside = word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap();
            assert!(inside.split("'\\''").all(|piece| !piece.contains('\'')), "{word}");
        });
    }
}
