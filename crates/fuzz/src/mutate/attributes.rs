//! Changes to attributes: ids and references, namespace declarations, and any other attribute.

use super::Change;
use super::markup::{Attribute, Markup};
use super::texts::VALUES;

/// Attributes with a meaning in SOAP or in a specification that it uses, and one without a meaning.
const NAMES: [&[u8]; 20] = [
    b"id",
    b"href",
    b"xml:id",
    b"ref",
    b"xmlns",
    b"xmlns:a",
    b"xmlns:soapenv",
    b"xsi:type",
    b"xsi:nil",
    b"SOAP-ENC:arrayType",
    b"SOAP-ENC:offset",
    b"SOAP-ENC:position",
    b"SOAP-ENC:root",
    b"enc:itemType",
    b"enc:arraySize",
    b"soapenv:mustUnderstand",
    b"soapenv:actor",
    b"soapenv:encodingStyle",
    b"xml:space",
    b"a",
];

/// Namespaces with a meaning in SOAP, no namespace, and one without a meaning.
const NAMESPACES: [&[u8]; 12] = [
    b"",
    b"urn:a",
    b"http://schemas.xmlsoap.org/soap/envelope/",
    b"http://www.w3.org/2003/05/soap-envelope",
    b"http://schemas.xmlsoap.org/soap/encoding/",
    b"http://www.w3.org/2003/05/soap-encoding",
    b"http://www.w3.org/2001/XMLSchema",
    b"http://www.w3.org/2001/XMLSchema-instance",
    b"http://www.w3.org/2005/08/addressing",
    b"http://www.w3.org/2004/08/xop/include",
    b"http://www.w3.org/XML/1998/namespace",
    b"http://www.w3.org/2000/xmlns/",
];

