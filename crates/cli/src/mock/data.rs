//! The files of a mock: answers and rules.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The largest file, in bytes, and what all may have.
const MOST: u64 = 16 << 20;
const MOST_OF_ALL: u64 = 256 << 20;
/// How many files there may be.
const FILES: usize = 10_000;
/// The file that says when which answer is given.
pub(super) const RULES: &str = "rules.toml";

/// The files of a folder whose names end in `.json` or `.xml`, and the rules.
#[derive(Debug, Default)]
pub(super) struct Data {
    folder: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Data {
    /// Reads a folder, without those in it.
    ///
    /// # Errors
    /// It can't be read, or has too much.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let mut files = BTreeMap::new();
        let mut left = MOST_OF_ALL;
        for entry in std::fs::read_dir(folder).with_context(|| format!("the folder {shown} can't be read"))? {
            let path = entry.with_context(|| format!("the folder {shown} can't be read"))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if !path.is_file() || !is_answer(name) && name != RULES {
                continue;
            }
            if files.len() == FILES {
                bail!("{shown} has more than {FILES} files");
            }
            let bytes = read(&path)?;
            left = left
                .checked_sub(bytes.len() as u64)
                .with_context(|| format!("the files of {shown} have more than {} MiB", MOST_OF_ALL >> 20))?;
            files.insert(name.to_owned(), bytes);
        }
        Ok(Data { folder: folder.to_owned(), files })
    }

    /// These files.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        Data { folder: PathBuf::new(), files: files.collect() }
    }

    /// The bytes of a file.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// What a file is called for people.
    pub(super) fn shown(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// The names of all answers.
    pub(super) fn answers(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str).filter(|name| is_answer(name))
    }
}

fn is_answer(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".xml")
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes));
    read.with_context(|| format!("{shown} can't be read"))?;
    if bytes.len() as u64 > MOST {
        bail!("{shown} has more than {} MiB", MOST >> 20);
    }
    Ok(bytes)
}
