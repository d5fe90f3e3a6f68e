//! Cookies that a file keeps from one call to the next.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castile::http::client::Transport;
use tempfile::NamedTempFile;

/// The file, and the one that takes its place when the answer is there. Nobody else on the machine may read that: a cookie logs in.
pub(super) struct Jar {
    transport: Transport,
    file: PathBuf,
    next: NamedTempFile,
}

impl Jar {
    /// Gives `transport` the cookies of a file, which need not exist.
    ///
    /// # Errors
    /// The file holds something else, or its folder takes no other one.
    pub(super) fn open(transport: &Transport, file: &Path) -> anyhow::Result<Self> {
        if file.try_exists().with_context(|| format!("{} can't be read", file.display()))? {
            let kept = transport.keep_cookies(&super::text(file)?);
            kept.with_context(|| format!("{} is no file of cookies", file.display()))?;
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let next = NamedTempFile::new_in(folder).with_context(|| format!("{} can't be written", file.display()))?;
        Ok(Jar { transport: transport.clone(), file: file.to_owned(), next })
    }

    /// Writes what the transport has now.
    pub(super) fn keep(mut self) -> anyhow::Result<()> {
        let written = self.next.write_all(self.transport.cookies().as_bytes());
        let kept = written.and_then(|()| self.next.persist(&self.file).map_err(|error| error.error));
        kept.with_context(|| format!("{} can't be written", self.file.display()))?;
        Ok(())
    }
}
