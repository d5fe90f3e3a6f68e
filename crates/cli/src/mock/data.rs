//! The files of a mock: answers, rules, and what is attached to answers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bytes::Bytes;

/// The largest file, in bytes, and what all may have.
const MOST: u64 = 16 << 20;
const MOST_OF_ALL: u64 = 256 << 20;
/// How many files there may be.
const FILES: usize = 10_000;
/// The file that says when which answer is given.
pub(super) const RULES: &str = "rules.toml";

/// The files of a folder whose names end in `.json` or `.xml`, and the rules. What else is there is read when rules name it.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// `None` if there are no files but these.
    folder: Option<PathBuf>,
    files: BTreeMap<String, Bytes>,
    others: RefCell<BTreeMap<String, Bytes>>,
    /// How many bytes may still be read.
    left: Cell<u64>,
}

impl Data {
    /// Reads a folder, without those in it.
    ///
    /// # Errors
    /// It can't be read, or has too much.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let mut files = BTreeMap::new();
        let left = Cell::new(MOST_OF_ALL);
        for entry in std::fs::read_dir(folder).with_context(|| format!("the folder {shown} can't be read"))? {
            let path = entry.with_context(|| format!("the folder {shown} can't be read"))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if !path.is_file() || !is_answer(name) && name != RULES {
                continue;
            }
            if files.len() == FILES {
                bail!("{shown} has more than {FILES} files");
            }
            files.insert(name.to_owned(), read_within(&path, folder, &left)?);
        }
        Ok(Data { folder: Some(folder.to_owned()), files, others: RefCell::default(), left })
    }

    /// These files.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), Bytes::copy_from_slice(text.as_bytes())));
        Data { files: files.collect(), ..Data::default() }
    }

    /// The bytes of an answer, or of the rules.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }

    /// The bytes of any file, which is in the folder itself.
    ///
    /// # Errors
    /// It is not there, can't be read, or is too large.
    pub(super) fn any_file(&self, name: &str) -> Result<Bytes, String> {
        let mut others = self.others.borrow_mut();
        if let Some(bytes) = self.files.get(name).or_else(|| others.get(name)) {
            return Ok(bytes.clone());
        }
        let absent = || format!("there is no file {}", self.shown(name));
        let folder = self.folder.as_deref().ok_or_else(absent)?;
        let path = folder.join(name);
        if !path.is_file() {
            return Err(absent());
        }
        if self.files.len() + others.len() >= FILES {
            return Err(format!("{} has more than {FILES} files", folder.display()));
        }
        let bytes = read_within(&path, folder, &self.left).map_err(|error| format!("{error:#}"))?;
        others.insert(name.to_owned(), bytes.clone());
        Ok(bytes)
    }

    /// What a file is called for people.
    pub(super) fn shown(&self, name: &str) -> String {
        self.folder.as_deref().unwrap_or(Path::new("")).join(name).display().to_string()
    }

    /// The names of all answers.
    pub(super) fn answers(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str).filter(|name| is_answer(name))
    }
}

fn is_answer(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".xml")
}

/// Reads a file of a folder, as long as so many bytes are left for all.
fn read_within(path: &Path, folder: &Path, left: &Cell<u64>) -> anyhow::Result<Bytes> {
    let bytes = read(path)?;
    let rest = left.get().checked_sub(bytes.len() as u64);
    let too_many = || format!("the files of {} have more than {} MiB", folder.display(), MOST_OF_ALL >> 20);
    left.set(rest.with_context(too_many)?);
    Ok(bytes.into())
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
