//! Files that stand beside tests.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::Path;

/// Says if a file is not as it was found; with `BLESS` set, makes it so. `None` is for a file that isn't.
pub(crate) fn compare(file: &Path, found: Option<&str>) -> Option<String> {
    let expected = fs::read_to_string(file).ok();
    if expected.as_deref() == found {
        return None;
    }
    if std::env::var_os("BLESS").is_some() {
        match found {
            Some(found) => fs::write(file, found).unwrap(),
            None => fs::remove_file(file).unwrap(),
        }
        return None;
    }
    let (expected, found) = (expected.unwrap_or_default(), found.unwrap_or_default());
    let same = expected.lines().zip(found.lines()).take_while(|(expected, found)| expected == found).count();
    let [expected, found] = [expected.as_str(), found].map(|text| text.lines().nth(same).unwrap_or("nothing more"));
    Some(format!("{}:{}: expected {expected:?}, found {found:?}; BLESS=1 takes it", file.display(), same + 1))
}
