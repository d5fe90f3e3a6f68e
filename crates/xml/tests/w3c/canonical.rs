//! The suite's second canonical form: James Clark's Canonical XML with the declarations of notations.

use castile_xml::{DocumentEntity, Error, Reader, StartTag, Token};

pub(crate) fn write(document: &DocumentEntity<'_>) -> Result<String, Error> {
    let mut out = String::new();
    for (target, data) in document.instructions() {
        out.push_str(&format!("<?{target} {data}?>"));
    }
    notations(document, &mut out);
    let mut reader = document.reader();
    // How many declarations are in scope in each open element.
    let mut scopes = vec![0];
    loop {
        match reader.next()? {
            Token::StartTag(tag) => start_tag(&reader, tag, &mut scopes, &mut out),
            Token::EndTag(name) => {
                scopes.pop();
                out.push_str(&format!("</{}>", name.as_str()));
            }
            Token::Text(text) => escape(&text, &mut out),
            Token::Instruction { target, data } => out.push_str(&format!("<?{target} {data}?>")),
            Token::Comment(_) => {}
            Token::End => return Ok(out),
        }
    }
}

fn notations(document: &DocumentEntity<'_>, out: &mut String) {
    let mut notations: Vec<_> = document.notations().iter().collect();
    notations.sort_by(|a, b| a.name.cmp(&b.name));
    if notations.is_empty() {
        return;
    }
    out.push_str(&format!("<!DOCTYPE {} [\n", document.doctype().unwrap_or_default()));
    for notation in notations {
        out.push_str(&format!("<!NOTATION {}", notation.name));
        match (&notation.public_id, &notation.system_id) {
            (Some(public), None) => out.push_str(&format!(" PUBLIC '{public}'")),
            (Some(public), Some(system)) => out.push_str(&format!(" PUBLIC '{public}' '{system}'")),
            (None, system) => out.push_str(&format!(" SYSTEM '{}'", system.as_deref().unwrap_or_default())),
        }
        out.push_str(">\n");
    }
    out.push_str("]>\n");
}

/// Writes declarations as attributes, and all attributes in the order of their names as written.
fn start_tag(reader: &Reader<'_>, tag: StartTag<'_>, scopes: &mut Vec<usize>, out: &mut String) {
    let inside = reader.namespaces().count();
    let own = inside - scopes.last().unwrap();
    scopes.push(inside);
    let mut attributes: Vec<(String, String)> = reader
        .namespaces()
        .take(own)
        .map(|(prefix, name)| {
            let attribute = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
            (attribute, name.to_owned())
        })
        .chain(reader.attributes().map(|attribute| (attribute.name.as_str().to_owned(), attribute.value.to_owned())))
        .collect();
    attributes.sort();
    out.push_str(&format!("<{}", tag.name.as_str()));
    for (name, value) in attributes {
        out.push_str(&format!(" {name}=\""));
        escape(&value, out);
        out.push('"');
    }
    out.push('>');
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            _ => out.push(c),
        }
    }
}
