//! Reads faults (SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4).

use std::ops::Range;

use castile_databinding::datatypes::{QName, Scope, SimpleType};
use castile_databinding::encoded::Encoding;
use castile_databinding::schema::XSI_NAMESPACE;
use castile_databinding::{Decoder, Deviations};
use castile_xml::{CachedReader, Limits, Memory, Reader, StartTag, Token, XML_NAMESPACE};

use crate::envelope::{Envelope, next_tag};
use crate::error::Error;
use crate::fault::{DecodesDetail, Detail, Fault, FaultCode, Reason, ReasonText};
use crate::version::Version;

/// Reads the children of a fault, whose start tag was already read, and the rest of the message. Any order is accepted, because
/// many servers use their own. Faults in SOAP encoding may refer to elements after the fault. A declared detail is stored in
/// `detail`. Returns the deviations of the detail together with the fault.
pub(super) fn read(
    reader: &mut CachedReader<'_>,
    version: Version,
    limits: Limits,
    is_encoded: bool,
    is_lenient: bool,
    detail: &mut dyn DecodesDetail,
) -> Result<(Fault<()>, Deviations), Error> {
    let mut fault = Fault { reason: Reason::default(), ..Fault::receiver("") };
    let mut deviations = Deviations::default();
    let mut entries = None;
    loop {
        match reader.next()? {
            Token::StartTag(tag) => match (version, tag.name.local()) {
                (Version::Soap11, "faultcode") => {
                    let code = read_name(reader)?;
                    (fault.code, fault.subcodes) = code_of_soap11(code);
                }
                (Version::Soap11, "faultstring") => {
                    let language = language(reader);
                    fault.reason = Reason::new(language, text(reader)?);
                }
                (Version::Soap11, "faultactor") | (Version::Soap12, "Role") => fault.role = Some(text(reader)?.into()),
                (Version::Soap11, "detail") | (Version::Soap12, "Detail") => {
                    entries = Some(read_entries(reader)?);
                }
                (Version::Soap12, "Code") => (fault.code, fault.subcodes) = read_code(reader)?,
                (Version::Soap12, "Reason") => fault.reason = read_reason(reader)?,
                (Version::Soap12, "Node") => fault.node = Some(text(reader)?.into()),
                _ => reader.skip_element()?,
            },
            Token::EndTag(_) | Token::End => break,
            _ => {}
        }
    }
    if is_encoded {
        while next_tag(reader)?.is_some() {
            reader.skip_element()?;
        }
        Envelope::read_end_after_body(reader)?;
    } else {
        Envelope::read_end(reader)?;
    }
    if let Some(entries) = entries {
        let (text, inner) = (reader.input(), &reader.input()[entries.clone()]);
        let found =
            strict_then_lenient(is_lenient, |is_lenient| declared(text, entries.clone(), limits, is_lenient, detail));
        fault.detail = match found {
            Some(tolerated) => {
                deviations = tolerated;
                Detail::Declared(())
            }
            None if inner.trim().is_empty() => Detail::None,
            None => Detail::Other(self_contained(text, &entries, limits).unwrap_or_else(|| inner.to_owned())),
        };
    }
    Ok((fault, deviations))
}

/// Reads a detail strictly with `read`. If that fails and leniency is allowed, reads it leniently.
pub(super) fn strict_then_lenient<T>(is_lenient: bool, mut read: impl FnMut(bool) -> Option<T>) -> Option<T> {
    read(false).or_else(|| if is_lenient { read(true) } else { None })
}

/// Returns the code and the subcodes of a name. Each dot is followed by a more specific code (SOAP 1.1 §4.4.1).
fn code_of_soap11(name: QName) -> (FaultCode, Vec<QName>) {
    let general = name.local.split_once('.').map_or(name.local.as_str(), |(general, _)| general);
    match code_of(&name, general, Version::Soap11) {
        None => (FaultCode::Other(Box::new(name)), Vec::new()),
        Some(code) if general == name.local => (code, Vec::new()),
        Some(code) => (code, vec![QName { namespace: Version::Soap11.namespace().into(), ..name }]),
    }
}

