//! A request that a person writes in an editor.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use castile_dynamic::{Contract, Operation, Service, Value};

use crate::{output, sample};

/// Opens an editor with a sample of the request, and reads what it leaves. What can't be read is kept in its file.
///
/// # Errors
/// The editor fails, what it leaves is empty or no request, or the file can't be kept.
pub(super) fn request(contract: &Contract, service: &Service, operation: &'static Operation) -> anyhow::Result<Value> {
    let name = operation.name();
    let template = sample::template(contract, service, operation)?;
    let mut file = tempfile::Builder::new().prefix(&format!("{name}-")).suffix(".xml").tempfile()?;
    let says = "Leave the editor to send this request. Without an element here nothing is sent.";
    write!(file, "<!-- {says} -->\n{template}\n")
        .and_then(|()| file.flush())
        .context("the request can't be written")?;
    edit(file.path())?;
    let text = super::text(file.path())?;
    if !has_element(&text) {
        bail!("the file has no element, so nothing was sent");
    }
    match operation.request_from_xml(&text) {
        Ok(value) => Ok(value),
        Err(error) => {
            let (_, kept) = file.keep().context("the request can't be kept")?;
            let shown = output::shell_quoted(&kept.to_string_lossy());
            Err(error).with_context(|| format!("{name} can't be called with this, which {shown} has"))
        }
    }
}

/// Whether anything but comments and white space is in a text.
fn has_element(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        rest = behind.trim_start();
    }
    !rest.is_empty()
}

/// Runs the editor of the environment. Its name may have arguments with it, as for other programs that ask for one.
fn edit(file: &Path) -> anyhow::Result<()> {
    let named =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let ended = Command::new(program).args(words).arg(file).status();
    let status = ended.with_context(|| format!("the editor {program:?} can't be run, which VISUAL or EDITOR names"))?;
    if !status.success() {
        bail!("the editor {program:?} ended with {status}, so nothing was sent");
    }
    Ok(())
}
