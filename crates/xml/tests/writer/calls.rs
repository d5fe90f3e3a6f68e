//! Random calls of a writer, either only valid ones or any.

use castile_xml::{Error, Writer, XML_NAMESPACE, XMLNS_NAMESPACE};

/// Xorshift, which suffices for tests and gives the same numbers everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    /// Returns a number from 0 to `end`, exclusive.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns true once in `times` on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// One call of a writer.
#[derive(Clone, Debug)]
pub enum Call {
    Declaration,
    Declare(&'static str, &'static str),
    Start(&'static str, &'static str),
    Attribute(&'static str, &'static str, String),
    QNameAttribute((&'static str, &'static str), (&'static str, &'static str)),
    Text(String),
    /// A qualified name as the whole content of an element, with that element.
    QName(&'static str, &'static str),
    Comment(String),
    Instruction(&'static str, String),
    End,
}

impl Call {
    pub fn make(&self, writer: &mut Writer) -> Result<(), Error> {
        match self {
            Call::Declaration => writer.declaration(),
            Call::Declare(prefix, namespace) => writer.declare(prefix, namespace),
            Call::Start(namespace, local) => writer.start(namespace, local),
            Call::Attribute(namespace, local, value) => writer.attribute(namespace, local, value),
            Call::QNameAttribute((namespace, local), value) => writer.qname_attribute(namespace, local, *value),
            Call::Text(text) => writer.text(text),
            Call::QName(namespace, local) => {
                writer.start("urn:qname", "qname")?;
                writer.qname(namespace, local)?;
                writer.end()
            }
            Call::Comment(text) => writer.comment(text),
            Call::Instruction(target, data) => writer.instruction(target, data),
            Call::End => writer.end(),
        }
    }
}

pub const NAMESPACES: &[&str] =
    &["urn:a", "urn:b", "urn:c", "urn:d", "urn:e", "http://example.org/?a=1&b=\"<2>\"", " tab\tline\nreturn\r ", "é"];
pub const PREFIXES: &[&str] =
    &["", "a", "b", "ns1", "ns2", "ns3", "ns4294967295", "ns18446744073709551615", "xmlx", "é"];
const LOCALS: &[&str] = &["a", "b", "xml", "type", "_", "é\u{300}", "a-b.c2", "𐀀"];
const PIECES: &[&str] = &[
    "",
    "plain",
    " ",
    "<",
    ">",
    "&",
    "]]>",
    "]]",
    "\"",
    "'",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "&amp;",
    "<!--",
    "é",
    "\u{85}",
    "\u{2028}",
    "\u{FFFD}",
    "\u{FEFF}",
    "\u{10FFFF}",
    "\u{7F}",
    "\u{D7FF}",
    "<![CDATA[",
    "a longer text of more than 16 bytes",
];
/// Characters that are not allowed anywhere.
const ILLEGAL: &[&str] = &["\0", "\u{1}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"];
const NO_NAMES: &[&str] = &["", "a:b", ":a", "a:", "1", "-", "a b", "a>", "xmlns", "×", "a\u{FFFE}"];

pub fn text(random: &mut Random) -> String {
    (0..random.below(6)).map(|_| random.pick(PIECES)).collect()
}

/// Returns text for comments and instructions, in which nothing is escaped.
fn verbatim(random: &mut Random) -> String {
    text(random).replace('\r', "").replace("--", "").replace("?>", "").trim_start().to_owned()
}

/// Returns text for any call, valid or not.
fn any_text(random: &mut Random) -> String {
    let mut text = text(random);
    if random.once_in(8) {
        text.push_str(random.pick(&[ILLEGAL, &["--", "-", "?>", "\r"]].concat()));
        text.push_str(random.pick(PIECES));
    }
    text
}

fn any_namespace(random: &mut Random) -> &'static str {
    match random.below(24) {
        0 => random.pick(&[XMLNS_NAMESPACE, XML_NAMESPACE, "urn:\u{1}"]),
        1..8 => "",
        _ => random.pick(NAMESPACES),
    }
}

