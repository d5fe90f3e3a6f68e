//! The files that `castile call` reads, up to a maximum size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};

/// Reads a file that becomes a part of the request.
pub(super) fn content(file: &Path) -> anyhow::Result<Vec<u8>> {
    /// The file is held in memory more than once.
    const MAX_FILE_SIZE: u64 = 64 << 20;
    let shown = file.display();
    let mut content = Vec::new();
    let opened = File::open(file).with_context(|| format!("{shown} can't be read"))?;
    // The size is checked before reading. Files that aren't regular files don't have one, so the bytes are counted as well.
    let size = opened.metadata().map_or(0, |metadata| metadata.len());
    if size > MAX_FILE_SIZE {
        bail!("{shown} has {size} bytes, expected at most {} MiB", MAX_FILE_SIZE >> 20);
    }
    opened.take(MAX_FILE_SIZE + 1).read_to_end(&mut content).with_context(|| format!("{shown} can't be read"))?;
    if content.len() as u64 > MAX_FILE_SIZE {
        bail!("{shown} is larger than the limit of {} MiB", MAX_FILE_SIZE >> 20);
    }
    Ok(content)
}

/// Reads a text file, or standard input for `-`.
pub(super) fn text(file: &Path) -> anyhow::Result<String> {
    /// The default limit of a message.
    const MAX_REQUEST_SIZE: u64 = 16 << 20;
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().take(MAX_REQUEST_SIZE + 1).read_to_string(&mut text),
        false => File::open(file).and_then(|file| file.take(MAX_REQUEST_SIZE + 1).read_to_string(&mut text)),
    };
    read.with_context(|| format!("{} can't be read", file.display()))?;
    if text.len() as u64 > MAX_REQUEST_SIZE {
        bail!("{} has more than {} MiB", file.display(), MAX_REQUEST_SIZE >> 20);
    }
    Ok(text)
}
