//! Contracts that are made to be expensive, or to put something into what is generated from them.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "../../xsd/tests/hostile/shapes.rs"]
#[allow(dead_code, reason = "some of it is for tests of other crates")]
mod shapes;

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use castile_codegen::{Generated, Options, Severity, generate};

fn generated(folder: &Path, name: &str, text: &str, facets: bool) -> Result<Generated, Vec<String>> {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let mut options = Options::default();
    options.facets = facets;
    options.page = true;
    generate(&path, &options).map_err(|diagnostics| {
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        errors.map(ToString::to_string).collect()
    })
}

#[test]
fn every_shape_ends_with_source_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let ends = |shape: &shapes::Shape| {
        let text = shape.contract(shape.size_of(10_000));
        match generated(folder.path(), &format!("{}.wsdl", shape.name), &text, true) {
            // Source is some hundred times its contract at most: a declaration of forty bytes is a type with its code.
            Ok(Generated { source, page, .. }) => {
                assert!(source.len() <= 400 * 10_000, "{}", shape.name);
                assert!(page.is_none_or(|page| page.text.len() <= 100 * 10_000), "{}", shape.name);
            }
            Err(errors) => assert!(!errors.is_empty(), "{}", shape.name),
        }
    };
    // It takes a minute on one core, longer than all other tests of this program.
    let next = AtomicUsize::new(0);
    let one_after_another = || {
        while let Some(shape) = shapes::SHAPES.get(next.fetch_add(1, Ordering::Relaxed)) {
            ends(shape);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(one_after_another);
        }
    });
}

#[test]
fn a_chain_of_types_does_not_overflow_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let chain = shapes::shape("types_in_a_chain").unwrap();
    let source = generated(folder.path(), "a.wsdl", &chain.contract(1_000), false).unwrap().source;
    assert!(source.contains("pub struct T0 ") && source.contains("pub struct T999 "));
    let errors = generated(folder.path(), "a.wsdl", &chain.contract(3_000), false).unwrap_err();
    assert!(errors[0].contains("more than 2000 deep") && errors[0].contains("`type_depth`"), "{errors:?}");
    assert!(errors[0].contains("a.wsdl:"), "{errors:?}");
}

/// Each type may be named where one is that it is derived from.
#[test]
fn simple_types_that_may_be_named_are_few() {
    let folder = tempfile::tempdir().unwrap();
    let contract = |count: usize| {
        let types = (1..count)
            .map(|n| format!("<xs:simpleType name='T{n}'><xs:restriction base='t:T{}'/></xs:simpleType>", n - 1));
        let elements = (0..count).map(|n| format!("<xs:element name='e{n}' type='t:T{n}'/>"));
        format!(
            "<w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema' \
             xmlns:t='urn:t'><w:types><xs:schema targetNamespace='urn:t'><xs:simpleType name='T0'><xs:restriction base='xs:int'/>\
             </xs:simpleType>{}<xs:complexType name='T'><xs:all>{}</xs:all></xs:complexType></xs:schema></w:types></w:definitions>",
            types.collect::<String>(),
            elements.collect::<String>()
        )
    };
    let source = generated(folder.path(), "a.wsdl", &contract(10), false).unwrap().source;
    assert!(
        source.contains("SimpleTypes::new(\"T0\", \"\", &[(\"urn:t\", \"T0 T1 T2 T3 T4 T5 T6 T7 T8 T9\")])"),
        "{source}"
    );
    assert!(source.contains("SimpleTypes::new(\"T9\", \"\", &[(\"urn:t\", \"T9\")])"), "{source}");
    // No type is derived in more than 200 steps.
    let source = generated(folder.path(), "a.wsdl", &contract(200), false).unwrap().source;
    assert!(source.len() < 500_000, "{} bytes", source.len());
}

/// Each of them had a table of all named types beside it, and the contract was refused.
#[test]
fn unnamed_types_are_not_confused_with_their_siblings() {
    const COUNT: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    let types = (0..COUNT).map(|n| format!("<xs:simpleType name='T{n}'><xs:restriction base='t:T'/></xs:simpleType>"));
    let elements = (0..COUNT).map(|n| {
        format!("<xs:element name='e{n}'><xs:simpleType><xs:restriction base='t:T'/></xs:simpleType></xs:element>")
    });
    let contract = format!(
        "<w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema' \
         xmlns:t='urn:t'><w:types><xs:schema targetNamespace='urn:t'><xs:simpleType name='T'><xs:restriction base='xs:string'/>\
         </xs:simpleType>{}<xs:complexType name='C'><xs:all>{}</xs:all></xs:complexType></xs:schema></w:types></w:definitions>",
        types.collect::<String>(),
        elements.collect::<String>()
    );
    let source = generated(folder.path(), "a.wsdl", &contract, false).unwrap().source;
    assert!(source.contains("&[(\"urn:t\", \"T\")]"), "{source}");
    assert!(source.len() < 500_000, "{} bytes", source.len());
}

