//! Decodes complete messages, including the envelope, into values: owned strings, parsed numbers, every
//! element checked.

use castile_suites::codec::Message;
use castile_suites::codec::contract::{EchoStructs, Order};

use crate::{Contestant, Run, hand_typed, with_serde};
use castile_native::Counts;

/// Returns the decoders of `echoStructs`.
pub fn echo() -> Vec<Contestant> {
    three(decoder(ours::<EchoStructs>), decoder(hand_typed::echo), decoder(with_serde::echo))
}

/// Returns the decoders of `order`.
pub fn order() -> Vec<Contestant> {
    three(decoder(ours::<Order>), decoder(hand_typed::order), decoder(with_serde::order))
}

fn three(ours: Run, hand_typed: Run, serde: Run) -> Vec<Contestant> {
    vec![
        Contestant::new("castile decode", "all of XML and namespaces, limits, the whole schema", ours),
        Contestant::new("quick-xml NsReader, by hand", "end tags; namespaces, names in the schema's order", hand_typed),
        Contestant::new("quick-xml serde", "end tags; local names in any order", serde),
    ]
}

fn decoder<T: Items + 'static>(decode: fn(&[u8]) -> Result<T, String>) -> Run {
    Box::new(move |document| Ok(std::hint::black_box(decode(document)?).found()))
}

fn ours<M: Message>(document: &[u8]) -> Result<M, String> {
    M::decode(document).map_err(|error| error.to_string())
}

/// The content of a message, for comparisons.
pub trait Items {
    /// Returns the number of a list's items as elements, and the size of all their strings as text.
    fn found(&self) -> Counts;
}

fn counts<'a>(strings: impl ExactSizeIterator<Item = &'a String>) -> Counts {
    Counts { elements: strings.len(), text: strings.map(String::len).sum(), ..Counts::default() }
}

impl Items for EchoStructs {
    fn found(&self) -> Counts {
        counts(self.item.iter().map(|item| &item.s))
    }
}

impl Items for Order {
    fn found(&self) -> Counts {
        counts(self.line_item.iter().map(|line| &line.product_description))
    }
}

impl Items for with_serde::EchoStructs {
    fn found(&self) -> Counts {
        counts(self.item.iter().map(|item| &item.s))
    }
}

impl Items for with_serde::Order {
    fn found(&self) -> Counts {
        counts(self.line_item.iter().map(|line| &line.product_description))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::read;

    /// Compares all fields, not only those that are counted.
    #[test]
    fn values_are_the_same() {
        let Some(message) = read("workloads/codec/echo100pretty.xml") else { return };
        let expected = format!("{:?}", ours::<EchoStructs>(&message).unwrap());
        assert_eq!(format!("{:?}", hand_typed::echo(&message).unwrap()), expected);
        assert_eq!(format!("{:?}", with_serde::echo(&message).unwrap()), expected);
        let Some(message) = read("workloads/codec/order50pretty.xml") else { return };
        let expected = format!("{:?}", ours::<Order>(&message).unwrap());
        assert_eq!(format!("{:?}", hand_typed::order(&message).unwrap()), expected);
        assert_eq!(format!("{:?}", with_serde::order(&message).unwrap()), expected);
    }
}
