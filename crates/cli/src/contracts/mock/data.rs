//! The files of a mock: answers, rules and attachments.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use bytes::Bytes;

/// The maximum size of a file in bytes, and of all files together.
const MAX_FILE_SIZE: u64 = 16 << 20;
const MAX_TOTAL_SIZE: u64 = 256 << 20;
/// The maximum number of files.
const MAX_FILES: usize = 10_000;
/// The file with the rules, which select answers.
pub(super) const RULES: &str = "rules.toml";

/// The `.json` and `.xml` files of a folder, and the rules. Other files are read when a rule names them.
#[derive(Debug, Default)]
pub(super) struct Data {
    /// `None` if all files are in `files`, as in tests.
    folder: Option<PathBuf>,
    files: BTreeMap<String, Bytes>,
    other_files: RefCell<BTreeMap<String, Bytes>>,
    /// The number of bytes that may still be read.
    bytes_left: Cell<u64>,
}

impl Data {
    /// Reads the files of a folder, but not its subfolders.
    ///
    /// # Errors
    /// The folder can't be read, or its files are too large.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let shown = folder.display();
        let mut files = BTreeMap::new();
        let bytes_left = Cell::new(MAX_TOTAL_SIZE);
        for entry in std::fs::read_dir(folder).with_context(|| format!("the folder {shown} can't be read"))? {
            let path = entry.with_context(|| format!("the folder {shown} can't be read"))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if !path.is_file() || !is_answer(name) && name != RULES {
                continue;
            }
            if files.len() == MAX_FILES {
                bail!("{shown} has more than {MAX_FILES} files");
            }
            files.insert(name.to_owned(), read_within(&path, folder, &bytes_left)?);
        }
        Ok(Data { folder: Some(folder.to_owned()), files, other_files: RefCell::default(), bytes_left })
    }

    /// Makes data of these files, for tests.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), Bytes::copy_from_slice(text.as_bytes())));
        Data { files: files.collect(), ..Data::default() }
    }

    /// Returns the bytes of an answer file, or of the rules.
    pub(super) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(|bytes| &**bytes)
    }

    /// Returns the bytes of any file in the folder itself.
    ///
    /// # Errors
    /// The file doesn't exist, can't be read, or is too large.
    pub(super) fn any_file(&self, name: &str) -> Result<Bytes, String> {
        let mut others = self.other_files.borrow_mut();
        if let Some(bytes) = self.files.get(name).or_else(|| others.get(name)) {
            return Ok(bytes.clone());
        }
        let absent = || format!("there is no file {}", self.shown(name));
        let folder = self.folder.as_deref().ok_or_else(absent)?;
        let path = folder.join(name);
        if !path.is_file() {
            return Err(absent());
        }
        if self.files.len() + others.len() >= MAX_FILES {
            return Err(format!("{} has more than {MAX_FILES} files", folder.display()));
        }
        let bytes = read_within(&path, folder, &self.bytes_left).map_err(|error| format!("{error:#}"))?;
        others.insert(name.to_owned(), bytes.clone());
        Ok(bytes)
    }

    /// Returns the path of a file, for messages.
    pub(super) fn shown(&self, name: &str) -> String {
        self.folder.as_deref().unwrap_or(Path::new("")).join(name).display().to_string()
    }

    /// Returns the names of all answer files.
    pub(super) fn answers(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str).filter(|name| is_answer(name))
    }
}

fn is_answer(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".xml")
}

/// Reads a file, and subtracts its size from the bytes that are left for all files.
fn read_within(path: &Path, folder: &Path, bytes_left: &Cell<u64>) -> anyhow::Result<Bytes> {
    let bytes = read(path)?;
    let rest = bytes_left.get().checked_sub(bytes.len() as u64);
    let too_many = || format!("the files of {} have more than {} MiB", folder.display(), MAX_TOTAL_SIZE >> 20);
    bytes_left.set(rest.with_context(too_many)?);
    Ok(bytes.into())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes));
    read.with_context(|| format!("{shown} can't be read"))?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        bail!("{shown} has more than {} MiB", MAX_FILE_SIZE >> 20);
    }
    Ok(bytes)
}
