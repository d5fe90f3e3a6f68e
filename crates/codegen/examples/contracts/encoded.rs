//! Messages in SOAP encoding: calls, answers and what faults say, in envelopes, since they refer to what stands behind them.

use std::collections::HashMap;

use castile_wsdl::{Definitions, PartContent, Protocol, Style, Use};
use castile_xsd::encoded::Encoding;
use castile_xsd::sample::{Error, Samples};
use castile_xsd::{ExpandedName, Schema, TypeId};

/// A name: its namespace and its local name.
type Name = (String, String);

/// The names and types of a call's parts.
type Parts = Vec<(String, TypeId)>;

/// What of a contract is in SOAP encoding.
#[derive(Default)]
pub(crate) struct Encoded {
    /// The parts of calls and answers, of each operation of a name that has others, in the order of the bindings.
    calls: HashMap<Name, Vec<Parts>>,
    /// The types of what faults say.
    faults: HashMap<Name, TypeId>,
}

impl Encoded {
    pub(crate) fn of(definitions: &Definitions) -> Self {
        let mut found = Encoded::default();
        let schema = &definitions.schema;
        let of_element = |id| {
            let declaration: &castile_xsd::components::ElementDeclaration = &schema[id];
            (declaration.name.namespace().to_owned(), declaration.name.local().to_owned(), declaration.type_id)
        };
        let soap = definitions.bindings.iter().filter(|binding| matches!(binding.protocol, Protocol::Soap { .. }));
        for operation in soap.flat_map(|binding| &binding.operations) {
            for (message, behind) in [(&operation.input, ""), (&operation.output, "Response")] {
                let Some(message) = message.as_ref().filter(|message| message.use_ == Use::Encoded) else { continue };
                if operation.style != Style::Rpc {
                    continue;
                }
                let parts = message.body.iter().map(|part| match part.content {
                    PartContent::Type(type_id) => (part.name.clone(), type_id),
                    PartContent::Element(id) => {
                        let (_, local, type_id) = of_element(id);
                        (local, type_id)
                    }
                });
                let parts: Parts = parts.collect();
                let namespace = message.namespace.clone().unwrap_or_default();
                let known = found.calls.entry((namespace, format!("{}{behind}", operation.name))).or_default();
                if !known.contains(&parts) {
                    known.push(parts);
                }
            }
            for fault in operation.faults.iter().filter(|fault| fault.use_ == Use::Encoded) {
                let Some(part) = &fault.part else { continue };
                let (namespace, local, type_id) = match part.content {
                    PartContent::Type(type_id) => {
                        (fault.namespace.clone().unwrap_or_default(), part.name.clone(), type_id)
                    }
                    PartContent::Element(id) => of_element(id),
                };
                found.faults.insert((namespace, local), type_id);
            }
        }
        found
    }

    /// Whether a fault says this in SOAP encoding.
    pub(crate) fn has_fault(&self, name: &Name) -> bool {
        self.faults.contains_key(name)
    }

    /// The parts of a call of this name that comes for the time `number`, from 0.
    fn parts(&self, name: &Name, number: usize) -> Option<&Parts> {
        let all = self.calls.get(name)?;
        all.get(number).or(all.last())
    }

    /// Messages: without references, with those of SOAP 1.1, which lead behind the call, and with those of SOAP 1.2. A call
    /// of this name comes for the time `number`, from 0. `None` if the contract has none of that name.
    pub(crate) fn messages(
        &self,
        schema: &Schema,
        name: &Name,
        number: usize,
        is_fault: bool,
        most: usize,
    ) -> Option<Vec<Result<String, Error>>> {
        let root = ExpandedName::new(name.0.as_str(), name.1.as_str());
        let samples = |encoding| match is_fault {
            true => Some(Samples::of_encoded(schema, encoding, root.clone(), *self.faults.get(name)?)),
            false => Some(Samples::of_call(schema, encoding, root.clone(), self.parts(name, number)?.iter().cloned())),
        };
        let forms = [
            (Encoding::Soap11, samples(Encoding::Soap11)?),
            (Encoding::Soap11, samples(Encoding::Soap11)?.with_references()),
            (Encoding::Soap12, samples(Encoding::Soap12)?.with_references()),
        ];
        let messages = forms
            .into_iter()
            .flat_map(|(encoding, samples)| samples.take(most).map(move |content| Ok(envelope(encoding, &content?))));
        Some(messages.collect())
    }
}

/// A message whose body has this content.
pub(crate) fn envelope(encoding: Encoding, content: &str) -> String {
    let namespace = match encoding {
        Encoding::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
        Encoding::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
    };
    format!("<soap:Envelope xmlns:soap=\"{namespace}\"><soap:Body>{content}</soap:Body></soap:Envelope>")
}
