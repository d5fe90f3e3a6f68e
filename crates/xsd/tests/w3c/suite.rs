//! The suite itself: unpacked, and its catalogues (`*Meta/*.testSet`) read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use castile_xml::tree::{Document, Element};

const XLINK: &str = "http://www.w3.org/1999/xlink";

/// The unpacked suite.
pub(crate) struct Suite(PathBuf);

/// One schema of the suite.
pub(crate) struct SchemaTest {
    /// Group and test.
    pub(crate) name: String,
    /// The contributor's folder.
    pub(crate) set: String,
    pub(crate) documents: Vec<PathBuf>,
    pub(crate) validity: Validity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    Invalid,
}

impl Suite {
    /// The suite, or a word that it isn't there.
    pub(crate) fn open() -> Option<Suite> {
        static UNPACKING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = UNPACKING.lock();
        let archive = crate::corpus()?.join("conformance/xsd/xsdtests-dev.tar.xz");
        let Ok(metadata) = fs::metadata(&archive) else {
            eprintln!("skipped: {} is not there", archive.display());
            return None;
        };
        // The size is in the name: another archive is unpacked anew.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("xsts-{}", metadata.len()));
        if !folder.is_dir() {
            let partial = folder.with_extension(format!("partial-{}", std::process::id()));
            fs::create_dir_all(&partial).unwrap();
            let unpacked = Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(&partial).status();
            if !unpacked.as_ref().is_ok_and(|status| status.success()) {
                eprintln!("skipped: tar can't unpack {}: {unpacked:?}", archive.display());
                fs::remove_dir_all(&partial).unwrap();
                return None;
            }
            if fs::rename(&partial, &folder).is_err() {
                // Another process was quicker.
                fs::remove_dir_all(&partial).unwrap();
            }
        }
        Some(Suite(folder.canonicalize().unwrap()))
    }

    /// The tests of schemas for XSD 1.0 whose verdict stands.
    pub(crate) fn schema_tests(&self) -> Vec<SchemaTest> {
        let mut tests = Vec::new();
        for path in self.catalogues() {
            let bytes = fs::read(&path).unwrap();
            let document = Document::parse(&castile_xsd::decode(&bytes).unwrap()).unwrap();
            let folder = path.parent().unwrap();
            let set = folder.file_name().unwrap().to_string_lossy().trim_end_matches("Meta").to_owned();
            for group in document.root().elements().filter(|group| group.local() == "testGroup") {
                for test in group.elements().filter(|test| test.local() == "schemaTest") {
                    tests.extend(schema_test(group, test, folder, &set));
                }
            }
        }
        tests
    }

    /// The schemas of the NIST, which no catalogue lists.
    pub(crate) fn nist_schemas(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.0.join("nistData")];
        while let Some(folder) = open.pop() {
            for path in fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "xsd") {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn catalogues(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
            if entry.file_name().to_string_lossy().ends_with("Meta") {
                found.extend(fs::read_dir(entry.path()).unwrap().flatten().map(|entry| entry.path()));
            }
        }
        found.retain(|path| path.extension().is_some_and(|extension| extension == "testSet" || extension == "xml"));
        found.sort();
        found
    }
}

fn schema_test(group: Element<'_>, test: Element<'_>, folder: &Path, set: &str) -> Option<SchemaTest> {
    let children = |local: &'static str| test.elements().filter(move |child| child.local() == local);
    let is_10 = |element: &Element<'_>| element.attribute("version").is_none_or(|version| version.contains("1.0"));
    let expected = children("expected").find(is_10)?;
    let status = children("current").next().and_then(|current| current.attribute("status")).unwrap_or("accepted");
    if !is_10(&test) || !is_10(&group) || !matches!(status, "accepted" | "stable") {
        return None;
    }
    let validity = match expected.attribute("validity") {
        Some("valid") => Validity::Valid,
        Some("invalid") => Validity::Invalid,
        _ => return None,
    };
    let documents = children("schemaDocument").map(|document| {
        let path = folder.join(document.find_attribute(XLINK, "href").unwrap().value());
        path.canonicalize().unwrap_or(path)
    });
    let name = |element: Element<'_>| element.attribute("name").unwrap_or_default().to_owned();
    let name = format!("{set}/{}/{}", name(group), name(test));
    Some(SchemaTest { name, set: set.to_owned(), documents: documents.collect(), validity })
}
