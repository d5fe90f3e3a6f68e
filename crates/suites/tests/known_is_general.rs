//! Tests that cached tags, beginnings and ends of messages give the same result as reading them: the same value, or
//! the same error at the same place. Thousands of messages in all layouts, valid and broken, are read with an empty
//! cache and with one that is full of similar messages.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::fmt::Debug;

use castile::codegen::{Decoder, FromXml, Root, ToXml};
use castile_soap::{Envelope, Error, Version, message};
use castile_suites::{benchmark1, codec, wstest};
use castile_xml::{CachedReader, Limits, Memory, Reader};
use common::layout::{Layout, Node};
use common::{Random, values};

/// How many senders there are for each type, and how many broken messages each of them sends.
const SENDERS: usize = 60;
const BROKEN: usize = 40;

/// Reads a message as servers and clients do. Returns the memory if the message was valid.
fn read<T: FromXml>(
    root: &'static Root,
    input: &[u8],
    limits: Limits,
    mut memory: Memory,
) -> Result<(T, Memory), Error> {
    let mut reader = CachedReader::with_memory(input, limits, &mut memory)?;
    begin(&mut reader, root, limits)?;
    let mut decoder = Decoder::new(reader);
    let value = decoder.root(&root.element)?;
    Envelope::read_end(decoder.reader())?;
    Ok((value, decoder.into_memory()))
}

/// Reads up to the payload, which must be `root`.
fn begin(reader: &mut CachedReader<'_>, root: &'static Root, limits: Limits) -> Result<(), Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_| false)?;
    let name = payload.map(|tag| (reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned()));
    match name {
        Some((namespace, local)) if (&*namespace, &*local) == (root.element.namespace, root.element.name) => Ok(()),
        // The payload has another root. This creates an error that contains the name of the payload.
        other => {
            let error = Reader::new(format!("{other:?}").as_bytes(), limits)?.next().map(|_| unreachable!());
            error.map_err(Into::into)
        }
    }
}

/// Reads a message leniently, and returns the tolerated deviations.
fn read_lenient<T: FromXml>(
    root: &'static Root,
    message: &[u8],
    limits: Limits,
) -> Result<(T, castile::Deviations), Error> {
    let mut reader = CachedReader::new(message, limits)?;
    begin(&mut reader, root, limits)?;
    let mut decoder = Decoder::lenient(reader);
    let value = decoder.root::<T>(&root.element)?;
    Envelope::read_end(decoder.reader())?;
    Ok((value, decoder.take_deviations().locate(message, limits, None)))
}

/// Sends messages of one type in many layouts, valid and broken.
fn attack<T: FromXml + ToXml + Debug>(seed: u64, root: &'static Root, make: fn(&mut Random) -> T) {
    let mut random = Random::new(seed);
    let (mut refused, mut tolerated) = (0, 0);
    for _ in 0..SENDERS {
        let layout = Layout::random(&mut random);
        let mut limits = Limits::default();
        let write = |random: &mut Random| {
            let value = make(random);
            let envelope = Node::parse(&message::write(Version::Soap11, root, &value, Vec::new()).unwrap());
            (format!("{value:?}"), layout.write(&envelope, random))
        };
        let familiar: Vec<(String, String)> = (0..3).map(|_| write(&mut random)).collect();
        let warm = || {
            familiar.iter().fold(Memory::default(), |memory, (value, message)| {
                let (found, memory) = read::<T>(root, message.as_bytes(), Limits::default(), memory).expect(message);
                assert_eq!(&format!("{found:?}"), value, "{message}");
                memory
            })
        };
        let mut memory = warm();
        for _ in 0..BROKEN {
            let mut message = write(&mut random).1.into_bytes();
            for _ in 0..random.below(3) {
                mutate(&mut message, &mut random);
            }
            limits.depth = if random.once_in(8) { 1 + random.below(7) } else { Limits::default().depth };
            let text = || String::from_utf8_lossy(&message).into_owned();
            let fresh = read::<T>(root, &message, limits, Memory::default()).map(|(value, _)| value);
            refused += usize::from(fresh.is_err());
            let leniently = read_lenient::<T>(root, &message, limits);
            match (&fresh, &leniently) {
                (Ok(value), Ok((same, deviations))) => {
                    assert_eq!(format!("{same:?}"), format!("{value:?}"), "{}", text());
                    assert!(deviations.is_empty(), "{deviations} in {}", text());
                }
                (Ok(_), Err(error)) => panic!("{error}, for a lenient decoder alone, in {}", text()),
                (Err(error), Ok((_, deviations))) => {
                    tolerated += 1;
                    assert!(!deviations.is_empty(), "{error} is tolerated silently in {}", text());
                }
                (Err(_), Err(_)) => {}
            }
            match read::<T>(root, &message, limits, memory) {
                Ok((value, rest)) => {
                    assert_eq!(format!("{:?}", Ok::<_, Error>(&value)), format!("{fresh:?}"), "{}", text());
                    memory = rest;
                }
                Err(error) => {
                    assert_eq!(format!("{:?}", Err::<T, _>(error)), format!("{fresh:?}"), "{}", text());
                    memory = warm();
                }
            }
        }
    }
    let all = SENDERS * BROKEN;
    assert!((all / 4..all * 9 / 10).contains(&refused), "{refused} of {all} messages were refused: no fair attack");
    assert!(tolerated > 0, "{tolerated} of {refused} were tolerated: no fair attack");
}

