//! read(write(x)) = x for random x.

use castile_xml::{Error, Limits, Prefixes, Reader, Token, Writer};

use crate::calls::{self, Call, NAMESPACES, PREFIXES, Random};

/// An item of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Start(String, String),
    Attribute(String, String, Value),
    Text(String),
    QName(String, String),
    Comment(String),
    Instruction(String, String),
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    QName(String, String),
}

/// Returns the items that valid calls should write.
fn meant(calls: &[Call]) -> Vec<Said> {
    let mut said = Vec::new();
    for call in calls.iter().cloned() {
        match call {
            Call::Declaration | Call::Declare(..) => {}
            Call::Start(namespace, local) => said.push(Said::Start(namespace.into(), local.into())),
            Call::Attribute(namespace, local, value) => {
                said.push(Said::Attribute(namespace.into(), local.into(), Value::Text(value)));
            }
            Call::QNameAttribute((namespace, local), (value, name)) => {
                let value = Value::QName(value.into(), name.into());
                said.push(Said::Attribute(namespace.into(), local.into(), value));
            }
            Call::Text(text) => push_text(&mut said, &text),
            Call::QName(namespace, local) => {
                said.push(Said::Start("urn:qname".into(), "qname".into()));
                said.push(Said::QName(namespace.into(), local.into()));
                said.push(Said::End);
            }
            Call::Comment(text) => said.push(Said::Comment(text)),
            Call::Instruction(target, data) => said.push(Said::Instruction(target.into(), data)),
            Call::End => said.push(Said::End),
        }
    }
    said
}

/// Returns the items that a reader finds. `meant` shows which texts are qualified names.
fn found(document: &[u8], meant: &[Said]) -> Result<Vec<Said>, Error> {
    let mut reader = Reader::new(document, Limits::default())?;
    let mut said = Vec::new();
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                said.push(Said::Start(reader.namespace(tag.namespace).into(), tag.name.local().into()));
                for attribute in reader.attributes() {
                    let is_qname = matches!(meant.get(said.len()), Some(Said::Attribute(_, _, Value::QName(..))));
                    let value = match is_qname {
                        true => resolve(&reader, attribute.value, Value::QName),
                        false => Value::Text(attribute.value.into()),
                    };
                    said.push(Said::Attribute(attribute.namespace.into(), attribute.name.local().into(), value));
                }
            }
            Token::EndTag(_) => said.push(Said::End),
            Token::Text(text) if matches!(meant.get(said.len()), Some(Said::QName(..))) => {
                said.push(resolve(&reader, &text, Said::QName));
            }
            Token::Text(text) => push_text(&mut said, &text),
            Token::Comment(text) => said.push(Said::Comment(text.text().into())),
            Token::Instruction { target, data } => said.push(Said::Instruction(target.into(), data.text().into())),
            Token::End => return Ok(said),
        }
    }
}

fn resolve<T>(reader: &Reader<'_>, value: &str, make: fn(String, String) -> T) -> T {
    let (prefix, local) = value.split_once(':').unwrap_or(("", value));
    make(reader.resolve(prefix).unwrap_or("unbound").into(), local.into())
}

fn push_text(said: &mut Vec<Said>, text: &str) {
    match said.last_mut() {
        _ if text.is_empty() => {}
        Some(Said::Text(before)) => before.push_str(text),
        _ => said.push(Said::Text(text.into())),
    }
}

fn plan(random: &mut Random) -> Prefixes {
    let mut plan = Prefixes::default();
    for _ in 0..random.below(5) {
        let (prefix, namespace) = (random.pick(PREFIXES), random.pick(NAMESPACES));
        let planned = match random.once_in(2) {
            true => plan.clone().on_root(prefix, namespace),
            false => plan.clone().where_needed(prefix, namespace),
        };
        plan = planned.unwrap_or(plan);
    }
    plan
}

#[test]
fn written_documents_are_read_back() {
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let mut writer = Writer::new(plan(&mut random), Limits::default());
        // The second document is written with the same writer as the first.
        for _ in 0..2 {
            let calls = calls::document(&mut random);
            for call in &calls {
                call.make(&mut writer).unwrap_or_else(|error| panic!("{seed}: {call:?}: {error}"));
            }
            let document = writer.finish().unwrap();
            let meant = meant(&calls);
            let found = found(&document, &meant);
            assert_eq!(found.as_ref(), Ok(&meant), "{seed}: {}", String::from_utf8_lossy(&document));
        }
    }
}

#[test]
fn calls_of_any_kind_never_write_what_is_wrong() {
    let (mut right, mut refused) = (0, 0);
    for seed in 0..5_000 {
        let mut random = Random::new(seed);
        let mut calls = calls::document(&mut random);
        for _ in 0..random.below(4) {
            calls.insert(random.below(calls.len() + 1), calls::any(&mut random));
        }
        let mut writer = Writer::new(plan(&mut random), Limits::default());
        let mut told = None;
        for call in &calls {
            match (call.make(&mut writer), &told) {
                (Ok(()), None) => {}
                (Ok(()), Some(_)) => panic!("{seed}: {call:?} was taken after an error"),
                (Err(error), None) => told = Some(error),
                (Err(error), Some(told)) => assert_eq!(&error, told, "{seed}: {call:?}"),
            }
        }
        match writer.finish() {
            Ok(document) => {
                let meant = meant(&calls);
                let found = found(&document, &meant);
                assert_eq!(told, None, "{seed}");
                assert_eq!(found.as_ref(), Ok(&meant), "{seed}: {}", String::from_utf8_lossy(&document));
                right += 1;
            }
            Err(error) => {
                assert_eq!(told.as_ref().unwrap_or(&error), &error, "{seed}");
                refused += 1;
            }
        }
    }
    // Both outcomes were frequent.
    assert!(right > 500 && refused > 500, "{right} documents, {refused} refusals");
}
