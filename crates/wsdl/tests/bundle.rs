//! Tests bundles, which have a contract and everything that it imports in one file.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::PathBuf;

use castile_wsdl::{Bundle, Files, PartContent};

/// A folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("castile-bundle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("schemas")).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If removal fails the files remain in the system's temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const WSDL: &str = r#"<?xml version="1.0" encoding="iso-8859-1"?>
<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:t" xmlns:t="urn:t" xmlns:o="urn:o"
    xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types>
    <xs:schema targetNamespace="urn:t">
      <xs:import namespace="urn:o" schemaLocation="schemas/a%20&quot;b&quot;.xsd"/>
      <xs:import namespace="urn:p" schemaLocation="http://www.example.com/p.xsd"/>
      <xs:import namespace="http://www.w3.org/XML/1998/namespace"/>
      <xs:element name="e" type="o:T"><xs:annotation><xs:documentation><![CDATA[ é ]]></xs:documentation></xs:annotation></xs:element>
    </xs:schema>
  </types>
  <message name="m"><part name="p" element="t:e"/></message>
</definitions>
"#;

#[test]
fn a_bundle_needs_nothing_else() {
    let folder = Folder::new("whole");
    // The file has the encoding that it declares.
    let latin1: Vec<u8> = WSDL.chars().map(|c| c as u8).collect();
    let wsdl = folder.write("service.wsdl", latin1);
    folder.write(
        "schemas/a \"b\".xsd",
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:p='urn:p' targetNamespace='urn:o'>
           <xs:import namespace='urn:p' schemaLocation='../../nowhere/p.xsd'/>
           <xs:complexType name='T'><xs:attribute ref='p:a'/></xs:complexType></xs:schema>",
    );
    folder.write(
        "schemas/p.xsd",
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:p'><xs:attribute name='a' default=']]&gt;'/></xs:schema>",
    );
    let catalog = folder.write("catalog.tsv", "http://www.example.com/p.xsd\tschemas/p.xsd\n");
    let mut files = Files::new();
    files.add_catalog(castile_wsdl::Catalog::read(&catalog).0);

    let (bundle, problems) = castile_wsdl::bundle(&wsdl.to_string_lossy(), &files);
    assert!(problems.is_empty(), "{problems:?}");
    let bundle = bundle.unwrap();
    let mut uris: Vec<&str> = bundle.uris().collect();
    assert_eq!((bundle.main(), uris[0]), ("service.wsdl", "service.wsdl"));
    uris.sort_unstable();
    assert_eq!(uris, ["http://www.example.com/p.xsd", "schemas/a \"b\".xsd", "service.wsdl"]);

    let elsewhere = Folder::new("alone");
    let path = elsewhere.write("service.castile", bundle.write());
    drop(folder);
    let (definitions, problems) = castile_wsdl::read_file(&path);
    assert!(problems.is_empty(), "{problems:?}");
    let definitions = definitions.unwrap();
    let PartContent::Element(element) = definitions.messages[0].parts[0].content else { panic!() };
    let schema = &definitions.schema;
    assert_eq!(schema[element].annotation.documentation.as_deref(), Some("é"));
    assert_eq!(schema.attribute_uses(schema[element].type_id).len(), 1);
}

#[test]
fn bundles_that_are_broken() {
    let bundle = |inner: &str| format!("<bundle xmlns='urn:castile:bundle' main='a'>{inner}</bundle>");
    for (text, expected) in [
        (String::new(), "document"),
        ("<bundle/>".into(), "expected <bundle> of namespace"),
        ("<bundle xmlns='urn:castile:bundle'/>".into(), "has no `main`"),
        (bundle(""), "the bundle has no document a"),
        (bundle("<document/>"), "<document> has no `uri`"),
        (bundle("<document uri='a'><reference/></document>"), "<reference> has no `uri`"),
        (bundle("<document uri='a'>"), "end tag"),
    ] {
        let (bundle, problems) = Bundle::read("t.castile", text.as_bytes());
        assert!(bundle.is_none(), "{text}");
        let [problem] = problems.as_slice() else { panic!("{text}: {problems:?}") };
        assert!(problem.message.contains(expected), "{text}: {}", problem.message);
    }
    // A reference that leads nowhere is an error in the contract, not in the bundle.
    let (broken, _) = Bundle::read("t.castile", bundle("<document uri='a'>&lt;a/></document>").as_bytes());
    let (definitions, problems) = castile_wsdl::read("a", &broken.unwrap());
    assert!(definitions.is_none() && problems.len() == 1, "{problems:?}");
}