/// Breaks a message, or changes it in a harmless way.
fn mutate(message: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(message.len() + 1);
    match random.below(13) {
        0 => message.truncate(at),
        1 => drop(message.drain(at..(at + 1 + random.below(4)).min(message.len()))),
        2 => drop(message.splice(at..at, random.pick(&PIECES).bytes())),
        3 if at + 1 < message.len() => message.swap(at, at + 1),
        4 if at < message.len() => message[at] = random.next() as u8,
        5..=8 => move_elements(message, random),
        _ => change_a_name(message, random),
    }
}

const PIECES: [&str; 28] = [
    "<",
    ">",
    "/",
    "&",
    "&lt;",
    "&#x;",
    " ",
    "\n",
    "\r",
    "\t",
    "x",
    "1",
    "-",
    ":",
    "=",
    "'",
    "\"",
    "]]>",
    "<!-- -->",
    "<?p?>",
    "<![CDATA[",
    "<i>1</i>",
    "<x/>",
    "</",
    "/>",
    "\u{FFFE}",
    "é",
    "\0",
];

/// Duplicates, moves or removes an element, a tag or a text.
fn move_elements(message: &mut Vec<u8>, random: &mut Random) {
    let tags = |message: &[u8]| -> Vec<usize> { (0..message.len()).filter(|&at| message[at] == b'<').collect() };
    let ends = tags(message);
    if ends.len() < 4 {
        return;
    }
    let first = random.below(ends.len() - 3);
    let last = first + 1 + random.below(3.min(ends.len() - first - 1));
    let piece: Vec<u8> = message[ends[first]..ends[last]].to_vec();
    match random.below(3) {
        0 => drop(message.drain(ends[first]..ends[last])),
        1 => drop(message.splice(ends[last]..ends[last], piece)),
        _ => {
            message.drain(ends[first]..ends[last]);
            let ends = tags(message);
            let at = ends[random.below(ends.len())];
            message.splice(at..at, piece);
        }
    }
}

/// Replaces a name by another one, changes its prefix, or adds a declaration after it.
fn change_a_name(message: &mut Vec<u8>, random: &mut Random) {
    let end_of_name = |at: usize| at + message[at..].iter().take_while(|byte| !b" />\t\r\n".contains(byte)).count();
    let names: Vec<(usize, usize)> = (1..message.len())
        .filter(|&at| matches!(message[at - 1], b'<' | b'/') && message[at].is_ascii_alphabetic())
        .map(|at| (at, end_of_name(at)))
        .collect();
    if names.is_empty() {
        return;
    }
    let [(from, to), (start, end)] = [names[random.below(names.len())], names[random.below(names.len())]];
    let other = String::from_utf8_lossy(&message[start..end]).into_owned();
    let prefix = other.split_once(':').map_or("", |(prefix, _)| prefix);
    let name = String::from_utf8_lossy(&message[from..to]).into_owned();
    let local = name.rsplit(':').next().unwrap_or_default();
    let new = match random.below(6) {
        0 => other,
        1 if prefix.is_empty() => local.to_owned(),
        1 => format!("{prefix}:{local}"),
        2 => format!("again:{local}"),
        3 => format!("again:{local} xmlns='urn:x'"),
        4 => format!("again:{local} xml:lang='en'"),
        _ => {
            let declaration = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            format!("{name} {declaration}='urn:x'")
        }
    };
    message.splice(from..to, new.bytes());
}

#[test]
fn structs_and_lists() {
    let operations = &wstest::contract::TEST_SERVICE_SOAP_OPERATIONS;
    attack(1, &operations[1].request, values::echo_struct);
    attack(2, &operations[2].request, values::echo_list);
}

#[test]
fn orders() {
    attack(3, wstest::contract::TEST_SERVICE_SOAP_OPERATIONS[3].response.as_ref().unwrap(), values::order);
}

#[test]
fn arrays() {
    let operation =
        |name| benchmark1::contract::BENCHMARK_OPERATIONS.iter().find(|operation| operation.name == name).unwrap();
    attack(4, &operation("echoInts").request, values::ints);
    attack(5, operation("echoDoubles").response.as_ref().unwrap(), values::doubles);
    attack(6, &operation("echoStrings").request, values::strings);
    attack(7, &operation("echoBase64").request, values::bytes);
    attack(8, &codec::contract::CODEC_OPERATIONS[0].request, values::structs);
}

#[test]
fn all_in_any_order() {
    let operation =
        |name| benchmark1::contract::BENCHMARK_OPERATIONS.iter().find(|operation| operation.name == name).unwrap();
    attack(9, &operation("echoMeshInterfaceObjects").request, values::mesh);
    attack(10, &operation("echoSimpleEvents").request, values::events);
}
