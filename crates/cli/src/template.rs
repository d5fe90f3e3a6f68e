//! Messages with places in them, written `{{NAME}}`, that are filled in for each message.

use std::ops::Range;

use castile_xml::escape;

/// A message with places. What stands between them is never looked at again.
#[derive(Clone, Debug)]
pub(crate) struct Template<P> {
    text: String,
    pieces: Vec<Piece<P>>,
    /// What stands behind the last place.
    rest: usize,
}

#[derive(Clone, Debug)]
struct Piece<P> {
    /// What stands before the place.
    literal: Range<usize>,
    place: P,
    context: Context,
}

/// Where a place stands, which decides what is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Context {
    Text,
    /// An attribute's value between these quotes.
    Attribute(char),
    /// A header line.
    Line,
}

impl<P: Copy> Template<P> {
    /// A message without places: braces in it mean nothing.
    pub(crate) fn plain(text: String) -> Self {
        let rest = 0;
        Template { text, pieces: Vec::new(), rest }
    }

    /// Finds the places of a well-formed document; `find` knows what their names stand for.
    pub(crate) fn new(text: String, find: impl Fn(&str) -> Result<P, String>) -> Result<Self, String> {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut rest = 0;
        for (range, context) in places(&text) {
            let name = text[range.start + 2..range.end - 2].trim();
            let context = context.map_err(|place| {
                format!("{{{{{name}}}}} stands in {place}, expected it in text or in the value of an attribute")
            })?;
            let place = find(name)?;
            pieces.push(Piece { literal: rest..range.start, place, context });
            rest = range.end;
        }
        Ok(Template { text, pieces, rest })
    }

    /// Finds the places of header lines.
    pub(crate) fn of_lines(text: String, find: impl Fn(&str) -> Result<P, String>) -> Result<Self, String> {
        let mut pieces: Vec<Piece<P>> = Vec::new();
        let mut rest = 0;
        while let Some((before, name, after)) = next(&text[rest..]) {
            let literal = rest..rest + before.len();
            pieces.push(Piece { literal, place: find(name.trim())?, context: Context::Line });
            rest = text.len() - after.len();
        }
        Ok(Template { text, pieces, rest })
    }

    /// All of it, places as they are written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All of it, if it has no places.
    pub(crate) fn literal(&self) -> Option<&str> {
        self.pieces.is_empty().then_some(&*self.text)
    }

    /// Where its places begin, in their order.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().map(|piece| piece.literal.end)
    }

    /// What its places are filled with.
    pub(crate) fn places(&self) -> impl Iterator<Item = P> {
        self.pieces.iter().map(|piece| piece.place)
    }

    /// Where in the template that stands which stands at `offset` of a message that was written with these values: what fills a
    /// place stands there.
    pub(crate) fn origin<'v>(&self, offset: usize, value: impl Fn(P) -> Option<&'v str>) -> usize {
        let mut written = 0;
        for Piece { literal, place, context } in &self.pieces {
            if offset < written + literal.len() {
                return literal.start + offset - written;
            }
            let mut filled = Vec::new();
            let _ = context.escape(value(*place).unwrap_or_default(), &mut filled);
            written += literal.len() + filled.len();
            if offset < written {
                return literal.end;
            }
        }
        (self.rest + offset - written).min(self.text.len())
    }

    /// Writes the message with its places filled.
    ///
    /// # Errors
    /// The place for which there is no value, or whose value can't be carried there.
    pub(crate) fn write<'v>(&self, out: &mut Vec<u8>, value: impl Fn(P) -> Option<&'v str>) -> Result<(), P> {
        for Piece { literal, place, context } in &self.pieces {
            out.extend_from_slice(&self.text.as_bytes()[literal.clone()]);
            let value = value(*place).ok_or(*place)?;
            context.escape(value, out).map_err(|_| *place)?;
        }
        out.extend_from_slice(&self.text.as_bytes()[self.rest..]);
        Ok(())
    }
}

impl Context {
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
            // A line has no escapes (RFC 9110 §5.5).
            Context::Line => match value.find(|c: char| !matches!(c, '\t' | ' '..='~')) {
                None => {
                    out.extend_from_slice(value.as_bytes());
                    Ok(())
                }
                Some(place) => Err(place),
            },
        }
    }
}

/// A text in pieces: what stands there, and names in double braces.
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

