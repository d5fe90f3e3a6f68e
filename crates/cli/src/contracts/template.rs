//! Message templates with placeholders, written `{{NAME}}`, that are filled for each message.

use std::ops::Range;

use castile_xml::escape;
use castile_xml::tree::Document;

/// XML white space (XML 1.0 §2.3).
const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// A message with placeholders. The text between them is parsed only once.
#[derive(Clone, Debug)]
pub(crate) struct Template<P> {
    text: String,
    pieces: Vec<Piece<P>>,
    /// Where the text after the last placeholder begins.
    rest: usize,
    /// The position of the first `{{` without `}}`.
    unclosed: Option<usize>,
}

#[derive(Clone, Debug)]
struct Piece<P> {
    /// The text before the placeholder.
    literal: Range<usize>,
    placeholder: P,
    context: Context,
}

/// The context of a placeholder, which determines escaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Text,
    /// An attribute value in these quotes.
    Attribute(char),
    /// A header field.
    Line,
}

impl<P: Copy> Template<P> {
    /// Makes a template without placeholders. Braces are plain text.
    pub(crate) fn plain(text: String) -> Self {
        Template { text, pieces: Vec::new(), rest: 0, unclosed: None }
    }

    /// Finds the placeholders of a well-formed document. `find` converts a name to a placeholder.
    pub(crate) fn new(text: String, find: impl Fn(&str) -> Result<P, String>) -> Result<Self, String> {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut rest = 0;
        let Placeholders { found, unclosed } = find_placeholders(&text);
        for placeholder in found {
            let context = placeholder.context(&text)?;
            let of = find(placeholder.name(&text))?;
            pieces.push(Piece { literal: rest..placeholder.range.start, placeholder: of, context });
            rest = placeholder.range.end;
        }
        Ok(Template { text, pieces, rest, unclosed })
    }

    /// Finds the texts of a well-formed document that contain placeholders. The text between two tags, or an attribute value, becomes one
    /// placeholder, without surrounding white space. `find` gets the pieces of the text: unescaped literals, and names.
    ///
    /// # Errors
    /// The position and description of a problem.
    pub(crate) fn of_texts(
        text: String,
        mut find: impl FnMut(&[Result<String, &str>]) -> Result<P, String>,
    ) -> Result<Self, (usize, String)> {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut rest = 0;
        let Placeholders { found, unclosed } = find_placeholders(&text);
        for together in found.chunk_by(|one, other| one.within == other.within) {
            let [first, ..] = together else { continue };
            let context = first.context(&text).map_err(|wrong| (first.range.start, wrong))?;
            let before = &text[first.within.start..first.range.start];
            let start = first.range.start - before.trim_start_matches(WHITE_SPACE).len();
            let (mut parts, mut at) = (Vec::with_capacity(2 * together.len() + 1), start);
            for placeholder in together {
                parts.push(Ok(context.unescape(&text[at..placeholder.range.start])));
                parts.push(Err(placeholder.name(&text)));
                at = placeholder.range.end;
            }
            let behind = text[at..first.within.end].trim_end_matches(WHITE_SPACE);
            parts.push(Ok(context.unescape(behind)));
            let of = find(&parts).map_err(|wrong| (start, wrong))?;
            pieces.push(Piece { literal: rest..start, placeholder: of, context });
            rest = at + behind.len();
        }
        Ok(Template { text, pieces, rest, unclosed })
    }

    /// Finds the placeholders of header fields.
    pub(crate) fn of_lines(text: String, find: impl Fn(&str) -> Result<P, String>) -> Result<Self, String> {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut rest = 0;
        while let Some((before, name, after)) = next(&text[rest..]) {
            let literal = rest..rest + before.len();
            pieces.push(Piece { literal, placeholder: find(name.trim())?, context: Context::Line });
            rest = text.len() - after.len();
        }
        let unclosed = text[rest..].find("{{").map(|found| rest + found);
        Ok(Template { text, pieces, rest, unclosed })
    }

    /// Returns the whole text, with the placeholders as written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the whole text, if it has no placeholders.
    pub(crate) fn literal(&self) -> Option<&str> {
        self.pieces.is_empty().then_some(&*self.text)
    }

