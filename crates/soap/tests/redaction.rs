//! Tests that secrets of a message are not shown, whatever the message contains.
//!
//! `FUZZ_MUTATIONS=NUMBER` sets how many messages each test generates. `FUZZ_SEED=NUMBER` selects other messages.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile_soap::{
    Description, Direction, FaultCode, Layer, MessageLog, Options, Pending, Redaction, ReplyMessage, RequestMessage,
    Service, Version,
};
use castile_xml::{Charset, Limits, Reader, Token};

const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// The secret in all messages.
const SECRET: &str = "hunter2hunter";

/// A deterministic pseudo-random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most.max(1)
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// Calls `check` once for each generated message, with different random numbers.
fn often(mut check: impl FnMut(&mut Random)) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().expect("a number"));
    let (count, first): (u64, u64) = (number("FUZZ_MUTATIONS", 2_000), number("FUZZ_SEED", 1));
    for at in 0..count {
        // The state of a xorshift must not be 0, and similar states first produce similar numbers.
        let mut random = Random((first << 32 | at).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        (0..8).for_each(|_| {
            random.below(2);
        });
        check(&mut random);
    }
}

fn redaction() -> Redaction {
    Redaction::new().element("urn:bank", "iban").element("", "card").attribute("urn:bank", "key").attribute("", "cvc")
}

/// Messages with secrets.
const SEEDS: [&str; 12] = [
    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><w:Security xmlns:w='WSSE'><w:UsernameToken><w:Username>ada</w:Username><w:Password Type='t'>SECRET</w:Password><w:Nonce>SECRET</w:Nonce></w:UsernameToken></w:Security></s:Header><s:Body><a/></s:Body></s:Envelope>",
    "<?xml version='1.0' encoding='utf-8'?>\n<a xmlns:p='urn:bank' xmlns='urn:other'><p:iban>SECRET</p:iban><b p:key = \"SECRET\" c='d'/></a>",
    "<a><password/><PassWord>SECRET</PassWord><api-key><![CDATA[</api-key>SECRET]]></api-key></a>",
    "<a token='&quot;SECRET&#10;' x='1'>t</a>",
    "<token pin='SECRET'>SECRET<b c='SECRET'><d>SECRET</d></b></token>",
    "<p:a xmlns:p='urn:x'><p:iban xmlns:p='urn:bank'>SECRET<p:iban>SECRET</p:iban></p:iban><p:b p:key='x'/></p:a>",
    "<card xmlns=''><n>SECRET</n><!-- SECRET --><?p SECRET?></card>",
    "<a xmlns='urn:bank'><iban>SECRET</iban><c xmlns='' cvc='SECRET'/><iban/></a>",
    "<a><pin href='#1'/><m id='1'><v>SECRET</v></m></a>",
    "<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><pin e:ref='x'/><m e:id='x' pwd='SECRET'>SECRET<b href='#y'/></m><m id='y'>SECRET</m></a>",
    "<a><m id='1'><pin href=\"#2\"/><c href='#3'/></m><m id='2' href='#4'>SECRET</m><m id='3'/><m id='4'><x>SECRET</x></m></a>",
    "<ä:secret xmlns:ä='ü'>SECRET</ä:secret>",
];

/// Pieces that can change the meaning of a message.
const PIECES: [&str; 40] = [
    " ",
    "\n",
    "\t",
    "\r",
    "<",
    ">",
    "/",
    "/>",
    "</",
    "='",
    "\"",
    "'",
    "&",
    "&lt;",
    "&#x3c;",
    "&amp;",
    ";",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?p ",
    "?>",
    "<b>",
    "</b>",
    "<pin>",
    "</pin>",
    "<b href='#1'/>",
    " id='1'",
    " token='x'",
    " xmlns='urn:bank'",
    " xmlns:p='urn:bank'",
    "p:",
    "iban",
    "password",
    "é",
    "\u{feff}",
    "\u{9b}",
    "#1",
    "SECRET",
];

/// Pieces that can follow any tag, except at the end of a message.
const BETWEEN: [&str; 16] = [
    "<b/>",
    "<pin/>",
    "<pin>SECRET</pin>",
    "<p_i-N a='b' ><c>SECRET</c></p_i-N >",
    "<iban xmlns='urn:bank'>SECRET</iban>",
    "<x:key xmlns:x='urn:bank' x:key='SECRET' pwd=\"SECRET\"/>",
    "<card xmlns=''><card/>SECRET</card>",
    "<b xmlns='urn:bank'><c cvc=''/><c xmlns:d='' d=''/></b>",
    "<!-- <pin> -->",
    "<?pin </pin>?>",
    "<![CDATA[</pin>]]>",
    "&#x3c;pin&gt;",
    "<b id='1'>SECRET</b>",
    "<pin href='#1'/>",
    "\r\n\t",
    "é\u{9b}\u{202e}",
];

