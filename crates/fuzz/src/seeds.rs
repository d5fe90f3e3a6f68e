//! Valid inputs to start with, from the project itself: requests of the suites, and messages and contracts of the tests.

use std::fs;
use std::path::{Path, PathBuf};

use castile_suites::SUITES;

/// Longer inputs are left out, in bytes: many small changes find more than few large ones.
const MAX_LENGTH: usize = 12 << 10;

/// Returns valid inputs for a target, the same each time.
///
/// # Panics
/// A file of the tests can't be read.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = match target {
        "reader" | "pieces" | "decode" | "dynamic" | "envelope" | "document" => messages(),
        "items" => files("crates/codegen/tests/documents/quakes", "xml").iter().map(|file| read(file)).collect(),
        "endpoint" => requests(),
        "multipart" => packages().into_iter().map(|package| body(&package).to_vec()).collect(),
        "contract" | "generate" => contracts(),
        "bundle" => bundles(),
        "validate" => schemas(),
        "pattern" => patterns(),
        "load" => templates(),
        "signatures" => files("crates/fuzz/signatures", "xml").iter().map(|file| read(file)).collect(),
        "signed_packages" => crate::signed_packages::signed(),
        _ => Vec::new(),
    };
    seeds.retain(|seed| seed.len() <= MAX_LENGTH && !seed.is_empty());
    seeds
}

/// Returns the envelopes of all requests.
fn messages() -> Vec<Vec<u8>> {
    requests().iter().map(|request| body(request).to_vec()).filter(|body| body.starts_with(b"<")).collect()
}

/// Returns requests of every style, in the format of `endpoint`.
fn requests() -> Vec<Vec<u8>> {
    let mut requests = Vec::new();
    // Messages with security differ each time.
    for suite in SUITES.iter().filter(|suite| !suite.sends_once) {
        for case in (suite.cases)() {
            // Some cases have hundreds of messages that differ in one value.
            for message in case.messages().iter().take(2) {
                let head =
                    [("Content-Type", &*message.content_type), ("SOAPAction", &format!("\"{}\"", message.action))];
                requests.push(request(&case.path, &head, &message.body));
            }
        }
    }
    for (feature, path) in [("encoded", "/encoded"), ("header_blocks", "/headers"), ("addressing", "/addressing")] {
        for file in files(&format!("crates/codegen/tests/features/{feature}"), "xml") {
            let message = read(&file);
            let is_soap12 = message.windows(13).any(|part| part == b"soap-envelope");
            let media_type = if is_soap12 { "application/soap+xml" } else { "text/xml; charset=utf-8" };
            requests.push(request(path, &[("Content-Type", media_type)], &message));
        }
    }
    requests.extend(handwritten());
    requests.extend(packages());
    for file in files("crates/codegen/tests/features/rpc_literal", "xml") {
        // No service accepts it; `decode` knows its messages.
        requests.push(request("/", &[("Content-Type", "text/xml")], &read(&file)));
    }
    requests.push(b"GET /interop/base?wsdl HTTP/1.1\r\nHost: localhost:8080\r\n\r\n".to_vec());
    requests
}

/// Messages that nothing else in the project sends to these services: references as written by Axis, PHP and SOAP::Lite,
/// WS-Addressing, header blocks.
fn handwritten() -> Vec<Vec<u8>> {
    files("crates/fuzz/messages", "msg").iter().map(|file| read(file)).collect()
}

/// Returns requests with attachments, with their path.
fn packages() -> Vec<Vec<u8>> {
    let messages = files("crates/codegen/tests/packages", "msg").into_iter();
    messages.map(|file| [b"POST /attachments HTTP/1.1\r\n", &*read(&file)].concat()).collect()
}

fn request(path: &str, head: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut request = format!("POST {path} HTTP/1.1\r\n");
    for (name, value) in head {
        request += &format!("{name}: {value}\r\n");
    }
    [request.as_bytes(), b"\r\n", body].concat()
}

