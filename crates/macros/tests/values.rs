//! Types of a program are read and written as those of a contract would be.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod types;

use std::fmt::Debug;

use castile::codegen::Element;
use castile::datatypes::List;
use castile::xml::{Limits, Reader};
use castile::{AnyElements, Decoder, Encoder, FromXml, Nillable, ToXml};

use types::*;

static ROOT: Element = Element::new(NAMESPACE, "order", 0);

fn read<T: FromXml>(xml: &str) -> Result<T, String> {
    let mut reader = Reader::new(xml.as_bytes(), Limits::default()).map_err(|error| error.to_string())?;
    reader.next().map_err(|error| error.to_string())?;
    Decoder::new(reader).root(&ROOT).map_err(|error| error.to_string())
}

fn written<T: ToXml>(value: &T) -> String {
    let mut out = Encoder::default();
    let start = match T::NAMESPACE {
        None | Some("") => "<order>".to_owned(),
        Some(namespace) => format!("<order xmlns=\"{namespace}\">"),
    };
    out.element(&start, value, "</order>");
    String::from_utf8(out.finish().unwrap()).unwrap()
}

/// What is read is written as it came, but for the first tag.
#[track_caller]
fn round_trip<T: FromXml + ToXml + PartialEq + Debug>(content: &str, value: T) {
    let xml = |start: &str| format!("<order{start}{content}</order>");
    assert_eq!(read::<T>(&xml(" xmlns=\"urn:orders\">")).as_ref(), Ok(&value), "{content}");
    let own = written(&value);
    assert_eq!(read::<T>(&own).as_ref(), Ok(&value), "{own}");
    assert!(own.ends_with(&format!("{content}</order>")), "{own}");
}

#[test]
fn a_struct_has_attributes_elements_choices_and_more() {
    let item = Item { sku: Sku("ABC-1".into()), price: "1.5".parse().unwrap(), tags: None, part: None };
    let parts =
        Item { tags: Some(List(vec!["a".into(), "b".into()])), part: Some(Box::new(item.clone())), ..item.clone() };
    let order = Order {
        number: 7,
        currency: "EUR".into(),
        customer_name: "Ann & Co".into(),
        date: None,
        item: vec![item.clone()],
        payment: None,
        note: Nillable::Value("n".into()),
        status: Status::OnItsWay,
        rest: AnyElements::default(),
    };
    let of_item = "<item><sku>ABC-1</sku><price>1.5</price></item>";
    let xml = format!(
        "<order xmlns='urn:orders' number='7'><customerName>Ann &amp; Co</customerName>{of_item}<note>n</note><status>ON_ITS_WAY</status></order>"
    );
    assert_eq!(read(&xml), Ok(order.clone()));
    let own = written(&order);
    assert_eq!(
        own,
        format!(
            "<order xmlns=\"urn:orders\" currency=\"EUR\" number=\"7\"><customerName>Ann &amp; Co</customerName>{of_item}<note>n</note><status>ON_ITS_WAY</status></order>"
        )
    );
    round_trip(
        "<sku>ABC-1</sku><price>1.5</price><tags>a b</tags><part><sku>ABC-1</sku><price>1.5</price></part>",
        parts,
    );
}

#[test]
fn a_choice_is_flattened_or_an_element() {
    round_trip(
        "<card valid=\"2027-01-31\">1</card>",
        Payment::Card(Card { number: "1".into(), valid: "2027-01-31".parse().ok() }),
    );
    round_trip("<cash/>", Payment::Cash(()));
    let problem = read::<Payment>("<order xmlns='urn:orders'><check/></order>").unwrap_err();
    assert!(problem.contains("<card>, <cash> or <invoice> was expected"), "{problem}");
}

#[test]
fn a_simple_type_holds_to_its_facets() {
    let problem = read::<Item>("<order xmlns='urn:orders'><sku>abc</sku><price>1</price></order>").unwrap_err();
    assert!(
        problem.starts_with("\"abc\" is not a valid Sku: it doesn't match the pattern \"[A-Z]{3}-[0-9]+\""),
        "{problem}"
    );
    assert_eq!(read::<Status>("<order xmlns='urn:orders'> NEW </order>"), Ok(Status::New));
    let problem = read::<Status>("<order xmlns='urn:orders'>OLD</order>").unwrap_err();
    assert!(problem.contains("\"NEW\", \"ON_ITS_WAY\""), "{problem}");
}

