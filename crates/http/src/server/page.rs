//! HTML pages that describe a service, with example messages.

mod html;
mod text;

use std::collections::HashMap;

use castile_soap::{Description, Version};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::address::Address;
use crate::body::Body;
use crate::headers::request_headers;
use crate::percent;
use html::{Html, shell_quoted};
use text::{Block, Contents, Operation, Row, Type};

/// The maximum text on one page with all operations, in bytes. Above it, each operation has its own page.
const MAX_PAGE_TEXT: usize = 32 << 10;
/// The maximum text of types on the page of an operation or type, in bytes. Further types are linked.
const MAX_TYPES_TEXT: usize = 16 << 10;
/// The maximum number of characters of an operation's documentation in a list.
const MAX_LISTED: usize = 120;
/// The number of operations from which a list can be filtered.
const MANY: usize = 12;

/// Nothing is loaded, only the style and script of the page are allowed, and messages can be sent only to the origin of
/// the page. The hashes are those of `page.css` and `page.js`; a test compares them.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'sha256-T+HRNRoX6R8l/6Fo3nb7C3zWZLA2Rz+TmcZ7CRODSC0='; \
     script-src 'sha256-70SA+UZLc3sRmQBIUH6xpFJKObT+pN2+o9h0PFhSVPY='; \
     connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Answers a GET that doesn't request a document of the contract. Returns `None` if the service has no page.
pub(super) fn answer(description: &Description, address: &Address, head: &Parts) -> Option<Response<Body>> {
    let page = description.page?;
    let contents = Contents::read(page.text(), page.service());
    let page = Page { description, address: address.url(head.uri.path(), head), contents };
    let query = head.uri.query().unwrap_or_default();
    let asked = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(key, _)| *key == name)
            .map(|(_, value)| String::from_utf8_lossy(&percent::decoded(value)).into_owned())
    };
    let written = match (asked("operation"), asked("type")) {
        (Some(name), _) => page.of_operation(&name),
        (None, Some(number)) => number.parse().ok().and_then(|number| page.of_type(number)),
        (None, None) => Some(page.of_service()),
    };
    let Some(written) = written else {
        let mut response = Response::new(Body::from("the service has no such operation or type\n".to_owned()));
        *response.status_mut() = StatusCode::NOT_FOUND;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        return Some(response);
    };
    let mut response = Response::new(Body::from(written));
    for (name, value) in [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ] {
        response.headers_mut().insert(name, value);
    }
    Some(response)
}

struct Page<'p> {
    description: &'p Description,
    /// The address of the service, if it is known.
    address: Option<String>,
    contents: Contents<'p>,
}

/// The types that a page describes or only links.
struct SelectedTypes {
    order: Vec<usize>,
    /// Whether a type is described on this page, by its number.
    here: HashMap<usize, bool>,
}

