//! Compares messages that are read with a contract known only at run time with those read by generated code.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use castile_dynamic::{Contract, Operation, Options, Value};
use castile_soap::{Root, Version, message};
use castile_xsd::Files;

use crate::decode::{Kind, expanded, kinds, payload};
use crate::{documents, limits_for, shown};

/// Reads any bytes as messages of the suites' contracts. The values, the errors and the written messages are the same as with
/// generated code, and the JSON form loses nothing.
pub fn dynamic(input: &[u8]) {
    static TWINS: OnceLock<Vec<Twin>> = OnceLock::new();
    let twins = TWINS.get_or_init(twins);
    for document in documents(input) {
        let payload = payload(document);
        let is_it = |twin: &&Twin| {
            let element = &twin.kind.root.element;
            payload.as_deref() == Some(&expanded(element.namespace, element.name))
        };
        if let Some(twin) = twins.iter().find(is_it) {
            twin.check(document);
        }
    }
}

/// A kind of message of generated code, and its counterpart from the contract that was read.
struct Twin {
    kind: Kind,
    root: &'static Root,
    operation: &'static Operation,
    is_request: bool,
}

fn twins() -> Vec<Twin> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suites = ["benchmark1", "codec", "encoded", "wstest", "interop_base", "interop_group_b"];
    let suites = suites.iter().map(|name| root.join(format!("crates/suites/contracts/{name}.wsdl")));
    let features = ["rpc_literal", "encoded"];
    let features = features.iter().map(|name| root.join(format!("crates/codegen/tests/features/{name}/service.wsdl")));
    let paths: Vec<PathBuf> = suites.chain(features).chain([root.join("crates/fuzz/contracts/shapes.wsdl")]).collect();
    let contracts = paths.iter().map(|path| {
        Contract::open(path, &Files::new(), &Options::default())
            .unwrap_or_else(|_| panic!("{} can't be used", path.display()))
    });
    let services: Vec<_> = contracts.flat_map(|contract| contract.services).collect();
    let operations = || services.iter().flat_map(|service| service.operations());
    let twin = |kind: Kind| {
        let is_it = |root: &&'static Root| {
            root.is_encoded == kind.root.is_encoded
                && root.element.is(kind.root.element.namespace, kind.root.element.name)
        };
        let found = operations().find_map(|operation| {
            let soap = operation.soap();
            let request = Some(&soap.request).filter(is_it).map(|root| (operation, root, true));
            request.or_else(|| soap.response.as_ref().filter(is_it).map(|root| (operation, root, false)))
        });
        let (operation, root, is_request) =
            found.unwrap_or_else(|| panic!("no contract has {}", kind.root.element.name));
        Twin { kind, root, operation, is_request }
    };
    kinds().into_iter().map(twin).collect()
}

impl Twin {
    fn check(&self, document: &[u8]) {
        let mut limits = limits_for(document);
        limits.encoding_expansion = 16 << 10;
        let value = message::read::<Value>(self.root, document, limits);
        let written = value.as_ref().map_err(ToString::to_string).and_then(|value| {
            message::write(Version::Soap11, self.root, value, Vec::new()).map_err(|error| error.to_string())
        });
        let expected = (self.kind.rewrite)(self.kind.root, document, limits);
        let texts = [&written, &expected].map(|text| text.as_ref().map(|bytes| String::from_utf8_lossy(bytes)));
        assert_eq!(texts[0], texts[1], "at run time, and by generated code, of {}", shown(document));
        if let Ok(value) = value {
            self.check_json(&value, document);
        }
    }

    fn check_json(&self, value: &Value, document: &[u8]) {
        let text =
            serde_json::to_string(value).unwrap_or_else(|error| panic!("{error}: no JSON of {}", shown(document)));
        let json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: in {text}"));
        let again = match self.is_request {
            true => self.operation.request_from_json(&json),
            false => self.operation.response_from_json(&json),
        };
        let again = again.unwrap_or_else(|error| panic!("{error}: in {text}, of {}", shown(document)));
        // NaN is not equal to itself.
        let is_same = again == *value || serde_json::to_string(&again).is_ok_and(|again| again == text);
        assert!(is_same, "{text} is read as {again:?}, of {}", shown(document));
    }
}
