//! Printing of answers, for people and for programs.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use castile::mime::Attachments;
use castile::{CallError, Detail, Fault, FaultCode, Response};
use castile_databinding::deeper;
use castile_dynamic::{FaultDetail, Operation, Value, with_files};
use castile_soap::Version;
use castile_wss::message::VerifiedMessage;
use castile_xml::visible;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tokio::time::timeout;

use super::tap::Tap;
use super::{Arguments, parts};
use crate::contracts;
use crate::indented::MAX_INDENTED;
use crate::signatures::advice::Options;
use crate::signatures::{shown_signer, with_advice};
use crate::{errors, outcome, output};

/// The exit code of a fault.
const FAULT: u8 = 1;

/// The maximum size, in bytes, of a binary value that `--save` leaves in the printed answer, if the answer doesn't use MTOM.
const INLINE_THRESHOLD: usize = 64 << 10;

/// What to do about a request that is refused for its security.
const UNEXPLAINED: &str =
    "note: services don't say why they refuse a message; --save-request FILE writes it for `castile sec explain`";

/// The names of the files that `--save` writes; a number is appended.
const ATTACHMENT: &str = "attachment";
const VALUE: &str = "value";

/// Prints an answer. It is `None` if the operation has no response.
pub(super) async fn print(
    operation: &Operation,
    answer: Result<Option<Response<Value>>, CallError>,
    tap: &Tap,
    arguments: &Arguments,
    begun: Instant,
) -> anyhow::Result<u8> {
    let is_for_people = !arguments.as_json && io::stdout().is_terminal();
    let folder = arguments.save.as_deref();
    let left = || arguments.timeout.saturating_sub(begun.elapsed());
    let printed = |shown: &dyn Fn() -> anyhow::Result<String>| {
        if arguments.raw {
            tap.print_response();
            return Ok(());
        }
        let shown = match folder {
            Some(folder) => with_files(values(folder, tap.has_mtom()), shown),
            None => shown(),
        };
        shown.map(|shown| output::text(&shown))
    };
    match answer {
        Ok(None) => {
            note!("the request was accepted; {} has no response", operation.name());
            Ok(0)
        }
        Ok(Some(response)) => {
            if !arguments.raw {
                show_blocks(&response, arguments.answer_security.is_given())?;
            }
            show_signer(response.extensions());
            let (value, attachments) = response.into_parts();
            printed(&|| shown(&value, is_for_people))?;
            save(attachments, folder, left()).await?;
            Ok(0)
        }
        Err(CallError::Fault { mut fault, .. }) => {
            let attachments = fault.take_attachments();
            printed(&|| fault_shown(operation, &fault, is_for_people))?;
            show_signer(fault.extensions());
            if is_unexplained(arguments) && is_of_security(&fault) {
                note!("{UNEXPLAINED}");
            }
            save(attachments, folder, left()).await?;
            Ok(FAULT)
        }
        Err(error) => {
            // `--raw` also shows an answer that violates the contract.
            if arguments.raw {
                tap.print_response();
            }
            use castile_soap::ErrorKind::{Security, UnsecuredFault};
            match error {
                CallError::Protocol { .. } if !tap.is_used() => Err(outcome::not_started(error)),
                CallError::Protocol { error: ref problem, .. } if problem.kind() == Security => {
                    Err(with_advice(error.into(), Options::Messages))
                }
                CallError::Protocol { error: ref problem, .. } if problem.kind() == UnsecuredFault => {
                    let error = anyhow::Error::new(error);
                    Err(match is_unexplained(arguments) {
                        true => anyhow::anyhow!("{}\n{UNEXPLAINED}", errors::in_full(&error)),
                        false => error,
                    })
                }
                CallError::Protocol { error: ref problem, .. } if must_understand_security(problem) => {
                    Err(anyhow::Error::new(error).context(
                        "the answer has a Security that must be understood: --wss-trust and --wss-ca check it, and \
                         --wss-answer any accepts it",
                    ))
                }
                CallError::Protocol { answer: Some(_), .. } => {
                    Err(anyhow::Error::new(error).context("the answer violates the contract"))
                }
                _ => Err(error.into()),
            }
        }
    }
}