/// The places of a document, each with what it stands in, in words where that won't do. In comments and processing
/// instructions braces mean nothing.
fn places(text: &str) -> Vec<(Range<usize>, Result<Context, &'static str>)> {
    let mut places = Vec::new();
    let mut at = 0;
    let mut quote = None;
    let mut is_tag = false;
    // A place ends in the text or value in which it begins: where that ends, and where the last braces close in it. They are looked
    // for once, since braces that nothing closes would each be looked for to the end.
    let (mut end, mut last) = (0, 0);
    // The document is well-formed: what begins ends, and no `<` stands in a value.
    let end_of = |at: usize, end: &str| text[at..].find(end).map_or(text.len(), |found| at + found + end.len());
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_open = rest.starts_with("{{");
        if is_open && at >= end {
            end = at + rest.find(quote.unwrap_or('<')).unwrap_or(rest.len());
            last = text[at..end].rfind("}}").map_or(0, |found| at + found);
        }
        let is_place = is_open && at + 2 <= last;
        let place = is_place.then(|| rest.find("}}")).flatten().map(|end| at..at + end + 2);
        match (place, quote) {
            (Some(range), _) => {
                at = range.end;
                let context = match quote {
                    Some(quote) => Ok(Context::Attribute(quote)),
                    None if is_tag => Err("a tag"),
                    None => Ok(Context::Text),
                };
                places.push((range, context));
                continue;
            }
            (None, Some(open)) if c == open => quote = None,
            (None, Some(_)) => {}
            (None, None) if rest.starts_with("<!--") => {
                at = end_of(at, "-->");
                continue;
            }
            (None, None) if rest.starts_with("<?") => {
                at = end_of(at, "?>");
                continue;
            }
            (None, None) if rest.starts_with("<![CDATA[") => {
                let end = end_of(at, "]]>");
                let within = text[at..end].find("{{").map(|start| at + start);
                if let Some(start) = within
                    && let Some(length) = text[start..end].find("}}")
                {
                    places.push((start..start + length + 2, Err("a CDATA section")));
                }
                at = end;
                continue;
            }
            (None, None) => match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                '"' | '\'' if is_tag => (quote, end) = (Some(c), 0),
                _ => {}
            },
        }
        at += c.len_utf8();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a place is filled with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Place {
        Column(usize),
        Extracted(usize),
    }

    fn template(text: &str) -> Result<Template<Place>, String> {
        Template::new(text.to_owned(), |name| match name {
            "a" => Ok(Place::Column(0)),
            "b" => Ok(Place::Extracted(0)),
            _ => Err(format!("no {name}")),
        })
    }

    fn written(text: &str, a: &str) -> String {
        let mut out = Vec::new();
        let value = |place| if place == Place::Column(0) { Some(a) } else { Some("later") };
        template(text).unwrap().write(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_escaped_for_where_they_stand() {
        let value = "<&>\"'\n]]>";
        let table = [
            ("<e>{{a}}</e>", "<e>&lt;&amp;&gt;\"'\n]]&gt;</e>"),
            ("<e x=\"1{{a}}2\"/>", "<e x=\"1&lt;&amp;&gt;&quot;'&#10;]]&gt;2\"/>"),
            ("<e x='{{ a }}'/>", "<e x='&lt;&amp;&gt;&quot;&apos;&#10;]]&gt;'/>"),
            ("<e>{{b}} {{a}}!</e>", "<e>later &lt;&amp;&gt;\"'\n]]&gt;!</e>"),
            ("<e><!-- {{a}} \" --><?p {{a}}?>{ä}</e>", "<e><!-- {{a}} \" --><?p {{a}}?>{ä}</e>"),
            ("<e x='>' y=\"'\">{{b}}</e>", "<e x='>' y=\"'\">later</e>"),
        ];
        for (text, expected) in table {
            assert_eq!(written(text, value), expected);
        }
    }

    #[test]
    fn what_was_written_is_found_in_the_template() {
        let (text, value) = ("<e a='{{a}}'>{{b}}é</e>", "12345&");
        let (template, written) = (template(text).unwrap(), written(text, value));
        let value = |place| if place == Place::Column(0) { Some(value) } else { Some("later") };
        for (found, origin) in
            [("<e", "<e"), ("a='", "a='"), ("123", "{{a"), ("later", "{{b"), ("é<", "é<"), ("/e", "/e")]
        {
            let offset = template.origin(written.find(found).unwrap(), value);
            assert_eq!(offset, text.find(origin).unwrap(), "{found} of {written}");
        }
    }

    #[test]
    fn a_place_that_can_not_be_filled_is_told() {
        for (text, expected) in [
            ("<e>{{c}}</e>", "no c"),
            ("<e><![CDATA[ {{a}} ]]></e>", "{{a}} stands in a CDATA section"),
            ("<e {{a}}='1'/>", "{{a}} stands in a tag"),
        ] {
            let wrong = template(text).unwrap_err();
            assert!(wrong.contains(expected), "{text}: {wrong}");
        }
        let mut out = Vec::new();
        assert_eq!(template("<e>{{a}}{{b}}</e>").unwrap().write(&mut out, |_| None), Err(Place::Column(0)));
        assert_eq!(template("<e>{{a}}</e>").unwrap().write(&mut out, |_| Some("\u{1}")), Err(Place::Column(0)));
    }

    /// Each pair of braces was looked for to the end of the text.
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
        let find = |name: &str| if name == "a" { Ok(Place::Column(0)) } else { Err(format!("no {name}")) };
        let lines = |text: &str| Template::of_lines(text.to_owned(), find);
        let template = lines("x: {{a}}-{{ a }}\r\ny: {{\r\n").unwrap();
        assert!(template.places().count() == 2 && template.literal().is_none());
        let mut out = Vec::new();
        template.write(&mut out, |_| Some("<1>")).unwrap();
        assert_eq!(out, b"x: <1>-<1>\r\ny: {{\r\n");
        for wrong in ["a\r\nz: b", "\u{7f}", "\u{e9}", "\0"] {
            assert_eq!(template.write(&mut Vec::new(), |_| Some(wrong)), Err(Place::Column(0)), "{wrong:?}");
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
    fn without_places_braces_are_text() {
        let plain: Template<Place> = Template::plain("<e>{{x}}</e>".to_owned());
        let mut out = Vec::new();
        plain.write(&mut out, |_| None).unwrap();
        assert_eq!(out, b"<e>{{x}}</e>");
        assert_eq!(plain.places().count(), 0);
        assert_eq!(split("a{{ b }}c{{"), [Ok("a"), Err("b"), Ok("c{{")]);
    }
}