/// Returns the code with the local name `general`, if `name` is one of the version's own codes. A name without a prefix is treated
/// as one, because such servers ignore namespaces.
fn code_of(name: &QName, general: &str, version: Version) -> Option<FaultCode> {
    let is_own = *name.namespace == *version.namespace() || name.prefix.is_empty();
    version.fault_code_named(general).filter(|_| is_own)
}

/// Reads `Code`, whose start tag was already read: its value and the values of its subcodes (SOAP 1.2 Part 1 §5.4.1).
fn read_code(reader: &mut Reader<'_>) -> Result<(FaultCode, Vec<QName>), Error> {
    let outside = reader.depth().saturating_sub(1);
    let mut names = Vec::new();
    while reader.depth() > outside {
        if let Token::StartTag(tag) = reader.next()? {
            match tag.name.local() {
                "Value" => names.push(read_name(reader)?),
                "Subcode" => {}
                _ => reader.skip_element()?,
            }
        }
    }
    let mut names = names.into_iter();
    let code = names
        .next()
        .map(|name| code_of(&name, &name.local, Version::Soap12).unwrap_or_else(|| FaultCode::Other(Box::new(name))));
    Ok((code.unwrap_or(FaultCode::Receiver), names.collect()))
}

/// Reads `Reason`, whose start tag was already read: one text for each language (SOAP 1.2 Part 1 §5.4.2).
fn read_reason(reader: &mut Reader<'_>) -> Result<Reason, Error> {
    let outside = reader.depth().saturating_sub(1);
    let mut texts = Vec::new();
    while reader.depth() > outside {
        if let Token::StartTag(tag) = reader.next()? {
            match tag.name.local() {
                "Text" => {
                    let language = language(reader);
                    texts.push(ReasonText { language, text: text(reader)? });
                }
                _ => reader.skip_element()?,
            }
        }
    }
    Ok(texts.into_iter().collect())
}

/// Returns `xml:lang` of the element whose start tag was read last.
fn language(reader: &Reader<'_>) -> String {
    let mut attributes = reader.attributes();
    let language =
        attributes.find(|attribute| attribute.namespace == XML_NAMESPACE && attribute.name.local() == "lang");
    language.map(|attribute| attribute.value.to_owned()).unwrap_or_default()
}

/// Reads a qualified name from the text of an element, whose start tag was already read. An invalid name is kept as it is.
fn read_name(reader: &mut Reader<'_>) -> Result<QName, Error> {
    // Copied, because the declarations end at the end tag, and the text is not complete before.
    let declarations = reader.declarations().map(|(prefix, name)| (prefix.to_owned(), name.to_owned())).collect();
    let text = text(reader)?;
    let scope = Declared { declarations, outside: reader };
    Ok(QName::parse_in(&text, &scope).unwrap_or_else(|_| {
        let (prefix, local) = text.trim().split_once(':').unwrap_or(("", text.trim()));
        QName { namespace: "".into(), local: local.to_owned(), prefix: prefix.to_owned() }
    }))
}

/// The namespace declarations of an element, and those around it.
struct Declared<'r> {
    declarations: Vec<(String, String)>,
    outside: &'r dyn Scope,
}

impl Scope for Declared<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        match self.declarations.iter().find(|(declared, _)| declared == prefix) {
            Some((_, name)) => Some(name.as_str()).filter(|name| prefix.is_empty() || !name.is_empty()),
            None => self.outside.namespace(prefix),
        }
    }
}

/// Reads the text of an element whose start tag was already read. Tags of children are skipped.
fn text(reader: &mut Reader<'_>) -> Result<String, Error> {
    let outside = reader.depth().saturating_sub(1);
    let mut text = String::new();
    while reader.depth() > outside {
        if let Token::Text(more) = reader.next()? {
            text.push_str(&more);
        }
    }
    Ok(text)
}

