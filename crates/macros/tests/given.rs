//! Types of a program stand for types of a given contract: what is generated names them, and the compiler checks that they are what the
//! contract says.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::panic::AssertUnwindSafe;

use std::fs;
use std::sync::{Arc, Mutex};

use castile::datatypes::{Date, List};
use castile::{CallError, Detail, Fault, Nillable, Request, Response, Xml};
use castile_codegen::{Generated, Options, generate};

use shop::{PlaceFault, Placed, PlacedChoice, Shop, ShopClient, ShopServer};

#[deny(warnings)]
#[allow(unreachable_pub, reason = "nobody reaches into a test")]
mod shop {
    include!("given/expected.rs");
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:shop")]
struct Order {
    #[xml(attribute)]
    number: u64,
    customer: String,
    when: Option<Date>,
    #[xml(wrap = "lines", name = "line")]
    lines: Vec<Line>,
    status: Status,
    note: Nillable<String>,
    part: Box<Part>,
    sizes: Option<List<i32>>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:shop")]
struct Line {
    #[xml(attribute)]
    item: Option<String>,
    #[xml(text)]
    count: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:shop", rename_all = "camelCase")]
enum Status {
    Open,
    Sent,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:parts", unqualified)]
struct Part {
    #[xml(attribute)]
    weight: Option<f64>,
    sku: String,
    part: Vec<Part>,
}

/// The contract says that it is a header block.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:shop")]
struct Session {
    key: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:shop")]
struct Refused {
    part: Part,
}

fn options() -> Options {
    let mut options = Options::default();
    for name in ["Order", "Line", "Part", "Refused", "Session"] {
        options.of_type(name).rust = Some(format!("crate::{name}"));
    }
    options
}

#[test]
fn generated_code_is_as_expected() {
    let Generated { source, diagnostics, .. } = generate("tests/given/shop.wsdl".as_ref(), &options()).unwrap();
    assert_eq!(diagnostics, []);
    let file = "tests/given/expected.rs";
    if std::env::var_os("BLESS").is_some() {
        fs::write(file, &source).unwrap();
    }
    assert_eq!(fs::read_to_string(file).unwrap(), source);
}

fn order(number: u64) -> Order {
    let part = |sku: &str, part| Part { weight: Some(1.5), sku: sku.into(), part };
    Order {
        number,
        customer: "Ann & Co".into(),
        when: None,
        lines: [1, 2].map(|count| Line { item: Some("tea".into()), count }).into(),
        status: Status::Sent,
        note: Nillable::Nil,
        part: Box::new(part("outer", vec![part("inner", vec![])])),
        sizes: Some(List(vec![1, 2])),
    }
}

#[derive(Clone, Default)]
struct Taker(Arc<Mutex<Vec<Order>>>);

impl Shop for Taker {
    async fn place(&self, request: Request<Order>) -> Result<Response<Placed>, Fault<PlaceFault>> {
        let session = request.header::<Session>()?;
        let order = request.into_inner();
        assert_eq!(session.is_some(), order.number == 1);
        if order.number == 0 {
            let refused = Refused { part: *order.part };
            return Err(Fault::sender("it has no number").with_detail(PlaceFault::Refused(refused)));
        }
        let (first, spare) = ((*order.part).clone(), order.part.part.first().cloned());
        let mut all = self.0.lock().unwrap();
        all.push(order);
        Ok(Placed { order: all.clone(), spare, choice: PlacedChoice::First(first) }.into())
    }
}

#[tokio::test]
async fn messages_hold_types_of_the_program() {
    let client = ShopClient::with_transport("http://localhost/", ShopServer::new(Taker::default())).unwrap();
    let session = Session { key: "k".into() };
    let first = client.place(&order(1)).header(&session).await.unwrap();
    assert_eq!(first.order, [order(1)]);
    let second = client.place(&order(2)).await.unwrap();
    assert_eq!(second.order, [order(1), order(2)]);
    assert_eq!(second.spare.unwrap().sku, "inner");
    assert!(matches!(second.choice, PlacedChoice::First(part) if part == *order(2).part));
    let error = client.place(&order(0)).await.unwrap_err();
    let CallError::Fault { fault: Fault { detail: Detail::Declared(PlaceFault::Refused(refused)), .. }, .. } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(refused.part, *order(0).part);
}

/// Which message the compiler ends with where a type is not what is expected.
#[test]
fn a_type_that_does_not_match_is_reported() {
    use castile::codegen::declared::{
        Declared, ExpectedAttribute, ExpectedContent, ExpectedElement, ExpectedName, ExpectedType, ExpectedTypeKind,
        TypeKind, fits,
    };
    use castile::codegen::xs::{Namespaces, TypeName, ValueConstraint};

    const INT: ExpectedTypeKind = ExpectedTypeKind::Is(<i32 as Declared>::KIND);
    const TEXT: ExpectedTypeKind = ExpectedTypeKind::Is(<String as Declared>::KIND);
    const fn attribute(name: &'static str, is_required: bool, kind: ExpectedTypeKind) -> ExpectedAttribute {
        ExpectedAttribute { namespace: "", name, is_required, kind, constraint: None, message: "attribute" }
    }
    const fn element(name: &'static str, min: u32, max: Option<u32>, kind: ExpectedTypeKind) -> ExpectedElement {
        ExpectedElement {
            name: ExpectedName::Is("", name),
            min_occurs: min,
            max_occurs: max,
            is_nillable: false,
            kind,
            constraint: None,
            message: name,
        }
    }
    const fn expected(
        name: &'static str,
        attributes: &'static [ExpectedAttribute],
        content: ExpectedContent,
    ) -> ExpectedType {
        ExpectedType {
            name: Some(TypeName::new("urn:parts", name)),
            attributes,
            any_attributes: None,
            content,
            other_name: "name",
            more_attributes: "more attributes",
            other_content: "content",
        }
    }
    fn told(expected: &'static ExpectedType) -> Option<String> {
        let panic =
            std::panic::catch_unwind(AssertUnwindSafe(|| fits(<Part as Declared>::DECLARATION, expected))).err()?;
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
    }
    macro_rules! told {
        ($name:expr, [$($attribute:expr),*], $content:ident [$($element:expr),*]) => {{
            static EXPECTED: ExpectedType =
                expected($name, &[$($attribute),*], ExpectedContent::$content(&[$($element),*]));
            told(&EXPECTED)
        }};
    }
    const WEIGHT: ExpectedAttribute = attribute("weight", false, ExpectedTypeKind::Is(<f64 as Declared>::KIND));
    const SKU: ExpectedElement = element("sku", 1, Some(1), TEXT);
    const PARTS: ExpectedElement = element("part", 0, None, ExpectedTypeKind::Is(<Part as Declared>::KIND));
    assert_eq!(told!("Part", [WEIGHT], Sequence[SKU, PARTS]), None);
    // A text takes what is listed.
    let listed = told!(
        "Part",
        [WEIGHT],
        Sequence[element("sku", 1, Some(1), ExpectedTypeKind::Is(TypeKind::Listed(&[("enumeration", "a")]))), PARTS]
    );
    assert_eq!(listed, None);
    // A simple type of the program holds what is told by no more than its name.
    assert_eq!(told!("Part", [WEIGHT], Sequence[element("sku", 1, Some(1), ExpectedTypeKind::Simple), PARTS]), None);
    const FIXED: Option<ValueConstraint> = Some(ValueConstraint::Fixed("a"));
    static MORE: ExpectedType = ExpectedType {
        any_attributes: Some(Namespaces::Any),
        ..expected("Part", &[WEIGHT], ExpectedContent::Sequence(&[SKU, PARTS]))
    };
    for (found, expected) in [
        (told(&MORE), "more attributes"),
        (told!("Part", [ExpectedAttribute { constraint: FIXED, ..WEIGHT }], Sequence[SKU, PARTS]), "attribute"),
        (told!("Part", [WEIGHT], Sequence[ExpectedElement { constraint: FIXED, ..SKU }, PARTS]), "sku"),
        (
            told!("Part", [WEIGHT], Sequence[ExpectedElement { name: ExpectedName::Any(Namespaces::Any), ..SKU }, PARTS]),
            "sku",
        ),
        (told!("Part", [WEIGHT], Sequence[SKU, element("part", 0, None, ExpectedTypeKind::Simple)]), "part"),
        (told!("Port", [WEIGHT], Sequence[SKU, PARTS]), "name"),
        (told!("Part", [], Sequence[SKU, PARTS]), "more attributes"),
        (told!("Part", [WEIGHT, attribute("size", false, INT)], Sequence[SKU, PARTS]), "attribute"),
        (told!("Part", [attribute("weight", true, INT)], Sequence[SKU, PARTS]), "attribute"),
        (told!("Part", [attribute("weight", false, INT)], Sequence[SKU, PARTS]), "attribute"),
        (told!("Part", [WEIGHT], All[SKU, PARTS]), "content"),
        (told!("Part", [WEIGHT], Sequence[SKU]), "content"),
        (told!("Part", [WEIGHT], Sequence[PARTS, SKU]), "part"),
        (told!("Part", [WEIGHT], Sequence[SKU, element("part", 1, None, TEXT)]), "part"),
        (told!("Part", [WEIGHT], Sequence[SKU, element("part", 0, None, TEXT)]), "part"),
        (told!("Part", [WEIGHT], Sequence[element("sku", 0, Some(1), TEXT), PARTS]), "sku"),
        (told!("Part", [WEIGHT], Sequence[element("sku", 1, Some(1), INT), PARTS]), "sku"),
        (told!("Part", [WEIGHT], Sequence[SKU, PARTS, element("more", 0, Some(1), INT)]), "more"),
    ] {
        assert_eq!(found.as_deref(), Some(expected));
    }
}

/// What can't stand for a type is told by the generator.
#[test]
fn types_that_a_type_of_a_program_can_not_replace_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.xsd");
    let schema = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:a" targetNamespace="urn:a">
        <xs:complexType name="Base"><xs:sequence/></xs:complexType>
        <xs:complexType name="More"><xs:complexContent><xs:extension base="Base"/></xs:complexContent></xs:complexType>
        <xs:complexType name="Mixed" mixed="true"><xs:sequence><xs:element name="b" type="xs:int"/></xs:sequence></xs:complexType>
        <xs:complexType name="Choice"><xs:choice><xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:int"/></xs:choice></xs:complexType>
        <xs:complexType name="Deep"><xs:sequence><xs:element name="inner" type="Choice"/></xs:sequence></xs:complexType>
      </xs:schema>"#;
    // Each type stands in two places of the one before, with all of its attributes.
    let attributes: String = (0..50).map(|number| format!("<xs:attribute name='a{number}' type='xs:int'/>")).collect();
    let doubled = (0..9).map(|level| {
        let inner = ["x", "y"].map(|name| format!("<xs:element name='{name}' type='D{}'/>", level + 1)).concat();
        let inner = if level == 8 { String::new() } else { inner };
        format!("<xs:complexType name='D{level}'><xs:sequence>{inner}</xs:sequence>{attributes}</xs:complexType>")
    });
    let doubled: String = doubled.collect();
    let schema = schema.replace("</xs:schema>", &format!("{doubled}</xs:schema>"));
    fs::write(&file, schema).unwrap();
    let told = |name: &str| {
        let mut options = Options::default();
        options.of_type(name).rust = Some("crate::Own".into());
        let diagnostics = generate(&file, &options).unwrap_err();
        assert_eq!(diagnostics.len(), 1);
        diagnostics[0].message.clone()
    };
    assert_eq!(told("Base"), "crate::Own can't replace {urn:a}Base: values of derived types may take its place");
    assert_eq!(told("Mixed"), "crate::Own can't replace Mixed: Mixed has text between its elements");
    assert_eq!(told("Choice"), "crate::Own can't replace Choice: Choice contains the group ChoiceChoice");
    assert_eq!(told("Deep"), "crate::Own can't replace Deep: Choice contains the group ChoiceChoice");
    assert_eq!(
        told("D0"),
        "crate::Own can't replace D0: D8 has too much content: replace types in it by types of the program, too"
    );
    assert_eq!(told("None"), "crate::Own can't replace the type None: it doesn't exist");
}
