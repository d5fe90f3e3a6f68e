//! Types as the generator would write them, and functions to read them.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, unreachable_pub, reason = "every test file has a copy of its own and uses a part of it")]

use std::fmt::Debug;

use castile_databinding::schema::{Content, Element, First};
use castile_databinding::{Decoder, Deviations, Encoder, Error, ErrorKind, FromXml, Nillable, Recursive, ToXml};
use castile_xml::{CachedReader, Limits, Memory, Reader, Token};

/// Declares a struct whose content is a sequence, and the table of its elements. Each element has a slot of its own. Those below
/// 60 are taken.
macro_rules! sequence {
    ($type:ident, $table:ident, [$($element:expr),*], $($field:ident: $of:ty = $how:ident $index:literal),*) => {
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $type { $(pub $field: $of),* }
        static $table: [Element; [$(stringify!($element)),*].len()] = [$($element),*];
        impl FromXml for $type {
            const CONTENT: &'static Content = &Content::Sequence(&$table);

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                decoder.complex(element, |decoder| Ok($type { $($field: decoder.$how(&$table, $index)?),* }))
            }
        }
    };
}

sequence!(Sequence, SEQUENCE, [
        Element::new("urn:t", "one", 0),
        Element::new("urn:t", "maybe", 1).occurs(0, Some(1)),
        Element::new("urn:t", "any", 2).occurs(0, None),
        Element::new("urn:t", "some", 3).occurs(2, Some(3)),
        Element::new("urn:t", "last", 4).occurs(0, Some(1))
    ],
    one: i32 = required 0, maybe: Option<String> = optional 1, any: Vec<i32> = repeated 2,
    some: Vec<bool> = repeated 3, last: Option<Inner> = optional 4);

sequence!(Inner, INNER, [Element::new("urn:t", "x", 5), Element::new("", "y", 6).occurs(0, Some(1))],
    x: f64 = required 0, y: Option<Nillable<String>> = optional 1);

sequence!(Nils, NILS, [
        Element::new("urn:t", "text", 10),
        Element::new("urn:t", "number", 11).occurs(0, Some(1)),
        Element::new("urn:t", "inner", 12).occurs(0, None),
        Element::new("urn:t", "plain", 13).occurs(0, Some(1))
    ],
    text: Nillable<String> = required 0, number: Option<Nillable<i32>> = optional 1,
    inner: Vec<Nillable<Inner>> = repeated 2, plain: Option<String> = optional 3);

/// The content of an `xs:all` group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct All {
    pub a: i32,
    pub b: String,
    pub c: Option<Inner>,
}

static ALL: [Element; 3] =
    [Element::new("urn:t", "a", 20), Element::new("urn:t", "b", 21), Element::new("urn:t", "c", 22).occurs(0, Some(1))];

impl FromXml for All {
    const CONTENT: &'static Content = &Content::Among(&[First::Elements(&ALL)]);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| {
            let (mut a, mut b, mut c) =
                (decoder.in_order(&ALL, 0)?, decoder.in_order(&ALL, 1)?, decoder.in_order(&ALL, 2)?);
            while let Some(index) = decoder.one_of(&ALL)? {
                match index {
                    0 => decoder.once(&mut a, &ALL, 0)?,
                    1 => decoder.once(&mut b, &ALL, 1)?,
                    _ => decoder.once(&mut c, &ALL, 2)?,
                }
            }
            Ok(All { a: decoder.present(a, &ALL, 0)?, b: decoder.present(b, &ALL, 1)?, c })
        })
    }
}

/// A list in which each node contains the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct List {
    pub i: i32,
    pub next: Option<Recursive<List>>,
}

static LIST: [Element; 2] = [Element::new("urn:t", "i", 30), Element::new("urn:t", "next", 31).occurs(0, Some(1))];

impl FromXml for List {
    const CONTENT: &'static Content = &Content::Sequence(&LIST);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder
            .complex(element, |decoder| Ok(List { i: decoder.required(&LIST, 0)?, next: decoder.optional(&LIST, 1)? }))
    }
}

impl ToXml for List {
    fn content(&self, out: &mut Encoder) {
        out.element("<i>", &self.i, "</i>");
        out.optional("<next>", &self.next, "</next>");
    }
}

/// A node that contains any number of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tree {
    pub node: Vec<Recursive<Tree>>,
}

static TREE: [Element; 1] = [Element::new("urn:t", "n", 40).occurs(0, None)];

