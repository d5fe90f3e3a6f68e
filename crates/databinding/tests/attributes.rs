//! Attributes are found wherever they are in the tag and in the table of their type.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::schema::{Attribute, Attributes, Element};
use castile_databinding::{Decoder, Error, FromXml};
use castile_xml::{Limits, Memory};

/// More than are located in one pass.
const COUNT: usize = 70;
/// The names are prefixes of this text.
const LONGEST: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

static TABLE: [Attribute; COUNT] = {
    let mut table = [const { Attribute::new("", "") }; COUNT];
    let mut index = 0;
    while index < COUNT {
        table[index].name = LONGEST.split_at(index + 1).0;
        index += 1;
    }
    table
};
static OTHERS: Attributes = Attributes::new(&[Attribute::new("urn:t", "x"), Attribute::new("", "xx")]);

#[derive(Debug)]
struct Many {
    all: Vec<Option<usize>>,
    /// Attributes of another table than that of the type.
    others: [Option<i32>; 2],
}

impl FromXml for Many {
    const ATTRIBUTES: &'static Attributes = &Attributes::new(&TABLE);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let mut attribute = |index| decoder.attribute::<i32>(Self::ATTRIBUTES, index);
        let all = (0..COUNT).map(|index| Ok(attribute(index)?.map(|value| value as usize)));
        let all = all.collect::<Result<_, Error>>()?;
        let others = [decoder.attribute(&OTHERS, 0)?, decoder.attribute(&OTHERS, 1)?];
        decoder.complex(element, |_| Ok(Many { all, others }))
    }
}

#[test]
fn any_order_gives_the_same_values() {
    let forwards: Vec<usize> = (0..COUNT).collect();
    let backwards = forwards.iter().rev().copied().collect();
    let turned = (0..COUNT).map(|index| (index + 40) % COUNT).collect();
    let some = vec![66, 1, 30, 29, 63, 64];
    for order in [forwards, backwards, turned, some] {
        let attributes = order.iter().map(|&index| format!(" {}='{index}'", &LONGEST[..=index]));
        let document = format!("<t:root xmlns:t='urn:t'{}/>", attributes.collect::<String>());
        let (Many { all, others }, _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
        let expected: Vec<_> = (0..COUNT).map(|index| order.contains(&index).then_some(index)).collect();
        assert_eq!(all, expected, "{order:?}");
        assert_eq!(others, [None, Some(1)], "{order:?}");
    }
}
