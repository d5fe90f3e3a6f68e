//! Data for messages: rows of a CSV file (RFC 4180) or lines of JSON, used in turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};

/// The maximum file size. The whole file is held in memory, so that nothing is read during the load.
const MAX_SIZE: u64 = 1 << 30;

/// Rows of named values.
#[derive(Debug)]
pub(super) struct Feed {
    path: PathBuf,
    columns: Vec<String>,
    /// All values concatenated, and the end of each.
    values: String,
    ends: Vec<usize>,
    /// The line at which each row begins, counted from 1.
    lines: Vec<u64>,
}

/// What to do at the end of a feed, and whether users share its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mode {
    /// Start again at the first row
    Recycle,
    /// A user who finds no row left stops
    Stop,
    /// All users take rows from the same sequence
    Shared,
    /// Each user goes through all rows
    PerUser,
}

impl Feed {
    /// Reads a `.csv` file, whose first row has the names, or a `.jsonl` or `.ndjson` file, whose lines are objects.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let size = std::fs::metadata(path).with_context(|| format!("{shown} can't be read"))?.len();
        if size > MAX_SIZE {
            bail!("{shown} has {size} bytes, expected at most {MAX_SIZE}");
        }
        let bytes = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            anyhow::anyhow!("{shown}:{line}: found bytes that are not UTF-8")
        })?;
        let text = text.trim_start_matches('\u{feff}');
        let mut feed = Feed {
            path: path.to_owned(),
            columns: Vec::new(),
            values: String::new(),
            ends: Vec::new(),
            lines: Vec::new(),
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => feed.read_csv(text)?,
            Some("jsonl" | "ndjson") => feed.read_json_lines(text)?,
            _ => bail!("{shown}: found a different file extension, expected .csv or .jsonl"),
        }
        if feed.lines.is_empty() {
            bail!("{shown} has no rows");
        }
        Ok(feed)
    }

    fn read_csv(&mut self, text: &str) -> anyhow::Result<()> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().map_err(|error| self.csv_error(&error))?;
        self.columns = headers.iter().map(|name| name.trim().to_owned()).collect();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| self.csv_error(&error))? {
            self.lines.push(record.position().map_or(0, csv::Position::line));
            record.iter().for_each(|value| self.push(value));
        }
        Ok(())
    }

    fn csv_error(&self, error: &csv::Error) -> anyhow::Error {
        let line = error.position().map_or(1, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                self.line_error(line, &format!("found {len} values, expected {expected_len} as in the first row"))
            }
            _ => self.line_error(line, &error.to_string()),
        }
    }

    fn read_json_lines(&mut self, text: &str) -> anyhow::Result<()> {
        type Object = serde_json::Map<String, serde_json::Value>;
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let object: Object = serde_json::from_str(text)
                .map_err(|error| self.line_error(line, &format!("not a JSON object: {error}")))?;
            if self.columns.is_empty() {
                self.columns = object.keys().cloned().collect();
            }
            self.lines.push(line);
            for name in self.columns.clone() {
                let value = match object.get(&name) {
                    Some(serde_json::Value::String(value)) => value.clone(),
                    Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => value.to_string(),
                    Some(_) => {
                        return Err(self.line_error(
                            line,
                            &format!(
                                "{name}: found an array, an object or null, expected a string, a number, true or false"
                            ),
                        ));
                    }
                    None => {
                        return Err(
                            self.line_error(line, &format!("found no {name}, expected the members of the first line"))
                        );
                    }
                };
                self.push(&value);
            }
        }
        Ok(())
    }

    fn push(&mut self, value: &str) {
        self.values.push_str(value);
        self.ends.push(self.values.len());
    }

    /// Returns the number of rows, which is at least one.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns the names of the columns.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the index of the column with this name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns the value in a row and column.
    pub(super) fn value(&self, row: usize, column: usize) -> &str {
        let index = row * self.columns.len() + column;
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[begin..self.ends[index]]
    }

    /// Returns an error that names the file and the line of a row.
    pub(super) fn row_error(&self, row: usize, what: &str) -> String {
        self.line_error(self.lines[row], what).to_string()
    }

    fn line_error(&self, line: u64, what: &str) -> anyhow::Error {
        anyhow::anyhow!("{}:{line}: {what}", self.path.display())
    }
}

/// The position in a feed.
#[derive(Clone, Debug)]
pub(super) struct FeedCursor {
    rows: usize,
    ends: bool,
    next: Arc<AtomicUsize>,
    is_shared: bool,
    /// Which rows belong to this process, and of how many.
    part: (usize, usize),
}

