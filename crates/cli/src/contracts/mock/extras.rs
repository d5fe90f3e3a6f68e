//! The header blocks and attachments of an answer.

use std::path::Path;

use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_databinding::{Any, Decoder};
use castile_dynamic::{Operation, Value};
use castile_mime::{ContentId, MediaType, Part};
use castile_soap::AnyHeader;
use castile_wsdl::Attachment;
use castile_xml::tree::Document;
use castile_xml::{Limits, Memory, Reader, Token};
use serde_json::Value as Json;

use super::answer::{AnswerProblem, Needs, Node, Xml, expect_namespace};
use super::placeholder::{Facts, Names, RemainingSize};

/// Media types by file extension.
const TYPES: [(&str, &str); 17] = [
    ("bin", "application/octet-stream"),
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("txt", "text/plain"),
    ("xml", "text/xml"),
    ("zip", "application/zip"),
];

/// The header blocks and attachments of an answer.
#[derive(Debug, Default)]
pub(super) struct Extras {
    pub(super) blocks: Vec<Blocks>,
    pub(super) attachments: Vec<Attached>,
}

impl Extras {
    /// Makes the header blocks and attachments of one answer.
    pub(super) fn make(
        &self,
        operation: &'static Operation,
        facts: &Facts<'_>,
    ) -> Result<(Vec<AnyHeader>, Vec<Part>), String> {
        let (mut remaining, mut blocks) = (RemainingSize::new(), Vec::new());
        for of in &self.blocks {
            blocks.extend(of.make(operation, facts, &mut remaining)?);
        }
        let parts = self.attachments.iter().map(Attached::part);
        Ok((blocks, parts.collect::<Result<_, _>>()?))
    }

    pub(super) fn needs(&self) -> Needs {
        self.blocks.iter().map(Blocks::needs).collect()
    }
}

/// Header blocks, with or without placeholders.
#[derive(Debug)]
pub(super) enum Blocks {
    Fixed(Vec<AnyHeader>),
    Json(Node),
    Xml(Xml),
}

impl Blocks {
    /// Parses JSON header blocks: a member for each block.
    pub(super) fn of_json(json: &Json, names: Names<'_>) -> Result<Self, AnswerProblem> {
        let node = Node::new(json, names, &mut String::new())?;
        let read = |json: &Json| names.operation.response_header_from_json(json);
        if let Node::Literal(json) = &node {
            let blocks = read(json)?;
            return Ok(Blocks::Fixed(blocks.iter().map(|block| of_text(block)).collect::<Result<_, _>>()?));
        }
        node.check(None, |json| read(json).map(|_| ()))?;
        Ok(Blocks::Json(node))
    }

    /// Parses an XML header block, which is one element. If the contract declares it, it must be valid.
    pub(super) fn of_xml(text: &str, names: Names<'_>) -> Result<Self, AnswerProblem> {
        let xml = Xml::new(text, names)?;
        expect_namespace(text, names.operation.soap().response_header.iter().copied())?;
        if xml.is_literal() {
            check(names.operation, text)?;
            return Ok(Blocks::Fixed(vec![of_text(text)?]));
        }
        xml.check(|text| check(names.operation, text))?;
        Ok(Blocks::Xml(xml))
    }

    fn make(
        &self,
        operation: &'static Operation,
        facts: &Facts<'_>,
        remaining: &mut RemainingSize,
    ) -> Result<Vec<AnyHeader>, String> {
        match self {
            Blocks::Fixed(blocks) => Ok(blocks.clone()),
            Blocks::Json(node) => {
                let json = node.fill(facts, remaining)?.unwrap_or(Json::Null);
                let blocks = operation.response_header_from_json(&json).map_err(|error| error.to_string())?;
                blocks.iter().map(|block| of_text(block)).collect()
            }
            Blocks::Xml(xml) => {
                let text = xml.fill(facts, remaining)?;
                check(operation, &text).map_err(|error| error.to_string())?;
                Ok(vec![of_text(&text)?])
            }
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Blocks::Fixed(_) => Needs::default(),
            Blocks::Json(node) => node.needs(),
            Blocks::Xml(xml) => xml.needs(),
        }
    }
}

/// Returns the root element of a document as a header block.
fn of_text(text: &str) -> Result<AnyHeader, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    Any::parse(document.root().source()).map(AnyHeader::from).map_err(|error| error.to_string())
}

/// Checks a header block of a response, if the contract declares it for the operation.
fn check(operation: &'static Operation, text: &str) -> Result<(), castile_soap::Error> {
    // A malformed document isn't a header block.
    let Ok(document) = Document::parse(text) else { return Ok(()) };
    let root = document.root();
    let mut declared = operation.soap().response_header.iter();
    let Some(element) = declared.find(|element| root.is(element.namespace, element.name)) else { return Ok(()) };
    read(text, element).map_err(|error| error.locate(text.as_bytes(), Limits::default(), None).into())
}