impl Page<'_> {
    // ---- pages ----

    fn of_service(&self) -> String {
        let Contents { operations, types } = &self.contents;
        let selected = self.select_types(operations.iter().flat_map(Operation::rows), MAX_PAGE_TEXT);
        let of_types = selected.order.iter().filter_map(|number| types.get(*number)).map(Type::len).sum::<usize>();
        let length = operations.iter().map(Operation::len).sum::<usize>() + of_types;
        let is_whole = length <= MAX_PAGE_TEXT && selected.here.values().all(|is_here| *is_here);
        let mut out = self.begun(self.description.name);
        self.head(&mut out);
        self.list(is_whole, &mut out);
        out.raw("<main>");
        if is_whole {
            for (number, operation) in operations.iter().enumerate() {
                self.operation(number, operation, &selected, &mut out);
            }
            self.types(&selected, &mut out);
        }
        ended(out)
    }

    /// Returns the page of the operations with this name.
    fn of_operation(&self, name: &str) -> Option<String> {
        let named: Vec<_> = self.contents.operations.iter().filter(|operation| operation.name == name).collect();
        let selected = self.select_types(named.iter().flat_map(|operation| operation.rows()), MAX_TYPES_TEXT);
        let mut out = self.begun(named.first()?.name);
        out.put("<header><h1><a href=\"?\">%</a></h1></header><main>", &[self.description.name]);
        for (number, operation) in named.into_iter().enumerate() {
            self.operation(number, operation, &selected, &mut out);
        }
        self.types(&selected, &mut out);
        Some(ended(out))
    }

    fn of_type(&self, number: usize) -> Option<String> {
        let of = self.contents.types.get(number)?;
        let mut selected = self.select_types([of.rows], MAX_TYPES_TEXT);
        selected.order.retain(|other| *other != number);
        selected.order.insert(0, number);
        selected.here.insert(number, true);
        let mut out = self.begun(of.name);
        out.put("<header><h1><a href=\"?\">%</a></h1></header><main>", &[self.description.name]);
        self.types(&selected, &mut out);
        Some(ended(out))
    }

    /// Selects the types that rows refer to, nearest first, until their descriptions fill the page.
    fn select_types<'b>(&self, rows: impl IntoIterator<Item = Block<'b>>, most: usize) -> SelectedTypes {
        let mut selected = SelectedTypes { order: Vec::new(), here: HashMap::new() };
        let mut room = most;
        let add = |rows: Block<'_>, selected: &mut SelectedTypes, room: &mut usize| {
            for number in rows.rows().filter_map(|row| row.number) {
                let Some(of) = self.contents.types.get(number) else { continue };
                selected.here.entry(number).or_insert_with(|| {
                    let is_here = of.len() <= *room;
                    if is_here {
                        *room -= of.len();
                        selected.order.push(number);
                    }
                    is_here
                });
            }
        };
        for rows in rows {
            add(rows, &mut selected, &mut room);
        }
        let mut next = 0;
        while let Some(&number) = selected.order.get(next) {
            add(self.contents.types[number].rows, &mut selected, &mut room);
            next += 1;
        }
        selected
    }

    // ---- the parts of a page ----

    fn begun(&self, title: &str) -> Html {
        let mut out = Html::default();
        out.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        out.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        out.put("<title>%</title><link rel=\"icon\" href=\"data:,\"><style>", &[title]);
        out.raw(STYLE);
        out.raw("</style></head>\n<body>");
        out
    }

    fn head(&self, out: &mut Html) {
        let Description { name, namespace, documentation, documents, version, .. } = self.description;
        out.put("<header><h1>%</h1>", &[name]);
        paragraph(documentation, out);
        out.raw("<dl>");
        if let Some(address) = &self.address {
            out.put("<dt>Address</dt><dd><code>%</code></dd>", &[address]);
        }
        let version = match version {
            Version::Soap12 => "1.2; 1.1 is supported too",
            _ => "1.1; 1.2 is supported too",
        };
        out.put("<dt>SOAP</dt><dd>%</dd><dt>Namespace</dt><dd><code>%</code></dd>", &[version, namespace]);
        if !documents.is_empty() {
            out.raw("<dt>Contract</dt><dd>");
            for document in *documents {
                out.put("<a href=\"?%\"><code>?%</code></a> ", &[document.query, document.query]);
            }
            out.raw("</dd>");
        }
        out.raw("</dl></header>");
    }

    /// Writes the list of operations with links to their descriptions. If these are on other pages, the beginning of
    /// the documentation is added.
    fn list(&self, is_whole: bool, out: &mut Html) {
        let operations = &self.contents.operations;
        let count = operations.len().to_string();
        out.raw(if is_whole { "<nav>" } else { "<nav class=\"told\">" });
        out.put("<h2>Operations <small>%</small></h2>", &[&count]);
        if operations.len() >= MANY {
            out.raw(
                "<input id=\"filter\" type=\"search\" placeholder=\"Filter\" aria-label=\"Filter operations\" hidden>",
            );
        }
        out.raw("<ul>");
        for (number, operation) in operations.iter().enumerate() {
            if is_whole {
                out.put("<li><a href=\"#o%\">%</a>", &[&number.to_string(), operation.name]);
            } else {
                out.put("<li><a href=\"?operation=%\">%</a>", &[&percent::encoded(operation.name), operation.name]);
                let said = operation.documentation.lines().next().unwrap_or_default();
                match said.char_indices().nth(MAX_LISTED) {
                    Some((end, _)) => out.put(" <span class=\"dim\">%…</span>", &[&said[..end]]),
                    None => out.put(" <span class=\"dim\">%</span>", &[said]),
                }
            }
            out.raw("</li>");
        }
        out.raw("</ul></nav>");
    }

    fn operation(&self, number: usize, operation: &Operation<'_>, selected: &SelectedTypes, out: &mut Html) {
        out.put("<section><h2 id=\"o%\">%</h2>", &[&number.to_string(), operation.name]);
        paragraph(&operation.documentation.text(), out);
        for (title, rows) in [
            ("Header blocks", operation.headers),
            ("Request", operation.input),
            ("Answer", operation.output),
            ("Faults", operation.faults),
        ] {
            if !rows.is_empty() {
                out.put("<h3>%</h3>", &[title]);
                list(rows, selected, out);
            }
        }
        let mut bound = self.description.operations.iter().filter(|bound| bound.name == operation.name);
        let Some(bound) = bound.nth(self.same_before(operation)) else { return out.raw("</section>") };
        let blocks = self.blocks(bound, operation.blocks);
        if operation.request.is_empty() && !operation.input.is_empty() {
            out.raw("<p class=\"dim\">No example can be made from the schema.</p>");
        } else {
            let message = envelope(self.description.version, &blocks, operation.request);
            self.request(operation.name, bound.action, &message, out);
        }
        if !operation.answer.is_empty() {
            let message = envelope(self.description.version, "", operation.answer);
            out.put("<details><summary>An answer</summary><pre tabindex=\"0\">%</pre></details>", &[&message]);
        } else if bound.response.is_none() {
            out.raw("<p class=\"dim\">There is no answer.</p>");
        }
        out.raw("</section>");
    }

    /// Returns how many operations with the same name come before.
    fn same_before(&self, operation: &Operation<'_>) -> usize {
        let before = self.contents.operations.iter().take_while(|other| !std::ptr::eq(*other, operation));
        before.filter(|other| other.name == operation.name).count()
    }

    /// Writes an example message, and the command that sends it.
    fn request(&self, name: &str, action: &str, message: &str, out: &mut Html) {
        // An action that no header can hold is left out. The payload also identifies the operation.
        let action = if action.contains(|c: char| !matches!(c, ' '..='~')) { "" } else { action };
        let Ok((content_type, soap_action)) = request_headers(self.description.version, action) else { return };
        let text = |header: &HeaderValue| String::from_utf8_lossy(header.as_bytes()).into_owned();
        let (content_type, soap_action) = (text(&content_type), soap_action.as_ref().map(text));
        out.put(
            "<h3>Send a request</h3><pre class=\"request\" tabindex=\"0\" data-operation=\"%\" data-type=\"%\"",
            &[name, &content_type],
        );
        if let Some(action) = &soap_action {
            out.put(" data-action=\"%\"", &[action]);
        }
        out.put(">%</pre>", &[message]);
        let address = self.address.as_deref().unwrap_or(self.description.address);
        // curl treats brackets in a URL as a pattern.
        let no_patterns = if address.contains(['[', ']', '{', '}']) { "--globoff " } else { "" };
        let mut command = format!(
            "curl {no_patterns}{} -H {}",
            shell_quoted(address),
            shell_quoted(&format!("Content-Type: {content_type}"))
        );
        if let Some(action) = &soap_action {
            command += &format!(" -H {}", shell_quoted(&format!("SOAPAction: {action}")));
        }
        out.put(
            "<details><summary>Send it from a shell</summary><pre class=\"curl\" tabindex=\"0\">% --data-binary ",
            &[&command],
        );
        out.put("<span class=\"data\">%</span></pre></details>", &[&shell_quoted(message)]);
    }

    /// Returns the header blocks of a request: those of the contract, and those of WS-Addressing if it is required.
    fn blocks(&self, operation: &castile_soap::Operation, blocks: Block<'_>) -> String {
        let mut blocks = blocks.text();
        if self.description.addressing.required {
            let mut addressing = Html::default();
            addressing.put(
                "<a:Action xmlns:a=\"http://www.w3.org/2005/08/addressing\">%</a:Action>\n\
                 <a:MessageID xmlns:a=\"http://www.w3.org/2005/08/addressing\">urn:uuid:00000000-0000-4000-8000-000000000000</a:MessageID>\n",
                &[operation.actions.request],
            );
            blocks.insert_str(0, &addressing.finish());
        }
        blocks
    }

    fn types(&self, selected: &SelectedTypes, out: &mut Html) {
        if selected.order.is_empty() {
            return;
        }
        out.raw("<h2>Types</h2>");
        for number in &selected.order {
            let Type { name, namespace, documentation, rows } = &self.contents.types[*number];
            out.put("<h3 id=\"t%\">% <small>%</small></h3>", &[&number.to_string(), name, namespace]);
            paragraph(&documentation.text(), out);
            match rows.is_empty() {
                true => out.raw("<p class=\"dim\">It is empty.</p>"),
                false => list(*rows, selected, out),
            }
        }
    }
}

