//! Checks how `castile load` and `castile mock` process templates and messages.

use crate::{documents, shown};

/// The sources of the command. It is a binary, and these two files don't depend on the rest of it.
#[path = "../../cli/src/contracts/expression.rs"]
#[allow(dead_code, reason = "the command uses all of it")]
mod expression;
#[path = "../../cli/src/contracts/template.rs"]
#[allow(dead_code, reason = "the command uses all of it")]
mod template;

use expression::{Expression, Tree};
use template::Template;

/// Values for a template: characters that must be escaped, and strings that could end a construct.
const VALUES: [&str; 4] = ["", "]]>\"'<&>\n\t\r", "{{a}}", "-->"];

/// How many expressions of an input are evaluated. Each may take as many steps as the limit permits.
const MAX_EXPRESSIONS: usize = 2;

/// Reads any bytes as a template, and as expressions followed by the answer that they are evaluated on.
///
/// A filled template is as well-formed as the unfilled one, with as many elements. Nothing panics, and the work of
/// expressions is bounded.
///
/// # Panics
/// One of these properties does not hold.
pub fn load(input: &[u8]) {
    let texts: Vec<_> = documents(input).into_iter().filter_map(|text| std::str::from_utf8(text).ok()).collect();
    let Some((last, expressions)) = texts.split_last() else { return };
    fill(last);
    let Ok(tree) = Tree::read(last) else { return };
    let prefixes = [("t".to_owned(), "urn:t".to_owned())];
    for text in expressions.iter().take(MAX_EXPRESSIONS) {
        let Ok(expression) = Expression::new(text, &prefixes, str::to_owned) else { continue };
        let holds = expression.holds(&tree);
        assert_eq!(expression.holds(&tree), holds, "asked again, {}", shown(input));
        let _ = expression.value(&tree);
    }
}

/// Fills a template. The command accepts only well-formed messages as templates.
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

/// Returns the number of elements of a document, if it is well-formed and has no document type declaration.
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
