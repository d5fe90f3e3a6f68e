//! Checks that typed values are read and written correctly, with cached tags and with the tokeniser alone.

use std::fmt::Debug;

use castile::codegen::{Decoder, FromXml, Operation, Root, ToXml};
use castile_soap::{Envelope, Error, Version, message};
use castile_suites::{benchmark1, codec, interop, wstest};
use castile_xml::{CachedReader, Caches, Limits, Memory, Reader, Token};

use crate::features::{encoded, rpc_literal};
use crate::{documents, limits_for, shown};

/// A contract whose messages have attributes, choices, derived types and other features that those of the suites lack.
#[allow(dead_code, reason = "neither client nor server are for fuzzing")]
mod shapes {
    castile::include_contract!("shapes");
}

/// Decodes any bytes as messages of the suites' contracts, and of contracts with further features.
///
/// A message is read three times: with every tag tokenised, with tags cached from this message only, and with tags cached from
/// earlier messages. All three must give the same value, or the same error at the same position. For a valid message, a lenient
/// decoder must read the same value without a deviation. For an invalid message, it may report deviations instead of an error.
/// SOAP encoding has no lenient mode; there, references must lead to the same values however they are found. It must be possible
/// to write a decoded value, and to read the same value from what was written.
pub fn decode(input: &[u8]) {
    let documents = documents(input);
    let kinds = kinds();
    let mut memory = Memory::default();
    // The second time, everything is cached.
    for document in documents.iter().chain(&documents) {
        let mut limits = limits_for(document);
        // The default is many times the size of the largest input. With it, a single input could take as much work as all of the
        // largest inputs together.
        limits.encoding_expansion = 16 << 10;
        let payload = payload(document);
        let is_it =
            |kind: &&Kind| payload.as_deref() == Some(&expanded(kind.root.element.namespace, kind.root.element.name));
        if let Some(kind) = kinds.iter().find(is_it) {
            memory = (kind.check)(kind.root, document, limits, memory);
        }
    }
}