fn ended(mut out: Html) -> String {
    out.raw("</main><footer class=\"dim\">Generated from the contract by Castile.</footer><script>");
    out.raw(SCRIPT);
    out.raw("</script></body></html>\n");
    out.finish()
}

fn paragraph(text: &str, out: &mut Html) {
    if !text.is_empty() {
        out.put("<p>%</p>", &[text]);
    }
}

/// Writes rows as nested lists.
fn list(rows: Block<'_>, selected: &SelectedTypes, out: &mut Html) {
    out.raw("<ul class=\"rows\">");
    let mut depth = 0;
    for (index, row) in rows.rows().enumerate() {
        // A row is at most one level deeper than the previous one.
        let wanted = row.depth.min(if index == 0 { 0 } else { depth + 1 });
        if wanted > depth {
            out.raw("<ul>");
        } else if index > 0 {
            out.raw("</li>");
            for _ in wanted..depth {
                out.raw("</ul></li>");
            }
        }
        depth = wanted;
        out.raw("<li>");
        line(&row, selected, out);
    }
    for _ in 0..depth {
        out.raw("</li></ul>");
    }
    out.raw("</li></ul>");
}

fn line(row: &Row<'_>, selected: &SelectedTypes, out: &mut Html) {
    let Row { kind, name, occurs, of, number, notes, documentation, .. } = *row;
    match kind {
        "a" => out.put("<b>@%</b>", &[name]),
        "g" | "v" => out.put("<i>%</i>", &[name]),
        "l" => out.put("<code>%</code>", &[name]),
        "i" if name.is_empty() => out.raw("<i>or</i>"),
        "i" => out.put("<i>or</i> <b>%</b>", &[name]),
        _ => out.put("<b>%</b>", &[name]),
    }
    if !occurs.is_empty() {
        out.put(" <span class=\"dim\">[%]</span>", &[occurs]);
    }
    match number {
        Some(number) => {
            let is_here = selected.here.get(&number).copied().unwrap_or_default();
            out.raw(if is_here { " <a href=\"#t" } else { " <a href=\"?type=" });
            out.put("%\">%</a>", &[&number.to_string(), if of.is_empty() { "its type" } else { of }]);
        }
        None if !of.is_empty() => out.put(" <code>%</code>", &[of]),
        None => {}
    }
    if !notes.is_empty() {
        out.put(" <span class=\"dim\">%</span>", &[notes]);
    }
    if !documentation.is_empty() {
        out.put(" <small>%</small>", &[documentation]);
    }
}

/// Returns a message with these header blocks and this body content.
fn envelope(version: Version, blocks: &str, body: Block<'_>) -> String {
    let mut message = format!("<soap:Envelope xmlns:soap=\"{}\">\n", version.namespace());
    let mut part = |name: &str, lines: &mut dyn Iterator<Item = &str>| {
        message += &format!("  <soap:{name}>\n");
        for line in lines {
            message += &format!("    {line}\n");
        }
        message += &format!("  </soap:{name}>\n");
    };
    if !blocks.is_empty() {
        part("Header", &mut blocks.lines());
    }
    part("Body", &mut body.lines());
    message + "</soap:Envelope>"
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_policy_has_the_hashes_of_the_style_and_the_script() {
        for (name, text) in [("style-src", STYLE), ("script-src", SCRIPT)] {
            let hash = STANDARD.encode(Sha256::digest(text));
            let policy = POLICY.to_str().expect("it is ASCII").to_owned();
            assert!(policy.contains(&format!("{name} 'sha256-{hash}';")), "{name} is 'sha256-{hash}' now");
        }
        // They would close their HTML element.
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
    }
}