impl FromXml for Tree {
    const CONTENT: &'static Content = &Content::Sequence(&TREE);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| Ok(Tree { node: decoder.repeated(&TREE, 0)? }))
    }
}

impl ToXml for Tree {
    fn content(&self, out: &mut Encoder) {
        out.repeated("<n>", &self.node, "</n>");
    }
}

/// A value in an element of its own, so that its tags can be cached.
#[derive(Debug)]
pub struct Item<T>(pub T);

static ITEM: [Element; 1] = [Element::new("urn:t", "item", 49)];

impl<T: FromXml> FromXml for Item<T> {
    const CONTENT: &'static Content = &Content::Sequence(&ITEM);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| decoder.required(&ITEM, 0).map(Item))
    }
}

static ROOT: Element = Element::new("urn:t", "root", 50);

/// Reads a document whose root element is a `T`, with the caches of earlier documents.
pub fn decode_with<T: FromXml>(input: &str, limits: Limits, mut memory: Memory) -> Result<(T, Memory), Error> {
    let mut reader = CachedReader::with_memory(input.as_bytes(), limits, &mut memory)?;
    while !matches!(reader.next()?, Token::StartTag(_)) {}
    let mut decoder = Decoder::new(reader);
    let value = decoder.root(&ROOT)?;
    while decoder.reader().next()? != Token::End {}
    Ok((value, decoder.into_memory()))
}

/// Reads a document whose root element is a `T`, and returns the tolerated deviations.
pub fn decode_lenient<T: FromXml>(input: &str, limits: Limits) -> Result<(T, Deviations), Error> {
    let mut reader = Reader::new(input.as_bytes(), limits)?;
    while !matches!(reader.next()?, Token::StartTag(_)) {}
    let mut decoder = Decoder::lenient(reader);
    let value = decoder.root(&ROOT)?;
    while decoder.reader().next()? != Token::End {}
    Ok((value, decoder.take_deviations()))
}

/// Reads `content` leniently. Returns its value and the deviations, or the error.
pub fn lenient<T: FromXml + Debug>(content: &str) -> Result<(T, Vec<String>), String> {
    let input = document(content);
    let limits = Limits::default();
    let read = decode_lenient::<Item<T>>(&input, limits);
    let (Item(value), deviations) =
        read.map_err(|error| error.locate(input.as_bytes(), limits, Some("item")).to_string())?;
    let deviations = deviations.locate(input.as_bytes(), limits, Some("item"));
    Ok((value, deviations.iter().map(ToString::to_string).collect()))
}

/// Reads `content`. Returns its value, or the error as users see it. It is read with empty caches and after the `familiar`
/// contents, which must give the same result. If there is no error, a lenient decoder must give the same value.
pub fn decode<T: FromXml + Debug>(familiar: &[&str], content: &str) -> Result<T, String> {
    let input = document(content);
    let limits = Limits::default();
    let mut memory = Memory::default();
    for content in familiar {
        let read = decode_with::<Item<T>>(&document(content), limits, memory);
        memory = read.expect("a familiar document is a right one").1;
    }
    let [fresh, warm] = [Memory::default(), memory].map(|memory| {
        decode_with::<Item<T>>(&input, limits, memory)
            .map(|(Item(value), _)| value)
            .map_err(|error| error.locate(input.as_bytes(), limits, Some("item")))
    });
    assert_eq!(format!("{fresh:?}"), format!("{warm:?}"), "left: read anew, right: with knowledge\n{input}");
    let tolerated = lenient::<T>(content);
    match &fresh {
        Ok(value) => {
            assert_eq!(format!("{tolerated:?}"), format!("{:?}", Ok::<_, String>((value, [""; 0]))), "{input}")
        }
        Err(error) => {
            let is_told = tolerated.is_ok_and(|(_, deviations)| deviations.is_empty());
            assert!(!is_told, "{error} is tolerated silently in\n{input}");
        }
    }
    fresh.map_err(|error| {
        assert_ne!(error.kind(), ErrorKind::Unwritable, "{input}");
        error.to_string()
    })
}

/// Returns a document with `content` in an item of the root element, beginning at line 2, column 8.
fn document(content: &str) -> String {
    let declarations = "xmlns='urn:t' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
    format!("<root {declarations}>\n <item>{content}</item></root>  <!-- the end -->")
}

/// Returns `content` in another layout. Its texts must not contain `><`.
pub fn pretty(content: &str) -> String {
    content.replace("><", ">\n  <")
}
