//! Writes the same infoset in many ways.

use castile_xml::{Limits, Reader, Token, escape};

use super::Random;

pub const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// An element with element content or text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    pub namespace: String,
    pub local: String,
    pub attributes: Vec<(String, String, String)>,
    pub text: String,
    pub children: Vec<Node>,
}

impl Node {
    /// Parses the root element of a document. White space between elements, comments and instructions are dropped.
    pub fn parse(document: &[u8]) -> Node {
        let mut reader = Reader::new(document, Limits::default()).unwrap();
        let mut open = vec![Node::default()];
        loop {
            match reader.next().unwrap() {
                Token::StartTag(tag) => open.push(Node {
                    namespace: reader.namespace(tag.namespace).to_owned(),
                    local: tag.name.local().to_owned(),
                    attributes: reader
                        .attributes()
                        .map(|a| (a.namespace.to_owned(), a.name.local().to_owned(), a.value.to_owned()))
                        .collect(),
                    ..Node::default()
                }),
                Token::EndTag(_) => {
                    let mut node = open.pop().unwrap();
                    if !node.children.is_empty() {
                        assert_eq!(node.text.trim(), "", "mixed content");
                        node.text.clear();
                    }
                    open.last_mut().unwrap().children.push(node);
                }
                Token::Text(text) => open.last_mut().unwrap().text.push_str(&text),
                Token::Comment(_) | Token::Instruction { .. } => {}
                Token::End => return open.remove(0).children.remove(0),
            }
        }
    }
}

/// How one sender writes all its messages, and how often it deviates from that.
pub struct Layout {
    line: &'static str,
    indent: &'static str,
    soap_prefix: &'static str,
    payload_prefix: &'static str,
    /// Whether the payload's namespace is declared on the envelope.
    early: bool,
    /// Whether the envelope declares a second prefix for it. The prefixes are used in turn.
    second: bool,
    /// Whether `xsi` is declared on the envelope, and not where it is used.
    early_xsi: bool,
    space_in_tags: &'static str,
    empty_tags: bool,
    before: &'static str,
    after: &'static str,
    /// The text in place of a header.
    header: &'static str,
    /// One in this many nodes is written in another way; 0 means none.
    noise: usize,
}

impl Layout {
    pub fn random(random: &mut Random) -> Layout {
        let [line, indent] = [["", ""], ["", ""], ["\n", "\t"], ["\r\n", "  "], ["\n", ""], [" ", ""]][random.below(6)];
        Layout {
            line,
            indent,
            soap_prefix: random.pick(&["soap", "soap", "S", "SOAP-ENV", ""]),
            payload_prefix: random.pick(&["", "", "ns1", "p", "a-long-prefix-with-which-no-tag-fits-in-a-pattern"]),
            early: random.once_in(2),
            second: random.once_in(2),
            early_xsi: random.once_in(2),
            space_in_tags: if random.once_in(6) { random.pick(&[" ", "\n", "\t "]) } else { "" },
            empty_tags: random.once_in(2),
            before: random.pick(&[
                "",
                "",
                "<?xml version='1.0' encoding='utf-8'?>",
                "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- a -->",
            ]),
            after: random.pick(&["", "", "\n", "\r\n<!-- the end --><?really yes?>\n"]),
            header: random.pick(&[
                "",
                "",
                "",
                "<H></H>",
                "<H><x xmlns='urn:x' E:mustUnderstand='0' xmlns:E='NS'>t</x></H>",
            ]),
            noise: [0, 0, 8, 3][random.below(4)],
        }
    }

    /// Writes an envelope and its content.
    pub fn write(&self, envelope: &Node, random: &mut Random) -> String {
        let mut writer = Writer { layout: self, random, out: self.before.to_owned(), scope: Vec::new(), depth: 0 };
        writer.node(envelope);
        writer.out + self.after
    }
}

struct Writer<'a> {
    layout: &'a Layout,
    random: &'a mut Random,
    out: String,
    /// Prefixes and namespaces in scope, innermost last.
    scope: Vec<(String, String)>,
    depth: usize,
}

