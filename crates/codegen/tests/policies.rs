//! What policies say of an endpoint, wherever they stand.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::Path;

use castile_codegen::{Options, generate};

/// An endpoint has the policies of its port, its binding and its port type, and those of its service (WS-Policy Attachment
/// 1.5 §4.1).
#[test]
fn messages_use_mtom_if_a_policy_requires_it() {
    const REFERENCE: &str = "<wsp:PolicyReference URI=\"#Mtom\"/>";
    let contract = fs::read_to_string("tests/features/mtom/service.wsdl").unwrap();
    let without = contract.replace(REFERENCE, "");
    assert_ne!(contract, without);
    let policy = &contract[contract.find("<wsp:Policy ").unwrap()..contract.find("<wsdl:types>").unwrap()];
    let is_mtom = |name: &str, contract: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("policies-{name}.wsdl"));
        fs::write(&path, contract).unwrap();
        generate(&path, &Options::default()).unwrap().source.contains(".with_mtom()")
    };
    assert!(is_mtom("binding", &contract) && !is_mtom("nowhere", &without));
    for (name, place) in [
        ("port", "<wsdl:port name=\"Feature\" binding=\"t:Feature\">"),
        ("port-type", "<wsdl:portType name=\"Feature\">"),
        ("service", "<wsdl:service name=\"Feature\">"),
    ] {
        assert!(without.contains(place), "{place}");
        assert!(is_mtom(name, &without.replace(place, &format!("{place}{REFERENCE}"))), "{name}");
        assert!(is_mtom(name, &without.replace(place, &format!("{place}{policy}"))), "{name}, in place");
    }
    // What may be left out is not asked for.
    let optional = contract.replace("OptimizedMimeSerialization\n", "OptimizedMimeSerialization wsp:Optional='true'\n");
    assert!(optional != contract && !is_mtom("optional", &optional));
}
