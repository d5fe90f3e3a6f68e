//! Measures what a signed message costs beside its cryptography: the same hashes and key operations without XML.
//!
//! ```text
//! cargo run --release -p castile-wss --example costs -- [ROUNDS]
//! cargo run --release -p castile-wss --example costs -- rsa|p256|ed25519|hmac sign|sign-text|verify|sign-floor|verify-floor N
//! ```
//!
//! The message is an echo of 100 structs, 13 KB. Its time stamp and its body are signed. `sign` signs what an encoder has written,
//! as clients and services do. `sign-text` reads the same message to sign it. The first form prints medians. The second
//! does one thing N times: under `valgrind --tool=callgrind`, the difference between two N, divided by their difference, is the cost
//! of one message in instructions.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{self, UnparsedPublicKey};
use castile_databinding::schema::Element;
use castile_databinding::{Encoder, ToXml};
use castile_soap::{Headers, MessageSecurity, Root, ToPayload, Version, Written};
use castile_wss::message::{ClientSecurity, OutgoingSecurity, Policy};
use castile_wss::{Certificate, PrivateKey, Secret, SigningKey, Trust};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair, PublicKeyData};

/// The allocator of the command line.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What is done with a message.
#[derive(Clone, Copy)]
enum Work {
    Sign,
    SignText,
    Verify,
    /// The hashes and the key operation of signing.
    SignFloor,
    /// The hashes and the key operation of verifying.
    VerifyFloor,
}

const ALL: [(&str, Work); 5] = [
    ("sign", Work::Sign),
    ("sign-text", Work::SignText),
    ("verify", Work::Verify),
    ("sign-floor", Work::SignFloor),
    ("verify-floor", Work::VerifyFloor),
];

/// A signer and a message.
struct Subject {
    outgoing: OutgoingSecurity,
    policy: Policy,
    key: Box<dyn SigningKey>,
    /// How a signature of the key is verified without XML.
    check: Check,
    client: ClientSecurity,
    message: Written,
    signed: Vec<u8>,
    /// What is hashed: about the canonical forms of the time stamp, the body, and `SignedInfo`.
    hashed: [Vec<u8>; 3],
    signature: Vec<u8>,
}

enum Check {
    Public(UnparsedPublicKey<Vec<u8>>),
    Secret(Box<hmac::Key>),
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print(200),
        [rounds] => print(rounds.parse()?),
        [key, work, count] => {
            let subject = Subject::new(key)?;
            let (_, work) = ALL.into_iter().find(|(name, _)| *name == work).ok_or("no such work")?;
            for _ in 0..count.parse()? {
                subject.run(work)?;
            }
            Ok(())
        }
        _ => Err("usage: costs [ROUNDS] | costs rsa|p256|ed25519|hmac sign|sign-text|verify|sign-floor|verify-floor N"
            .into()),
    }
}

/// Prints the median times. All are measured in turn, so that a busy machine disturbs all of them.
fn print(rounds: usize) -> Result<()> {
    println!("{rounds} rounds; medians for one message in µs");
    println!(
        "{:<8} {:>8} {:>8} {:>8}   {:>8} {:>8}   {:>8} {:>8} {:>8}",
        "key", "sign", "floor", "XML", "of text", "XML", "verify", "floor", "XML"
    );
    for key in ["rsa", "p256", "ed25519", "hmac"] {
        let subject = Subject::new(key)?;
        let mut times = [const { Vec::new() }; 5];
        for _ in 0..rounds.max(1) {
            for (times, (_, work)) in times.iter_mut().zip(ALL) {
                let begun = Instant::now();
                subject.run(work)?;
                times.push(begun.elapsed());
            }
        }
        let [sign, text, verify, sign_floor, verify_floor] = times.map(median);
        println!(
            "{key:<8} {sign:>8.1} {sign_floor:>8.1} {:>8.1}   {text:>8.1} {:>8.1}   {verify:>8.1} {verify_floor:>8.1} {:>8.1}",
            sign - sign_floor,
            text - sign_floor,
            verify - verify_floor
        );
    }
    Ok(())
}

/// Returns the median in µs.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