#[test]
fn derived_types_are_recognised_by_their_names() {
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let drawing = Drawing {
        shape: vec![
            Shape::Circle(Circle { radius: 1 }),
            Shape::Square(Box::new(Square { unit: Some("cm".into()), side: 2 })),
        ],
    };
    round_trip(
        &format!(
            "<shape {xsi} xsi:type=\"Circle\"><radius>1</radius></shape><shape {xsi} xsi:type=\"Square\" unit=\"cm\"><side>2</side></shape>"
        ),
        drawing,
    );
}

#[test]
fn a_type_that_is_extended_may_have_values_itself() {
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    let person = Person { id: None, name: "Ann".into(), mails: Vec::new() };
    let employee = Employee {
        room: Some("5".into()),
        id: Some(1),
        name: "Bob".into(),
        mails: vec!["b@c".into()],
        since: "2026-02-03".parse().unwrap(),
        boss: None,
    };
    let of_person = "<name>Ann</name><mails></mails>";
    let of_employee = "<name>Bob</name><mails><mail>b@c</mail></mails><since>2026-02-03</since>";
    let signed = Signed { lang: None, by: "Ann".into(), text: "b".into() };
    round_trip(
        &format!(
            "<somebody>{of_person}</somebody>\
             <somebody {xsi} xsi:type=\"Employee\" id=\"1\" room=\"5\">{of_employee}</somebody>\
             <chief>{of_person}</chief>\
             <remark {xsi} xsi:type=\"Signed\" by=\"Ann\">b</remark>"
        ),
        Staff {
            somebody: vec![Anybody::Person(person.clone()), Anybody::Employee(employee)],
            chief: person,
            remark: Remark::Signed(signed),
        },
    );
    let named = read::<Anybody>(&format!("<order xmlns=\"urn:orders\" {xsi} xsi:type=\"Person\">{of_person}</order>"));
    assert!(matches!(named, Ok(Anybody::Person(_))), "{named:?}");
    let other =
        read::<AnyEmployee>(&format!("<order xmlns=\"urn:orders\" {xsi} xsi:type=\"Person\">{of_person}</order>"));
    assert_eq!(
        other.unwrap_err(),
        "<order> is of the type {urn:orders}Person, where {urn:orders}Employee or {urn:orders}Manager was expected (byte 97)"
    );
}

#[test]
fn a_type_of_another_namespace_is_declared_at_its_element() {
    let amount = |value| elsewhere::Amount { value };
    let tag = |name: &str, value: i32| {
        format!("<own:{name} xmlns:own=\"urn:orders\" xmlns=\"urn:money\"><value>{value}</value></own:{name}>")
    };
    let content = format!("{}{}{}<of>x</of>", tag("amount", 1), tag("more", 2), tag("more", 3));
    round_trip(&content, Paid { amount: amount(1), more: vec![amount(2), amount(3)], of: Some("x".into()) });
}

#[test]
fn elements_and_attributes_may_be_of_other_namespaces() {
    let own = |value: i32| {
        format!("<own:amount xmlns:own=\"urn:titles\" xmlns=\"urn:money\"><value>{value}</value></own:amount>")
    };
    let content = format!(
        "<title xml:lang=\"de\">Titel</title><price xmlns=\"urn:money\"><value>1</value></price>{}{}\
         <paid xmlns=\"\"><own:amount xmlns:own=\"urn:orders\" xmlns=\"urn:money\"><value>4</value></own:amount>\
         <of xmlns=\"urn:orders\">x</of></paid><last xmlns=\"urn:titles\">5</last>",
        own(2),
        own(3)
    );
    round_trip(&content, titles());
    let titles = Titles {
        first: Some(1),
        second: Some(2),
        title: Vec::new(),
        price: None,
        amount: Vec::new(),
        paid: None,
        end: Some(End::Least(vec![elsewhere::Amount { value: 6 }])),
    };
    let own = written(&titles);
    assert_eq!(
        own,
        "<order xmlns=\"urn:orders\" xmlns:n0=\"urn:other\" n0:first=\"1\" xmlns:n1=\"urn:other\" n1:second=\"2\">\
         <own:least xmlns:own=\"urn:titles\" xmlns=\"urn:money\"><value>6</value></own:least></order>"
    );
    assert_eq!(read(&own), Ok(titles));
}