impl FeedCursor {
    /// # Errors
    /// Two modes contradict each other.
    pub(super) fn new(rows: usize, modes: &[Mode]) -> anyhow::Result<Self> {
        let has = |mode| modes.contains(&mode);
        if has(Mode::Recycle) && has(Mode::Stop) {
            bail!("found the feed modes recycle and stop, expected one of them");
        }
        if has(Mode::Shared) && has(Mode::PerUser) {
            bail!("found the feed modes shared and per-user, expected one of them");
        }
        Ok(FeedCursor {
            rows,
            ends: has(Mode::Stop),
            next: Arc::default(),
            is_shared: !has(Mode::PerUser),
            part: (0, 1),
        })
    }

    /// Takes every `count`th row, from this number on, if users share the rows: other processes take the others.
    pub(super) fn part(self, number: usize, count: usize) -> Self {
        let part = if self.is_shared { (number, count) } else { (0, 1) };
        FeedCursor { part, ..self }
    }

    /// Returns the position for one user.
    pub(super) fn of_user(&self) -> Self {
        let next = if self.is_shared { self.next.clone() } else { Arc::default() };
        FeedCursor { next, ..self.clone() }
    }

    /// Takes the next row; `None` if there is none left.
    pub(super) fn take(&self) -> Option<usize> {
        let (first, step) = self.part;
        let turn = first + step * self.next.fetch_add(1, Ordering::Relaxed);
        if self.ends { Some(turn).filter(|turn| *turn < self.rows) } else { Some(turn % self.rows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Feed, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        let prefix = format!("{}/", directory.path().display());
        Feed::read(&path).map_err(|error| error.to_string().replace(&prefix, ""))
    }

    #[test]
    fn both_forms_give_rows() {
        let csv = read("a.csv", "\u{feff}id, name\n1,\"a, \"\"b\"\"\nc\"\n2,\n").unwrap();
        let json =
            read("a.jsonl", "{\"id\":1,\"name\":\"a, \\\"b\\\"\\nc\"}\n\n{\"name\":\"\",\"id\":2,\"more\":[]}\n")
                .unwrap();
        for (feed, second) in [(&csv, 4), (&json, 3)] {
            assert_eq!((feed.len(), feed.columns()), (2, &["id".to_owned(), "name".to_owned()][..]));
            assert_eq!((feed.value(0, 0), feed.value(0, 1)), ("1", "a, \"b\"\nc"));
            assert_eq!((feed.value(1, 0), feed.value(1, 1)), ("2", ""));
            assert_eq!(feed.lines[1], second);
        }
    }

    #[test]
    fn errors_in_a_feed_have_the_line() {
        for (name, text, expected) in [
            ("a.csv", "id,name\n1,x\n2\n", "a.csv:3: found 1 values, expected 2 as in the first row"),
            ("a.csv", "id\n", "a.csv has no rows"),
            ("a.jsonl", "{\"id\":1}\n[1]\n", "a.jsonl:2: not a JSON object"),
            ("a.jsonl", "{\"id\":1}\n{}\n", "a.jsonl:2: found no id"),
            ("a.jsonl", "{\"id\":null}\n", "a.jsonl:1: id: found an array, an object or null"),
            ("a.txt", "id\n", "a.txt: found a different file extension"),
        ] {
            let error = read(name, text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn rows_are_used_according_to_the_mode() {
        let taken = |modes: &[Mode]| {
            let turns = FeedCursor::new(2, modes).unwrap();
            let (one, other) = (turns.of_user(), turns.of_user());
            [one.take(), other.take(), one.take(), one.take()]
        };
        assert_eq!(taken(&[]), [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(taken(&[Mode::Stop]), [Some(0), Some(1), None, None]);
        assert_eq!(taken(&[Mode::PerUser]), [Some(0), Some(0), Some(1), Some(0)]);
        assert_eq!(taken(&[Mode::PerUser, Mode::Stop]), [Some(0), Some(0), Some(1), None]);
        let part = FeedCursor::new(5, &[Mode::Stop]).unwrap().part(1, 3);
        assert_eq!([part.take(), part.take(), part.take()], [Some(1), Some(4), None]);
        let part = FeedCursor::new(5, &[Mode::PerUser]).unwrap().part(1, 3);
        assert_eq!([part.take(), part.take()], [Some(0), Some(1)]);
        assert!(FeedCursor::new(1, &[Mode::Recycle, Mode::Stop]).is_err());
        assert!(FeedCursor::new(1, &[Mode::Shared, Mode::PerUser]).is_err());
    }
}
