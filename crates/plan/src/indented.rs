//! Formats example messages with one element per line.

use castile_xml::tree::{Document, Element, Node};

use crate::grown;

/// Maximum number of indented levels, so that there are not more spaces than content.
const MAX_INDENTED: usize = 20;

/// Returns the elements of a body, indented where white space has no meaning: in elements without text beside their
/// children.
pub fn indented(elements: &str) -> String {
    // A document needs a single root element.
    let Ok(document) = Document::parse(&format!("<body>{elements}</body>")) else { return elements.to_owned() };
    let mut out = String::new();
    for element in document.root().elements() {
        write(element, 0, &mut out);
    }
    out.trim_end().to_owned()
}

fn write(element: Element<'_>, depth: usize, out: &mut String) {
    let source = element.source();
    let indentation = "  ".repeat(depth.min(MAX_INDENTED));
    out.push_str(&indentation);
    let has_text = element.children().any(|child| matches!(child, Node::Text(text) if !text.trim().is_empty()));
    match element.elements().next() {
        Some(first) if !has_text => {
            out.push_str(source[..first.offset() - element.offset()].trim_end());
            out.push('\n');
            for child in element.elements() {
                grown(|| write(child, depth + 1, out));
            }
            out.push_str(&indentation);
            out.push_str(&source[source.rfind("</").unwrap_or(source.len())..]);
        }
        // Line ends in a value are escaped, so that later indentation doesn't change the value.
        _ => out.push_str(&source.replace('\n', "&#10;")),
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_nothing_is_indented() {
        for (elements, expected) in [
            ("<a/>", "<a/>"),
            ("<a></a><b> </b>", "<a></a>\n<b> </b>"),
            ("<a b='>'><c>d</c><e><f/></e></a>", "<a b='>'>\n  <c>d</c>\n  <e>\n    <f/>\n  </e>\n</a>"),
            ("<a>b<c/></a>", "<a>b<c/></a>"),
            ("<a><b>&lt;/</b></a>", "<a>\n  <b>&lt;/</b>\n</a>"),
            ("<a>\n  <b c='d'>e\nf</b></a>", "<a>\n  <b c='d'>e&#10;f</b>\n</a>"),
            ("no XML", ""),
            ("<a>", "<a>"),
        ] {
            assert_eq!(indented(elements), expected);
        }
    }

    #[test]
    fn depth_costs_neither_stack_nor_spaces() {
        let deep = format!("{}{}", "<a>".repeat(4_000), "</a>".repeat(4_000));
        assert!(indented(&deep).len() < 20 * deep.len());
    }
}