fn changed(random: &mut Random) -> String {
    let fill = |text: &str| text.replace("WSSE", WSSE).replace("SECRET", SECRET);
    let mut text = fill(random.one(&SEEDS));
    for _ in 0..random.below(6) {
        let mut place = |text: &str| text.floor_char_boundary(random.below(text.len() + 1));
        let (from, to) = (place(&text), place(&text));
        let to = text.floor_char_boundary(to.clamp(from, from + 60)).max(from);
        match random.below(12) {
            0..6 => {
                let ends: Vec<usize> = text.match_indices('>').map(|(at, _)| at + 1).collect();
                let at = ends.get(random.below(ends.len())).copied().unwrap_or_default();
                text.insert_str(at, &fill(random.one(&BETWEEN)));
            }
            6 => {
                // Insert another message into an element of this one.
                let other = fill(random.one(&SEEDS));
                let at = text.find('>').map_or(0, |at| at + 1);
                text.insert_str(at, other.trim_start_matches("<?xml version='1.0' encoding='utf-8'?>\n"));
            }
            7..9 => {
                let (old, new) = random.one(&[
                    &("pin", "PIN"),
                    &("token", "To-ken"),
                    &("p:", "q:"),
                    &("'", "\""),
                    &("='", " =\n'"),
                    &("urn:bank", "urn:other"),
                    &("<m", "<pin"),
                    &("></", "/></"),
                ]);
                text = text.replace(old, new);
            }
            9 => text.insert_str(from, &fill(random.one(&PIECES))),
            10 => drop(text.drain(from..to)),
            _ => {
                let again = text[from..to].repeat(1 + random.below(30));
                text.insert_str(from, &again);
            }
        }
    }
    text
}

/// Returns whether a local name is one of the documented secret names.
fn says_secret(local: &str) -> bool {
    let plain: String = local.chars().filter(|c| !"-_".contains(*c)).collect::<String>().to_lowercase();
    let names =
        "password passwd pwd passphrase pin secret clientsecret nonce token accesstoken sessiontoken apikey privatekey";
    names.split(' ').any(|name| name == plain) && local.len() <= 20
}

/// Returns whether the secret is also in a place that isn't declared secret. Ignores references. Returns `None` if the text is not
/// a message.
fn is_elsewhere(text: &str) -> Option<bool> {
    let mut reader = Reader::new(text.as_bytes(), Limits::default()).ok()?;
    let (mut open, mut run, mut is_elsewhere) = (vec![false], String::new(), false);
    loop {
        let token = reader.next().ok()?;
        if !matches!(token, Token::Text(_)) {
            run.clear();
        }
        let in_secret = open.last().copied().unwrap_or_default();
        match token {
            Token::StartTag(tag) => {
                for attribute in reader.attributes() {
                    let (namespace, local) = (attribute.namespace, attribute.name.local());
                    let is_secret =
                        says_secret(local) || [("urn:bank", "key"), ("", "cvc")].contains(&(namespace, local));
                    is_elsewhere |= !is_secret && !in_secret && attribute.value.contains(SECRET);
                    is_elsewhere |= !in_secret && attribute.name.as_str().contains(SECRET);
                }
                let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                let is_secret = says_secret(local)
                    || [("urn:bank", "iban"), ("", "card")].contains(&(namespace, local))
                    || namespace == WSSE && ["Password", "Nonce", "BinarySecurityToken"].contains(&local);
                is_elsewhere |= !in_secret && tag.name.as_str().contains(SECRET);
                // Namespace names are not secret either.
                is_elsewhere |= !in_secret
                    && reader.declarations().any(|(prefix, name)| prefix.contains(SECRET) || name.contains(SECRET));
                open.push(in_secret || is_secret);
            }
            Token::EndTag(_) => drop(open.pop()),
            Token::Text(text) => {
                run += &text;
                is_elsewhere |= !in_secret && run.contains(SECRET);
            }
            Token::Comment(raw) => is_elsewhere |= !in_secret && raw.text().contains(SECRET),
            Token::Instruction { target, data } => {
                is_elsewhere |= !in_secret && (target.contains(SECRET) || data.text().contains(SECRET));
            }
            Token::End => return Some(is_elsewhere),
        }
    }
}