#[test]
fn a_type_with_thousands_of_services_is_generated_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let services = shapes::shape("services_of_one_binding").unwrap();
    let errors = generated(folder.path(), "a.wsdl", &services.contract(3_000), false).unwrap_err();
    assert!(errors[0].contains("`generated`"), "{errors:?}");
}

/// The group has a value that is copied into each type that uses it.
#[test]
fn values_are_generated_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let contract = |types: usize| {
        let uses = "<xs:group ref='t:g'/>".repeat(500);
        let types = (0..types).map(|n| {
            format!("<xs:element name='e{n}'><xs:complexType><xs:sequence>{uses}</xs:sequence></xs:complexType></xs:element>")
        });
        format!(
            "<w:definitions xmlns:w='http://schemas.xmlsoap.org/wsdl/' xmlns:xs='http://www.w3.org/2001/XMLSchema' \
             xmlns:t='urn:t'><w:types><xs:schema targetNamespace='urn:t'><xs:group name='g'><xs:sequence>\
             <xs:element name='a' type='xs:string' default='{}'/></xs:sequence></xs:group>{}</xs:schema></w:types></w:definitions>",
            "a".repeat(10_000),
            types.collect::<String>()
        )
    };
    let errors = generated(folder.path(), "a.wsdl", &contract(7), false).unwrap_err();
    assert!(
        errors[0].contains("more than 32000000 bytes of names, values") && errors[0].contains("`output`"),
        "{errors:?}"
    );
    assert!(errors.len() == 1 && errors[0].contains("a.wsdl:"), "{errors:?}");
}

#[test]
fn many_operations_of_one_large_message_are_bound_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let operations = shapes::shape("operations_of_one_message").unwrap();
    let errors = generated(folder.path(), "a.wsdl", &operations.contract(1_100), false).unwrap_err();
    assert!(errors[0].contains("the bindings have more than 1000000 operations, parts of messages"), "{errors:?}");
    assert!(errors[0].contains("a.wsdl:"), "{errors:?}");
    // What is read of it is too much to be generated as well.
    assert!(errors.len() == 2 && errors[1].contains("`generated`"), "{errors:?}");
}

/// What comes from a contract: its file name, and texts that XML allows.
const HOSTILE: &str = "a&#10;}&#13;mod evil {}&#9;*/ \\ &quot; \u{202e}\u{2066}\u{2028}\u{9b}";

#[test]
fn nothing_of_a_contract_is_code_or_turns_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:t{HOSTILE}' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t{HOSTILE}'>
        <documentation>{HOSTILE} `{HOSTILE}` http://a/{HOSTILE}</documentation>
        <types>
        <xs:schema targetNamespace='urn:t{HOSTILE}'><xs:element name='r'><xs:annotation><xs:documentation>`a\u{202e}`</xs:documentation></xs:annotation><xs:complexType><xs:sequence>
        <xs:element name='a' type='xs:string' default='{HOSTILE}'/><xs:element name='b' type='xs:string' fixed='{HOSTILE}'/>
        <xs:element name='c'><xs:simpleType><xs:restriction base='xs:string'><xs:enumeration value='{HOSTILE}'/><xs:pattern value='{HOSTILE}|.*'/></xs:restriction></xs:simpleType></xs:element>
        <xs:any namespace='{HOSTILE}'/></xs:sequence><xs:attribute name='d' default='{HOSTILE}'/></xs:complexType></xs:element></xs:schema>
        <xs:schema targetNamespace='urn:u{HOSTILE}'><xs:element name='r'><xs:complexType/></xs:element></xs:schema></types>
        <message name='in'><part name='p' element='t:r'/></message>
        <portType name='P{HOSTILE}'><operation name='o{HOSTILE}'><input message='t:in'/></operation></portType>
        <binding name='P' type='t:P{HOSTILE}'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o{HOSTILE}'><soap:operation soapAction='{HOSTILE}'/><input><soap:body use='literal'/></input></operation></binding>
        <service name='P{HOSTILE}'><port name='P{HOSTILE}' binding='t:P'><soap:address location='http://h/{HOSTILE}'/></port></service>
        </definitions>"
    );
    for facets in [false, true] {
        // Names that are no names may be refused, each in its place; a contract of names has the rest.
        let names = ["P", "o"].iter().fold(text.clone(), |text, name| {
            text.replace(&format!("'{name}{HOSTILE}'"), &format!("'{name}'"))
                .replace(&format!("t:{name}{HOSTILE}"), &format!("t:{name}"))
        });
        for text in [&text, &names] {
            let source = match generated(folder.path(), "a\nmod evil {}\r\u{202e}.wsdl", text, facets) {
                Ok(generated) => generated.source,
                Err(errors) => {
                    assert!(text != &names, "{errors:?}");
                    continue;
                }
            };
            let turns = source.chars().find(|&c| castile_xml::changes_direction(c) || (c.is_control() && c != '\n'));
            assert_eq!(turns, None, "{source}");
            assert!(
                source.starts_with(
                    "// @generated by castile-codegen from a\\nmod evil {}\\r\\u{202e}.wsdl. Do not edit.\n"
                )
            );
            let file = syn::parse_file(&source).unwrap();
            let is_evil = |item: &syn::Item| matches!(item, syn::Item::Mod(module) if module.ident == "evil");
            assert!(!file.items.iter().any(is_evil));
        }
    }
}

