//! The contract of types of every kind is read without a word by the front end, and its schema takes what the types write.

#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(missing_docs, reason = "the contract has none either")]

mod types;

use castile::datatypes::List;
use castile::{AnyElements, Encoder, Nillable, ToXml, service};
use castile_codegen::{Files, Options, generate};
use castile_xsd::validate::Validator;
use tempfile::TempDir;
use types::*;

/// Echoes.
#[service(namespace = "urn:orders", name = "Echo")]
pub trait Everything {
    async fn order(&self, order: Order) -> Order;
    async fn item(&self, item: Item) -> Item;
    async fn drawing(&self, drawing: Drawing) -> Shape;
    async fn paid(&self, paid: Paid) -> elsewhere::Amount;
    async fn titles(&self, titles: Titles) -> Titles;
    async fn host(&self, host: Host) -> Vec<Host>;
    async fn size(&self, size: Vec<Size>) -> Sized_;
    async fn payment(&self, #[xml(flatten)] payment: Payment) -> Option<Payment>;
    async fn shadows(&self, element: shadows::Element) -> shadows::Fault;
    async fn bare(&self, bare: Bare) -> Open;
    async fn staff(&self, staff: Staff) -> Anybody;
    async fn wide(&self, wide: Wide) -> Wide;
}

/// A group in itself has no end.
#[service(namespace = "urn:endless")]
pub trait Endless {
    async fn within(&self, service: Within, payload: i32, operation: bool);
}

/// In rpc style.
#[service(namespace = "urn:rpc", rpc, soap = "1.1")]
pub trait Calls {
    async fn add(&self, a: i32, b: i32) -> i64;
    async fn sum(&self, amount: elsewhere::Amount) -> elsewhere::Amount;
    async fn shape(&self, shape: Shape) -> Shape;
}

struct Adder;

impl Calls for Adder {
    async fn add(&self, a: i32, b: i32) -> i64 {
        i64::from(a) + i64::from(b)
    }

    async fn sum(&self, amount: elsewhere::Amount) -> elsewhere::Amount {
        elsewhere::Amount { value: amount.value + 1 }
    }

    async fn shape(&self, shape: Shape) -> Shape {
        shape
    }
}

/// Parts are in no namespace, and what is in them is.
#[tokio::test]
async fn calls_in_rpc_style_have_parts() {
    let client = CallsClient::with_transport("http://localhost/calls", CallsServer::new(Adder)).unwrap();
    assert_eq!(client.add(&calls::AddRequest { a: 1, b: 2 }).await.unwrap().result, 3);
    let sum = calls::SumRequest { amount: elsewhere::Amount { value: 4 } };
    assert_eq!(client.sum(&sum).await.unwrap().result.value, 5);
    let shape = Shape::Circle(Circle { radius: 1 });
    assert_eq!(client.shape(&calls::ShapeRequest { shape: shape.clone() }).await.unwrap().result, shape);
    let mut out = Encoder::default();
    out.own_root("urn:rpc", "<sum>", &sum, "</sum>");
    assert_eq!(
        String::from_utf8(out.finish().unwrap()).unwrap(),
        "<own:sum xmlns:own=\"urn:rpc\" xmlns=\"\"><amount><value xmlns=\"urn:money\">4</value></amount></own:sum>"
    );
}

#[test]
fn infinite_types_are_errors() {
    let error = endless::wsdl().unwrap_err().to_string();
    assert_eq!(error, "Within is flattened into itself, so its content is infinite");
}

/// Types that extend each other as no contract can say.
mod extended {
    use castile::{Xml, service};

