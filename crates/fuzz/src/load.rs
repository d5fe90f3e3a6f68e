//! What `castile load` and `castile mock` make of templates and of messages.

use crate::{documents, shown};

/// The sources of the command: it is a binary, and these two files need nothing else of it.
#[path = "../../cli/src/expression.rs"]
#[allow(dead_code, reason = "the command uses all of it")]
mod expression;
#[path = "../../cli/src/template.rs"]
#[allow(dead_code, reason = "the command uses all of it")]
mod template;

use expression::{Expression, Tree};
use template::Template;

/// What stands in the places of a template: what must be escaped, and what could end something.
const VALUES: [&str; 4] = ["", "]]>\"'<&>\n\t\r", "{{a}}", "-->"];

/// How many expressions of an input are asked: each may take as many steps as their limit allows.
const MOST_EXPRESSIONS: usize = 2;

/// Any bytes as a template, and as expressions followed by the answer that they are asked of.
///
/// A filled template is as well-formed as it was empty, with as many elements. Nothing panics, and the work of expressions is
/// bounded.
///
/// # Panics
/// If one of these does not hold.
pub fn load(input: &[u8]) {
    let texts: Vec<_> = documents(input).into_iter().filter_map(|text| std::str::from_utf8(text).ok()).collect();
    let Some((last, expressions)) = texts.split_last() else { return };
    fill(last);
    let Ok(tree) = Tree::read(last) else { return };
    let prefixes = [("t".to_owned(), "urn:t".to_owned())];
    for text in expressions.iter().take(MOST_EXPRESSIONS) {
        let Ok(expression) = Expression::new(text, &prefixes, str::to_owned) else { continue };
        let holds = expression.holds(&tree);
        assert_eq!(expression.holds(&tree), holds, "asked again, {}", shown(input));
        let _ = expression.value(&tree);
    }
}

/// The command takes well-formed messages for templates, and nothing else.
fn fill(text: &str) {
    let Some(elements) = elements(text) else { return };
    let Ok(template) = Template::new(text.to_owned(), |name| Ok(name.len() % VALUES.len())) else {
        return;
    };
    let mut written = Vec::new();
    let value = |place: usize| VALUES.get(place).copied();
    template.write(&mut written, value).unwrap_or_else(|place| panic!("{place:?} is not filled in {text:?}"));
    let written = String::from_utf8(written).expect("texts in a text");
    assert_eq!(self::elements(&written), Some(elements), "{text:?}, filled: {written:?}");
}

/// How many elements a document has, if it is well-formed and has no document type declaration.
fn elements(text: &str) -> Option<usize> {
    let mut limits = castile_xml::Limits::default();
    limits.text_length = usize::MAX;
    let mut reader = castile_xml::Reader::new(text.as_bytes(), limits).ok()?;
    let mut count = 0;
    loop {
        match reader.next().ok()? {
            castile_xml::Token::StartTag(_) => count += 1,
            castile_xml::Token::End => return Some(count),
            _ => {}
        }
    }
}