/// Returns the number of elements of a message.
fn elements(text: &str) -> Option<usize> {
    let mut reader = Reader::new(text.as_bytes(), Limits::default()).ok()?;
    let mut count = 0;
    loop {
        match reader.next().ok()? {
            Token::StartTag(_) => count += 1,
            Token::End => return Some(count),
            _ => {}
        }
    }
}

#[test]
fn changed_messages_show_no_secret() {
    let redaction = redaction();
    let (mut checked, mut unread, mut bytes, mut longest) = (0, 0, 0, Duration::ZERO);
    often(|random| {
        let text = changed(random);
        let begun = Instant::now();
        let shown = redaction.redact(text.as_bytes());
        longest = longest.max(begun.elapsed());
        bytes += text.len();
        let Some(is_elsewhere) = is_elsewhere(&text) else {
            unread += 1;
            assert_eq!(shown, format!("{} bytes that are not XML", text.len()), "{text:?}");
            return;
        };
        if !is_elsewhere {
            checked += 1;
            assert!(!shown.contains(SECRET), "{text:?}\n{shown:?}");
        }
        // The result is a message without additional elements, and redacting it again changes nothing.
        assert!(elements(&shown).is_some_and(|count| count <= elements(&text).unwrap()), "{text:?}\n{shown:?}");
        assert_eq!(redaction.redact(shown.as_bytes()), shown, "{text:?}");
        // The same message in another encoding gives the same result.
        if !text.contains("<?xml") {
            let marked = text.trim_start_matches('\u{feff}');
            let utf16: Vec<u8> = format!("\u{feff}{marked}").encode_utf16().flat_map(u16::to_be_bytes).collect();
            assert_eq!(
                redaction.redact(&utf16).trim_start_matches('\u{feff}'),
                shown.trim_start_matches('\u{feff}'),
                "{text:?}"
            );
        }
        assert_eq!(Redaction::none().redact(text.as_bytes()), text);
    });
    println!("{checked} with secrets, {unread} that are no messages, {bytes} bytes, at most {longest:?}");
}

/// Elements that a secret element refers to are as secret as its content (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5).
#[test]
fn values_referenced_by_a_secret_are_secret() {
    for (message, expected) in [
        (
            "<a><pin href='#1'/><m id='1' x='y'>7</m><m id='2'>8</m></a>",
            "<a><pin href='#1'/><m id='1' x='y'>***</m><m id='2'>8</m></a>",
        ),
        (
            "<a><m id=\"&#x31;\"><b>7</b></m><pin><c href='#1'/></pin></a>",
            "<a><m id=\"&#x31;\">***</m><pin>***</pin></a>",
        ),
        (
            "<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><pin e:ref='1'/><m e:id='1'>7</m></a>",
            "<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><pin e:ref='1'/><m e:id='1'>***</m></a>",
        ),
        // References through another element, and circular references.
        (
            "<a><m id='2' href='#3'/><m id='1'><x href='#2'/></m><pin href='#1'/><m id='3'>7<y href='#1'/></m></a>",
            "<a><m id='2' href='#3'/><m id='1'>***</m><pin href='#1'/><m id='3'>***</m></a>",
        ),
        // An element that refers to a secret is not itself secret.
        ("<a><b href='#1'>8</b><pin id='1'>7</pin></a>", "<a><b href='#1'>8</b><pin id='1'>***</pin></a>"),
        ("<a><pin href='#1'/><m id='1'/></a>", "<a><pin href='#1'/><m id='1'/></a>"),
        (
            "<a><pin href='#1'/><m id='1'>7</m><n id='1'>7</n></a>",
            "<a><pin href='#1'/><m id='1'>***</m><n id='1'>***</n></a>",
        ),
    ] {
        assert_eq!(Redaction::new().redact(message.as_bytes()), expected);
    }
}

