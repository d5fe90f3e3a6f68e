//! What messages may not have before their document element and contracts do, taken out before the text goes to the
//! reader: the name of another encoding, for the text has been decoded (XML 1.0 §4.3.3), and the document type
//! declaration (§2.8).
//!
//! `xmldsig-core-schema.xsd` and `xml.xsd` of the W3C begin with an internal subset that declares entities and use
//! them in attribute values. So internal general entities are expanded, within [`EXPANSION`]; parameter entities,
//! external entities and attribute defaults are not, and a reference to one is an error of the reader's.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Expansion may add this many bytes to a document.
const EXPANSION: usize = 1 << 20;

/// A document's text as the reader takes it.
pub(super) struct Prolog<'t> {
    pub(super) text: Cow<'t, str>,
    /// (offset in the new text, offset in the old one) where the difference of the two changes, ascending.
    shifts: Vec<(usize, usize)>,
}

impl Prolog<'_> {
    /// The offset in the original text of an offset in the new one.
    pub(super) fn original(&self, offset: usize) -> usize {
        match self.shifts.partition_point(|&(new, _)| new <= offset).checked_sub(1) {
            // Within an expansion every byte is at the reference, whose own end is the next shift.
            Some(index) => {
                let (new, old) = self.shifts[index];
                let moved = old + (offset - new);
                self.shifts.get(index + 1).map_or(moved, |&(_, next)| moved.min(next))
            }
            None => offset,
        }
    }
}

/// What is wrong, and at which byte.
type Failure = (String, usize);

pub(super) fn read(text: &str) -> Result<Prolog<'_>, Failure> {
    let encoding = find_encoding(text);
    let doctype = find_doctype(text);
    if encoding.is_none() && doctype.is_none() {
        return Ok(Prolog { text: Cow::Borrowed(text), shifts: Vec::new() });
    }
    let mut scanner = Scanner { text, at: 0, entities: HashMap::new() };
    let doctype = match doctype {
        Some(start) => {
            scanner.at = start + "<!DOCTYPE".len();
            scanner.declaration()?;
            Some(start..scanner.at)
        }
        None => None,
    };
    let mut output = String::with_capacity(text.len());
    let mut shifts = Vec::new();
    let mut at = 0;
    for cut in encoding.into_iter().chain(doctype) {
        output.push_str(&text[at..cut.start]);
        shifts.push((output.len(), cut.end));
        at = cut.end;
    }
    expand(text, at, &scanner.entities, &mut output, &mut shifts)?;
    Ok(Prolog { text: Cow::Owned(output), shifts })
}

/// `encoding="…"` of the XML declaration with the space before it, if it names another than UTF-8.
fn find_encoding(text: &str) -> Option<Range<usize>> {
    let mark = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let declaration = &text[..mark + text[mark..].strip_prefix("<?xml")?.find("?>")? + "<?xml".len()];
    let start = declaration.find("encoding")?;
    let open = start + declaration[start..].find(['"', '\''])?;
    let quote = &declaration[open..=open];
    let close = open + 1 + declaration[open + 1..].find(quote)?;
    let space = declaration[..start].trim_end().len();
    let is_utf8 = declaration[open + 1..close].eq_ignore_ascii_case("UTF-8");
    (!is_utf8).then_some(space..close + 1)
}

/// The `<!DOCTYPE` before the document element, if there is one.
fn find_doctype(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')?;
        let rest = &text[at..];
        let close = match rest {
            _ if rest.starts_with("<!DOCTYPE") => return Some(at),
            _ if rest.starts_with("<?") => "?>",
            _ if rest.starts_with("<!--") => "-->",
            _ => return None,
        };
        at += rest.find(close)? + close.len();
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    entities: HashMap<&'t str, &'t str>,
}

impl<'t> Scanner<'t> {
    /// From behind `<!DOCTYPE` to behind its `>`.
    fn declaration(&mut self) -> Result<(), Failure> {
        let mut in_subset = false;
        loop {
            let rest = &self.text[self.at..];
            match rest.chars().next() {
                None => return Err(("the document type declaration is not closed by '>'".to_owned(), self.at)),
                Some('"' | '\'') => {
                    self.literal()?;
                }
                Some('[') => (in_subset, self.at) = (true, self.at + 1),
                Some(']') => (in_subset, self.at) = (false, self.at + 1),
                Some('>') if !in_subset => {
                    self.at += 1;
                    return Ok(());
                }
                Some('<') if rest.starts_with("<!--") => self.skip_to("-->")?,
                Some('<') if rest.starts_with("<?") => self.skip_to("?>")?,
                Some('<') if rest.starts_with("<!ENTITY") => self.entity()?,
                Some('<') => self.markup()?,
                Some(c) => self.at += c.len_utf8(),
            }
        }
    }

    /// `<!ENTITY name "value">`; any other form of it is passed over.
    fn entity(&mut self) -> Result<(), Failure> {
        let start = self.at;
        self.at += "<!ENTITY".len();
        let name = self.word();
        if !name.is_empty() && name != "%" && self.text[self.at..].starts_with(['"', '\'']) {
            let value = self.literal()?;
            // XML 1.0 §4.2: the first declaration binds.
            self.entities.entry(name).or_insert(value);
        }
        self.at = self.at.max(start + 1);
        self.markup()
    }

    /// To behind the `>` of a markup declaration, passing over quoted literals.
    fn markup(&mut self) -> Result<(), Failure> {
        loop {
            match self.text[self.at..].chars().next() {
                None => return Err(("a markup declaration is not closed by '>'".to_owned(), self.at)),
                Some('"' | '\'') => {
                    self.literal()?;
                }
                Some('>') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(c) => self.at += c.len_utf8(),
            }
        }
    }

