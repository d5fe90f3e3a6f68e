//! A request that the user writes in an editor.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use castile::Any;
use castile_dynamic::{Contract, Operation, Service, Value};
use castile_xml::visible;
use tempfile::NamedTempFile;

use super::files;
use crate::contracts::{envelope, sample};
use crate::output;

/// Opens an editor with a sample request and reads the result. If the result can't be read, its file is kept.
///
/// # Errors
/// The editor fails, the result is empty or not a valid request, or the file can't be kept.
pub(super) fn request(
    contract: &Contract,
    service: &Service,
    operation: &'static Operation,
) -> anyhow::Result<(Value, Vec<Any>, NamedTempFile)> {
    let name = operation.name();
    let template = sample::template(contract, service, operation)?;
    let prefix = format!("{}-", sample::file_name(name));
    let mut file = tempfile::Builder::new().prefix(&prefix).suffix(".xml").tempfile()?;
    let says = "Close the editor to send this request. Delete the element to send nothing.";
    write!(file, "<!-- {says} -->\n{template}\n")
        .and_then(|()| file.flush())
        .context("the request can't be written")?;
    edit(file.path())?;
    let text = match files::text(file.path()) {
        Ok(text) => text,
        Err(error) => {
            keep_file(file)?;
            return Err(error);
        }
    };
    if !has_element(&text) {
        bail!("the file has no element, so nothing was sent");
    }
    let read = || {
        let blocks = envelope::blocks(&Any::parse(&text)?)?.unwrap_or_default();
        anyhow::Ok((operation.request_from_xml(&envelope::without_header(&text)?)?, blocks))
    };
    match read().with_context(|| format!("{name} can't be called with the edited request")) {
        Ok((value, blocks)) => Ok((value, blocks, file)),
        Err(error) => {
            keep_file(file)?;
            Err(error)
        }
    }
}

/// Keeps the temporary file and prints its path.
pub(super) fn keep_file(file: NamedTempFile) -> anyhow::Result<()> {
    let (_, kept) = file.keep().context("the edited request can't be saved")?;
    note!("the edited request was saved to {}", visible(&output::shell_quoted(&kept.to_string_lossy())));
    Ok(())
}

/// Returns whether a text contains anything except comments and white space.
fn has_element(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, behind)) = rest.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        rest = behind.trim_start();
    }
    !rest.is_empty()
}

/// Runs the editor named by the environment. The variable may contain arguments after the program name, as is common.
fn edit(file: &Path) -> anyhow::Result<()> {
    let named =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = named.unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let ended = Command::new(program).args(words).arg(file).status();
    let status = ended.with_context(|| format!("the editor {program:?}, set by VISUAL or EDITOR, can't be run"))?;
    if !status.success() {
        bail!("the editor {program:?} failed ({status}), so nothing was sent");
    }
    Ok(())
}
