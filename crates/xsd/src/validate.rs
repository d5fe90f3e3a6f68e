//! Validates documents against a schema (Part 1 §4, the validation rules of Appendix C.1).
//!
//! ```
//! use castile_xsd::validate::Validator;
//! use castile_xsd::Documents;
//!
//! let documents = Documents::new().with(
//!     "order.xsd",
//!     r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
//!          <xs:element name="order"><xs:complexType>
//!            <xs:sequence><xs:element name="line" maxOccurs="2" type="xs:int"/></xs:sequence>
//!            <xs:attribute name="rush" type="xs:boolean"/>
//!          </xs:complexType></xs:element>
//!        </xs:schema>"#,
//! );
//! let (schema, _) = castile_xsd::read("order.xsd", &documents);
//! let mut validator = Validator::new(&schema);
//! assert_eq!(validator.validate(b"<order><line>1</line></order>"), []);
//!
//! let problems = validator.validate(b"<order rush='yes'>\n <line>ten</line><item/>\n</order>");
//! let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
//! assert_eq!(told, [
//!     "1:8: order: the attribute rush: \"yes\" is not a valid xs:boolean [cvc-attribute.3]",
//!     "2:8: order/line: \"ten\" is not a valid xs:int [cvc-type.3.1.3]",
//!     "2:18: order/item: found item, where line or the end of order was expected [cvc-complex-type.2.4]",
//! ]);
//! ```
//!
//! A document is read once, from start to end, and no tree of it is built. The validator stores the open elements, the
//! values of IDs and keys, and one position in a content model for each open element. Occurrences are counted, not
//! unrolled.
//!
//! `xsi:schemaLocation` and `xsi:noNamespaceSchemaLocation` are ignored, because the schema is given. Whether an
//! `xs:ENTITY` is declared is not checked.

mod attributes;
mod elements;
mod identity;
pub(crate) mod keys;
mod model;
mod names;
mod path;
mod problem;
pub(crate) mod selection;
mod types;
mod values;

pub use problem::{Problem, Problems};

use castile_xml::{DocumentEntity, Error, Limits, Memory, Reader, Token};

use crate::{Schema, TypeId};
use elements::Validation;
use types::Types;

/// The default number of problems reported for a document.
const MAX_PROBLEMS: usize = 100;

/// Validates documents against a schema. What it derives from the schema is computed once, when a document first needs
/// it.
#[derive(Debug)]
pub struct Validator<'s> {
    types: Types<'s>,
    limits: Limits,
    max_problems: usize,
}

impl<'s> Validator<'s> {
    /// Creates a validator for `schema`.
    #[must_use]
    pub fn new(schema: &'s Schema) -> Self {
        Validator { types: Types::new(schema), limits: Limits::default(), max_problems: MAX_PROBLEMS }
    }

    /// Sets the limits for reading documents.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Validator { limits, ..self }
    }

    /// Sets the number of problems after which the rest of a document is not checked. The default is 100.
    #[must_use]
    pub fn with_max_problems(self, max_problems: usize) -> Self {
        Validator { max_problems: max_problems.max(1), ..self }
    }

    /// Ignores attributes of a namespace from now on; `None` ignores none.
    ///
    /// SOAP puts attributes on header blocks, and their schemas don't declare them.
    pub fn pass_attributes_of(&mut self, namespace: Option<&str>) {
        self.types.passed = namespace.map(str::to_owned);
    }

    /// Validates a document in any encoding that [`castile_xml::decode`] supports. Returns all problems in document
    /// order.
    ///
    /// A document type declaration is a problem, as it is in messages.
    pub fn validate(&mut self, document: &[u8]) -> Vec<Problem> {
        match castile_xml::decode(document, None) {
            Ok(text) => self.validate_within(&text, |_, _, _| Chosen::Declared),
            Err(error) => vec![Problem::unreadable(&error)],
        }
    }

    /// Validates a document that may have a document type declaration. Its entities and defaults apply.
    pub fn validate_document(&mut self, document: &DocumentEntity<'_>) -> Vec<Problem> {
        self.validate_parts(|| Ok(document.reader()), |_, _, _| Chosen::Declared)
    }

    /// Validates parts of a decoded document that the schema doesn't describe as a whole, such as a message in its
    /// envelope.
    ///
    /// `choose` decides how each element outside the validated parts is treated. Its arguments are the number of open
    /// elements around the element, its namespace and its local name.
    pub fn validate_within(&mut self, document: &str, choose: impl FnMut(usize, &str, &str) -> Chosen) -> Vec<Problem> {
        let limits = self.limits;
        self.validate_parts(|| Reader::decoded(document, limits, &mut Memory::default()), choose)
    }

    /// Validates the parts of a document that `choose` selects.
    fn validate_parts<'d>(
        &mut self,
        reader: impl Fn() -> Result<Reader<'d>, Error>,
        choose: impl FnMut(usize, &str, &str) -> Chosen,
    ) -> Vec<Problem> {
        let mut problems = Problems::new(self.max_problems);
        if let Err(error) = reader().and_then(|reader| self.read(reader, &mut problems, choose)) {
            problems.not_well_formed(&error);
        }
        problems.located(reader)
    }

    fn read(
        &mut self,
        mut reader: Reader<'_>,
        problems: &mut Problems,
        mut choose: impl FnMut(usize, &str, &str) -> Chosen,
    ) -> Result<(), Error> {
        let mut validation = Validation::new(&mut self.types, problems);
        let mut around: usize = 0;
        while !validation.is_enough() {
            let offset = reader.offset();
            match reader.next()? {
                Token::StartTag(tag) if validation.is_outside() => {
                    match choose(around, reader.namespace(tag.namespace), tag.name.local()) {
                        Chosen::Within => around += 1,
                        Chosen::Skip => reader.skip_element()?,
                        Chosen::Declared => validation.start(&reader, tag),
                        Chosen::OfType(type_id) => validation.start_of_type(&reader, tag, type_id),
                    }
                }
                Token::StartTag(tag) => validation.start(&reader, tag),
                Token::EndTag(_) if validation.is_outside() => around = around.saturating_sub(1),
                Token::EndTag(_) => validation.end(&reader, offset),
                Token::Text(text) => validation.text(&text, offset),
                Token::Comment(_) | Token::Instruction { .. } => {}
                Token::End => {
                    validation.finish();
                    break;
                }
            }
        }
        Ok(())
    }
}

/// How an element outside the validated parts is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// It is not validated, but elements in it may be.
    Within,
    /// Neither it nor its content is validated.
    Skip,
    /// It is validated by its declaration, which must exist.
    Declared,
    /// It is validated by this type.
    OfType(TypeId),
}

#[cfg(test)]
mod tests;