fn any_local(random: &mut Random) -> &'static str {
    let names = if random.once_in(24) { NO_NAMES } else { LOCALS };
    random.pick(names)
}

/// Returns any call, valid or not.
pub fn any(random: &mut Random) -> Call {
    match random.below(16) {
        0 => Call::Declaration,
        1 if random.once_in(8) => Call::Declare(random.pick(&["xml", "xmlns", "a:b", "1", ""]), any_namespace(random)),
        1 => Call::Declare(random.pick(PREFIXES), any_namespace(random)),
        2..5 => Call::Start(any_namespace(random), any_local(random)),
        5..8 => Call::Attribute(any_namespace(random), any_local(random), any_text(random)),
        8 => Call::QNameAttribute((any_namespace(random), "type"), (any_namespace(random), any_local(random))),
        9 => Call::QName(any_namespace(random), any_local(random)),
        10 => Call::Comment(any_text(random)),
        11 => Call::Instruction(any_local(random), any_text(random)),
        12 | 13 => Call::Text(any_text(random)),
        _ => Call::End,
    }
}

/// Returns valid calls that write a document.
pub fn document(random: &mut Random) -> Vec<Call> {
    let mut calls = Vec::new();
    if random.once_in(2) {
        calls.push(Call::Declaration);
    }
    misc(random, &mut calls);
    start(random, &mut calls);
    let mut depth = 1;
    for _ in 0..random.below(60) {
        match random.below(8) {
            0..3 => {
                start(random, &mut calls);
                depth += 1;
            }
            3 => calls.push(Call::QName(random.pick(NAMESPACES), random.pick(LOCALS))),
            4 => misc(random, &mut calls),
            5 if depth > 1 => {
                calls.push(Call::End);
                depth -= 1;
            }
            _ => calls.push(Call::Text(text(random))),
        }
    }
    calls.extend((0..depth).map(|_| Call::End));
    misc(random, &mut calls);
    calls
}

fn misc(random: &mut Random, calls: &mut Vec<Call>) {
    for _ in 0..random.below(3) {
        calls.push(match random.once_in(2) {
            true => Call::Comment(format!("{} ", verbatim(random))),
            false => Call::Instruction(random.pick(&["a", "xmlish", "é"]), verbatim(random)),
        });
    }
}

/// Adds the calls for the declarations, the start and the attributes of an element.
fn start(random: &mut Random, calls: &mut Vec<Call>) {
    let mut declared = Vec::new();
    for _ in 0..random.below(8).saturating_sub(5) {
        let prefix = random.pick(PREFIXES);
        let namespace = if prefix.is_empty() && random.once_in(2) { "" } else { random.pick(NAMESPACES) };
        if declared.iter().all(|&(other, _)| other != prefix) {
            declared.push((prefix, namespace));
            calls.push(Call::Declare(prefix, namespace));
        }
    }
    // If a default namespace is declared for the element, the element must be in a namespace.
    let has_default = declared.iter().any(|(prefix, namespace)| prefix.is_empty() && !namespace.is_empty());
    let namespace = match random.below(8) {
        0 => XML_NAMESPACE,
        1..4 if !has_default => "",
        _ => random.pick(NAMESPACES),
    };
    calls.push(Call::Start(namespace, random.pick(LOCALS)));
    let mut attributes = Vec::new();
    for _ in 0..random.below(8).saturating_sub(3) {
        let namespace = match random.below(4) {
            0 => XML_NAMESPACE,
            1 => "",
            _ => random.pick(NAMESPACES),
        };
        let local = random.pick(LOCALS);
        if attributes.contains(&(namespace, local)) || local == "type" {
            continue;
        }
        attributes.push((namespace, local));
        calls.push(Call::Attribute(namespace, local, text(random)));
    }
    if random.once_in(3) {
        let value = (random.pick(NAMESPACES), random.pick(LOCALS));
        calls.push(Call::QNameAttribute((random.pick(NAMESPACES), "type"), value));
    }
}
