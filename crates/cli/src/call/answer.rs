//! What came, for people and for programs.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use castile::mime::Attachments;
use castile::{CallError, Detail, Fault, FaultCode, Response};
use castile_databinding::deeper;
use castile_dynamic::{FaultDetail, Operation, Value};
use castile_xml::visible;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::Arguments;
use super::tap::Tap;
use crate::indented::MOST_INDENTED;
use crate::{describe, outcome, problems};

/// The exit code of a fault: it was done, and came out wrong.
const FAULT: u8 = 1;

/// Prints an answer, which is none where the operation has no response.
pub(super) async fn print(
    operation: &Operation,
    answer: Result<Option<Response<Value>>, CallError>,
    tap: &Tap,
    arguments: &Arguments,
) -> anyhow::Result<u8> {
    let is_for_people = !arguments.as_json && std::io::stdout().is_terminal();
    match answer {
        Ok(None) => {
            note!("the request was taken; {} has no response", operation.name());
            Ok(0)
        }
        Ok(Some(response)) => {
            if !arguments.raw {
                show_blocks(&response)?;
            }
            let (value, attachments) = response.into_parts();
            match arguments.raw {
                true => tap.print_response(),
                false => show(&value, is_for_people)?,
            }
            save(attachments, arguments.save.as_deref()).await?;
            Ok(0)
        }
        Err(CallError::Fault { fault, .. }) => {
            match arguments.raw {
                true => tap.print_response(),
                false => show_fault(operation, &fault, is_for_people)?,
            }
            Ok(FAULT)
        }
        Err(error) => {
            // What the contract doesn't allow is what somebody wants to see.
            if arguments.raw {
                tap.print_response();
            }
            match error {
                CallError::Protocol { answer: Some(_), .. } => {
                    Err(anyhow::Error::new(error).context("the contract doesn't allow the answer"))
                }
                CallError::Protocol { .. } if !tap.is_used() => Err(outcome::not_begun(error)),
                _ => Err(error.into()),
            }
        }
    }
}

fn show(value: &impl Serialize, is_for_people: bool) -> anyhow::Result<()> {
    match is_for_people {
        false => out!("{}", describe::json(value)?.trim_end()),
        true => {
            Tree::of(value)?.print("", 0);
        }
    }
    Ok(())
}

/// Prints the header blocks of an answer on standard error.
fn show_blocks(response: &Response<Value>) -> anyhow::Result<()> {
    for block in response.headers()? {
        note!("header block: {}", castile_xml::visible_lines(&block.block.xml()));
    }
    Ok(())
}

/// What a fault says.
#[derive(Serialize)]
struct Told<'f> {
    code: &'f str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subcodes: Vec<String>,
    reason: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<FaultDetail>,
}

fn show_fault(operation: &Operation, fault: &Fault, is_for_people: bool) -> anyhow::Result<()> {
    let code = match &fault.code {
        FaultCode::VersionMismatch => "VersionMismatch",
        FaultCode::MustUnderstand => "MustUnderstand",
        FaultCode::DataEncodingUnknown => "DataEncodingUnknown",
        FaultCode::Sender => "Sender",
        FaultCode::Receiver => "Receiver",
        FaultCode::Other(name) => name.local.as_str(),
        _ => "Other",
    };
    let detail = match &fault.detail {
        Detail::Other(xml) if !xml.trim().is_empty() => Some(operation.fault_detail(xml)),
        _ => None,
    };
    let subcodes = fault.subcodes.iter().map(ToString::to_string).collect();
    let told = Told { code, subcodes, reason: fault.reason.as_str(), role: fault.role.as_deref(), detail };
    if !is_for_people {
        #[derive(Serialize)]
        struct Whole<'f> {
            fault: Told<'f>,
        }
        return show(&Whole { fault: told }, false);
    }
    let style = problems::ERROR;
    out!("{style}fault{style:#} {code}: {}", castile_xml::visible_lines(told.reason));
    for subcode in &told.subcodes {
        out!("  subcode: {}", visible(subcode));
    }
    if let Some(detail) = &told.detail {
        Tree::of(detail)?.print("detail", 1);
    }
    Ok(())
}

/// Where the first attachment of an answer is written.
pub(super) fn first_file(folder: &Path) -> PathBuf {
    file(folder, 1)
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("attachment-{number}"))
}

/// Writes the attachments of an answer into a folder. Without one it says how many there are.
async fn save(mut attachments: Attachments, folder: Option<&Path>) -> anyhow::Result<()> {
    /// One after the other is held while it is written.
    const MOST: usize = 1 << 30;
    let mut number = 0;
    while let Some(attachment) = attachments.next().await? {
        number += 1;
        let Some(folder) = folder else { continue };
        outcome::make_folder(folder)?;
        let content = attachment.collect(MOST).await?;
        let file = file(folder, number);
        // What is there may be somebody's.
        let made = std::fs::File::create_new(&file).and_then(|mut made| made.write_all(&content));
        made.with_context(|| format!("can't write {}", file.display()))?;
        note!("{}", visible(&file.display().to_string()));
    }
    if number > 0 && folder.is_none() {
        let (attachments, them) = (problems::counted(number, "attachment"), if number == 1 { "it" } else { "them" });
        note!("{attachments} came: --save DIR writes {them}");
    }
    Ok(())
}

/// JSON whose members are in order.
enum Tree {
    Leaf(String),
    Items(Vec<Tree>),
    Members(Vec<(String, Tree)>),
}

impl Tree {
    /// What is written as JSON, which nests as deep as values do: they have a limit of their own.
    fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        let text = serde_json::to_string(value)?;
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        deserializer.disable_recursion_limit();
        Tree::deserialize(&mut deserializer)
    }

    fn print(&self, name: &str, depth: usize) {
        deeper::<Tree, _>(|| self.print_here(name, depth));
    }

    fn print_here(&self, name: &str, depth: usize) {
        const NAME: anstyle::Style = anstyle::Style::new().bold();
        let indent = "  ".repeat(depth.min(MOST_INDENTED));
        let name_shown = visible(name);
        match self {
            Tree::Leaf(text) if name.is_empty() => out!("{indent}{}", castile_xml::visible_lines(text)),
            Tree::Leaf(text) => out!("{indent}{NAME}{name_shown}{NAME:#}: {}", visible(text)),
            Tree::Items(items) => {
                for (number, item) in items.iter().enumerate() {
                    item.print(&format!("{name}[{number}]"), depth);
                }
            }
            Tree::Members(members) => {
                let mut inner = depth;
                if !name.is_empty() {
                    out!("{indent}{NAME}{name_shown}{NAME:#}");
                    inner += 1;
                }
                members.iter().for_each(|(name, member)| member.print(name, inner));
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deeper::<Tree, _>(|| deserializer.deserialize_any(InOrder))
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf("nil".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut tree = Vec::new();
        while let Some(item) = items.next_element()? {
            tree.push(item);
        }
        Ok(Tree::Items(tree))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut tree = Vec::new();
        while let Some(member) = members.next_entry()? {
            tree.push(member);
        }
        Ok(Tree::Members(tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit for JSON of others refused it.
    #[test]
    fn answers_may_nest_as_deep_as_values() {
        const DEPTH: usize = 600;
        let json = (0..DEPTH).fold(serde_json::json!("x"), |json, _| serde_json::json!([json]));
        let mut tree = &Tree::of(&json).unwrap();
        let mut depth = 0;
        while let Tree::Items(items) = tree {
            tree = &items[0];
            depth += 1;
        }
        assert_eq!(depth, DEPTH);
    }
}