/// The time grows linearly with the size of the message.
#[test]
fn hard_messages_take_no_long_time() {
    let many = |piece: &str, count: usize| format!("<a>{}</a>", piece.repeat(count));
    let deep = |open: &str, close: &str, count: usize| format!("{}{}", open.repeat(count), close.repeat(count));
    let numbered =
        |count: usize, of: &dyn Fn(usize) -> String| format!("<a>{}</a>", (0..count).map(of).collect::<String>());
    let hard = |size: usize| {
        [
            many("<pin/>", size / 6),
            many("<pin>7</pin>", size / 12),
            many("<b pin='7'/>", size / 12),
            many("<pin href='#1'/><m id='1'>7</m>", size / 31),
            format!("<pin>{}</pin>", "<c href='#1'/>".repeat(size / 14)),
            numbered(size / 60, &|n| format!("<m id='{n}'><c href='#{}'/></m>", n + 1)).replacen(
                "<a>",
                "<a><pin href='#0'/>",
                1,
            ),
            format!("<a><pin href='#0'/>{}{}</a>", (0..250).map(|n| format!("<m id='{n}'>")).collect::<String>(), {
                let inner: String = (0..size / 20).map(|n| format!("<c href='#{}'/>", 249 - n % 250)).collect();
                inner + &"</m>".repeat(250)
            }),
            deep("<pin><b>", "</b></pin>", 250),
            format!(
                "<pin {}/>",
                (0..200).map(|n| format!("a{n}='{}' ", "&amp;".repeat(size / 1_200))).collect::<String>()
            ),
            format!("<{0}>7</{0}>", "p-i-n_".repeat(150)),
            format!("<pin>{}</pin>", "]]>".repeat(size / 3)),
            format!("<pin>{}", "<![CDATA[</pin>]]>".repeat(size / 18)),
            many("<!-- <pin>7</pin> -->", size / 21),
        ]
    };
    for (small, large) in hard(32 << 10).iter().zip(&hard(512 << 10)) {
        let timed = |text: &str| {
            let begun = Instant::now();
            let shown = Redaction::new().redact(text.as_bytes());
            assert!(shown.len() <= 2 * text.len() + 100);
            begun.elapsed()
        };
        let (first, second) = (timed(small), timed(large));
        println!("{} bytes: {first:?}, {} bytes: {second:?}: {}", small.len(), large.len(), &small[..40]);
        // The limit is high, for busy machines and unoptimised builds.
        assert!(second < Duration::from_secs(20), "{second:?}: {}", &large[..100]);
    }
}

/// A service with predefined answers.
struct Answers<F>(F);

static DESCRIPTION: Description = Description::new("Answers", "urn:answers", &[]);

impl<F: Fn(&[u8]) -> ReplyMessage + Send + Sync + 'static> Service for Answers<F> {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(&self, request: RequestMessage, _: &Options) -> Pending {
        let reply = (self.0)(&request.message);
        Box::pin(async { reply })
    }
}

/// Returns what is logged of a request and of its answer.
fn shown(request: RequestMessage, answer: impl Fn(&[u8]) -> ReplyMessage + Send + Sync + 'static) -> [String; 2] {
    let told: Arc<Mutex<Vec<(Direction, String)>>> = Arc::default();
    let all = told.clone();
    let log = MessageLog::new(redaction(), move |direction, message| {
        all.lock().unwrap().push((direction, message.to_owned()));
    });
    let pending = log.layer(Answers(answer)).call(request, &Options::default());
    let Poll::Ready(_) = pin!(pending).poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    let told = std::mem::take(&mut *told.lock().unwrap());
    let [(Direction::Request, request), (Direction::Reply, reply)] = &told[..] else { panic!("{told:?}") };
    [request.clone(), reply.clone()]
}

fn fault(version: Version, reason: &str) -> ReplyMessage {
    let reason = reason.replace('&', "&amp;").replace('<', "&lt;");
    let message = match version {
        Version::Soap11 => format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>{reason}</faultstring><detail><d>{reason}</d></detail></s:Fault></s:Body></s:Envelope>"
        ),
        _ => format!(
            "<s:Envelope xmlns:s='http://www.w3.org/2003/05/soap-envelope'><s:Body><s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang='en'>{reason}</s:Text></s:Reason><s:Detail><d>{reason}</d></s:Detail></s:Fault></s:Body></s:Envelope>"
        ),
    };
    ReplyMessage::of_fault(version, FaultCode::Sender, Bytes::from(message))
}

