//! Types of a program as documents, whole and item by item.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fmt::Debug;

use castile::document::{self, Repeats};
use castile::{Document, FromXml, Nillable, Xml};

const NAMESPACE: &str = "urn:quakes";

#[derive(Clone, Debug, PartialEq, Xml, Document)]
#[xml(namespace = NAMESPACE, element = "catalogue")]
struct Quakes {
    #[xml(attribute)]
    version: u32,
    title: String,
    #[xml(items)]
    event: Vec<Event>,
    #[xml(wrap = "stations", name = "station", items)]
    stations: Option<Vec<Station>>,
    /// What is in it is reached through it.
    #[xml(items)]
    remarks: Option<Box<Remarks>>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
struct Event {
    magnitude: Nillable<f64>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
struct Station {
    #[xml(text)]
    code: String,
}

/// Of another namespace.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:remarks")]
struct Remarks {
    by: Option<String>,
    #[xml(min = 1, items)]
    remark: Vec<Remark>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "urn:remarks", unqualified)]
struct Remark {
    text: String,
}

/// A document in no namespace.
#[derive(Clone, Debug, PartialEq, Xml, Document)]
#[xml(namespace = "")]
struct Settings {
    #[xml(attribute)]
    level: Option<i32>,
    #[xml(items)]
    entry: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = "")]
struct Entry {
    key: String,
}

/// A document whose content is a choice.
#[derive(Clone, Debug, PartialEq, Xml, Document)]
#[xml(namespace = NAMESPACE)]
enum Shape {
    Round(f64),
    Square(f64),
}

/// A simple type as a document.
#[derive(Clone, Debug, PartialEq, Xml, Document)]
#[xml(namespace = NAMESPACE, element = "code", max_length = 3)]
struct Code(String);

fn quakes() -> Quakes {
    let remark = |text: &str| Remark { text: text.into() };
    Quakes {
        version: 1,
        title: "a < b".into(),
        event: [Nillable::Value(5.5), Nillable::Nil].map(|magnitude| Event { magnitude }).into(),
        stations: Some(["AAK", "KBL"].map(|code| Station { code: code.into() }).into()),
        remarks: Some(Box::new(Remarks { by: None, remark: vec![remark("strong"), remark("far")] })),
    }
}

fn round_trip<D: Document + PartialEq + Debug>(value: &D) -> String {
    let text = document::to_string(value).unwrap();
    assert_eq!(&document::from_str::<D>(&text).unwrap(), value, "{text}");
    text
}

#[test]
fn types_are_documents() {
    let text = round_trip(&quakes());
    let begin = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<catalogue xmlns=\"urn:quakes\" version=\"1\">\
                 <title>a &lt; b</title>";
    assert!(text.starts_with(begin), "{text}");
    let text = round_trip(&Settings { level: None, entry: vec![Entry { key: "k".into() }] });
    assert!(text.ends_with("<settings xmlns=\"\"><entry><key>k</key></entry></settings>"), "{text}");
    let text = round_trip(&Shape::Square(2.5));
    assert!(text.ends_with("<shape xmlns=\"urn:quakes\"><square>2.5</square></shape>"), "{text}");
    assert!(round_trip(&Code("abc".into())).ends_with("<code xmlns=\"urn:quakes\">abc</code>"));
    let error = document::from_str::<Code>("<code xmlns='urn:quakes'>abcd</code>").unwrap_err();
    assert!(error.to_string().starts_with("code: "), "{error}");
}

/// Reads items and the rest, which is what `take` leaves.
fn items<D, T>(value: &D, take: impl Fn(&mut D) -> Vec<T>)
where
    D: Document + Repeats<T> + Clone + PartialEq + Debug,
    T: FromXml + PartialEq + Debug,
{
    let text = document::to_string(value).unwrap();
    let mut found = document::open::<D, _>(text.as_bytes()).items::<T>();
    let all: Vec<T> = found.by_ref().collect::<Result<_, _>>().unwrap();
    let mut rest = value.clone();
    assert_eq!(all, take(&mut rest));
    assert_eq!(found.rest().unwrap(), rest);
}

#[test]
fn repeated_elements_are_read_item_by_item() {
    items(&quakes(), |quakes| std::mem::take(&mut quakes.event));
    items(&quakes(), |quakes| std::mem::take(quakes.stations.as_mut().unwrap()));
    // One at least must come, and none is left.
    items(&quakes(), |quakes| std::mem::take(&mut quakes.remarks.as_mut().unwrap().remark));
    let settings = Settings { level: Some(1), entry: vec![Entry { key: "k".into() }, Entry { key: "l".into() }] };
    items(&settings, |settings| std::mem::take(&mut settings.entry));
}

#[test]
fn missing_required_elements_are_reported() {
    let text = "<catalogue xmlns='urn:quakes' version='1'><title/><remarks xmlns:r='urn:remarks'/></catalogue>";
    let error = document::from_str::<Quakes>(text).unwrap_err();
    assert!(error.to_string().contains("<remark>"), "{error}");
    let events = document::open::<Quakes, _>(text.as_bytes()).items::<Event>();
    let error = events.rest().unwrap_err();
    assert!(error.to_string().contains("<remark>"), "{error}");
}