/// Reads an element on its own.
fn read(text: &str, element: &'static Element) -> Result<(), castile_databinding::Error> {
    let mut reader = Reader::decoded(text, Limits::default(), &mut Memory::default())?;
    while !matches!(reader.next()?, Token::StartTag(_) | Token::End) {}
    let _: Value = Decoder::new(reader).root(element)?;
    Ok(())
}

/// A file attached to an answer.
#[derive(Debug)]
pub(super) struct Attached {
    /// If `None`, each answer gets a new Content-ID.
    pub(super) id: Option<ContentId>,
    pub(super) media_type: String,
    pub(super) content: Bytes,
}

impl Attached {
    /// Makes an attachment of a file as a rule describes it. `part` is the name of a message part.
    pub(super) fn new(content: Bytes, media_type: &str, id: Option<&str>, part: Option<&str>) -> Result<Self, String> {
        let mut id = id.map(ContentId::parse).transpose().map_err(|error| error.to_string())?;
        if let Some(part) = part {
            // The Content-ID names the message part (Attachments Profile 1.0 §3.8).
            let behind = match &id {
                Some(id) => id.clone(),
                None => ContentId::random().map_err(|error| error.to_string())?,
            };
            id = Some(ContentId::parse(&format!("{part}={}", behind.as_str())).map_err(|error| error.to_string())?);
        }
        expect_media_type(media_type)?;
        let attached = Attached { id, media_type: media_type.to_owned(), content };
        attached.part().map(|_| attached)
    }

    fn part(&self) -> Result<Part, String> {
        let content = self.content.clone();
        let part = match &self.id {
            Some(id) => Part::new(id.clone(), &self.media_type, content.into()),
            None => Part::attachment(&self.media_type, content),
        };
        part.map_err(|error| error.to_string())
    }
}

/// Returns an error if the text isn't a media type.
pub(super) fn expect_media_type(text: &str) -> Result<(), String> {
    let refuse = |_| format!("found {text:?}, expected a media type such as image/jpeg");
    MediaType::parse(text).map(|_| ()).map_err(refuse)
}

/// Returns the media type for a file name.
pub(super) fn media_type(file: &str) -> Option<&'static str> {
    let extension = Path::new(file).extension()?.to_str()?;
    TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, media_type)| *media_type)
}

/// Returns whether a declared message part accepts a media type. Contracts may contain `*` and `image/*`.
pub(super) fn takes(declared: &Attachment, media_type: &str) -> bool {
    let Ok(media_type) = MediaType::parse(media_type) else { return false };
    let (main, _) = media_type.essence().split_once('/').unwrap_or_default();
    let is_it = |declared: &String| match declared.trim().to_ascii_lowercase().as_str() {
        "*" | "*/*" => true,
        declared => match declared.strip_suffix("/*") {
            Some(of) => of == main,
            // Parameters are ignored.
            None => declared.split(';').next().is_some_and(|declared| declared.trim_end() == media_type.essence()),
        },
    };
    declared.media_types.is_empty() || declared.media_types.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_those_of_the_contract() {
        let declared = |types: &[&str]| Attachment {
            part: "photo".to_owned(),
            media_types: types.iter().map(|one| (*one).to_owned()).collect(),
        };
        for (types, media_type, expected) in [
            (&[][..], "image/png", true),
            (&["*"], "image/png", true),
            (&["*/*"], "image/png", true),
            (&["image/*"], "Image/PNG", true),
            (&["image/jpeg", "image/png"], "image/png", true),
            (&["text/xml; charset=utf-8"], "text/xml", true),
            (&["text/*", "image/jpeg"], "image/png", false),
            (&["image"], "image/png", false),
            (&["*"], "png", false),
        ] {
            assert_eq!(takes(&declared(types), media_type), expected, "{types:?} {media_type}");
        }
    }

    #[test]
    fn media_types_are_derived_from_file_names() {
        for (file, expected) in
            [("photo.JPG", Some("image/jpeg")), ("a.b.txt", Some("text/plain")), ("photo", None), (".png", None)]
        {
            assert_eq!(media_type(file), expected, "{file}");
        }
    }

    #[test]
    fn attachments_that_can_not_be_sent_are_reported() {
        let new = |media_type, id, part| Attached::new(Bytes::new(), media_type, id, part);
        for (media_type, id, part) in [
            ("image", None, None),
            ("text/plain\r\nx: y", None, None),
            ("a/b", Some("<"), None),
            ("a/b", None, Some("a b")),
        ] {
            assert!(new(media_type, id, part).is_err(), "{media_type} {id:?} {part:?}");
        }
        let attached = new("a/b", Some("<1@x>"), Some("photo")).unwrap();
        assert_eq!(attached.id.map(|id| id.as_str().to_owned()).as_deref(), Some("photo=1@x"));
    }
}
