//! Trees of lines.

use std::fmt::Write;

use anstyle::Style;
use castile_xml::visible;

/// A line, its continuation lines, and its children.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) line: String,
    /// Further lines of the same node.
    pub(super) more: Vec<String>,
    pub(super) children: Vec<Node>,
}

impl Node {
    pub(super) fn new(line: impl Into<String>) -> Self {
        Self { line: line.into(), ..Self::default() }
    }

    pub(super) fn with(mut self, children: Vec<Node>) -> Self {
        self.children = children;
        self
    }

    /// Draws the node at the left margin, with everything below it.
    pub(super) fn draw(&self, branches: Style, out: &mut String) {
        // Writing to a `String` can't fail.
        let _ = writeln!(out, "{}", printable(&self.line));
        self.continuation("", branches, out);
        // Contracts may nest arbitrarily deep, so this uses a stack instead of recursion. An entry is the text to the left of a node,
        // whether the node is its parent's last child, and the node.
        let mut open = Vec::new();
        self.open_children("", &mut open);
        while let Some((left, is_last, node)) = open.pop() {
            let branch = if is_last { "└─ " } else { "├─ " };
            let _ = writeln!(out, "{branches}{left}{branch}{branches:#}{}", printable(&node.line));
            let below = format!("{left}{}", if is_last { "   " } else { "│  " });
            node.continuation(&below, branches, out);
            node.open_children(&below, &mut open);
        }
    }

    /// Pushes the children onto the stack, the first one on top.
    fn open_children<'n>(&'n self, left: &str, open: &mut Vec<(String, bool, &'n Node)>) {
        let last = self.children.len().saturating_sub(1);
        let children = self.children.iter().enumerate().rev();
        open.extend(children.map(|(index, child)| (left.to_owned(), index == last, child)));
    }

    fn continuation(&self, left: &str, branches: Style, out: &mut String) {
        let down = if self.children.is_empty() { "   " } else { "│  " };
        for line in &self.more {
            let _ = writeln!(out, "{branches}{left}{down}{branches:#}{}", printable(line));
        }
    }
}

/// Keeps our colour codes in a line and makes all other control characters visible. XML 1.0 allows no escape character, so those in the
/// line are ours.
pub(super) fn printable(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut out = visible(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let end = part.strip_prefix('[').and_then(|codes| codes.find(|c: char| !c.is_ascii_digit() && c != ';'));
        match end.filter(|&end| part[1 + end..].starts_with('m')) {
            Some(end) => {
                out.push('\u{1b}');
                out.push_str(&part[..end + 2]);
                out.push_str(&visible(&part[end + 2..]));
            }
            None => {
                out.push_str("\\u{1b}");
                out.push_str(&visible(part));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_contract_can_forge_no_other() {
        let node = Node::new("a\n├─ forged \u{9b}2J\u{202e} \u{1b}[32mgreen\u{1b}[0m \u{1b}]0;x");
        let mut out = String::new();
        node.draw(Style::new(), &mut out);
        assert_eq!(out, "a\\n├─ forged \\u{9b}2J\\u{202e} \u{1b}[32mgreen\u{1b}[0m \\u{1b}]0;x\n");
    }

    #[test]
    fn branches_lead_to_their_nodes() {
        let mut inner = Node::new("b").with(vec![Node::new("c")]);
        inner.more.push("more of b".into());
        let mut last = Node::new("d");
        last.more.push("more of d".into());
        let mut out = String::new();
        Node::new("a").with(vec![inner, last]).draw(Style::new(), &mut out);
        assert_eq!(out, "a\n├─ b\n│  │  more of b\n│  └─ c\n└─ d\n      more of d\n");
    }
}