/// Texts that end, open or turn something where they are not escaped.
const NASTY: [&str; 24] = [
    "*/ mod evil {} /*",
    "/* /* */",
    "// \\",
    "\"; mod evil {} //",
    "\"# \"## \"#####",
    "r####\"x\"###",
    "'\"'\\'\\\"",
    "\\u{41} \\x41 \\",
    "{} {0} {{ }} ${x}",
    "\n}\nmod evil {}\n",
    "a\r\rb\r\n}",
    "\tmod evil {}\t",
    "```\nmod evil {}\n```",
    "` [a](javascript:b) <script> **",
    "]]> <![CDATA[ --> <!--",
    "#![feature(evil)] #[doc(hidden)]",
    "\u{2028}mod evil {}\u{2029}",
    "\u{85}mod evil {}\u{9b}",
    "\u{202e}\u{2066}\u{2069}\u{202c}",
    "\u{200e}\u{200f}\u{61c}\u{feff}",
    "\u{903}\u{345}e\u{301}",
    "日本 \u{1f600} \u{10ffff}",
    "include!(\"/etc/passwd\")",
    "%s ~ $crate ' ; }",
];

/// Where a contract says something: what stands there, and whether it comes as it is in what is generated.
const PLACES: [(&str, bool); 16] = [
    ("TARGET", true),
    ("OTHER", true),
    ("DOCUMENTATION", false),
    ("OF-TYPE", false),
    ("OF-FIELD", false),
    ("OF-VALUE", false),
    ("DEFAULT", true),
    ("FIXED", true),
    ("ATTRIBUTE-DEFAULT", true),
    ("ATTRIBUTE-FIXED", true),
    ("VALUE", true),
    ("PATTERN", false),
    ("WILDCARD", false),
    ("ACTION", false),
    ("ADDRESS", false),
    ("FILE", false),
];

/// A contract with the names of all places in it.
const EVERYWHERE: &str = "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
    xmlns:t='urn:t:TARGET/end' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t:TARGET/end'>
  <documentation>DOCUMENTATION</documentation>
  <types>
    <xs:schema targetNamespace='urn:t:TARGET/end' xmlns:o='urn:o:OTHER/end'><xs:import namespace='urn:o:OTHER/end'/>
      <xs:element name='r'><xs:complexType><xs:annotation><xs:documentation>OF-TYPE</xs:documentation></xs:annotation><xs:sequence>
        <xs:element name='a' type='xs:string' default='DEFAULT'><xs:annotation><xs:documentation>OF-FIELD</xs:documentation></xs:annotation></xs:element>
        <xs:element name='b' type='xs:string' fixed='FIXED'/>
        <xs:element name='c'><xs:simpleType><xs:restriction base='xs:string'><xs:enumeration value='VALUE'><xs:annotation><xs:documentation>OF-VALUE</xs:documentation></xs:annotation></xs:enumeration><xs:enumeration value='other'/></xs:restriction></xs:simpleType></xs:element>
        <xs:element name='d'><xs:simpleType><xs:restriction base='xs:string'><xs:pattern value='PATTERN'/></xs:restriction></xs:simpleType></xs:element>
        <xs:element ref='o:r'/><xs:any namespace='WILDCARD' minOccurs='0'/>
      </xs:sequence><xs:attribute name='e' default='ATTRIBUTE-DEFAULT'/><xs:attribute name='f' type='xs:string' fixed='ATTRIBUTE-FIXED'/></xs:complexType></xs:element>
    </xs:schema>
    <xs:schema targetNamespace='urn:o:OTHER/end'><xs:element name='r'><xs:complexType/></xs:element></xs:schema>
  </types>
  <message name='in'><part name='p' element='t:r'/></message>
  <portType name='P'><documentation>DOCUMENTATION</documentation><operation name='o'><documentation>DOCUMENTATION</documentation><input message='t:in'/></operation></portType>
  <binding name='P' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'><soap:operation soapAction='ACTION'/><input><soap:body use='literal'/></input></operation></binding>
  <service name='P'><documentation>DOCUMENTATION</documentation><port name='P' binding='t:P'><soap:address location='http://h/ADDRESS'/></port></service>