impl Writer<'_> {
    fn node(&mut self, node: &Node) {
        let outside = self.scope.len();
        let layout = self.layout;
        let noisy = layout.noise > 0 && self.random.once_in(layout.noise);
        let mut declarations = Vec::new();
        let own = if node.namespace == SOAP { layout.soap_prefix } else { layout.payload_prefix };
        if node.local == "Envelope" && layout.early {
            // An envelope in the default namespace can't use the default for the payload.
            let payload = node.children[0].children[0].namespace.clone();
            let prefix = if layout.payload_prefix == layout.soap_prefix { "early" } else { layout.payload_prefix };
            declarations.push((prefix.to_owned(), payload.clone()));
            if layout.second {
                declarations.push(("again".to_owned(), payload));
            }
        }
        if node.local == "Envelope" && layout.early_xsi {
            declarations.push(("xsi".to_owned(), XSI.to_owned()));
        }
        self.scope.extend(declarations.iter().cloned());
        let mut prefixes = self.prefixes(&node.namespace);
        if prefixes.is_empty() || (noisy && self.random.once_in(4)) {
            let prefix = if prefixes.is_empty() { own } else { self.random.pick(&[own, "here", "ns1"]) };
            if declarations.iter().all(|(declared, _)| declared != prefix) {
                declarations.push((prefix.to_owned(), node.namespace.clone()));
                self.scope.push((prefix.to_owned(), node.namespace.clone()));
                prefixes = vec![prefix.to_owned()];
            }
        }
        let index = if (layout.second && self.random.once_in(3)) || (noisy && self.random.once_in(4)) {
            self.random.below(prefixes.len())
        } else {
            0
        };
        let name = qname(&prefixes[index], &node.local);
        self.out.push('<');
        self.out.push_str(&name);
        for (prefix, namespace) in declarations {
            let attribute = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            self.attribute(&attribute, &namespace);
        }
        let mut xsi = false;
        for (namespace, local, value) in &node.attributes {
            assert_eq!(namespace, XSI);
            xsi = true;
            self.attribute(&format!("xsi:{local}"), value);
        }
        if noisy && node.attributes.is_empty() && node.namespace != SOAP && self.random.once_in(3) {
            xsi = true;
            let (name, value) =
                [("xsi:nil", "false"), ("xsi:schemaLocation", "a b"), ("xml:space", "preserve")][self.random.below(3)];
            self.attribute(name, value);
        }
        if xsi && self.prefixes(XSI).is_empty() {
            self.attribute("xmlns:xsi", XSI);
        }
        self.out.push_str(layout.space_in_tags);
        let is_empty = node.children.is_empty() && node.text.is_empty();
        if is_empty && (layout.empty_tags != (noisy && self.random.once_in(2))) {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            self.content(node, noisy);
            self.out.push_str("</");
            self.out.push_str(&name);
            self.out.push_str(layout.space_in_tags);
            self.out.push('>');
        }
        self.scope.truncate(outside);
    }

    fn content(&mut self, node: &Node, noisy: bool) {
        if node.children.is_empty() {
            return self.text(&node.text, noisy);
        }
        self.depth += 1;
        if node.local == "Envelope" && !self.layout.header.is_empty() {
            self.new_line();
            let name = qname(&self.prefixes(SOAP)[0], "Header");
            let header = self.layout.header.replace("NS", SOAP).replace("<H>", &format!("<{name}>"));
            self.out.push_str(&header.replace("</H>", &format!("</{name}>")));
        }
        for child in &node.children {
            self.new_line();
            if noisy && self.random.once_in(3) {
                let noise = self.random.pick(&[
                    "<!-- c -->",
                    "<?p i?>",
                    "  ",
                    "\r\n",
                    "&#32;",
                    "<![CDATA[\n]]>",
                    "<!----><!---->",
                ]);
                self.out.push_str(noise);
            }
            self.node(child);
        }
        self.depth -= 1;
        self.new_line();
    }

    fn text(&mut self, text: &str, noisy: bool) {
        for c in text.chars() {
            let way = if noisy { self.random.below(8) } else { 0 };
            match way {
                1 => self.out.push_str(&format!("&#{};", u32::from(c))),
                2 if c != '\r' => self.out.push_str(&format!("<![CDATA[{c}]]>")),
                3 => self.out.push_str(&format!("<!-- -->&#x{:X};", u32::from(c))),
                _ => {
                    let mut out = Vec::new();
                    escape::push_text(&mut out, &c.to_string()).unwrap();
                    self.out.push_str(std::str::from_utf8(&out).unwrap());
                }
            }
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        self.out.push_str(value);
        self.out.push('"');
    }

    fn new_line(&mut self) {
        self.out.push_str(self.layout.line);
        for _ in 0..self.depth {
            self.out.push_str(self.layout.indent);
        }
    }

    /// Returns the prefixes that are bound to `namespace` here, outermost first.
    fn prefixes(&self, namespace: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (index, (prefix, name)) in self.scope.iter().enumerate() {
            let hidden = self.scope[index + 1..].iter().any(|(nearer, _)| nearer == prefix);
            if name == namespace && !hidden && !found.contains(prefix) {
                found.push(prefix.clone());
            }
        }
        found
    }
}

fn qname(prefix: &str, local: &str) -> String {
    if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") }
}