fn body(request: &[u8]) -> &[u8] {
    let end = [&b"\r\n\r\n"[..], b"\n\n"]
        .into_iter()
        .filter_map(|end| request.windows(end.len()).position(|window| window == end).map(|at| at + end.len()));
    &request[end.min().unwrap_or(0)..]
}

/// Returns contracts with the documents beside them.
fn contracts() -> Vec<Vec<u8>> {
    let root = directory("crates/codegen/tests/features");
    let mut folders: Vec<PathBuf> = entries(&root);
    folders.push(directory("crates/fuzz/contracts"));
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let (contracts, schemas): (Vec<_>, Vec<_>) = entries(folder)
            .into_iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "wsdl" || extension == "xsd"))
            .partition(|file| file.extension().is_some_and(|extension| extension == "wsdl"));
        for contract in contracts {
            let mut documents = vec![read(&contract)];
            for schema in &schemas {
                let name = schema.file_name().unwrap_or_default().to_string_lossy().into_owned();
                documents.push([name.as_bytes(), b"\n", &*read(schema)].concat());
            }
            found.push(documents.join(&crate::SEPARATOR));
        }
    }
    found.extend(files("crates/suites/contracts", "wsdl").iter().map(|file| read(file)));
    found
}

fn bundles() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for folder in ["crates/codegen/tests/features/imports", "crates/codegen/tests/features/wildcards"] {
        let contract = directory(folder).join("service.wsdl");
        let (bundle, _) = castile_wsdl::bundle(&contract.to_string_lossy(), &castile_xsd::Files::new());
        // Without the path of this checkout.
        let text = bundle.map(|bundle| bundle.write()).unwrap_or_default();
        found.push(text.replace(&*directory("").to_string_lossy(), "").into_bytes());
    }
    found.push(
        b"<catalog xmlns='urn:oasis:names:tc:entity:xmlns:xml:catalog' prefer='public'>\
          <uri name='urn:a' uri='a.xsd'/><group xml:base='sub/'><system systemId='http://www.example.com/a' uri='b.xsd'/>\
          <rewriteURI uriStartString='http://www.example.com/' rewritePrefix='local/'/>\
          <uriSuffix uriSuffix='b.xsd' uri='c.xsd'/></group><delegateURI uriStartString='https://a' catalog='catalog.xml'/>\
          <nextCatalog catalog='more.xml'/></catalog>"
            .to_vec(),
    );
    found.push(b"# a table\nhttp://www.example.com/a/b.xsd\tb.xsd\nurn:a\t../a.xsd\n".to_vec());
    found
}

/// Returns schemas with documents, valid and invalid ones.
fn schemas() -> Vec<Vec<u8>> {
    let schema = b"<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\
        <xs:element name='order'><xs:complexType><xs:sequence>\
        <xs:element name='line' maxOccurs='3' nillable='true' type='t:Line'/><xs:any minOccurs='0' maxOccurs='2' \
        namespace='##other' processContents='lax'/></xs:sequence><xs:attribute name='rush' type='xs:boolean'/>\
        <xs:attribute name='key' type='xs:ID'/></xs:complexType>\
        <xs:key name='k'><xs:selector xpath='line|.//line'/><xs:field xpath='@number'/></xs:key>\
        <xs:keyref name='r' refer='t:k'><xs:selector xpath='line'/><xs:field xpath='@next'/></xs:keyref></xs:element>\
        <xs:complexType name='Line'><xs:simpleContent><xs:extension base='t:Code'>\
        <xs:attribute name='number' type='xs:int' use='required'/><xs:attribute name='next' type='xs:int'/>\
        </xs:extension></xs:simpleContent></xs:complexType>\
        <xs:simpleType name='Code'><xs:restriction base='xs:string'><xs:pattern value='[a-z]{1,3}(-\\d+)?'/>\
        <xs:maxLength value='8'/></xs:restriction></xs:simpleType>\
        <xs:simpleType name='Any'><xs:union memberTypes='t:Code xs:int xs:dateTime'/></xs:simpleType>\
        <xs:simpleType name='Many'><xs:list itemType='t:Any'/></xs:simpleType>\
        <xs:element name='many' type='t:Many'/></xs:schema>";
    let order = b"<t:order xmlns:t='urn:t' rush='true' key='a'><line number='1' next='2'>abc</line>\n\
        <line number='2'>a-1</line><o:x xmlns:o='urn:o'><t:many>a 1 2004-01-01T00:00:00Z</t:many></o:x></t:order>";
    let mut found = vec![[&schema[..], order].join(&crate::SEPARATOR)];
    for folder in entries(&directory("crates/codegen/tests/features")) {
        let schemas = || entries(&folder).into_iter().filter(|file| file.extension().is_some_and(|it| it == "xsd"));
        for schema in schemas() {
            let messages = entries(&folder).into_iter().filter(|file| file.extension().is_some_and(|it| it == "xml"));
            let documents: Vec<_> = std::iter::once(schema).chain(messages.take(2)).map(|file| read(&file)).collect();
            found.push(documents.join(&crate::SEPARATOR));
        }
    }
    found.extend(messages().into_iter().take(20));
    found
}