    macro_rules! types {
        ($($of:ident $(extends $base:ident)? { $($(#[$said:meta])? $field:ident: $held:ty),* })*) => {$(
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:t" $(, extends = $base)?)]
            pub struct $of {
                $($(#[$said])? pub $field: $held,)*
            }
        )*};
    }

    types! {
        Part { a: i32 }
        Wheel extends AnyPart { a: i32 }
        Tyre extends AnyWheel { a: i32 }
        Bolt { #[xml(flatten)] group: right::Group }
        Screw extends AnyBolt { #[xml(flatten)] group: wrong::Group }
    }

    pub mod right {
        #[derive(Clone, Debug, PartialEq, castile::Xml)]
        #[xml(namespace = "urn:t", group)]
        pub struct Group {
            pub b: i32,
        }
    }

    pub mod wrong {
        #[derive(Clone, Debug, PartialEq, castile::Xml)]
        #[xml(namespace = "urn:t", group)]
        pub struct Group {
            pub c: i32,
        }
    }

    macro_rules! enums {
        ($($of:ident $name:literal { $first:ident $(, $more:ident)* })*) => {$(
            #[derive(Clone, Debug, PartialEq, Xml)]
            #[xml(namespace = "urn:t", name = $name, derived)]
            pub enum $of {
                #[xml(itself)]
                $first($first),
                $($more($more),)*
            }
        )*};
    }

    enums! {
        AnyPart "Part" { Part, Wheel }
        OtherPart "Part" { Part }
        AnyWheel "Wheel" { Wheel, Tyre }
        AnyBolt "Bolt" { Bolt, Screw }
    }

    #[service(namespace = "urn:t")]
    pub trait TwoEnums {
        async fn both(&self, one: AnyPart, other: OtherPart);
    }

    #[service(namespace = "urn:t")]
    pub trait NotListed {
        async fn one(&self, one: AnyPart, wheel: AnyWheel);
    }

    #[service(namespace = "urn:t")]
    pub trait OtherGroup {
        async fn one(&self, bolt: AnyBolt);
    }
}

#[test]
fn types_that_extend_each_other_are_distinguished_and_listed() {
    let error = |wsdl: Result<String, castile::ContractError>| wsdl.unwrap_err().to_string();
    assert_eq!(
        error(extended::two_enums::wsdl()),
        "two enums have the type Part in the namespace \"urn:t\" as `itself`: merge them into one enum with all \
         variants"
    );
    assert_eq!(
        error(extended::not_listed::wsdl()),
        "Tyre extends Part, but is not a variant of the enum for Part: add it, or add a variant with #[xml(other)]"
    );
    assert_eq!(
        error(extended::other_group::wsdl()),
        "two types have the name Group: one is flattened into a type, and the other one into the type that it extends"
    );
}

fn kept(wsdl: &str) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("service.wsdl");
    std::fs::write(&file, wsdl).unwrap();
    (folder, file)
}

#[test]
fn the_front_end_has_nothing_to_say() {
    for (wsdl, types) in [
        (
            everything::wsdl(),
            &["struct Order ", "enum Shape ", "struct Amount ", "struct Payment ", "enum Status "][..],
        ),
        (calls::wsdl(), &["struct Amount "]),
    ] {
        let wsdl = wsdl.unwrap();
        let (_folder, file) = kept(&wsdl);
        let generated = generate(&file, &Options::default());
        let generated = generated.unwrap_or_else(|problems| panic!("{problems:?}\n{wsdl}"));
        assert!(generated.diagnostics.is_empty(), "{:?}\n{wsdl}", generated.diagnostics);
        for name in types {
            assert!(generated.source.contains(name), "{name}: {}", generated.source);
        }
    }
}

/// What a type inherits stands at the type that it extends, and nowhere else (XSD Part 1 §3.4.2).
#[test]
fn a_type_that_extends_another_one_declares_its_own_members_alone() {
    let wsdl = everything::wsdl().unwrap();
    let type_of = |name: &str| {
        let (_, rest) = wsdl.split_once(&format!("<xs:complexType name=\"{name}\"")).unwrap();
        rest.split_once("</xs:complexType>\n      <xs:").unwrap().0.to_owned()
    };
    assert_eq!(wsdl.matches("<xs:complexType name=\"Person\"").count(), 1);
    for (name, has, has_not) in [
        ("Person", &["name=\"name\"", "name=\"mails\"", "name=\"id\""][..], &["extension", "abstract"][..]),
        ("Employee", &["base=\"tns:Person\"", "name=\"since\"", "name=\"room\""], &["name=\"mails\"", "name=\"id\""]),
        ("Manager", &["base=\"tns:Employee\"", "name=\"report\""], &["name=\"since\"", "name=\"name\"", "attribute"]),
        ("Remark", &["base=\"xs:string\"", "name=\"lang\""], &["abstract"]),
        ("Signed", &["base=\"tns:Remark\"", "name=\"by\""], &["name=\"lang\""]),
    ] {
        let found = type_of(name);
        for expected in has {
            assert!(found.contains(expected), "{name} lacks {expected}: {found}");
        }
        for other in has_not {
            assert!(!found.contains(other), "{name} has {other}: {found}");
        }
    }
}

/// Each in its place, however many there are.
#[test]
fn a_type_may_have_many_members() {
    let wsdl = everything::wsdl().unwrap();
    let (_, rest) = wsdl.split_once("<xs:complexType name=\"Wide\">").unwrap();
    let (wide, _) = rest.split_once("</xs:complexType>").unwrap();
    let names: Vec<&str> =
        wide.split(" name=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name).collect();
    let expected = (0..26).map(|number| format!("e{number}")).chain((0..13).map(|number| format!("a{number}")));
    assert_eq!(names, expected.collect::<Vec<_>>());
}

fn element<T: ToXml>(name: &str, value: &T) -> String {
    let mut out = Encoder::default();
    out.own_root("urn:orders", &format!("<{name}>"), value, &format!("</{name}>"));
    String::from_utf8(out.finish().unwrap()).unwrap()
}

#[test]
fn written_values_are_valid_against_the_contract() {
    let (_folder, file) = kept(&everything::wsdl().unwrap());
    let (definitions, _) = castile_wsdl::open(&file, &Files::new());
    let definitions = definitions.unwrap();
    let mut validator = Validator::new(&definitions.schema);
    let item = Item { sku: Sku("ABC-1".into()), price: "1.5".parse().unwrap(), tags: None, part: None };
    let whole = Item { tags: Some(List(vec!["a".into()])), part: Some(Box::new(item.clone())), ..item.clone() };
    let order = Order {
        number: 1,
        currency: "USD".into(),
        customer_name: "A".into(),
        date: "2026-02-03".parse().ok(),
        item: vec![item, whole.clone()],
        payment: Some(Payment::Cash(())),
        note: Nillable::Nil,
        status: Status::New,
        rest: AnyElements::default(),
    };
    let circle = Shape::Circle(Circle { radius: 1 });
    let square = Shape::Square(Box::new(Square { unit: Some("cm".into()), side: 2 }));
    let amount = elsewhere::Amount { value: 3 };
    let host = Host {
        public: Some([1, 2, 3, 4].into()),
        first: [127, 0, 0, 1].into(),
        others: vec!["::1".parse().unwrap()],
        name: Some(vec!["a".into()]),
        hosts: Some(Vec::new()),
    };
    let card = Payment::Card(Card { number: "1".into(), valid: None });
    let shadows = shadows::Element { xs: Some(shadows::Fault { error: "e".into(), decoder: None }), r#type: 1 };
    let person = Person { id: Some(1), name: "Ann".into(), mails: vec!["a@b".into()] };
    let employee = Employee {
        room: Some("5".into()),
        id: None,
        name: "Bob".into(),
        mails: Vec::new(),
        since: "2026-02-03".parse().unwrap(),
        boss: None,
    };
    let manager = Manager {
        room: None,
        id: Some(2),
        name: "Eve".into(),
        mails: Vec::new(),
        since: employee.since,
        boss: Some(Box::new(AnyEmployee::Employee(employee.clone()))),
        reports: vec![Anybody::Employee(employee.clone()), Anybody::Person(person.clone())],
    };
    let staff = |remark| Staff {
        somebody: vec![
            Anybody::Person(person.clone()),
            Anybody::Employee(employee.clone()),
            Anybody::Manager(Box::new(manager.clone())),
        ],
        chief: person.clone(),
        remark,
    };
    let signed = Signed { lang: Some("en".into()), by: "Ann".into(), text: "b".into() };
    let plain = staff(Remark::Plain(PlainRemark { lang: None, text: "a".into() }));
    let staff = staff(Remark::Signed(signed));
    let bare = Bare { paid: Paid { amount: amount.clone(), more: Vec::new(), of: None }, shape: circle.clone() };
    for xml in [
        element("order", &everything::OrderRequest { order }),
        element("item", &everything::ItemRequest { item: whole }),
        element("drawing", &everything::DrawingRequest { drawing: Drawing { shape: vec![circle.clone(), square] } }),
        element("drawingResponse", &everything::DrawingResponse { result: circle }),
        element(
            "paid",
            &everything::PaidRequest { paid: Paid { amount: amount.clone(), more: vec![amount.clone()], of: None } },
        ),
        element("titles", &everything::TitlesRequest { titles: titles() }),
        element("paidResponse", &everything::PaidResponse { result: amount }),
        element("host", &everything::HostRequest { host: host.clone() }),
        element("hostResponse", &everything::HostResponse { result: vec![host.clone(), host] }),
        element("size", &everything::SizeRequest { size: vec![Size::Number(1), Size::Name("x".into())] }),
        element("payment", &everything::PaymentRequest { payment: card }),
        element("paymentResponse", &everything::PaymentResponse { result: None }),
        element("shadows", &everything::ShadowsRequest { element: shadows }),
        element("bare", &everything::BareRequest { bare }),
        element("staff", &everything::StaffRequest { staff: plain }),
        element("staff", &everything::StaffRequest { staff }),
        element("staffResponse", &everything::StaffResponse { result: Anybody::Manager(Box::new(manager)) }),
    ] {
        let problems = validator.validate(xml.as_bytes());
        assert!(problems.is_empty(), "{problems:?}: {xml}");
    }
}