</definitions>";

/// For an attribute or text of XML, whatever it is.
fn escaped(text: &str) -> String {
    text.chars().map(|c| format!("&#{};", u32::from(c))).collect()
}

/// A pattern for a character.
fn literally(c: char) -> String {
    if "\\|.?*+(){}-[]^".contains(c) { format!("\\{c}") } else { c.to_string() }
}

/// What of an item is the same whatever a contract says in its texts: how many items of each kind stand where.
fn outline(items: &[syn::Item]) -> String {
    let kinds = items.iter().map(|item| match item {
        syn::Item::Mod(module) => format!("mod({})", outline(module.content.as_ref().map_or(&[], |(_, items)| items))),
        syn::Item::Struct(item) => format!("struct {}", item.ident),
        syn::Item::Enum(item) => format!("enum {} of {}", item.ident, item.variants.len()),
        syn::Item::Trait(item) => format!("trait {} of {}", item.ident, item.items.len()),
        syn::Item::Impl(item) => format!("impl of {}", item.items.len()),
        syn::Item::Macro(_) => "macro".to_owned(),
        _ => "other".to_owned(),
    });
    kinds.collect::<Vec<_>>().join(" ")
}

/// The texts among tokens.
fn literals(tokens: proc_macro2::TokenStream, found: &mut Vec<String>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => literals(group.stream(), found),
            proc_macro2::TokenTree::Literal(literal) => {
                if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                    found.push(text.value());
                }
            }
            _ => {}
        }
    }
}

#[test]
fn nasty_texts_stay_texts_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let generate_with = |place: &str, text: &str| {
        let mut contract = EVERYWHERE.to_owned();
        for (other, _) in PLACES {
            // A name may begin another's: `DEFAULT` stands in quotes.
            let inside = if other == place { escaped(text) } else { "plain".to_owned() };
            let quoted = |name: &str| {
                [
                    format!("'{name}'"),
                    format!(">{name}<"),
                    format!(":{name}'"),
                    format!(":{name}/"),
                    format!("/{name}'"),
                ]
            };
            for (from, to) in quoted(other).into_iter().zip(quoted(&inside)) {
                contract = contract.replace(&from, &to);
            }
        }
        let name = if place == "FILE" { text.replace(['/', '\0'], "_") } else { "a".to_owned() };
        generated(folder.path(), &format!("{name}.wsdl"), &contract, true)
    };
    let expected = generate_with("", "").unwrap().source;
    let expected = outline(&syn::parse_file(&expected).unwrap().items);
    for text in NASTY {
        for (place, is_kept) in PLACES {
            let pattern: String;
            let said = match place {
                "PATTERN" => {
                    pattern = text.chars().map(literally).collect();
                    &pattern
                }
                _ => text,
            };
            let source = generate_with(place, said).unwrap_or_else(|errors| panic!("{text:?} as {place}: {errors:?}"));
            let source = source.source;
            let turns = source.chars().find(|&c| castile_xml::changes_direction(c) || (c.is_control() && c != '\n'));
            assert_eq!(turns, None, "{text:?} as {place}: {source}");
            let file =
                syn::parse_file(&source).unwrap_or_else(|error| panic!("{text:?} as {place}: {error}: {source}"));
            assert_eq!(outline(&file.items), expected, "{text:?} as {place}");
            // A macro puts them into a line of documentation.
            let mut documented = Vec::new();
            for item in &file.items {
                if let syn::Item::Macro(item) = item
                    && item.mac.path.segments.last().is_some_and(|name| name.ident == "constructors")
                {
                    literals(item.mac.tokens.clone(), &mut documented);
                }
            }
            let ends_line = |text: &String| text.contains(|c: char| c.is_control() || c == '`');
            assert!(!documented.iter().any(ends_line), "{text:?} as {place}: {documented:?}");
            let mut found = Vec::new();
            literals(source.parse().unwrap(), &mut found);
            let is_there = found.iter().any(|found| found.contains(text.trim()));
            assert!(is_there || !is_kept, "{text:?} as {place} is not in {source}");
        }
    }
}