    /// Returns the start of each placeholder, in order.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().map(|piece| piece.literal.end)
    }

    /// Returns the position of the first `{{` without `}}`, which is plain text.
    pub(crate) fn unclosed(&self) -> Option<usize> {
        self.unclosed
    }

    /// Returns the placeholders, in order.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = P> {
        self.pieces.iter().map(|piece| piece.placeholder)
    }

    /// Converts an offset in a message that was written with these values to an offset in the template. An offset in a value becomes that
    /// of its placeholder.
    pub(crate) fn origin<'v>(&self, offset: usize, value: impl Fn(P) -> Option<&'v str>) -> usize {
        let mut written = 0;
        for Piece { literal, placeholder, context } in &self.pieces {
            if offset < written + literal.len() {
                return literal.start + offset - written;
            }
            let mut filled = Vec::new();
            let _ = context.escape(value(*placeholder).unwrap_or_default(), &mut filled);
            written += literal.len() + filled.len();
            if offset < written {
                return literal.end;
            }
        }
        (self.rest + offset - written).min(self.text.len())
    }

    /// Writes the message with its placeholders filled.
    ///
    /// # Errors
    /// The placeholder that has no value, or whose value isn't allowed there.
    pub(crate) fn write<'v>(&self, out: &mut Vec<u8>, value: impl Fn(P) -> Option<&'v str>) -> Result<(), P> {
        for Piece { literal, placeholder, context } in &self.pieces {
            out.extend_from_slice(&self.text.as_bytes()[literal.clone()]);
            let value = value(*placeholder).ok_or(*placeholder)?;
            context.escape(value, out).map_err(|_| *placeholder)?;
        }
        out.extend_from_slice(&self.text.as_bytes()[self.rest..]);
        Ok(())
    }
}

impl Context {
    /// Returns a piece of text as a parser reads it: with references resolved and white space normalized.
    fn unescape(self, literal: &str) -> String {
        if !literal.contains(['&', '\t', '\r', '\n']) {
            return literal.to_owned();
        }
        // The piece is from a well-formed document and contains no markup.
        let meaning = match self {
            Context::Attribute(quote) => Document::parse(&format!("<a b={quote}{literal}{quote}/>"))
                .ok()
                .and_then(|document| document.root().attribute("b").map(str::to_owned)),
            Context::Text | Context::Line => {
                Document::parse(&format!("<a>{literal}</a>")).ok().map(|document| document.root().text())
            }
        };
        meaning.unwrap_or_else(|| literal.to_owned())
    }

    fn escape(self, value: &str, out: &mut Vec<u8>) -> Result<(), usize> {
        match self {
            Context::Text => escape::push_text(out, value),
            Context::Attribute('\'') => {
                for (index, piece) in value.split('\'').enumerate() {
                    if index > 0 {
                        out.extend_from_slice(b"&apos;");
                    }
                    escape::push_attribute(out, piece)?;
                }
                Ok(())
            }
            Context::Attribute(_) => escape::push_attribute(out, value),
            // A header field has no escapes (RFC 9110 §5.5).
            Context::Line => match value.find(|c: char| !matches!(c, '\t' | ' '..='~')) {
                None => {
                    out.extend_from_slice(value.as_bytes());
                    Ok(())
                }
                Some(placeholder) => Err(placeholder),
            },
        }
    }
}

/// Splits a text into literals, and names in double braces.
pub(crate) fn split(text: &str) -> Vec<Result<&str, &str>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, name, after)) = next(rest) {
        pieces.push(Ok(before));
        pieces.push(Err(name.trim()));
        rest = after;
    }
    pieces.push(Ok(rest));
    pieces
}

fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

/// The placeholders of a document.
struct Placeholders {
    found: Vec<Found>,
    /// The position of the first `{{` without `}}`.
    unclosed: Option<usize>,
}

/// A placeholder with its braces.
struct Found {
    range: Range<usize>,
    /// The text between two tags, or the attribute value, that contains the placeholder.
    within: Range<usize>,
    /// The context of the placeholder, or a description if placeholders aren't allowed there.
    context: Result<Context, &'static str>,
}

impl Found {
    fn name<'t>(&self, text: &'t str) -> &'t str {
        text[self.range.start + 2..self.range.end - 2].trim()
    }

    fn context(&self, text: &str) -> Result<Context, String> {
        let name = self.name(text);
        self.context.map_err(|location| {
            format!("{{{{{name}}}}} is in {location}, expected it in text or in the value of an attribute")
        })
    }
}