impl Subject {
    fn new(key: &str) -> Result<Self> {
        let message = message()?;
        let outgoing = OutgoingSecurity::new().with_timestamp();
        let (outgoing, trust, key, check): (_, _, Box<dyn SigningKey>, _) = match key {
            "hmac" => {
                const SHARED: &[u8] = b"0123456789abcdef0123456789abcdef";
                let secret = || Secret::new(SHARED);
                let check = Check::Secret(Box::new(hmac::Key::new(hmac::HMAC_SHA256, SHARED)));
                let trust = Trust::new().with_secret("shared", secret());
                (outgoing.with_signature(secret()), trust, Box::new(secret()), check)
            }
            key => {
                let (algorithm, check): (_, &'static dyn signature::VerificationAlgorithm) = match key {
                    "rsa" => (&rcgen::PKCS_RSA_SHA256, &signature::RSA_PKCS1_2048_8192_SHA256),
                    "p256" => (&rcgen::PKCS_ECDSA_P256_SHA256, &signature::ECDSA_P256_SHA256_FIXED),
                    "ed25519" => (&rcgen::PKCS_ED25519, &signature::ED25519),
                    _ => return Err("expected rsa, p256, ed25519 or hmac".into()),
                };
                let pair = KeyPair::generate_for(algorithm)?;
                let certificate = CertificateParams::new(Vec::new())?.self_signed(&pair)?;
                let certificate = Certificate::from_der(certificate.der())?;
                let check = Check::Public(UnparsedPublicKey::new(check, pair.der_bytes().to_vec()));
                let private = || PrivateKey::from_der(pair.serialized_der());
                let outgoing = outgoing.with_signature(private()?).with_certificate(certificate.clone());
                (outgoing, Trust::new().with_certificate(certificate), Box::new(private()?), check)
            }
        };
        let client = ClientSecurity::new(outgoing.clone());
        let signed = now(client.secure(&message))?.message;
        let text = std::str::from_utf8(&signed)?;
        // The canonical forms are as long as what was written, but for a few declarations.
        let hashed =
            [("<wsu:Timestamp", "</wsu:Timestamp>"), ("<s:Body", "</s:Body>"), ("<ds:SignedInfo", "</ds:SignedInfo>")];
        let hashed = hashed.map(|(start, end)| {
            let start = text.find(start).unwrap_or_default();
            let end = text.find(end).map_or(text.len(), |at| at + end.len());
            text.as_bytes()[start..end].to_vec()
        });
        let signature = now(key.sign(&hashed[2]))?;
        let policy = Policy::signed_by(trust).without_replay_cache();
        Ok(Subject { outgoing, policy, key, check, client, message, signed, hashed, signature })
    }

    fn run(&self, work: Work) -> Result<()> {
        match work {
            Work::Sign => drop(black_box(now(self.client.secure(black_box(&self.message)))?)),
            Work::SignText => {
                let message = self.message.message.bytes().ok_or("the message is not in memory")?;
                drop(black_box(now(self.outgoing.secure(black_box(message)))?));
            }
            Work::Verify => drop(black_box(now(self.policy.verify(black_box(&self.signed)))?)),
            Work::SignFloor => {
                self.hash();
                black_box(now(self.key.sign(black_box(&self.hashed[2])))?);
            }
            Work::VerifyFloor => {
                self.hash();
                let (data, value) = (black_box(&self.hashed[2]), black_box(&self.signature));
                match &self.check {
                    Check::Public(key) => key.verify(data, value)?,
                    Check::Secret(key) => hmac::verify(key, data, value)?,
                }
            }
        }
        Ok(())
    }

    fn hash(&self) {
        for content in &self.hashed[..2] {
            black_box(digest(&SHA256, black_box(content)));
        }
    }
}

/// Returns what a future returns that has nothing to wait for.
fn now<T, E: Error + 'static>(future: impl Future<Output = std::result::Result<T, E>>) -> Result<T> {
    Ok(future.now_or_never().ok_or("the future waits")??)
}

struct Echo {
    items: Vec<Item>,
}

struct Item {
    id: i32,
    name: String,
    value: f64,
    note: &'static str,
}

impl ToXml for Echo {
    fn content(&self, out: &mut Encoder) {
        out.repeated("<e:item>", &self.items, "</e:item>");
    }
}

impl ToXml for Item {
    fn content(&self, out: &mut Encoder) {
        out.element("<e:id>", &self.id, "</e:id>");
        out.element("<e:name>", &self.name, "</e:name>");
        out.element("<e:value>", &self.value, "</e:value>");
        out.element("<e:note>", &self.note.to_owned(), "</e:note>");
    }
}

/// Returns an echo of 100 structs.
fn message() -> Result<Written> {
    const ROOT: Root =
        Root::new(Element::new("urn:echo", "EchoStruct", 0), "<e:EchoStruct xmlns:e=\"urn:echo\">", "</e:EchoStruct>");
    let item = |id| Item { id, name: format!("struct {id}"), value: f64::from(id) + 0.25, note: "an & here" };
    let echo = Echo { items: (0..100).map(item).collect() };
    Ok(echo.write(Version::Soap11, Headers::default(), &ROOT, Encoder::default().noting_canonical(true), None)?)
}
