//! Improves the layout of formatted code.
//!
//! `prettyplease` breaks lines early and doesn't separate items. Broken lines that fit on one line are joined, and
//! items and methods get a blank line before them. Only white space and commas change.

use std::borrow::Cow;

/// Maximum length of a joined line.
const WIDTH: usize = 120;

/// Joins lines of `prettyplease` output that fit on one line.
pub(super) fn join(source: &str) -> String {
    let mut lines: Vec<Cow<'_, str>> = source.lines().map(Cow::Borrowed).collect();
    // Lines are processed from the end, so that inner lines are joined before outer ones. The processed lines start at
    // `start`; the entries between them and the remaining lines are free.
    let mut start = lines.len();
    for index in (0..lines.len()).rev() {
        start -= 1;
        lines.swap(index, start);
        if is_documentation(&lines[start]) {
            continue;
        }
        while let Some((count, joined)) = [group, chain, arm, closure, header]
            .iter()
            .find_map(|joined| joined(&lines[start..]))
            .filter(|(_, joined)| fits(joined))
        {
            start += count - 1;
            lines[start] = Cow::Owned(joined);
        }
    }
    lines[start..].iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
}

/// Joins brackets around items on lines of their own: `f(`, `a,`, `b,`, `)`.
fn group(lines: &[Cow<'_, str>]) -> Option<(usize, String)> {
    let (first, rest) = lines.split_first()?;
    let close = match first.chars().last()? {
        '(' => ')',
        '[' => ']',
        _ => return None,
    };
    // At the start of a call chain the arguments are indented further, like the calls that follow.
    let further = depth(rest.first()?).checked_sub(depth(first) + 4).filter(|further| matches!(further, 0 | 4))?;
    let inner = rest.iter().take_while(|line| depth(line) == depth(first) + further + 4).count();
    let (inner, rest) = rest.split_at(inner);
    let is_last = |line: &&Cow<'_, str>| line.trim_start().starts_with(close) && depth(line) == depth(first) + further;
    let last = rest.first().filter(is_last)?;
    if inner.iter().any(|line| is_documentation(line) || line.trim_start().starts_with(['.', '#'])) {
        return None;
    }
    let inside: Vec<&str> = inner.iter().map(|line| line.trim()).collect();
    let inside = inside.join(" ");
    let joined = format!("{first}{}{}", inside.strip_suffix(',').unwrap_or(&inside), last.trim());
    Some((inner.len() + 2, joined))
}

/// Joins calls on lines of their own: `a`, `.f()`, `.await`.
fn chain(lines: &[Cow<'_, str>]) -> Option<(usize, String)> {
    let (first, rest) = lines.split_first()?;
    let is_call = |line: &&Cow<'_, str>| depth(line) == depth(first) + 4 && line.trim_start().starts_with('.');
    let calls = rest.iter().take_while(is_call).count();
    let is_whole = |line: &Cow<'_, str>| !line.ends_with(['(', '[', '{', '|']);
    if calls == 0 || !rest[..calls].iter().all(is_whole) {
        return None;
    }
    let joined = rest[..calls].iter().fold(first.to_string(), |joined, call| joined + call.trim());
    Some((calls + 1, joined))
}

/// Joins the block of a match arm with a single value: `0 => {`, `value`, `}`.
fn arm(lines: &[Cow<'_, str>]) -> Option<(usize, String)> {
    let (first, value, last) = block(lines)?;
    let pattern = first.strip_suffix('{').filter(|pattern| pattern.ends_with("=> "))?;
    (last == "}").then(|| (3, format!("{pattern}{value},")))
}

/// Joins the block of a closure with a single value: `f(|a| {`, `value`, `})`.
fn closure(lines: &[Cow<'_, str>]) -> Option<(usize, String)> {
    let (first, value, last) = block(lines)?;
    let parameters = first.strip_suffix('{').filter(|parameters| parameters.ends_with("| "))?;
    Some((3, format!("{parameters}{value}{}", last.strip_prefix('}')?)))
}

/// Returns a line that opens a block, the single value in the block, and the line that closes it.
fn block<'a>(lines: &'a [Cow<'_, str>]) -> Option<(&'a str, &'a str, &'a str)> {
    let [first, value, last, ..] = lines else { return None };
    let is_value =
        first.ends_with('{') && depth(value) == depth(first) + 4 && !value.ends_with([';', '{', '(', '[', ',']);
    (is_value && depth(last) == depth(first)).then(|| (first.as_ref(), value.trim(), last.trim()))
}

/// Joins a header with its opening brace: `impl A`, `for B {` and `while c`, `{`.
fn header(lines: &[Cow<'_, str>]) -> Option<(usize, String)> {
    let [first, next, ..] = lines else { return None };
    let continues = next.trim() == "{" || first.starts_with("impl") && next.starts_with("for ");
    (continues && depth(first) == depth(next)).then(|| (2, format!("{first} {}", next.trim())))
}

/// Inserts a blank line before items and methods.
pub(super) fn space(source: &str) -> String {
    const BEGINNINGS: [&str; 13] = [
        "///",
        "#[",
        "pub ",
        "pub(super) ",
        "static ",
        "const ",
        "impl",
        "struct ",
        "enum ",
        "fn ",
        "async fn ",
        "use ",
        "::",
    ];
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let (mut previous, mut item) = ("", "");
    for line in source.lines() {
        let text = &line[depth(line)..];
        let begins = BEGINNINGS.iter().any(|beginning| text.starts_with(beginning));
        let ends = previous.ends_with(['}', ';']) && !is_documentation(previous);
        // At the outermost level every item is separated. Inside, items with a body or documentation are.
        const APART: [&str; 8] = ["///", "fn ", "pub fn ", "pub(super) ", "static ", "impl", "#[", "::"];
        let apart = depth(line) == 0 || APART.iter().any(|beginning| text.starts_with(beginning));
        // Constants are not separated from each other or from the function that uses them, nor tables from their
        // implementation.
        let is_constant = previous.trim_start().starts_with("const ");
        let continues = is_constant && (text.starts_with("const ") || text.starts_with("fn "))
            || item.starts_with("static ") && text.starts_with("impl");
        if begins && ends && depth(previous) >= depth(line) && apart && !continues {
            out.push('\n');
        }
        if begins {
            item = text;
        }
        out.push_str(line);
        out.push('\n');
        previous = line;
    }
    out
}

fn depth(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ').count()
}

fn is_documentation(line: &str) -> bool {
    line[depth(line)..].starts_with("///")
}

fn fits(line: &str) -> bool {
    line.chars().count() <= WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_items_are_joined_to_one_line() {
        for (source, expected) in [
            ("fn f(\n    a: A,\n    b: B,\n) -> C {\n    d\n}\n", "fn f(a: A, b: B) -> C {\n    d\n}\n"),
            ("a\n    .b()\n    .await\n", "a.b().await\n"),
            (
                "match a {\n    0 => {\n        b\n            .c(\n                d,\n            )\n    }\n}\n",
                "match a {\n    0 => b.c(d),\n}\n",
            ),
            ("a(\n        b,\n    )\n    .c()\n", "a(b).c()\n"),
            ("a\n    .b(|c| {\n        d\n    })\n", "a.b(|c| d)\n"),
            ("impl<T> A<T>\nfor B<T> {\n    c\n}\n", "impl<T> A<T> for B<T> {\n    c\n}\n"),
            ("while a\n{\n    b;\n}\n", "while a {\n    b;\n}\n"),
        ] {
            assert_eq!(join(source), expected);
        }
    }

    #[test]
    fn long_lines_are_unchanged() {
        let long = "a".repeat(WIDTH - 10);
        let source = format!("f(\n    {long},\n    {long},\n);\n");
        assert_eq!(join(&source), source);
    }

    #[test]
    fn related_items_are_adjacent() {
        let source = "pub struct A {}\nstatic T: [B; 1] = [\n    b,\n];\nimpl C for A {\n    const D: E = F;\n    fn g() {}\n}\nstatic U: B = b\n    .c();\nstatic V: B = b;\n";
        let expected = "pub struct A {}\n\nstatic T: [B; 1] = [\n    b,\n];\nimpl C for A {\n    const D: E = F;\n    fn g() {}\n}\n\nstatic U: B = b\n    .c();\n\nstatic V: B = b;\n";
        assert_eq!(space(source), expected);
    }

    #[test]
    fn items_are_separated_and_documentation_is_unchanged() {
        let source = "const A: B = C;\nconst D: E = F;\n/// One (\n///\n/// two;\n///\n/// three }\npub struct G {}\nimpl G {\n    fn f() {}\n    fn g() {}\n}\n";
        let expected = "const A: B = C;\nconst D: E = F;\n\n/// One (\n///\n/// two;\n///\n/// three }\npub struct G {}\n\nimpl G {\n    fn f() {}\n\n    fn g() {}\n}\n";
        assert_eq!(space(&join(source)), expected);
    }
}
