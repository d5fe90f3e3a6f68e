//! Tests that messages in SOAP encoding with references give the same value, or the same error at the same place, whatever
//! was read before: with an empty cache, with one that is full of similar messages, and without a cache.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile::codegen::{Decoder, Root};
use castile_soap::{Envelope, Error};
use castile_suites::codec::Message;
use castile_suites::codec::encoded::EchoStructsRequest;
use castile_xml::{CachedReader, Caches, Limits, Memory};
use common::Random;

const MESSAGES: usize = 6_000;
/// A change that makes most messages wrong occurs once in this many times.
const RARE: usize = 40;
const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
const NAMESPACE: &str = "http://example.com/bench";

fn root() -> &'static Root {
    EchoStructsRequest::root()
}

/// Reads a message as servers do. The memory is returned in any case, as it is there.
fn read(message: &str, limits: Limits, mut memory: Memory) -> (Result<EchoStructsRequest, Error>, Memory) {
    let mut reader = match CachedReader::with_memory(message.as_bytes(), limits, &mut memory) {
        Ok(reader) => reader,
        Err(error) => return (Err(error.into()), memory),
    };
    let begun = Envelope::read(&mut reader).map(|_| ());
    let mut decoder = Decoder::new(reader);
    let value = begun.and_then(|()| Ok(decoder.call(&root().element)?));
    let value = value.and_then(|value| Envelope::read_end_after_trailing(&mut decoder).map(|()| value));
    (value, decoder.into_memory())
}

#[test]
fn earlier_messages_do_not_change_the_result() {
    let mut random = Random::new(11);
    let mut memory = Memory::default();
    let (mut right, mut wrong) = (0, 0);
    for _ in 0..MESSAGES {
        let mut message = message(&mut random);
        for _ in 0..random.below(3) {
            mutate(&mut message, &mut random);
        }
        let limits = Limits::default();
        let expected = format!("{:?}", read(&message, limits, Memory::with_caches(Caches::NONE)).0);
        let (fresh, _) = read(&message, limits, Memory::default());
        assert_eq!(format!("{fresh:?}"), expected, "with tags cached here, and with nothing cached, in {message}");
        let (fast, rest) = read(&message, limits, memory);
        assert_eq!(format!("{fast:?}"), expected, "with tags cached before, and with nothing cached, in {message}");
        memory = rest;
        match fresh {
            Ok(_) => right += 1,
            Err(_) => wrong += 1,
        }
    }
    assert!(right > MESSAGES / 4 && wrong > MESSAGES / 8, "{right} right and {wrong} wrong: no fair attack");
}

/// Returns a call whose structs are inline or independent elements after the call. They name types by prefixes of the
/// envelope or of their own.
fn message(random: &mut Random) -> String {
    let default = random.pick(&["", "", "", " xmlns='urn:none'", " xmlns='http://example.com/bench'"]);
    let space = random.pick(&["", "", "\n  "]);
    let count = random.below(6);
    let (mut items, mut elsewhere) = (String::new(), Vec::new());
    for number in 0..count {
        if random.once_in(4) {
            items += &format!("{space}<items{}>{}</items>", typed("n", random), content("n", space, random));
            continue;
        }
        let name = random.pick(&["items", "items", "item"]);
        items += &format!("{space}<{name} href=\"#id{number}\"/>");
        elsewhere.push(independent(number, space, random));
    }
    if random.once_in(2) {
        elsewhere.reverse();
    }
    format!(
        "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:e=\"{ENCODING}\" xmlns:n=\"{NAMESPACE}\"><s:Body{default}>\
         <n:echoStructs><items e:arrayType=\"n:Item[{count}]\">{items}{space}</items></n:echoStructs>{}{space}</s:Body></s:Envelope>",
        elsewhere.concat()
    )
}

