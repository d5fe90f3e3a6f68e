//! Values nested 100,000 deep support all operations on a stack of 1 MiB.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use castile_databinding::schema::{Content, Element};
use castile_databinding::{Decoder, Encoder, Error, FromXml, Recursive, ToXml};
use castile_xml::{Limits, Memory};
use common::{List, Tree, decode_with};

const DEPTH: usize = 100_000;

/// Runs `work` on a small stack, where deep recursion would end the process.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = DEPTH + 8;
    limits
}

/// Reads, writes, clones, compares, prints, hashes and drops a value.
fn live_through<T>(document: &str)
where
    T: FromXml + ToXml + Clone + PartialEq + Hash + std::fmt::Debug,
{
    let (value, memory) = decode_with::<T>(document, limits(), Memory::default()).unwrap();
    let mut out = Encoder::default();
    out.element("<root xmlns=\"urn:t\">", &value, "</root>");
    assert_eq!(String::from_utf8(out.finish().unwrap()).unwrap(), document);
    let copy = value.clone();
    assert!(copy == value);
    let hash = |value: &T| {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&copy), hash(&value));
    let mut printed = Count(0);
    write!(printed, "{copy:?}").unwrap();
    assert!(printed.0 > DEPTH, "{} bytes were printed", printed.0);
    drop(copy);
    // With the caches of the first document, the second one takes another path through the reader.
    let again = decode_with::<T>(document, limits(), memory).unwrap().0;
    assert!(again == value);
}

/// Reads a text and stores its length.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

#[test]
fn a_long_list_lives() {
    on_a_small_stack(|| {
        let mut document = String::from("<root xmlns=\"urn:t\"><i>0</i>");
        for i in 1..DEPTH {
            write!(document, "<next><i>{i}</i>").unwrap();
        }
        document.push_str(&"</next>".repeat(DEPTH - 1));
        document.push_str("</root>");
        live_through::<List>(&document);
    });
}

#[test]
fn a_deep_tree_lives() {
    on_a_small_stack(|| {
        let document = format!("<root xmlns=\"urn:t\">{}{}</root>", "<n><n></n>".repeat(DEPTH), "</n>".repeat(DEPTH));
        live_through::<Tree>(&document);
    });
}

/// A choice of many large variants needs the stack of one variant only.
macro_rules! one_of_many {
    ($($variant:ident = $number:literal),*) => {
        #[derive(Clone, Debug, PartialEq)]
        enum Many {
            $($variant(Box<Large<$number>>)),*
        }

        impl FromXml for Many {
            const CONTENT: &'static Content = &Content::Sequence(&MANY);

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                match decoder.reader().depth() % 16 {
                    $($number => decoder.boxed(|decoder| decoder.derived(element)).map(Self::$variant),)*
                    number => unreachable!("{number}"),
                }
            }
        }

        impl Many {
            fn inner(&self) -> &[Recursive<Many>] {
                match self {
                    $(Self::$variant(large) => &large.inner),*
                }
            }
        }
    };
}

one_of_many!(
    A = 0,
    B = 1,
    C = 2,
    D = 3,
    E = 4,
    F = 5,
    G = 6,
    H = 7,
    I = 8,
    J = 9,
    K = 10,
    L = 11,
    M = 12,
    N = 13,
    O = 14,
    P = 15
);

#[derive(Clone, Debug, PartialEq)]
struct Large<const NUMBER: usize> {
    inner: Vec<Recursive<Many>>,
    room: [u64; 2048],
}

static MANY: [Element; 1] = [Element::new("urn:t", "n", 41).occurs(0, None)];

impl<const NUMBER: usize> FromXml for Large<NUMBER> {
    const CONTENT: &'static Content = &Content::Sequence(&MANY);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| Ok(Large { inner: decoder.repeated(&MANY, 0)?, room: [0; 2048] }))
    }
}

#[test]
fn what_is_one_of_many_large_values_lives() {
    on_a_small_stack(|| {
        let depth = 500;
        let document = format!("<root xmlns=\"urn:t\">{}{}</root>", "<n>".repeat(depth), "</n>".repeat(depth));
        let (value, _) = decode_with::<Many>(&document, limits(), Memory::default()).unwrap();
        assert!(value.clone() == value);
        let inner = std::iter::successors(value.inner().first(), |value| value.inner().first());
        assert_eq!(inner.count(), depth);
    });
}

#[test]
fn a_list_that_is_wrong_at_its_end_is_refused() {
    on_a_small_stack(|| {
        let document = format!("<root xmlns=\"urn:t\">{}", "<i>0</i><next>".repeat(DEPTH));
        let error = decode_with::<List>(&document, limits(), Memory::default()).unwrap_err();
        let error = error.locate(document.as_bytes(), limits(), Some("root")).to_string();
        assert!(error.contains("next/next/…/next/next"), "{error}");
        assert!(error.contains("the document ends where </next> was expected"), "{error}");
    });
}

#[test]
fn a_list_that_differs_at_its_end_is_not_equal() {
    on_a_small_stack(|| {
        let list = |last| {
            (0..DEPTH).fold(List { i: last, next: None }, |next, i| List { i: i as i32, next: Some(next.into()) })
        };
        assert!(list(1) != list(2));
        let mut list = list(3);
        let inner = list.next.take().unwrap().into_inner();
        assert_eq!(inner.i, DEPTH as i32 - 2);
    });
}

#[test]
fn depth_is_refused_where_it_is_not_allowed() {
    let mut few = Limits::default();
    few.depth = 50;
    let document = |depth| format!("<root xmlns='urn:t'>{}{}</root>", "<n>".repeat(depth), "</n>".repeat(depth));
    let (_, memory) = decode_with::<Tree>(&document(49), few, Memory::default()).unwrap();
    for memory in [memory, Memory::default()] {
        let error = decode_with::<Tree>(&document(50), few, memory).err().unwrap();
        assert_eq!(error.message(), "elements nested more than 50 deep, which is the limit");
        assert_eq!(error.offset(), "<root xmlns='urn:t'>".len() + 49 * "<n>".len());
    }
}

/// Each type contains the next one, as in a contract with deeply nested types.
macro_rules! nested {
    ($type:ident $next:ident $($more:ident)*) => {
        #[allow(dead_code, reason = "only the compiler looks at it")]
        struct $type(Vec<Recursive<$next>>);
        nested!($next $($more)*);
    };
    ($last:ident) => {
        struct $last;
    };
}

nested!(L0 L1 L2 L3 L4 L5 L6 L7 L8 L9 L10 L11 L12 L13 L14 L15 L16 L17 L18 L19 L20 L21 L22 L23 L24 L25 L26 L27 L28 L29 L30 L31);

/// The compiler looks through as many nested types as its `recursion_limit` allows; the default is 128.
#[test]
fn types_that_nest_deeply_are_send_without_a_recursion_limit() {
    fn is_send<T: Send + Sync>() -> usize {
        size_of::<T>()
    }
    assert_eq!(is_send::<L0>(), size_of::<Vec<Recursive<L1>>>());
}
