//! Files with the messages of a call, for `--save-request` and `--save-answer`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile_mime::MediaType;
use castile_xml::Charset;

use crate::outcome;

/// Where the messages of a call are written.
#[derive(clap::Args)]
#[group(id = "saved_messages")]
#[command(next_help_heading = "Output")]
pub(super) struct Arguments {
    /// Write the request to this new file, byte for byte as it is sent. The file of a package begins with its Content-Type
    #[arg(long, value_name = "FILE")]
    save_request: Option<PathBuf>,
    /// Write the answer to this new file, byte for byte as it is received, whatever it is
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    save_answer: Option<PathBuf>,
}

impl Arguments {
    /// Returns whether a message is to be written.
    pub(super) fn are_given(&self) -> bool {
        self.save_request.is_some() || self.save_answer.is_some()
    }

    /// Checks early that the files can be written.
    pub(super) fn expect_places(&self) -> anyhow::Result<()> {
        for (option, file) in [("--save-request", &self.save_request), ("--save-answer", &self.save_answer)] {
            let Some(file) = file else { continue };
            outcome::expect_place(file)?;
            if file.exists() {
                bail!("{} exists already, and {option} overwrites no file", file.display());
            }
        }
        if self.save_request.is_some() && self.save_request == self.save_answer {
            bail!("--save-request and --save-answer both write the same file, expected different files");
        }
        Ok(())
    }

    /// Writes the messages that there are, each with its Content-Type.
    pub(super) fn write(&self, request: Option<Sent<'_>>, answer: Option<Sent<'_>>) -> anyhow::Result<()> {
        for (file, message) in [(&self.save_request, request), (&self.save_answer, answer)] {
            let (Some(file), Some(message)) = (file, message) else { continue };
            let written = private(file).and_then(|mut to| {
                to.write_all(message.head().as_bytes())?;
                to.write_all(message.body)
            });
            written.with_context(|| format!("can't write {}", file.display()))?;
        }
        Ok(())
    }
}

/// The body of an HTTP message.
#[derive(Clone, Copy)]
pub(super) struct Sent<'m> {
    pub(super) content_type: &'m str,
    pub(super) body: &'m [u8],
}

impl Sent<'_> {
    /// Returns the header field without which nobody could read the body from a file.
    fn head(self) -> String {
        let Sent { content_type, .. } = self;
        let says_more = MediaType::parse(content_type).is_ok_and(|media_type| {
            let charset = media_type.parameter("charset");
            media_type.essence().starts_with("multipart/")
                || charset.is_some_and(|label| Charset::of_label(label) != Some(Charset::UTF_8))
        });
        if says_more { format!("Content-Type: {content_type}\r\n\r\n") } else { String::new() }
    }
}

/// Creates a file that only its owner can read: the message may have a password.
fn private(file: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_needed_to_read_a_file_is_added() {
        let head = |content_type| Sent { content_type, body: b"" }.head();
        for plain in ["", "text/xml", "text/xml; charset=utf-8", "application/soap+xml; action=\"a\"", "?"] {
            assert_eq!(head(plain), "", "{plain}");
        }
        for said in ["multipart/related; boundary=b", "text/xml; charset=utf-16"] {
            assert_eq!(head(said), format!("Content-Type: {said}\r\n\r\n"));
        }
    }
}