/// Returns a struct as an independent element after the call.
fn independent(number: usize, space: &str, random: &mut Random) -> String {
    // Hiding the prefixes of the envelope changes the types of the content.
    let prefixes: &[&str] = if random.once_in(RARE) { &["e", "xsd"] } else { &["n", "n", "a", "b"] };
    let prefix = random.pick(prefixes);
    let declarations = match prefix {
        // The prefix is declared in the envelope.
        "n" => String::new(),
        _ => format!(" xmlns:{prefix}=\"{NAMESPACE}\""),
    };
    let more = random.pick(&[
        "",
        "",
        "",
        " xmlns:o='urn:other'",
        " xmlns=''",
        " xmlns:e='http://schemas.xmlsoap.org/soap/encoding/'",
    ]);
    let more = if random.once_in(RARE) { " xmlns:xsd='urn:other'" } else { more };
    let more = if prefix == "xsd" || prefix == "e" { "" } else { more };
    let name = random.pick(&["multiRef", "multiRef", "n:ref", "items", "i", "s"]);
    let typed = typed(prefix, random);
    format!(
        "{space}<{name} id=\"id{number}\" e:root=\"0\"{typed}{declarations}{more}>{}{space}</{name}>",
        content(prefix, space, random)
    )
}

fn typed(prefix: &str, random: &mut Random) -> String {
    random.pick(&["", " xsi:type=\"P:Item\"", " xsi:type=\"P:Item\"", " xsi:type=\"e:Struct\""]).replace('P', prefix)
}

/// Returns the content of a struct. Some values name a type with the struct's prefix.
fn content(prefix: &str, space: &str, random: &mut Random) -> String {
    let int = random.pick(&[
        " xsi:type=\"xsd:int\"",
        " xsi:type=\"xsd:int\"",
        " xsi:type='xsd:short'",
        " xsi:type=\"e:string\"",
        "",
    ]);
    // The contract has no such type.
    let int = if random.once_in(RARE) { " xsi:type=\"P:int\"" } else { int };
    let text = random.pick(&[
        " xsi:type=\"xsd:string\"",
        " xsi:type=\"e:string\"",
        " xsi:type=\"xsd:token\"",
        " xsi:nil='1'",
        " id='s'",
    ]);
    let text = if random.once_in(RARE) { " xsi:type=\"P:string\"" } else { text };
    let (int, text) = (int.replace('P', prefix), text.replace('P', prefix));
    let tag = random.pick(&["i", "i", "i", "P:i"]).replace('P', prefix);
    let value = random.below(100);
    let string = match text.as_str() {
        " xsi:nil='1'" => String::new(),
        _ => format!("text {value}"),
    };
    let mut parts = [
        format!("{space}<{tag}{int}>{value}</{tag}>"),
        format!("{space}<f xsi:type=\"xsd:double\">{value}.5</f>"),
        format!("{space}<s{text}>{string}</s>"),
    ];
    if random.once_in(5) {
        parts.reverse();
    }
    if random.once_in(8) {
        parts[1] = "<f href='#id0'/>".into();
    }
    parts.concat()
}

/// Breaks a message, or changes it in a harmless way.
fn mutate(message: &mut String, random: &mut Random) {
    let places: Vec<usize> = message.char_indices().map(|(at, _)| at).collect();
    let at = places[random.below(places.len())];
    match random.below(7) {
        0 => message.truncate(at),
        1 => drop(message.remove(at)),
        2 => message
            .insert_str(at, random.pick(&["<", ">", "/", "&", " ", "x", "1", "'", "\"", "<!-- -->", "<x/>", "é", "#"])),
        // Changes an id or a reference.
        3 | 4 => {
            let digits: Vec<usize> = message.match_indices("id").map(|(at, _)| at + 2).collect();
            let at = digits[random.below(digits.len().max(1)).min(digits.len().saturating_sub(1))..].first().copied();
            if let Some(at) = at.filter(|&at| message.as_bytes().get(at).is_some_and(u8::is_ascii_digit)) {
                message.replace_range(at..=at, &random.below(5).to_string());
            }
        }
        // Repeats a tag.
        _ => {
            let tags: Vec<usize> = message.match_indices('<').map(|(at, _)| at).collect();
            if tags.len() > 3 {
                let first = random.below(tags.len() - 2);
                let piece = message[tags[first]..tags[first + 1]].to_owned();
                message.insert_str(tags[random.below(tags.len())], &piece);
            }
        }
    }
    if message.is_empty() {
        message.push('x');
    }
}