/// Finds the placeholders of a document. Braces in comments and processing instructions are ignored.
fn find_placeholders(text: &str) -> Placeholders {
    let (mut found, mut unclosed) = (Vec::new(), None);
    let mut at = 0;
    // Where the current text or attribute value begins.
    let mut begin = 0;
    let mut quote = None;
    let mut is_tag = false;
    // `end` is the end of the current text or value, where a placeholder must end, and `last` is the last `}}` in it. They are searched for
    // once. Otherwise, each unclosed `{{` would be searched to the end.
    let (mut end, mut last) = (0, 0);
    // The document is well-formed: everything is closed, and values contain no `<`.
    let end_of = |at: usize, end: &str| text[at..].find(end).map_or(text.len(), |found| at + found + end.len());
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_open = rest.starts_with("{{");
        if is_open && at >= end {
            end = at + rest.find(quote.unwrap_or('<')).unwrap_or(rest.len());
            last = text[at..end].rfind("}}").map_or(0, |found| at + found);
        }
        let is_place = is_open && at + 2 <= last;
        let placeholder = is_place.then(|| rest.find("}}")).flatten().map(|end| at..at + end + 2);
        if is_open && placeholder.is_none() {
            unclosed = unclosed.or(Some(at));
        }
        match (placeholder, quote) {
            (Some(range), _) => {
                at = range.end;
                let context = match quote {
                    Some(quote) => Ok(Context::Attribute(quote)),
                    None if is_tag => Err("a tag"),
                    None => Ok(Context::Text),
                };
                found.push(Found { range, within: begin..end, context });
                continue;
            }
            (None, Some(open)) if c == open => quote = None,
            (None, Some(_)) => {}
            (None, None) if rest.starts_with("<!--") => {
                at = end_of(at, "-->");
                begin = at;
                continue;
            }
            (None, None) if rest.starts_with("<?") => {
                at = end_of(at, "?>");
                begin = at;
                continue;
            }
            (None, None) if rest.starts_with("<![CDATA[") => {
                let within = at..end_of(at, "]]>");
                if let Some(start) = text[within.clone()].find("{{").map(|start| at + start) {
                    match text[start..within.end].find("}}") {
                        Some(length) => {
                            let (range, context) = (start..start + length + 2, Err("a CDATA section"));
                            found.push(Found { range, within: within.clone(), context });
                        }
                        None => unclosed = unclosed.or(Some(start)),
                    }
                }
                at = within.end;
                begin = at;
                continue;
            }
            (None, None) => match c {
                '<' => is_tag = true,
                '>' if is_tag => (is_tag, begin) = (false, at + 1),
                '"' | '\'' if is_tag => (quote, end, begin) = (Some(c), 0, at + 1),
                _ => {}
            },
        }
        at += c.len_utf8();
    }
    Placeholders { found, unclosed }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source of a placeholder's value.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Placeholder {
        Column(usize),
        Extracted(usize),
    }

    fn template(text: &str) -> Result<Template<Placeholder>, String> {
        Template::new(text.to_owned(), |name| match name {
            "a" => Ok(Placeholder::Column(0)),
            "b" => Ok(Placeholder::Extracted(0)),
            _ => Err(format!("no {name}")),
        })
    }

    fn written(text: &str, a: &str) -> String {
        let mut out = Vec::new();
        let value = |placeholder| if placeholder == Placeholder::Column(0) { Some(a) } else { Some("later") };
        template(text).unwrap().write(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_escaped_for_where_they_stand() {
        let value = "<&>\"'\n]]>";
        let table = [
            ("<e>{{a}}</e>", "<e>&lt;&amp;&gt;\"'\n]]&gt;</e>"),
            ("<e x=\"1{{a}}2\"/>", "<e x=\"1&lt;&amp;&gt;&quot;'&#xA;]]&gt;2\"/>"),
            ("<e x='{{ a }}'/>", "<e x='&lt;&amp;&gt;&quot;&apos;&#xA;]]&gt;'/>"),
            ("<e>{{b}} {{a}}!</e>", "<e>later &lt;&amp;&gt;\"'\n]]&gt;!</e>"),
            ("<e><!-- {{a}} \" --><?p {{a}}?>{ä}</e>", "<e><!-- {{a}} \" --><?p {{a}}?>{ä}</e>"),
            ("<e x='>' y=\"'\">{{b}}</e>", "<e x='>' y=\"'\">later</e>"),
        ];
        for (text, expected) in table {
            assert_eq!(written(text, value), expected);
        }
    }

    #[test]
    fn offsets_in_the_output_are_found_in_the_template() {
        let (text, value) = ("<e a='{{a}}'>{{b}}é</e>", "12345&");
        let (template, written) = (template(text).unwrap(), written(text, value));
        let value = |placeholder| if placeholder == Placeholder::Column(0) { Some(value) } else { Some("later") };
        for (found, origin) in
            [("<e", "<e"), ("a='", "a='"), ("123", "{{a"), ("later", "{{b"), ("é<", "é<"), ("/e", "/e")]
        {
            let offset = template.origin(written.find(found).unwrap(), value);
            assert_eq!(offset, text.find(origin).unwrap(), "{found} of {written}");
        }
    }

    #[test]
    fn placeholders_that_can_not_be_filled_are_reported() {
        for (text, expected) in [
            ("<e>{{c}}</e>", "no c"),
            ("<e><![CDATA[ {{a}} ]]></e>", "{{a}} is in a CDATA section"),
            ("<e {{a}}='1'/>", "{{a}} is in a tag"),
        ] {
            let wrong = template(text).unwrap_err();
            assert!(wrong.contains(expected), "{text}: {wrong}");
        }
        let mut out = Vec::new();
        assert_eq!(template("<e>{{a}}{{b}}</e>").unwrap().write(&mut out, |_| None), Err(Placeholder::Column(0)));
        assert_eq!(template("<e>{{a}}</e>").unwrap().write(&mut out, |_| Some("\u{1}")), Err(Placeholder::Column(0)));
    }

    /// Each unclosed `{{` was once searched to the end of the text.
    #[test]
    fn many_braces_that_nothing_closes_take_linear_time() {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let text = format!("<e>{}</e>", "{".repeat(1 << 20));
            let _ = sender.send(template(&text).map(|template| template.pieces.len()));
        });
        assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(60)), Ok(Ok(0)));
    }

    #[test]
    fn header_lines_take_what_a_line_can_carry() {
        let find = |name: &str| if name == "a" { Ok(Placeholder::Column(0)) } else { Err(format!("no {name}")) };
        let lines = |text: &str| Template::of_lines(text.to_owned(), find);
        let template = lines("x: {{a}}-{{ a }}\r\ny: {{\r\n").unwrap();
        assert!(template.placeholders().count() == 2 && template.literal().is_none());
        let mut out = Vec::new();
        template.write(&mut out, |_| Some("<1>")).unwrap();
        assert_eq!(out, b"x: <1>-<1>\r\ny: {{\r\n");
        for wrong in ["a\r\nz: b", "\u{7f}", "\u{e9}", "\0"] {
            assert_eq!(template.write(&mut Vec::new(), |_| Some(wrong)), Err(Placeholder::Column(0)), "{wrong:?}");
        }
        assert_eq!(lines("x: {{b}}\r\n").unwrap_err(), "no b");
        assert_eq!(lines("x: {a}\r\n").unwrap().literal(), Some("x: {a}\r\n"));
    }

    #[test]
    fn a_place_ends_where_it_begins() {
        for (text, expected) in [
            ("<e a='{{ a|' b='{{a}}'/>", "<e a='{{ a|' b='v'/>"),
            ("<e>{{<f>a}}</f>{{a}}{{ a }}</e>", "<e>{{<f>a}}</f>vv</e>"),
        ] {
            assert_eq!(written(text, "v"), expected);
        }
    }

    #[test]
    fn braces_that_nothing_closes_are_found() {
        for (text, expected) in [
            ("<e>{{a}} {{a</e>", Some("{{a</e>")),
            ("<e a='{{ a|'>{{a}}</e>", Some("{{ a|")),
            ("<e>{{<f>a}}</f></e>", Some("{{<f>")),
            ("<e><![CDATA[ {{a ]]>}}</e>", Some("{{a ]]>")),
            ("<e>{{a}}<!-- {{ --><?p {{?>{}}</e>", None),
        ] {
            let template = template(text).unwrap();
            assert_eq!(template.unclosed().map(|at| &text[at..][..expected.map_or(0, str::len)]), expected, "{text}");
        }
        let lines: Template<Placeholder> =
            Template::of_lines("x: {{a}}-{{".to_owned(), |_| Ok(Placeholder::Column(0))).unwrap();
        assert_eq!(lines.unclosed(), Some(9));
    }

    /// Returns the texts of a document, and a template in which they are numbered.
    fn texts(text: &str) -> (Template<usize>, Vec<Vec<Result<String, String>>>) {
        let mut texts = Vec::new();
        let template = Template::of_texts(text.to_owned(), |pieces| {
            texts.push(pieces.iter().map(|piece| piece.clone().map_err(str::to_owned)).collect());
            Ok(texts.len() - 1)
        });
        (template.unwrap(), texts)
    }

    #[test]
    fn a_place_has_the_text_around_it() {
        let (ok, placeholder) = (|text: &str| Ok(text.to_owned()), |name: &str| Err(name.to_owned()));
        for (text, expected) in [
            ("<e>item-{{a}}</e>", vec![vec![ok("item-"), placeholder("a"), ok("")]]),
            ("<e>\n  {{ a }}\n</e>", vec![vec![ok(""), placeholder("a"), ok("")]]),
            (
                "<e x='{{a}}' y=\"&lt;\n{{a}}\">{{a}}<f/> {{b}} &#38;{{a}}x <!-- c -->!{{a}}</e>",
                vec![
                    vec![ok(""), placeholder("a"), ok("")],
                    vec![ok("< "), placeholder("a"), ok("")],
                    vec![ok(""), placeholder("a"), ok("")],
                    vec![ok(""), placeholder("b"), ok(" &"), placeholder("a"), ok("x")],
                    vec![ok("!"), placeholder("a"), ok("")],
                ],
            ),
            ("<e>a > {{a}} > b</e>", vec![vec![ok("a > "), placeholder("a"), ok(" > b")]]),
        ] {
            assert_eq!(texts(text).1, expected, "{text}");
        }
        let wrong = |text: &str| Template::of_texts(text.to_owned(), |_| Err::<usize, _>("wrong".to_owned()));
        assert_eq!(wrong("<e>\n a{{a}}</e>").unwrap_err(), (5, "wrong".to_owned()));
        let (at, message) = wrong("<e><![CDATA[ {{a}} ]]></e>").unwrap_err();
        assert!(at == 13 && message.contains("is in a CDATA section"), "{message}");
    }

    #[test]
    fn a_text_that_is_filled_means_what_its_places_do() {
        let read = |text: &[u8]| {
            let document = Document::parse(std::str::from_utf8(text).unwrap()).ok()?;
            let root = document.root();
            let attributes: Vec<_> = root.attributes().map(|attribute| attribute.value().to_owned()).collect();
            Some((root.text(), attributes))
        };
        let mut compared = 0;
        for text in [
            "<e>item-{{a}}</e>",
            "<e>\n  &lt;{{a}}&#38;\r\n{{b}} é\n</e>",
            "<e>]]&gt; {{a}} > {{a}}</e>",
            "<e x='&apos;{{a}}\n\t{{b}}&#10;' y=\"{{a}}'{{a}}\">{{a}}<f/> - {{b}}<!-- c -->x{{a}}</e>",
        ] {
            for value in ["", "7", "<&>\"'", " two words ", "]]", "a\tb\nc\rd", "é&#38;"] {
                let (template, texts) = texts(text);
                let filled: Vec<String> = texts
                    .iter()
                    .map(|pieces| {
                        let pieces = pieces.iter().map(|piece| match piece {
                            Ok(literal) => literal.as_str(),
                            Err(name) if name == "a" => value,
                            Err(_) => "later",
                        });
                        pieces.collect()
                    })
                    .collect();
                let mut out = Vec::new();
                template.write(&mut out, |number: usize| Some(filled[number].as_str())).unwrap();
                assert_eq!(read(&out), read(written(text, value).as_bytes()), "{text} with {value:?}");
                compared += 1;
            }
        }
        assert_eq!(compared, 28);
    }

    #[test]
    fn without_places_braces_are_text() {
        let plain: Template<Placeholder> = Template::plain("<e>{{x}}</e>".to_owned());
        let mut out = Vec::new();
        plain.write(&mut out, |_| None).unwrap();
        assert_eq!(out, b"<e>{{x}}</e>");
        assert_eq!(plain.placeholders().count(), 0);
        assert_eq!(split("a{{ b }}c{{"), [Ok("a"), Err("b"), Ok("c{{")]);
    }
}