/// Prints to standard error who signed an answer, if that was checked.
fn show_signer(extensions: &http::Extensions) {
    if let Some(signer) = extensions.get::<VerifiedMessage>().and_then(VerifiedMessage::signer) {
        note!("signed by {}", visible(&shown_signer(signer)));
    }
}

/// Returns whether a request that a service refuses for its security is nowhere to be explained.
fn is_unexplained(arguments: &Arguments) -> bool {
    arguments.security.is_given() && !arguments.saved.are_given()
}

/// Returns whether a fault is one of WS-Security (§12).
fn is_of_security(fault: &Fault) -> bool {
    let code = match &fault.code {
        FaultCode::Other(name) => Some(&**name),
        _ => None,
    };
    code.into_iter().chain(&fault.subcodes).any(|name| &*name.namespace == contracts::WSSE)
}

/// Returns whether an answer was refused for a `Security` that nothing checks (SOAP 1.1 §4.2.3, SOAP 1.2 Part 1 §2.4).
fn must_understand_security(error: &castile_soap::Error) -> bool {
    error.not_understood().iter().any(|name| &*name.namespace == contracts::WSSE && &*name.local == "Security")
}

/// Formats a value as lines of a tree, or as JSON.
fn shown(value: &impl Serialize, is_for_people: bool) -> anyhow::Result<String> {
    match is_for_people {
        false => output::json(value),
        true => {
            let mut lines = String::new();
            Tree::of(value)?.write("", 0, &mut lines);
            Ok(lines)
        }
    }
}

/// Prints the header blocks of an answer to standard error. That of WS-Security says nothing new if it was checked.
fn show_blocks(response: &Response<Value>, is_checked: bool) -> anyhow::Result<()> {
    for block in response.headers()? {
        if is_checked && block.block.name().is(contracts::WSSE, "Security") {
            continue;
        }
        note!("header block: {}", castile_xml::visible_lines(&block.block.xml()));
    }
    Ok(())
}

/// A fault as it is printed.
#[derive(Serialize)]
struct PrintedFault<'f> {
    code: Cow<'f, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subcodes: Vec<String>,
    reason: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<FaultDetail>,
}

/// Formats a fault.
fn fault_shown(operation: &Operation, fault: &Fault, is_for_people: bool) -> anyhow::Result<String> {
    let code = match &fault.code {
        // A fault code that SOAP doesn't define is printed with its namespace.
        FaultCode::Other(name) => name.to_string().into(),
        code => Version::Soap12.fault_code(code).into(),
    };
    let detail = match &fault.detail {
        Detail::Other(xml) if !xml.trim().is_empty() => Some(operation.fault_detail(xml)),
        _ => None,
    };
    let subcodes = fault.subcodes.iter().map(ToString::to_string).collect();
    let printed = PrintedFault { code, subcodes, reason: fault.reason.as_str(), role: fault.role.as_deref(), detail };
    if !is_for_people {
        #[derive(Serialize)]
        struct FaultDocument<'f> {
            fault: PrintedFault<'f>,
        }
        return shown(&FaultDocument { fault: printed }, false);
    }
    let style = errors::ERROR;
    let (code, reason) = (visible(&printed.code), castile_xml::visible_lines(printed.reason));
    let mut lines = format!("{style}fault{style:#} {code}: {reason}\n");
    for subcode in &printed.subcodes {
        // Writing to a `String` can't fail.
        let _ = writeln!(lines, "  subcode: {}", visible(subcode));
    }
    if let Some(detail) = &printed.detail {
        Tree::of(detail)?.write("detail", 1, &mut lines);
    }
    Ok(lines)
}

/// Returns the paths of the first attachment and the first value that `--save` writes.
pub(super) fn first_files(folder: &Path) -> [PathBuf; 2] {
    [ATTACHMENT, VALUE].map(|kind| file(folder, kind, 1))
}