/// A kind of message.
pub(crate) struct Kind {
    pub(crate) root: &'static Root,
    check: fn(&'static Root, &[u8], Limits, Memory) -> Memory,
    pub(crate) rewrite: Rewrite,
}

/// Reads a message and writes it again.
type Rewrite = fn(&'static Root, &[u8], Limits) -> Result<Vec<u8>, String>;

/// Returns the name of the element in the body.
pub(crate) fn payload(document: &[u8]) -> Option<String> {
    let mut reader = CachedReader::new(document, Limits::default()).ok()?;
    let tag = Envelope::read(&mut reader).ok()?.1?;
    Some(expanded(reader.namespace(tag.namespace), tag.name.local()))
}

pub(crate) fn expanded(namespace: &str, local: &str) -> String {
    format!("{{{namespace}}}{local}")
}

pub(crate) fn kinds() -> Vec<Kind> {
    use benchmark1::contract as b;
    use codec::{contract as c, encoded as e};
    use interop::{base, group_b};
    use wstest::contract as w;
    let mut kinds = Vec::new();
    kinds.extend(both::<b::EchoVoid, b::EchoVoidResponse>(&b::BENCHMARK_OPERATIONS, "echoVoid"));
    kinds.extend(both::<b::EchoBase64, b::EchoBase64Response>(&b::BENCHMARK_OPERATIONS, "echoBase64"));
    kinds.extend(both::<b::EchoStrings, b::EchoStringsResponse>(&b::BENCHMARK_OPERATIONS, "echoStrings"));
    kinds.extend(both::<b::EchoInts, b::EchoIntsResponse>(&b::BENCHMARK_OPERATIONS, "echoInts"));
    kinds.extend(both::<b::EchoDoubles, b::EchoDoublesResponse>(&b::BENCHMARK_OPERATIONS, "echoDoubles"));
    kinds.extend(both::<b::EchoMeshInterfaceObjectsRequest, b::EchoMeshInterfaceObjectsResponse>(
        &b::BENCHMARK_OPERATIONS,
        "echoMeshInterfaceObjects",
    ));
    kinds.extend(both::<b::EchoSimpleEventsRequest, b::EchoSimpleEventsResponse>(
        &b::BENCHMARK_OPERATIONS,
        "echoSimpleEvents",
    ));
    kinds.extend(both::<c::EchoStructs, c::EchoStructsResponse>(&c::CODEC_OPERATIONS, "echoStructs"));
    kinds.extend(both::<c::Order, c::OrderResponse>(&c::CODEC_OPERATIONS, "order"));
    kinds.extend(both::<w::EchoStruct, w::EchoStructResponse>(&w::TEST_SERVICE_SOAP_OPERATIONS, "EchoStruct"));
    kinds.extend(both::<w::EchoList, w::EchoListResponse>(&w::TEST_SERVICE_SOAP_OPERATIONS, "EchoList"));
    kinds.extend(both::<w::GetOrder, w::GetOrderResponse>(&w::TEST_SERVICE_SOAP_OPERATIONS, "GetOrder"));
    kinds.extend(both::<shapes::Shape, shapes::Shape>(&shapes::SHAPES_OPERATIONS, "draw"));
    kinds.extend(both::<e::EchoStructsRequest, e::EchoStructsResponse>(&e::ENCODED_OPERATIONS, "echoStructs"));
    kinds
        .extend(both::<rpc_literal::EchoRequest2, rpc_literal::EchoResponse>(&rpc_literal::FEATURE_OPERATIONS, "echo"));
    kinds.extend(both::<encoded::GraphRequest, encoded::GraphResponse>(&encoded::FEATURE_OPERATIONS, "graph"));
    kinds.extend(both::<encoded::ArraysRequest, encoded::ArraysResponse>(&encoded::FEATURE_OPERATIONS, "arrays"));
    kinds.extend(both::<encoded::AnimalsRequest, encoded::AnimalsResponse>(&encoded::FEATURE_OPERATIONS, "animals"));
    kinds.extend(both::<encoded::OpenRequest, encoded::OpenResponse>(&encoded::FEATURE_OPERATIONS, "open"));
    kinds.extend(both::<base::EchoStructRequest, base::EchoStructResponse>(
        &base::INTEROP_BASE_OPERATIONS,
        "echoStruct",
    ));
    kinds.extend(both::<base::EchoStringArrayRequest, base::EchoStringArrayResponse>(
        &base::INTEROP_BASE_OPERATIONS,
        "echoStringArray",
    ));
    kinds.extend(both::<base::EchoStructArrayRequest, base::EchoStructArrayResponse>(
        &base::INTEROP_BASE_OPERATIONS,
        "echoStructArray",
    ));
    kinds.extend(both::<group_b::Echo2DStringArrayRequest, group_b::Echo2DStringArrayResponse>(
        &group_b::INTEROP_GROUP_B_OPERATIONS,
        "echo2DStringArray",
    ));
    kinds.extend(both::<group_b::EchoNestedStructRequest, group_b::EchoNestedStructResponse>(
        &group_b::INTEROP_GROUP_B_OPERATIONS,
        "echoNestedStruct",
    ));
    kinds.extend(both::<group_b::EchoNestedArrayRequest, group_b::EchoNestedArrayResponse>(
        &group_b::INTEROP_GROUP_B_OPERATIONS,
        "echoNestedArray",
    ));
    kinds
}

/// Returns the kinds of the request and of the response of an operation.
fn both<Q, R>(operations: &'static [Operation], name: &str) -> [Kind; 2]
where
    Q: FromXml + ToXml + Debug + PartialEq,
    R: FromXml + ToXml + Debug + PartialEq,
{
    let operation = operations.iter().find(|operation| operation.name == name);
    let operation = operation.unwrap_or_else(|| panic!("no operation {name}"));
    let response = operation.response.as_ref().unwrap_or_else(|| panic!("{name} has no response"));
    [
        Kind { root: &operation.request, check: check::<Q>, rewrite: rewrite::<Q> },
        Kind { root: response, check: check::<R>, rewrite: rewrite::<R> },
    ]
}

/// Reads a message and writes the value.
fn rewrite<T: FromXml + ToXml>(root: &'static Root, document: &[u8], limits: Limits) -> Result<Vec<u8>, String> {
    let value = message::read::<T>(root, document, limits).map_err(|error| error.to_string())?;
    message::write(Version::Soap11, root, &value, Vec::new()).map_err(|error| error.to_string())
}

/// Reads `document` in all ways, and returns `memory` with the tags that were cached from it.
fn check<T: FromXml + ToXml + Debug + PartialEq>(
    root: &'static Root,
    document: &[u8],
    limits: Limits,
    memory: Memory,
) -> Memory {
    let (slow, _) = read::<T>(root, document, limits, Memory::with_caches(Caches::NONE));
    let (fresh, _) = read::<T>(root, document, limits, Memory::default());
    let (fast, memory) = read::<T>(root, document, limits, memory);
    // Compared as text, so that NaN equals itself.
    let slow_text = format!("{slow:?}");
    assert_eq!(
        format!("{fresh:?}"),
        slow_text,
        "with tags cached here, and with nothing cached, in {}",
        shown(document)
    );
    assert_eq!(
        format!("{fast:?}"),
        slow_text,
        "with tags cached before, and with nothing cached, in {}",
        shown(document)
    );
    match root.is_encoded {
        false => check_lenient(&slow, root, document, limits),
        true => check_references(&slow, root, document, limits),
    }
    if let Ok(value) = slow {
        let written = message::write(Version::Soap11, root, &value, Vec::new())
            .unwrap_or_else(|error| panic!("what was read from {} can't be written: {error}", shown(document)));
        let again = read::<T>(root, &written, Limits::default(), Memory::default()).0;
        // Qualified names are equal even if their prefixes differ. NaN is equal to itself only as text.
        let again_text = format!("{again:?}");
        let is_same = again.as_ref().is_ok_and(|again| *again == value)
            || again_text == slow_text
            || without_prefixes(&again_text) == without_prefixes(&slow_text);
        assert!(is_same, "{slow_text}, written as {} and read as {again:?}", shown(&written));
    }
    memory
}

/// Removes namespace declarations, prefixes and white space from a debug output, because they may differ between equal values.
/// XML that is kept as text may declare namespaces that it doesn't need. A name is written with another prefix if its own is in
/// use.
fn without_prefixes(debugged: &str) -> String {
    let mut pieces = debugged.split(" xmlns");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let value = piece.split_once('=').map(|(_, value)| value.trim_start());
        let rest = value.and_then(|value| {
            let quote = if value.starts_with('\'') { "'" } else { "\\\"" };
            value.strip_prefix(quote)?.split_once(quote).map(|(_, rest)| rest)
        });
        text.push_str(rest.unwrap_or(piece));
    }
    let mut plain = String::new();
    for c in text.replace("\\n", "").chars().filter(|c| !c.is_whitespace()) {
        match c {
            ':' => plain.truncate(plain.trim_end_matches(castile_xml::is_name_char).len()),
            c => plain.push(c),
        }
    }
    plain
}

/// Reads `document` leniently, and compares the result with the strict one.
fn check_lenient<T: FromXml + Debug>(strict: &Result<T, Error>, root: &'static Root, document: &[u8], limits: Limits) {
    let tolerated = read_lenient::<T>(root, document, limits);
    match (strict, &tolerated) {
        (Ok(strict), Ok((value, deviations))) => {
            assert_eq!(format!("{value:?}"), format!("{strict:?}"), "read leniently, in {}", shown(document));
            assert!(deviations.is_empty(), "{deviations} in {}", shown(document));
        }
        (Err(error), Ok((_, deviations))) => {
            assert!(!deviations.is_empty(), "{error} was tolerated silently in {}", shown(document));
        }
        (Ok(_), Err(error)) => panic!("leniency refuses {}: {error}", shown(document)),
        (Err(_), Err(_)) => {}
    }
}

/// Reads `document` followed by a comment that looks like an id whose value contains an entity reference. The reader then
/// searches the whole document for ids. The references of SOAP encoding must still lead to the same values.
fn check_references<T: FromXml + Debug>(
    strict: &Result<T, Error>,
    root: &'static Root,
    document: &[u8],
    limits: Limits,
) {
    if !is_well_formed(document) {
        // The two readings may find different errors first.
        return;
    }
    let longer = [document, b"<!-- id='&' -->"].concat();
    let (whole, _) = read::<T>(root, &longer, limits, Memory::default());
    let [strict, whole] = [format!("{strict:?}"), format!("{whole:?}")];
    // The limit on what references may add depends on the length of the document.
    if !strict.contains("limit") && !whole.contains("limit") {
        assert_eq!(whole, strict, "all ids are looked for, or those that are referred to, in {}", shown(document));
    }
}

fn is_well_formed(document: &[u8]) -> bool {
    let Ok(mut reader) = Reader::new(document, Limits::default()) else { return false };
    loop {
        match reader.next() {
            Ok(Token::End) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

/// Reads a message leniently, and returns the tolerated deviations.
fn read_lenient<T: FromXml>(
    root: &'static Root,
    document: &[u8],
    limits: Limits,
) -> Result<(T, castile::Deviations), Error> {
    let mut reader = CachedReader::new(document, limits)?;
    Envelope::read(&mut reader)?.0.check_understood(|_| false)?;
    let mut decoder = Decoder::lenient(reader);
    let value = read_root::<T>(&mut decoder, root)?;
    Envelope::read_end(decoder.reader())?;
    let deviations = decoder.take_deviations().locate(document, limits, None);
    Ok((value, deviations))
}

/// Reads the payload, after its start tag.
fn read_root<T: FromXml>(decoder: &mut Decoder<'_>, root: &'static Root) -> Result<T, Error> {
    Ok(match root.wraps_parts {
        false => decoder.root(&root.element)?,
        true => decoder.wrapper(&root.element)?,
    })
}

/// Reads a message as servers and clients do. Returns the memory even if reading fails.
fn read<T: FromXml>(
    root: &'static Root,
    document: &[u8],
    limits: Limits,
    mut memory: Memory,
) -> (Result<T, Error>, Memory) {
    let mut reader = match CachedReader::with_memory(document, limits, &mut memory) {
        Ok(reader) => reader,
        Err(error) => return (Err(error.into()), memory),
    };
    let begun = Envelope::read(&mut reader).and_then(|(envelope, _)| envelope.check_understood(|_| false));
    let mut decoder = Decoder::new(reader);
    let value = begun.and_then(|()| read_root::<T>(&mut decoder, root)).and_then(|value| match root.is_encoded {
        false => Envelope::read_end(decoder.reader()).map(|()| value),
        true => Envelope::read_end_after_trailing(&mut decoder).map(|()| value),
    });
    (value, decoder.into_memory())
}