/// Faults quote invalid values, which may be secret.
#[test]
fn a_fault_that_quotes_a_secret_shows_none() {
    for version in [Version::Soap11, Version::Soap12] {
        let of = |request: &str, reason: String| {
            shown(RequestMessage::new(version, Bytes::from(request.to_owned())), move |_| fault(version, &reason))[1]
                .clone()
        };
        let request = |secret: &str| format!("<a><pin>{secret}</pin><b>of no account</b></a>");
        for secret in
            [SECRET, "12a4", "a b", "caf\u{e9} & cr\u{e8}me", "line\nnext", "tab\tnext", "qu\"ote", "back\\slash", "7"]
        {
            let written = secret.replace('&', "&amp;").replace('\u{e9}', "&#xE9;");
            let reply = of(&request(&written), format!("a/pin: {secret:?} is not a valid xs:int (line 1)"));
            assert!(!reply.contains("is not a valid"), "{secret:?}: {reply}");
            assert!(reply.contains("Client") || reply.contains("Sender"), "{reply}");
        }
        // Secrets that are truncated, in an attribute, and in a referenced element.
        let long = "0123456789".repeat(20);
        let cut = |text: &str| format!("{:?}… is no number", &text[..40]);
        assert!(!of(&request(&long), cut(&long)).contains("01234"));
        assert!(!of("<a cvc='12a4'/>", "\"12a4\" is no number".into()).contains("12a4"));
        assert!(!of("<a><pin href='#1'/><m id='1'>12a4</m></a>", "\"12a4\" is no number".into()).contains("12a4"));
        // The secrets of a message that isn't shown are unknown.
        assert!(
            !of(&format!("<a><pin>12a4</pin><b>{}</b></a>", "x".repeat(70_000)), "\"12a4\" is no number".into())
                .contains("12a4")
        );
        assert!(!of("<a><pin>12a4</pin>", "\"12a4\" is no number".into()).contains("12a4"));
        // A fault that quotes another value is shown.
        let reply = of(&request("12a4"), "a/b: \"of no account\" is no account".into());
        assert!(reply.contains("of no account"), "{reply}");
        assert!(of("<a><b>12a4</b></a>", "\"12a4\" is no number".into()).contains("12a4"));
    }
}

/// A message is read in the charset of its media type, as by the service.
#[test]
fn messages_are_read_in_their_charset() {
    let text = "<a><pin>7</pin>\u{e9}</a>";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let declared = |name: &str| format!("<?xml version='1.0' encoding='{name}'?>{text}");
    for (message, charset, expected) in [
        (latin.clone(), Some("iso-8859-1"), "<a><pin>***</pin>\u{e9}</a>".to_owned()),
        (utf16(text), Some("utf-16"), "<a><pin>***</pin>\u{e9}</a>".to_owned()),
        (utf16(&format!("\u{feff}{}", declared("utf-16"))), None, declared("utf-16").replace('7', "***")),
        (
            [declared("latin1").split_once("<a>").unwrap().0.as_bytes(), &latin].concat(),
            None,
            declared("latin1").replace('7', "***"),
        ),
        (latin, None, "20 bytes that are not XML".to_owned()),
    ] {
        let mut request = RequestMessage::new(Version::Soap11, message);
        request.charset = charset.map(|label| Charset::of_label(label).unwrap());
        let [request, _] = shown(request, |_| ReplyMessage::new(Version::Soap11, Bytes::from("<a/>")));
        assert_eq!(request.trim_start_matches('\u{feff}'), expected, "{charset:?}");
    }
}

/// A log shows what was logged, and control characters don't affect the terminal.
#[test]
fn a_message_is_a_line_that_steers_no_terminal() {
    let message = "<a>\r\nReply: <b>\u{9b}2J\u{202e}\t\u{85}</b></a>";
    let [request, reply] = shown(RequestMessage::new(Version::Soap11, Bytes::from(message)), |message| {
        ReplyMessage::new(Version::Soap11, Bytes::copy_from_slice(message))
    });
    for shown in [request, reply] {
        assert_eq!(shown, "<a>\\r\\nReply: <b>\\u{9b}2J\\u{202e}\\t\\u{85}</b></a>");
    }
    often(|random| {
        let message = changed(random);
        let request = RequestMessage::new(Version::Soap11, Bytes::from(message.clone()));
        for shown in shown(request, |message| ReplyMessage::new(Version::Soap11, Bytes::copy_from_slice(message))) {
            assert!(!shown.contains(|c: char| c.is_control()), "{message:?}\n{shown:?}");
            assert!(is_elsewhere(&message) != Some(false) || !shown.contains(SECRET), "{message:?}\n{shown:?}");
        }
    });
}
