//! The same work for every parser: read each element, attribute and text, with references resolved.
//!
//! Each parser is used as an expert would use it for untrusted messages: with the checks that it has, with namespaces
//! if it supports them, and with memory reused if possible.

use castile_xml::{Limits, Memory, Reader, Token};
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::{NsReader, XmlVersion};
use xml::reader::XmlEvent;

use crate::{Contestant, Run};
use castile_native::Counts;

pub fn all() -> Vec<Contestant> {
    let mut all = vec![
        Contestant::new("castile Reader", "all of XML and namespaces, limits", castile()),
        Contestant::new(
            "quick-xml Reader",
            "end tags, comments; no namespaces, no characters, no ]]>",
            Box::new(quick_xml),
        ),
        Contestant::new("quick-xml NsReader", "the same, prefixes, attributes twice", Box::new(quick_xml_ns)),
        Contestant::new("roxmltree", "most of XML, namespaces; builds a tree", Box::new(roxmltree)),
        Contestant::new("xml-rs", "most of XML, namespaces, limits", Box::new(xml_rs)),
    ];
    for (parser, name, checks) in [
        ("libxml2", "libxml2 SAX2", "all of XML and namespaces, limits"),
        ("expat", "expat NS", "all of XML, namespaces"),
    ] {
        if let Some(read) = native(parser) {
            let read = move |document: &[u8]| read(document).ok_or_else(|| "not well-formed".to_owned());
            all.push(Contestant::new(name, checks, Box::new(read)));
        }
    }
    all
}

fn native(name: &str) -> Option<castile_native::Parser> {
    castile_native::parsers().into_iter().find(|(known, _)| *known == name)?.1
}

fn castile() -> Run {
    let mut memory = Memory::default();
    Box::new(move |document| {
        let mut reader = Reader::with_memory(document, Limits::default(), &mut memory).map_err(|e| e.to_string())?;
        let mut counts = Counts::default();
        loop {
            match reader.next().map_err(|e| e.to_string())? {
                Token::StartTag(tag) => {
                    counts.elements += 1;
                    counts.namespaces += reader.namespace(tag.namespace).len();
                    for attribute in reader.attributes() {
                        counts.attributes += 1;
                        counts.namespaces += attribute.namespace.len();
                        counts.values += attribute.value.len();
                    }
                }
                // There is no text outside of the root element.
                Token::Text(text) => counts.text += text.len(),
                Token::EndTag(_) | Token::Comment(_) | Token::Instruction { .. } => {}
                Token::End => break,
            }
        }
        memory = reader.into_memory();
        Ok(counts)
    })
}

fn utf8(document: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(document).map_err(|e| e.to_string())
}

fn quick_xml(document: &[u8]) -> Result<Counts, String> {
    let mut reader = quick_xml::Reader::from_str(utf8(document)?);
    reader.config_mut().check_comments = true;
    let mut counts = Counts::default();
    let mut depth = 0;
    loop {
        match reader.read_event().map_err(|e| e.to_string())? {
            Event::Start(tag) => {
                depth += 1;
                quick_xml_tag(&tag, &mut counts)?;
            }
            Event::Empty(tag) => quick_xml_tag(&tag, &mut counts)?,
            Event::End(_) => depth -= 1,
            Event::Text(text) if depth > 0 => counts.text += text.xml10_content().len(),
            Event::CData(text) => counts.text += text.xml10_content().len(),
            Event::GeneralRef(reference) => counts.text += resolve(&reference)?.len_utf8(),
            Event::Eof => return Ok(counts),
            _ => {}
        }
    }
}

fn quick_xml_tag(tag: &BytesStart<'_>, counts: &mut Counts) -> Result<(), String> {
    counts.elements += 1;
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        if attribute.key.as_namespace_binding().is_none() {
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|e| e.to_string())?;
            counts.attributes += 1;
            counts.values += value.len();
        }
    }
    Ok(())
}

fn quick_xml_ns(document: &[u8]) -> Result<Counts, String> {
    let mut reader = NsReader::from_str(utf8(document)?);
    reader.config_mut().check_comments = true;
    let mut counts = Counts::default();
    let mut depth = 0;
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(|e| e.to_string())?;
        match event {
            Event::Start(tag) => {
                depth += 1;
                counts.namespaces += length(namespace)?;
                quick_xml_ns_tag(&reader, &tag, &mut counts)?;
            }
            Event::Empty(tag) => {
                counts.namespaces += length(namespace)?;
                quick_xml_ns_tag(&reader, &tag, &mut counts)?;
            }
            Event::End(_) => depth -= 1,
            Event::Text(text) if depth > 0 => counts.text += text.xml10_content().len(),
            Event::CData(text) => counts.text += text.xml10_content().len(),
            Event::GeneralRef(reference) => counts.text += resolve(&reference)?.len_utf8(),
            Event::Eof => return Ok(counts),
            _ => {}
        }
    }
}

fn quick_xml_ns_tag(reader: &NsReader<&[u8]>, tag: &BytesStart<'_>, counts: &mut Counts) -> Result<(), String> {
    counts.elements += 1;
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        if attribute.key.as_namespace_binding().is_none() {
            counts.namespaces += length(reader.resolver().resolve_attribute(attribute.key).0)?;
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|e| e.to_string())?;
            counts.attributes += 1;
            counts.values += value.len();
        }
    }
    Ok(())
}

fn length(namespace: ResolveResult<'_>) -> Result<usize, String> {
    match namespace {
        ResolveResult::Bound(namespace) => Ok(namespace.into_inner().len()),
        ResolveResult::Unbound => Ok(0),
        ResolveResult::Unknown(prefix) => Err(format!("the prefix {prefix} is not declared")),
    }
}

/// Returns the character of a reference.
pub fn resolve(reference: &BytesRef<'_>) -> Result<char, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|e| e.to_string())? {
        return Ok(character);
    }
    match &**reference {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        other => Err(format!("the entity {other} is not declared")),
    }
}

fn roxmltree(document: &[u8]) -> Result<Counts, String> {
    let document = roxmltree::Document::parse(utf8(document)?).map_err(|e| e.to_string())?;
    let mut counts = Counts::default();
    for node in document.root_element().descendants() {
        if node.is_element() {
            counts.elements += 1;
            counts.namespaces += node.tag_name().namespace().map_or(0, str::len);
            for attribute in node.attributes() {
                counts.attributes += 1;
                counts.namespaces += attribute.namespace().map_or(0, str::len);
                counts.values += attribute.value().len();
            }
        } else if node.is_text() {
            counts.text += node.text().map_or(0, str::len);
        }
    }
    Ok(counts)
}

fn xml_rs(document: &[u8]) -> Result<Counts, String> {
    let config = xml::ParserConfig::new()
        .whitespace_to_characters(true)
        .cdata_to_characters(true)
        .ignore_comments(true)
        .coalesce_characters(false);
    let mut counts = Counts::default();
    for event in xml::EventReader::new_with_config(document, config) {
        match event.map_err(|e| e.to_string())? {
            XmlEvent::StartElement { name, attributes, .. } => {
                counts.elements += 1;
                counts.namespaces += name.namespace.map_or(0, |name| name.len());
                for attribute in attributes {
                    counts.attributes += 1;
                    counts.namespaces += attribute.name.namespace.map_or(0, |name| name.len());
                    counts.values += attribute.value.len();
                }
            }
            XmlEvent::Characters(text) => counts.text += text.len(),
            _ => {}
        }
    }
    Ok(counts)
}