fn patterns() -> Vec<Vec<u8>> {
    const PATTERNS: [(&str, &str); 16] = [
        (r"\d{5}(-\d{4})?", "20500-0005"),
        (r"[a-z-[aeiou]]+", "xyz"),
        (r"[^\s:]*", "a b"),
        (r"\i\c*", "a:b"),
        (r"\p{Lu}\P{Nd}*", "Ab"),
        (r"\p{IsBasicLatin}|\p{IsGreek}{2,}", "α"),
        (r"(a|b)*c?", "abc"),
        (r"[A-Z]{2}\.[0-9]+", "AB.12"),
        (r"\w+\W\w*", "a b"),
        (r"[\d\-+x]{0,3}", "1-x"),
        (r".*\n?", "a"),
        (r"(([a-c]{2}){2}){2}", "abcabcab"),
        (r"\(\[\{\}\]\)\|\?\*\+\.\^\$\\", "([{}])|?*+.^$\\"),
        (r"[&-~]", "A"),
        (r"a{0}", ""),
        (r"", ""),
    ];
    PATTERNS.iter().map(|(pattern, text)| [pattern.as_bytes(), text.as_bytes()].join(&crate::SEPARATOR)).collect()
}

fn templates() -> Vec<Vec<u8>> {
    const ANSWER: &str = "<a xmlns='urn:t' k='1'><b k='1'>x</b><b>y<!-- c --></b><c xml:lang='en'>12.5</c><?p q?></a>";
    const EXPRESSIONS: [&str; 12] = [
        "/t:a/t:b[2]",
        "//@k",
        "count(//t:b) = 2",
        "string(//t:c)",
        "//*[local-name()='b'][1]",
        "//t:b[position() = last()] | //t:c",
        "sum(//t:c) div 2 > 6 and not(//t:d)",
        "substring-after(normalize-space(/t:a), 'x')",
        "//t:b/following-sibling::t:c/ancestor::*[1]/@*",
        "translate(concat('a', //t:b, \"b\"), 'ab', 'AB')",
        "//node()[lang('en')]",
        "-(1 + 2) * 3 mod 4 != floor(2.5)",
    ];
    let templates = [
        "<e a='{{ a }}' b=\"1{{b}}2\">{{c}} {{d}}<!-- {{a}} --><?p {{b}}?></e>",
        "<e><![CDATA[ {{a} ]]>{{a}}</e>",
        "<e x='>' y=\"'\">{{a}}}</e>",
    ];
    let expressions = EXPRESSIONS.map(|text| [text.as_bytes(), ANSWER.as_bytes()].join(&crate::SEPARATOR));
    expressions.into_iter().chain(templates.map(|text| text.as_bytes().to_vec())).collect()
}

// ---- files ----

fn directory(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = entries(&directory(folder));
    found.retain(|file| file.extension().is_some_and(|it| it == extension));
    found
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