#[test]
fn names_of_a_program_may_be_those_of_the_library() {
    let value =
        shadows::Element { xs: Some(shadows::Fault { error: "e".into(), decoder: Some("d".into()) }), r#type: 1 };
    let xml = "<p:order xmlns:p='urn:orders'><xs><decoder>d</decoder><error>e</error></xs><type>1</type></p:order>";
    assert_eq!(read(xml), Ok(value.clone()));
    assert_eq!(written(&value), "<order><xs><error>e</error><decoder>d</decoder></xs><type>1</type></order>");
}

#[test]
fn values_may_use_an_adapter_and_a_wrapping_element() {
    let host = |content: &str| format!("<first>127.0.0.1</first><others>{content}</others>");
    let plain = Host { public: None, first: [127, 0, 0, 1].into(), others: Vec::new(), name: None, hosts: None };
    round_trip("<first>127.0.0.1</first><others></others>", plain.clone());
    let whole = Host {
        public: Some([1, 2, 3, 4].into()),
        others: vec![[10, 0, 0, 1].into(), "::1".parse().unwrap()],
        name: Some(vec!["a".into(), "b".into()]),
        hosts: Some(vec![plain.clone()]),
        ..plain
    };
    let content = host("<other>10.0.0.1</other><other>::1</other>")
        + "<names><name>a</name><name>b</name></names>"
        + &format!("<hosts><host>{}</host></hosts>", host(""));
    let xml = format!("<order xmlns=\"urn:orders\" public=\"1.2.3.4\">{content}</order>");
    assert_eq!(read(&xml), Ok(whole.clone()));
    assert_eq!(written(&whole), xml);
    let problem = read::<Host>("<order xmlns='urn:orders'><first>here</first><others/></order>").unwrap_err();
    assert_eq!(problem, "\"here\" is no IP address (byte 33)");
    let problem =
        read::<Host>("<order xmlns='urn:orders' public='here'><first>::</first><others/></order>").unwrap_err();
    assert!(
        problem
            .starts_with("in the attribute \"public\": \"here\" is not a valid xs:string: \"here\" is no IP address"),
        "{problem}"
    );
}

#[test]
fn a_union_uses_the_first_valid_member_and_bounds_are_checked() {
    round_trip(
        "<size>12</size><size>large</size>",
        Sized_ { size: vec![Size::Number(12), Size::Name("large".into())] },
    );
    assert!(read::<Sized_>("<order xmlns='urn:orders'/>").is_err());
}

#[test]
fn recursive_values_use_the_same_stack_at_any_depth() {
    let deep = |levels: usize| {
        format!("<order xmlns='urn:orders'>{}{}</order>", "<part>".repeat(levels), "</part>".repeat(levels))
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10);
    let run = move || {
        let value = read::<Nested>(&deep(500)).unwrap();
        let own = written(&value);
        assert_eq!(own.matches("<part>").count(), 500);
        // Dropping and comparing it is the program's own affair.
        std::mem::forget(value);
        assert!(read::<Nested>(&deep(10_000)).is_err());
    };
    thread.spawn(run).unwrap().join().unwrap();
}

#[test]
fn what_is_in_no_namespace_holds_what_is_in_one() {
    let value = Bare {
        paid: Paid { amount: elsewhere::Amount { value: 1 }, more: Vec::new(), of: Some("x".into()) },
        shape: Shape::Circle(Circle { radius: 2 }),
    };
    let own = written(&value);
    assert_eq!(
        own,
        "<order><paid><own:amount xmlns:own=\"urn:orders\" xmlns=\"urn:money\"><value>1</value></own:amount>\
         <of xmlns=\"urn:orders\">x</of></paid>\
         <shape xmlns:own=\"urn:orders\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"own:Circle\">\
         <radius xmlns=\"urn:orders\">2</radius></shape></order>"
    );
    assert_eq!(read(&own), Ok(value));
}

#[test]
fn white_space_of_a_text_counts_for_its_facets() {
    let problem = read::<Item>("<order xmlns='urn:orders'><sku> ABC-1 </sku><price>1</price></order>").unwrap_err();
    assert!(problem.contains("doesn't match the pattern"), "{problem}");
}

/// Names of namespaces may be constants, so what is listed could be that of any element behind it.
#[test]
fn elements_declared_after_a_wildcard_do_not_match_it() {
    #[derive(Clone, Debug, PartialEq, castile::Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Listed {
        #[xml(any = "urn:orders urn:other")]
        rest: AnyElements,
        last: Option<i32>,
    }
    let value: Listed = read("<order xmlns='urn:orders'><a/><b xmlns='urn:other'/><last>1</last></order>").unwrap();
    assert_eq!((value.rest.len(), value.last), (2, Some(1)));
    assert!(read::<Listed>("<order xmlns='urn:orders'><a xmlns='urn:third'/></order>").is_err());
}

#[test]
fn any_element_is_one_of_another_namespace() {
    let xml = |any: &str| format!("<order xmlns='urn:orders'><first>1</first>{any}</order>");
    assert!(read::<Open>(&xml("<x xmlns='urn:other'>1</x>")).is_ok());
    assert!(read::<Open>(&xml("<x>1</x>")).is_err());
}
