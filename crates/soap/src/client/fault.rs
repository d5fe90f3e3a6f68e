//! Faults as servers write them (SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4).

use castile_databinding::Decoder;
use castile_databinding::datatypes::{QName, Scope, SimpleType};
use castile_xml::{Limits, Reader, Token, XML_NAMESPACE};

use crate::envelope::next_tag;
use crate::{Detail, Envelope, Error, Fault, FaultCode, FaultDetail, Reason, Version};

/// Reads the children of a fault, whose start tag was read, and the rest of the message. Their order is not insisted on: many
/// servers have their own. Those in SOAP encoding refer to what stands behind the fault.
pub(super) fn read<D: FaultDetail>(
    reader: &mut Reader<'_>,
    version: Version,
    limits: Limits,
    is_encoded: bool,
) -> Result<Fault<D>, Error> {
    let mut fault = Fault { reason: Reason::default(), ..Fault::receiver("") };
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
                    entries = Some(Entries::read(reader)?);
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
    let start = reader.offset();
    let mut end = start;
    if is_encoded {
        while next_tag(reader)?.is_some() {
            reader.skip_element()?;
            end = reader.offset();
        }
        Envelope::read_end_behind_body(reader)?;
    } else {
        Envelope::read_end(reader)?;
    }
    if let Some(entries) = entries {
        fault.detail = entries.detail(reader.input().get(start..end).unwrap_or_default(), limits);
    }
    Ok(fault)
}

/// The code of a name, and the subcodes: what a dot separates is more and more exact (SOAP 1.1 §4.4.1).
fn code_of_soap11(name: QName) -> (FaultCode, Vec<QName>) {
    let general = name.local.split_once('.').map_or(name.local.as_str(), |(general, _)| general);
    match code_of(&name, general, Version::Soap11) {
        None => (FaultCode::Other(Box::new(name)), Vec::new()),
        Some(code) if general == name.local => (code, Vec::new()),
        Some(code) => (code, vec![QName { namespace: Version::Soap11.namespace().to_owned(), ..name }]),
    }
}

/// The code with the local name `general`, if `name` is one of the version's own. Whoever writes no prefix has not
/// thought of namespaces, and means them.
fn code_of(name: &QName, general: &str, version: Version) -> Option<FaultCode> {
    let is_own = name.namespace == version.namespace() || name.prefix.is_empty();
    version.fault_code_named(general).filter(|_| is_own)
}

/// Reads `Code`, whose start tag was read: its value, and those of the subcodes in it (SOAP 1.2 Part 1 §5.4.1).
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

/// Reads `Reason`, whose start tag was read: a text for each language (SOAP 1.2 Part 1 §5.4.2).
fn read_reason(reader: &mut Reader<'_>) -> Result<Reason, Error> {
    let outside = reader.depth().saturating_sub(1);
    let mut reason = Reason::default();
    while reader.depth() > outside {
        if let Token::StartTag(tag) = reader.next()? {
            match tag.name.local() {
                "Text" => {
                    let language = language(reader);
                    reason = reason.with(language, text(reader)?);
                }
                _ => reader.skip_element()?,
            }
        }
    }
    Ok(reason)
}

/// `xml:lang` of the element whose start tag was read last.
fn language(reader: &Reader<'_>) -> String {
    let mut attributes = reader.attributes();
    let language =
        attributes.find(|attribute| attribute.namespace == XML_NAMESPACE && attribute.name.local() == "lang");
    language.map(|attribute| attribute.value.to_owned()).unwrap_or_default()
}

/// The name that is the text of an element, whose start tag was read. One that is no name is kept as it came.
fn read_name(reader: &mut Reader<'_>) -> Result<QName, Error> {
    // They are gone when the end tag is read, before which the text is not known to be complete.
    let declarations = reader.declarations().map(|(prefix, name)| (prefix.to_owned(), name.to_owned())).collect();
    let text = text(reader)?;
    let scope = Declared { declarations, outside: reader };
    Ok(QName::parse_in(&text, &scope).unwrap_or_else(|_| {
        let (prefix, local) = text.trim().split_once(':').unwrap_or(("", text.trim()));
        QName { namespace: String::new(), local: local.to_owned(), prefix: prefix.to_owned() }
    }))
}

/// The declarations of an element, and those around it.
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

/// The text of an element whose start tag was read; children are passed over.
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

/// What stands in `detail`.
struct Entries<'a> {
    inner: &'a str,
    /// Prefixes and namespaces that are in scope there, the nearest first.
    scope: Vec<(String, String)>,
}

impl<'a> Entries<'a> {
    /// Reads `detail`, whose start tag was read.
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let start = reader.offset();
        let scope = reader.namespaces().map(|(prefix, name)| (prefix.to_owned(), name.to_owned())).collect();
        let depth = reader.depth();
        let mut end = start;
        while reader.depth() >= depth {
            end = reader.offset();
            reader.next()?;
        }
        Ok(Entries { inner: reader.input().get(start..end).unwrap_or_default(), scope })
    }

    /// The first entry if the contract declares it, otherwise everything as it came. `others` stand behind the fault.
    fn detail<D: FaultDetail>(self, others: &str, limits: Limits) -> Detail<D> {
        match declared(self.inner, others, &self.scope, limits) {
            Some(detail) => Detail::Declared(detail),
            None if self.inner.trim().is_empty() => Detail::None,
            None => Detail::Other(self.inner.to_owned()),
        }
    }
}

/// The declared detail that `inner` begins with, read as a document of its own with the namespaces that were in scope.
fn declared<D: FaultDetail>(inner: &str, others: &str, scope: &[(String, String)], limits: Limits) -> Option<D> {
    let mut document = Vec::from(b"<detail");
    for (index, (prefix, name)) in scope.iter().enumerate() {
        if scope[..index].iter().all(|(nearer, _)| nearer != prefix) {
            document.extend_from_slice(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
            document.extend_from_slice(prefix.as_bytes());
            document.extend_from_slice(b"=\"");
            castile_xml::escape::push_attribute(&mut document, name).ok()?;
            document.push(b'"');
        }
    }
    document.push(b'>');
    document.extend_from_slice(inner.as_bytes());
    document.extend_from_slice(others.as_bytes());
    document.extend_from_slice(b"</detail>");
    let mut reader = Reader::new(&document, limits).ok()?;
    let mut tags = std::iter::from_fn(|| {
        loop {
            match reader.next().ok()? {
                Token::StartTag(tag) => {
                    return Some((reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned()));
                }
                Token::EndTag(_) | Token::End => return None,
                _ => {}
            }
        }
    });
    let (namespace, local) = tags.nth(1)?;
    let index = D::ELEMENTS.iter().position(|element| element.namespace == namespace && element.name == local)?;
    D::read(&mut Decoder::new(reader), index).ok()
}