    fn word(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let length = rest.find(|c: char| c.is_whitespace() || c == '"' || c == '\'').unwrap_or(rest.len());
        let behind = rest[length..].trim_start();
        self.at = self.text.len() - behind.len();
        &self.text[start..start + length]
    }

    fn literal(&mut self) -> Result<&'t str, Failure> {
        let start = self.at + 1;
        let quote = &self.text[self.at..start];
        let Some(length) = self.text[start..].find(quote) else {
            return Err((format!("a literal is not closed by {quote}"), self.at));
        };
        self.at = start + length + 1;
        Ok(&self.text[start..start + length])
    }

    fn skip_to(&mut self, close: &str) -> Result<(), Failure> {
        let Some(length) = self.text[self.at..].find(close) else {
            return Err((format!("expected {close:?} before the end of the document"), self.at));
        };
        self.at += length + close.len();
        Ok(())
    }
}

/// Copies `text[from..]` with references to `entities` replaced, those within replacements too.
fn expand(
    text: &str,
    from: usize,
    entities: &HashMap<&str, &str>,
    output: &mut String,
    shifts: &mut Vec<(usize, usize)>,
) -> Result<(), Failure> {
    let limit = text.len() + EXPANSION;
    let mut at = from;
    while let Some((start, end, value)) = next_reference(text, at, entities) {
        output.push_str(&text[at..start]);
        shifts.push((output.len(), start));
        // The replacements that are being read, innermost last: an entity among them can't refer to itself.
        let mut open = vec![(value, 0)];
        while let Some((value, position)) = open.pop() {
            let Some((inner_start, inner_end, inner)) = next_reference(value, position, entities) else {
                output.push_str(&value[position..]);
                continue;
            };
            output.push_str(&value[position..inner_start]);
            open.push((value, inner_end));
            if open.len() > 16 || output.len() > limit {
                let expected = format!("entities expand to more than {EXPANSION} bytes or nest more than 16 deep");
                return Err((expected, start));
            }
            open.push((inner, 0));
        }
        if output.len() > limit {
            return Err((format!("entities expand to more than {EXPANSION} bytes"), start));
        }
        shifts.push((output.len(), end));
        at = end;
    }
    output.push_str(&text[at..]);
    Ok(())
}

/// The next reference to a declared entity: its start, its end, the replacement. References in comments and CDATA
/// sections are left alone.
fn next_reference<'e>(text: &str, from: usize, entities: &HashMap<&str, &'e str>) -> Option<(usize, usize, &'e str)> {
    let mut at = from;
    loop {
        at += text[at..].find(['&', '<'])?;
        let rest = &text[at..];
        if rest.starts_with("<!--") {
            at += rest.find("-->")?;
        } else if rest.starts_with("<![CDATA[") {
            at += rest.find("]]>")?;
        } else if let Some(name) = rest.strip_prefix('&') {
            let length = name.find(';')?;
            if let Some(value) = entities.get(&name[..length]) {
                return Some((at, at + length + 2, value));
            }
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_expanded_and_offsets_kept() {
        let text = "<?xml version='1.0'?><!-- <!DOCTYPE --><!DOCTYPE a PUBLIC \"x>\" 'y' [\n<!ENTITY % p ''><!-- ' -->\
                    <!ENTITY d 'urn:&e;'><!ENTITY e \"dsig\"><!ATTLIST a b CDATA #FIXED '>'>\n]>\n<a b='&d;#'><!-- &d; --><c/></a>";
        let prolog = read(text).unwrap();
        assert_eq!(prolog.text.split_once('\n').unwrap().1, "<a b='urn:dsig#'><!-- &d; --><c/></a>");
        let (new, old) = (prolog.text.find("<c/>").unwrap(), text.find("<c/>").unwrap());
        assert_eq!(prolog.original(new), old);
        assert_eq!(prolog.original(prolog.text.find("<a b").unwrap()), text.find("<a b").unwrap());
    }

    #[test]
    fn a_document_without_doctype_is_not_copied() {
        assert!(matches!(read("<a>&lt;</a>").unwrap().text, Cow::Borrowed(_)));
    }

    #[test]
    fn another_encoding_is_not_named() {
        for (text, expected) in [
            (
                "<?xml version='1.0' encoding = \"utf-16\" standalone='no'?><a/>",
                "<?xml version='1.0' standalone='no'?><a/>",
            ),
            ("\u{FEFF}<?xml version='1.0' encoding='latin1'?><a/>", "\u{FEFF}<?xml version='1.0'?><a/>"),
            ("<?xml version='1.0' encoding='utf-8'?><a/>", "<?xml version='1.0' encoding='utf-8'?><a/>"),
            ("<?xml version='1.0'?><a encoding='x'/>", "<?xml version='1.0'?><a encoding='x'/>"),
            ("<?xml encoding", "<?xml encoding"),
        ] {
            let prolog = read(text).unwrap();
            assert_eq!(prolog.text, expected);
            let end = (prolog.text.len(), text.len());
            assert_eq!(prolog.original(end.0), end.1);
        }
    }

    #[test]
    fn expansion_ends() {
        let lol = "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaaaaaaaa'>\
                   <!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\
                   <!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>\
                   <!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>\
                   <!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'>\
                   <!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>]><a>&f;</a>";
        assert!(read(lol).is_err());
        assert!(read("<!DOCTYPE a [<!ENTITY a '&a;'>]><a>&a;</a>").is_err());
        assert!(read("<!DOCTYPE a [<!ENTITY a 'x").is_err());
        assert!(read("<!DOCTYPE a").is_err());
    }
}