fn file(folder: &Path, kind: &str, number: usize) -> PathBuf {
    folder.join(format!("{kind}-{number}"))
}

/// Writes a new file. An existing file is never replaced.
fn write_new(file: &Path, content: &[u8]) -> io::Result<()> {
    File::create_new(file)?.write_all(content)
}

/// Returns a function that writes a binary value to a file in a folder and returns the file's name. With MTOM, it writes all values that
/// aren't empty; without it, only those larger than [`INLINE_THRESHOLD`]. For the others it returns `None`.
fn values(folder: &Path, has_mtom: bool) -> impl FnMut(&[u8]) -> io::Result<Option<String>> + use<> {
    let folder = folder.to_owned();
    let mut number = 0;
    move |content| {
        if content.is_empty() || !has_mtom && content.len() <= INLINE_THRESHOLD {
            return Ok(None);
        }
        number += 1;
        let file = file(&folder, VALUE, number);
        let written = std::fs::create_dir_all(&folder).and_then(|()| write_new(&file, content));
        let shown = file.display().to_string();
        written.map_err(|error| io::Error::other(format!("can't write {shown}: {error}")))?;
        note!("{}: {}", visible(&shown), errors::counted(content.len(), "byte"));
        Ok(file.file_name().map(|name| name.to_string_lossy().into_owned()))
    }
}

/// Writes the attachments of an answer to a folder and reports each. Without a folder, reports how many arrive within the remaining time.
async fn save(mut attachments: Attachments, folder: Option<&Path>, left: Duration) -> anyhow::Result<()> {
    let Some(folder) = folder else {
        let mut number = 0;
        let count = async {
            while attachments.next().await?.is_some() {
                number += 1;
            }
            anyhow::Ok(())
        };
        let more = match timeout(left, count).await {
            Ok(counted) => {
                counted?;
                ""
            }
            Err(_) => " and maybe more",
        };
        if number > 0 {
            let (came, them) = (errors::counted(number, "attachment"), if number == 1 { "it" } else { "them" });
            note!("received {came}{more}: --save DIR writes {them}");
        }
        return Ok(());
    };
    /// The maximum size of an attachment. Attachments are in memory one at a time.
    const MAX_ATTACHMENT_SIZE: usize = 1 << 30;
    let mut number = 0;
    while let Some(attachment) = attachments.next().await? {
        number += 1;
        outcome::make_folder(folder)?;
        let head = attachment.head().clone();
        let content = attachment.collect(MAX_ATTACHMENT_SIZE).await?;
        let file = file(folder, ATTACHMENT, number);
        write_new(&file, &content).with_context(|| format!("can't write {}", file.display()))?;
        let described = parts::described(&head, content.len());
        note!("{}: {}", visible(&file.display().to_string()), visible(&described));
    }
    Ok(())
}

/// A JSON value that keeps the order of members.
enum Tree {
    Leaf(String),
    Items(Vec<Tree>),
    Members(Vec<(String, Tree)>),
}

