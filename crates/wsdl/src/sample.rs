//! Generates samples of bodies and header blocks from the schema.

use std::cell::Cell;

use castile_xml::escape;
use castile_xsd::encoded::Encoding;
use castile_xsd::sample::{Error, Samples};
use castile_xsd::{ElementId, ExpandedName, TypeId};

use crate::{Definitions, PartContent};

/// Generates one sample per call. A sample contains one of everything down to some depth, and only required parts below.
/// It has plausible values.
#[derive(Clone, Copy, Debug)]
pub struct Sampler<'d> {
    definitions: &'d Definitions,
    depth: usize,
    /// The counter of steps, and the number of steps after which no sample is started.
    steps: Option<(&'d Cell<usize>, usize)>,
}

impl<'d> Sampler<'d> {
    /// Creates a sampler for a contract. From `depth` on, optional parts are left out.
    #[must_use]
    pub fn new(definitions: &'d Definitions, depth: usize) -> Self {
        Sampler { definitions, depth, steps: None }
    }

    /// Adds the steps to a counter and starts no sample after `most` steps. Some millions of steps take a second.
    #[must_use]
    pub fn counting(self, steps: &'d Cell<usize>, most: usize) -> Self {
        Sampler { steps: Some((steps, most)), ..self }
    }

    /// Returns a sample of a global element.
    ///
    /// # Errors
    /// The element has no instance, because it is abstract or endlessly recursive.
    pub fn element(self, id: ElementId) -> Result<String, Error> {
        self.first(Samples::new(&self.definitions.schema, id))
    }

    /// Returns a sample of an independent value in SOAP encoding, such as the detail of a fault.
    ///
    /// # Errors
    /// The value has no instance.
    pub fn encoded(self, encoding: Encoding, name: ExpandedName, type_id: TypeId) -> Result<String, Error> {
        self.first(Samples::of_encoded(&self.definitions.schema, encoding, name, type_id))
    }

    /// Returns a sample of a call or its answer in literal use: an element with this name that contains the parts.
    ///
    /// # Errors
    /// A part has no instance.
    pub fn call(self, wrapper: &ExpandedName, parts: &[(String, PartContent)]) -> Result<String, Error> {
        let mut children = String::new();
        for (name, content) in parts {
            children += &match content {
                PartContent::Element(id) => self.element(*id)?,
                PartContent::Type(type_id) => {
                    let name = ExpandedName::new("", name.as_str());
                    self.first(Samples::of_type(&self.definitions.schema, name, *type_id))?
                }
            };
        }
        let (namespace, local) = (attribute(wrapper.namespace()), wrapper.local());
        Ok(match namespace.is_empty() {
            true => format!("<{local}>{children}</{local}>"),
            false => format!("<m:{local} xmlns:m=\"{namespace}\">{children}</m:{local}>"),
        })
    }

    /// Returns a sample of a call or its answer in SOAP encoding, without references.
    ///
    /// # Errors
    /// A part has no instance.
    pub fn encoded_call(
        self,
        encoding: Encoding,
        wrapper: &ExpandedName,
        parts: &[(String, PartContent)],
    ) -> Result<String, Error> {
        let schema = &self.definitions.schema;
        let parts = parts.iter().map(|(name, content)| match content {
            PartContent::Type(type_id) => (name.clone(), *type_id),
            PartContent::Element(id) => (schema[*id].name.local().to_owned(), schema[*id].type_id),
        });
        self.first(Samples::of_call(schema, encoding, wrapper.clone(), parts))
    }

    fn first(self, samples: Samples<'_>) -> Result<String, Error> {
        if let Some((_, most)) = self.steps.filter(|(steps, most)| steps.get() > *most) {
            return Err(Error::of(&format!("the samples before took all {most} allowed steps")));
        }
        let mut samples = samples.with_depth(self.depth).with_plain_values();
        let first = samples.next();
        if let Some((steps, _)) = self.steps {
            steps.set(steps.get().saturating_add(samples.steps()));
        }
        // The iterator always returns an instance or an error. If that is ever wrong, a build must not panic.
        first.unwrap_or_else(|| Err(Error::of("no instance could be made")))
    }
}

/// Escapes an attribute value. Characters that XML can't contain don't occur, because the contract is XML.
fn attribute(value: &str) -> String {
    let mut out = Vec::new();
    let _ = escape::push_attribute(&mut out, value);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use castile_xsd::Documents;

    use super::*;

    /// An operation may declare a thousand faults, each of which took as many steps as one sample may.
    #[test]
    fn no_sample_is_begun_after_the_last_step() {
        let text = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'><types>\
                    <xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='e' type='xs:int'/></xs:schema>\
                    </types></definitions>";
        let definitions = crate::read("t.wsdl", &Documents::new().with("t.wsdl", text)).0.unwrap();
        let id = definitions.schema.find_element(&ExpandedName::new("", "e")).unwrap();
        let (steps, most) = (Cell::new(0), 5);
        let sampler = Sampler::new(&definitions, 1).counting(&steps, most);
        let made = (0..100).take_while(|_| sampler.element(id).is_ok()).count();
        assert!((1..=most + 1).contains(&made), "{made} samples");
        let taken = steps.get();
        assert!(taken > most);
        let error = sampler.element(id).unwrap_err().to_string();
        assert!(error.contains("all 5 allowed steps"), "{error}");
        assert_eq!(steps.get(), taken);
    }
}
