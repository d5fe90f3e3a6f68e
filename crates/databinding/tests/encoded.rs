//! Graphs and arrays that are built by hand.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_databinding::Encoder;
use castile_databinding::ToXml;
use castile_databinding::encoded::{Array, Encoding, Shared};

#[derive(Debug, PartialEq)]
struct Node {
    name: &'static str,
    next: Option<Shared<Node>>,
    other: Option<Shared<Node>>,
}

impl ToXml for Node {
    fn content(&self, out: &mut Encoder) {
        out.accessor("<name>", &Some(self.name.to_owned()), "</name>");
        out.optional("<next xsi:type=\"Node\">", &self.next, "</next>");
        out.optional("<other xsi:type=\"Node\">", &self.other, "</other>");
    }
}

fn node(name: &'static str, next: Option<Shared<Node>>, other: Option<Shared<Node>>) -> Node {
    Node { name, next, other }
}

/// Creates a cycle: `a` refers to `b`, and `b` to `a`.
fn circle(name: &'static str) -> Shared<Node> {
    Shared::cyclic(|a| node("a", Some(Shared::new(node(name, Some(a), None))), None))
}

#[test]
fn circles_compare_and_print() {
    assert_eq!(circle("b"), circle("b"));
    assert_ne!(circle("b"), circle("c"));
    let unrolled = Shared::new(node("a", Some(Shared::new(node("b", Some(circle("b")), None))), None));
    assert_eq!(circle("b"), unrolled, "all that can be seen of them is equal");
    assert_eq!(
        format!("{:?}", circle("b")),
        "Shared(#1 Node { name: \"a\", next: Some(Shared(#2 Node { name: \"b\", next: Some(Shared(#1)), other: None })), other: None })"
    );
    // The state of an earlier comparison or output has no effect.
    assert_ne!(circle("b"), circle("c"));
    assert!(format!("{:?}", circle("b")).starts_with("Shared(#1 "));
}

/// 64 levels of values that each occur twice have 2^64 paths.
#[test]
fn shared_values_are_visited_once() {
    let graph = || {
        let mut last = Shared::new(node("end", None, None));
        for _ in 0..64 {
            last = Shared::new(node("level", Some(last.clone()), Some(last)));
        }
        last
    };
    assert_eq!(graph(), graph());
    assert!(format!("{:?}", graph()).len() < 10_000);
    let mut out = Encoder::default();
    out.element("<graph>", &graph(), "</graph>");
    assert!(out.finish().unwrap().len() < 10_000);
}

#[test]
fn depth_costs_no_stack() {
    let list = || {
        let mut last = Shared::new(node("end", None, None));
        for _ in 0..20_000 {
            last = Shared::new(node("level", Some(last), None));
        }
        last
    };
    let (one, two) = (list(), list());
    assert_eq!(one, two);
    let mut out = Encoder::default();
    out.element("<list>", &one, "</list>");
    assert_eq!(out.finish().unwrap().windows(6).filter(|window| window == b"<name>").count(), 20_001);
    assert!(format!("{one:?}").len() > 20_000);
}

#[test]
fn references_are_those_of_the_version() {
    for (encoding, expected) in [
        (
            Encoding::Soap11,
            "<one id=\"id1\"><name>a</name><next xsi:type=\"Node\"><name>b</name><next href=\"#id1\"/></next></one>",
        ),
        (
            Encoding::Soap12,
            "<one soapenc:id=\"id1\"><name>a</name><next xsi:type=\"Node\"><name>b</name><next soapenc:ref=\"id1\"/></next></one>",
        ),
    ] {
        let mut out = Encoder::default();
        out.encode(encoding);
        out.element("<one>", &circle("b"), "</one>");
        assert_eq!(String::from_utf8(out.finish().unwrap()).unwrap(), expected);
    }
}

/// `back` is a weak reference whose value is dropped.
#[test]
fn a_dropped_value_is_written_as_nil() {
    let held = circle("b");
    let back = held.downgrade();
    assert!(back.get().is_none() && back.upgrade().is_some_and(|again| again.is_same(&held)));
    drop(held);
    assert!(back.upgrade().is_none());
    assert_eq!(format!("{back:?}"), "Shared(gone)");
    let mut out = Encoder::default();
    out.element("<one xsi:type=\"Node\">", &back, "</one>");
    assert_eq!(out.finish().unwrap(), b"<one xsi:nil=\"true\"/>");
}

#[test]
fn arrays_know_their_dimensions() {
    let array = Array::new(vec![2, 3], 1..=6).unwrap();
    assert_eq!((array.get(&[0, 2]), array.get(&[1, 0])), (Some(&3), Some(&4)));
    for outside in [&[2, 0][..], &[0, 3], &[0], &[0, 0, 0]] {
        assert_eq!(array.get(outside), None, "{outside:?}");
    }
    assert_eq!(Array::new(vec![2, 2], [1]), None);
    assert_eq!(Array::new(vec![usize::MAX, 2], [1]), None);
    assert_eq!(Array::<i32>::default().items(), []);
    assert_eq!(array.into_items().into_iter().flatten().sum::<i32>(), 21);
}