impl Tree {
    /// Converts a value to a tree. The recursion limit of `serde_json` is disabled, because values have their own depth limit.
    fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        let text = serde_json::to_string(value)?;
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        deserializer.disable_recursion_limit();
        Tree::deserialize(&mut deserializer)
    }

    /// Appends the lines of the tree.
    fn write(&self, name: &str, depth: usize, lines: &mut String) {
        deeper::<Tree, _>(|| self.write_here(name, depth, lines));
    }

    fn write_here(&self, name: &str, depth: usize, lines: &mut String) {
        const NAME: anstyle::Style = anstyle::Style::new().bold();
        let indent = "  ".repeat(depth.min(MAX_INDENTED));
        let name_shown = visible(name);
        // Writing to a `String` can't fail.
        let _ = match self {
            Tree::Leaf(text) if name.is_empty() => writeln!(lines, "{indent}{}", castile_xml::visible_lines(text)),
            Tree::Leaf(text) => writeln!(lines, "{indent}{NAME}{name_shown}{NAME:#}: {}", visible(text)),
            Tree::Items(items) => {
                for (number, item) in items.iter().enumerate() {
                    item.write(&format!("{name}[{number}]"), depth, lines);
                }
                Ok(())
            }
            Tree::Members(members) => {
                let inner = if name.is_empty() { depth } else { depth + 1 };
                let headed = match name.is_empty() {
                    true => Ok(()),
                    false => writeln!(lines, "{indent}{NAME}{name_shown}{NAME:#}"),
                };
                members.iter().for_each(|(name, member)| member.write(name, inner, lines));
                headed
            }
        };
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
    use castile::datatypes::QName;
    use castile_dynamic::{Contract, Options};
    use castile_wsdl::Files;

    use super::*;

    /// Regression: the recursion limit of `serde_json` rejected such answers.
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

    fn operation() -> &'static Operation {
        let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validate/orders.wsdl");
        let contract = Contract::open(Path::new(contract), &Files::new(), &Options::default()).unwrap();
        &contract.services[0].operations()[0]
    }

    /// Removes terminal colours.
    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_value_is_a_tree_for_people() {
        let json = serde_json::json!({
            "@priority": "high",
            "customer": {"name": "Ann\u{1b}", "note": null},
            "item": [{"name": "tea", "quantity": 2}, "x", [true, 1.5]],
            "nothing": {},
            "none": [],
        });
        let expected = "\
@priority: high
customer
  name: Ann\\u{1b}
  note: nil
item[0]
  name: tea
  quantity: 2
item[1]: x
item[2][0]: true
item[2][1]: 1.5
nothing
";
        assert_eq!(plain(&shown(&json, true).unwrap()), expected);
        assert_eq!(plain(&shown(&"a\nb", true).unwrap()), "a\nb\n");
    }

    #[test]
    fn a_fault_is_a_tree_for_people() {
        let mut fault = Fault::sender("no\nroom").with_subcode(QName::new("urn:x", "Full").unwrap());
        fault.detail = Detail::Other(
            " why <refused xmlns='urn:orders'><limit>3</limit></refused><other xmlns='urn:o'/>".to_owned(),
        );
        let expected = "\
fault Sender: no
room
  subcode: {urn:x}Full
  detail
    $: why
    refused
      limit: 3
    other: <other xmlns='urn:o'/>
";
        assert_eq!(plain(&fault_shown(operation(), &fault, true).unwrap()), expected);
        let json: serde_json::Value = serde_json::from_str(&fault_shown(operation(), &fault, false).unwrap()).unwrap();
        assert_eq!(json["fault"]["detail"]["$"], "why");
        // Regression: the namespace of a fault code that SOAP doesn't define was dropped.
        let code = FaultCode::Other(Box::new(QName::new("urn:x", "Full").unwrap()));
        let fault = Fault::new(code, "no room");
        assert_eq!(plain(&fault_shown(operation(), &fault, true).unwrap()), "fault {urn:x}Full: no room\n");
    }

    #[test]
    fn binary_values_go_into_files() {
        let folder = tempfile::tempdir().unwrap();
        let within = folder.path().join("new");
        let mut of_others = values(&within, false);
        assert_eq!(of_others(&[1; INLINE_THRESHOLD]).unwrap(), None);
        assert_eq!(of_others(&[2; INLINE_THRESHOLD + 1]).unwrap().as_deref(), Some("value-1"));
        assert_eq!(std::fs::read(within.join("value-1")).unwrap(), [2; INLINE_THRESHOLD + 1]);
        let mut of_mtom = values(&within, true);
        assert_eq!(of_mtom(&[]).unwrap(), None);
        let refused = of_mtom(&[3]).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("can't write {}: ", within.join("value-1").display())), "{refused}");
        assert_eq!(of_mtom(&[4]).unwrap().as_deref(), Some("value-2"));
    }
}
