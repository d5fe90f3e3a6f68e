//! Content models (XML 1.0 §3.2.1, §3.2.2). They are checked and not stored, because only validation needs them.

use super::cursor::{Cursor, Result};
use crate::error::{Error, ErrorKind};

const CONTEXT: &str = "in an element type declaration";

/// Reads `contentspec` (production 46).
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<()> {
    if cursor.take("EMPTY") || cursor.take("ANY") {
        return Ok(());
    }
    cursor.expect("(", CONTEXT)?;
    cursor.space();
    if cursor.take("#PCDATA") { mixed(cursor) } else { children(cursor) }
}

/// Reads the rest of a `Mixed` (production 51).
fn mixed(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut names = false;
    loop {
        cursor.space();
        if cursor.take(")") {
            return if cursor.take("*") || !names {
                Ok(())
            } else {
                Err(cursor.unexpected("\"*\"", "after mixed content with elements"))
            };
        }
        cursor.expect("|", CONTEXT)?;
        cursor.space();
        cursor.qname(CONTEXT)?;
        names = true;
    }
}

/// Reads the rest of `children` (productions 47 to 50). `groups` is a stack with the separator of each open group.
fn children(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut groups: Vec<Option<u8>> = vec![None];
    loop {
        cursor.space();
        if cursor.take("(") {
            groups.push(None);
            continue;
        }
        cursor.qname(CONTEXT)?;
        occurrence(cursor);
        // After a particle: the ends of groups, then another particle.
        loop {
            cursor.space();
            let Some(separator) = groups.last_mut() else { return Ok(()) };
            match cursor.peek() {
                Some(b')') => {
                    cursor.at += 1;
                    occurrence(cursor);
                    groups.pop();
                    if groups.is_empty() {
                        return Ok(());
                    }
                }
                Some(found @ (b'|' | b',')) => {
                    if *separator.get_or_insert(found) != found {
                        let message =
                            "\"|\" and \",\" in one group of a content model, which needs another pair of parentheses";
                        return Err(Error::new(ErrorKind::Syntax, cursor.at, message));
                    }
                    cursor.at += 1;
                    break;
                }
                _ => return Err(cursor.unexpected("\"|\", \",\" or \")\"", CONTEXT)),
            }
        }
    }
}

fn occurrence(cursor: &mut Cursor<'_>) {
    if matches!(cursor.peek(), Some(b'?' | b'*' | b'+')) {
        cursor.at += 1;
    }
}
