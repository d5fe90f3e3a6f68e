//! What holds for any message and any document: what is signed verifies, and covers what `castile-soap` reads.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use castile_soap::Envelope;
use castile_wss::document::{DocumentSigner, DocumentVerifier};
use castile_wss::message::{OutgoingSecurity, Policy};
use castile_wss::{Secret, Trust};
use castile_xml::c14n::{Algorithm, Version};
use castile_xml::{CachedReader, Limits};
use futures_util::FutureExt;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn secret() -> Secret {
    Secret::new(*b"nobody guesses this")
}

/// Messages of every style, from the tests of the generator.
fn messages() -> Vec<Vec<u8>> {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/features");
    let mut files: Vec<_> = std::fs::read_dir(features)
        .unwrap()
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "xml"))
        .collect();
    files.sort();
    let messages: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let messages: Vec<Vec<u8>> = messages.into_iter().filter(|message| message.len() < 4_000).collect();
    assert!(messages.len() > 50, "{} messages are too few", messages.len());
    messages
}

/// Changes a message at a few places.
fn mutated(message: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    let mut changed = message.to_vec();
    for _ in 0..random.usize(0..4) {
        let at = random.usize(0..changed.len());
        match random.u8(0..6) {
            0 => drop(changed.remove(at)),
            1 => changed[at] = b" <>&\"'/=:aA0-!?xsp"[random.usize(0..18)],
            2 => {
                let end = (at + random.usize(1..80)).min(changed.len());
                let piece = changed[at..end].to_vec();
                let to = random.usize(0..changed.len());
                drop(changed.splice(to..to, piece));
            }
            3 => {
                let words: [&[u8]; 9] = [
                    b" Id='a'",
                    b" xml:id='a'",
                    b"<!-- <x:y> -->",
                    b"<![CDATA[p:q]]>",
                    b" xmlns:wsu='urn:x'",
                    b" xmlns=''",
                    b" xmlns='urn:d'",
                    b"<?p <a:b ?>",
                    b"\xc3\xa9\r\n",
                ];
                drop(changed.splice(at..at, words[random.usize(0..9)].iter().copied()));
            }
            4 => {
                let end = (at + random.usize(1..60)).min(changed.len());
                drop(changed.drain(at..end));
            }
            _ => {
                let other = random.usize(0..changed.len());
                changed.swap(at, other);
            }
        }
        if changed.is_empty() {
            break;
        }
    }
    changed
}

#[test]
fn secured_messages_fulfil_the_policy() {
    let security = OutgoingSecurity::new().with_timestamp().with_signature(secret()).with_clock(now);
    let policy = Policy::signed_by(Trust::new().with_secret("s", secret())).with_clock(now).without_replay_cache();
    let mut random = fastrand::Rng::with_seed(3);
    let (messages, mut secured) = (messages(), 0);
    for round in 0..12_000 {
        let message = mutated(&messages[round % messages.len()], &mut random);
        let Ok(signed) = security.secure(&message).now_or_never().unwrap() else { continue };
        let shown = || String::from_utf8_lossy(&signed);
        let verified = policy.verify(&signed).now_or_never().unwrap();
        let verified = verified.unwrap_or_else(|error| panic!("{error}: {}", shown()));
        secured += 1;
        // The payload that the service would read is signed, and so are the blocks of WS-Addressing.
        let mut reader = CachedReader::new(&signed, Limits::default()).unwrap();
        let Ok((envelope, payload)) = Envelope::read(&mut reader) else { continue };
        if let Some(payload) = payload {
            assert!(verified.is_signed(&(payload.offset..payload.offset + 1)), "{}", shown());
        }
        for block in envelope.header.iter().filter(|block| block.namespace.ends_with("/addressing")) {
            assert!(verified.is_signed(&block.bytes), "{}: {}", block.local, shown());
        }
    }
    assert!(secured > 1_000, "{secured} of 12,000 are too few");
}

#[test]
fn signed_documents_verify() {
    let verifier = DocumentVerifier::new(Trust::new().with_secret("s", secret())).with_doctype();
    let mut random = fastrand::Rng::with_seed(4);
    let (messages, mut accepted) = (messages(), 0);
    let versions = [Version::Canonical10, Version::Canonical11, Version::Exclusive10];
    for round in 0..8_000 {
        let document = mutated(&messages[round % messages.len()], &mut random);
        let canonicalization = Algorithm { version: versions[round % 3], with_comments: round % 2 == 0 };
        let signer = DocumentSigner::new(secret()).with_canonicalization(canonicalization);
        let signed = match round % 4 {
            0 => signer.sign_enveloping(&document).now_or_never().unwrap(),
            1 => signer.with_prefix("").sign(&document).now_or_never().unwrap(),
            _ => signer.sign(&document).now_or_never().unwrap(),
        };
        let Ok(signed) = signed else { continue };
        let verified = verifier.verify(&signed);
        let verified = verified.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&signed)));
        assert!(verified.covers_document() || round % 4 == 0);
        accepted += 1;
    }
    assert!(accepted > 1_000, "{accepted} of 8,000 are too few");
}