impl Change<'_> {
    pub(super) fn attributes(&mut self, markup: &Markup) {
        match self.random.u32(0..10) {
            0..4 => self.references(markup),
            4..6 => self.namespaces(markup),
            _ => self.any_attribute(markup),
        }
    }

    fn any_attribute(&mut self, markup: &Markup) {
        let all = markup.attributes();
        let (Some(one), Some(other)) = (self.pick(&all), self.pick(&all)) else { return self.add_attribute(markup) };
        match self.random.u32(0..8) {
            0 => self.replace(one.range, b""),
            1 => {
                let bytes = self.text[one.range.clone()].to_vec();
                let times = self.times(bytes.len());
                self.replace(one.range.start..one.range.start, &bytes.repeat(times));
            }
            2 => {
                let value = self.text[other.value].to_vec();
                self.replace(one.value, &value);
            }
            3 => {
                let name = self.text[other.name].to_vec();
                self.replace(one.name, &name);
            }
            4 => {
                let value = self.pick(&VALUES).unwrap_or_default();
                let at = if self.random.bool() { one.value } else { one.value.end..one.value.end };
                self.replace(at, value);
            }
            5 => {
                let name = self.pick(&NAMES).unwrap_or_default();
                self.replace(one.name, name);
            }
            6 => {
                // Changes the closing quote, or both quotes.
                let quote = if self.text.get(one.value.end) == Some(&b'"') { b"'" } else { b"\"" };
                let end = one.value.end.min(self.text.len());
                self.replace(end..(end + 1).min(self.text.len()), quote);
                if self.random.bool() {
                    self.replace(one.value.start - 1..one.value.start, quote);
                }
            }
            _ => self.add_attribute(markup),
        }
    }

    /// Adds one attribute, or many with different names. Many attributes test the search for duplicates.
    fn add_attribute(&mut self, markup: &Markup) {
        let Some(tag) = self.pick(&markup.starts()) else { return };
        let name = self.pick(&NAMES).unwrap_or_default();
        let value = self.pick(&VALUES).unwrap_or_default();
        let mut added = Vec::new();
        for number in 0..self.times(name.len() + value.len() + 8) {
            let number = if number == 0 { String::new() } else { number.to_string() };
            added.extend_from_slice(&[b" ", name, number.as_bytes(), b"=\"", value, b"\""].concat());
        }
        self.replace(tag.name.end..tag.name.end, &added);
    }

    /// Changes ids and references.
    fn references(&mut self, markup: &Markup) {
        let all = markup.attributes();
        let local = |attribute: &Attribute| self.text[attribute.name.clone()].rsplit(|&byte| byte == b':').next();
        let is_id = |attribute: &&Attribute| local(attribute).is_some_and(|name| name.eq_ignore_ascii_case(b"id"));
        let is_reference =
            |attribute: &&Attribute| matches!(local(attribute), Some(b"href" | b"ref" | b"Ref" | b"RelatesTo"));
        let ids: Vec<Attribute> = all.iter().filter(is_id).cloned().collect();
        let references: Vec<Attribute> = all.iter().filter(is_reference).cloned().collect();
        let id = self.pick(&ids).map_or_else(|| b"a".to_vec(), |id| self.text[id.value].to_vec());
        let reference = self.pick(&references);
        match self.random.u32(0..6) {
            0 => {
                let Some(reference) = reference else { return self.refer(markup, &id) };
                self.replace(reference.value, &[b"#", &*id].concat());
            }
            1 => self.refer(markup, &id),
            2 => {
                let Some(tag) = self.pick(&markup.starts()) else { return };
                // Adds an id: one that an element has already, or the one that a reference leads to.
                let to = reference.map(|reference| self.text[reference.value].to_vec()).unwrap_or_default();
                let to = to.strip_prefix(b"#").unwrap_or(&to).to_vec();
                let id = if self.random.bool() { id } else { to };
                self.replace(tag.name.end..tag.name.end, &[b" id=\"", &*id, b"\""].concat());
            }
            3 => {
                let Some(one) = self.pick(&ids) else { return };
                self.replace(one.value, &id);
            }
            4 => {
                let Some(one) = self.pick(&ids) else { return };
                self.replace(one.range, b"");
            }
            _ => {
                const FORMS: [&[u8]; 7] = [b"", b"#", b"cid:a", b"http://a/#b", b"# 1", b"&#35;1", b"##"];
                let Some(reference) = reference else { return self.refer(markup, &id) };
                let form = self.pick(&FORMS).unwrap_or_default();
                self.replace(reference.value, form);
            }
        }
    }

    /// Adds a reference to a start tag, replaces an element by a reference, or inserts references before an element.
    fn refer(&mut self, markup: &Markup, id: &[u8]) {
        if let Some(element) = self.pick(&markup.elements)
            && let Some(tag) = markup.tags.iter().find(|tag| tag.range.start == element.start)
        {
            let name = &self.text[tag.name.clone()];
            let reference = [b"<", name, b" href=\"#", id, b"\"/>"].concat();
            match self.random.u32(0..3) {
                0 => self.replace(tag.name.end..tag.name.end, &[b" href=\"#", id, b"\""].concat()),
                1 => self.replace(element, &reference),
                _ => {
                    let times = self.times(reference.len());
                    self.replace(element.start..element.start, &reference.repeat(times));
                }
            }
        }
    }

    /// Changes namespace declarations.
    fn namespaces(&mut self, markup: &Markup) {
        let is_declaration = |one: &Attribute| self.text[one.name.clone()].starts_with(b"xmlns");
        let declarations: Vec<Attribute> = markup.attributes().into_iter().filter(is_declaration).collect();
        let Some(one) = self.pick(&declarations) else { return self.add_attribute(markup) };
        let bytes = self.text[one.range.clone()].to_vec();
        match self.random.u32(0..5) {
            0 => {
                let namespace = self.pick(&NAMESPACES).unwrap_or_default();
                self.replace(one.value, namespace);
            }
            1 => {
                let Some(other) = self.pick(&declarations) else { return };
                let value = self.text[other.value].to_vec();
                self.replace(one.value, &value);
            }
            2 => {
                // Repeats the declaration in any start tag.
                let Some(tag) = self.pick(&markup.starts()) else { return };
                self.replace(tag.name.end..tag.name.end, &bytes);
            }
            3 => self.replace(one.range, b""),
            _ => {
                let prefix = self.pick(&[b"xmlns".as_slice(), b"xmlns:a", b"xmlns:xml", b"xmlns:xmlns", b"xmlns:"]);
                self.replace(one.name, prefix.unwrap_or_default());
            }
        }
    }
}