/// Reads `detail`, whose start tag was already read. Returns the range of its content.
fn read_entries(reader: &mut Reader<'_>) -> Result<Range<usize>, Error> {
    let start = reader.offset();
    let depth = reader.depth();
    let mut end = start;
    while reader.depth() >= depth {
        end = reader.offset();
        reader.next()?;
    }
    Ok(start..end)
}

/// Reads the first element of `entries` into `detail`, if the contract declares it as a detail. Returns its deviations.
///
/// In SOAP encoding several details may have the same name. Then `xsi:type` of the element, or of the element that it refers to,
/// decides.
fn declared(
    text: &str,
    entries: Range<usize>,
    limits: Limits,
    is_lenient: bool,
    detail: &mut dyn DecodesDetail,
) -> Option<Deviations> {
    let (reader, first) = read_to_entry(text, &entries, limits)?;
    let (namespace, local) = (reader.namespace(first.namespace), first.name.local());
    let mut candidates = detail.elements().iter().enumerate().filter(|(_, element)| element.is(namespace, local));
    let index = candidates.next()?.0;
    let others: Vec<usize> = candidates.map(|(index, _)| index).collect();
    if !others.is_empty() && !may_declare_type(&reader) {
        return None;
    }
    // If the type decides which detail it is, the named type must match.
    let is_lenient = is_lenient && others.is_empty();
    let mut read = |reader, index| {
        let mut decoder = if is_lenient { Decoder::lenient(reader) } else { Decoder::new(reader) };
        // Nobody refers from a fault to the header, which may be unverified.
        decoder.confine_references(entries.start);
        detail.decode(&mut decoder, index).ok()?;
        Some(decoder.take_deviations())
    };
    // Reading fails if the element names another type.
    read(reader, index)
        .or_else(|| others.into_iter().find_map(|index| read(read_to_entry(text, &entries, limits)?.0, index)))
}

/// How many bytes longer than twice its original length a detail may become when namespace declarations are added.
pub(crate) const MAX_DECLARATIONS_LENGTH: usize = 64 << 10;

/// Returns the content of a detail, and adds to each element the namespace declarations that it uses from outside. Returns `None`
/// if there is no element, or if the declarations are much longer than the content. A short detail may be inside a scope with any
/// number of declarations.
fn self_contained(text: &str, entries: &Range<usize>, limits: Limits) -> Option<String> {
    let (reader, mut tag) = read_to_entry(text, entries, limits)?;
    let mut decoder = Decoder::new(reader);
    let (mut xml, mut behind) = (String::new(), entries.start);
    loop {
        xml.push_str(&text[behind..tag.offset]);
        xml.push_str(&decoder.raw(tag).ok()?.xml());
        if xml.len() > 2 * entries.len() + MAX_DECLARATIONS_LENGTH {
            return None;
        }
        behind = decoder.reader().offset();
        tag = loop {
            match decoder.reader().next().ok()? {
                Token::StartTag(tag) => break tag,
                Token::EndTag(_) | Token::End => {
                    xml.push_str(&text[behind..entries.end]);
                    return Some(xml);
                }
                _ => {}
            }
        };
    }
}

/// Parses the message again up to the start tag of the first of `entries`. The declarations around it are then in scope, and
/// references can be resolved.
fn read_to_entry<'a>(text: &'a str, entries: &Range<usize>, limits: Limits) -> Option<(Reader<'a>, StartTag<'a>)> {
    let mut reader = Reader::decoded(text, limits, &mut Memory::default()).ok()?;
    loop {
        match reader.next().ok()? {
            Token::StartTag(tag) if tag.offset >= entries.start => return Some((reader, tag)),
            Token::End => return None,
            _ if reader.offset() > entries.end => return None,
            _ => {}
        }
    }
}

/// Returns whether the start tag that was read last names a type, or refers to an element that may name one.
fn may_declare_type(reader: &Reader<'_>) -> bool {
    let names = [(XSI_NAMESPACE, "type"), ("", "href"), (Encoding::Soap12.namespace(), "ref")];
    reader.attributes().any(|attribute| names.contains(&(attribute.namespace, attribute.name.local())))
}
