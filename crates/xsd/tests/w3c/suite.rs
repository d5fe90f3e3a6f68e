//! Unpacks the suite and reads its catalogs (`*Meta/*.testSet`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use castile_xml::tree::{Document, Element};

const XLINK: &str = "http://www.w3.org/1999/xlink";
const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The unpacked suite.
pub(crate) struct Suite(PathBuf);

/// A schema test of the suite.
pub(crate) struct SchemaTest {
    /// Group and test.
    pub(crate) name: String,
    /// The contributor's folder.
    pub(crate) set: String,
    pub(crate) documents: Vec<PathBuf>,
    pub(crate) validity: Validity,
}

/// An instance test of the suite.
pub(crate) struct InstanceTest {
    /// Group and test.
    pub(crate) name: String,
    /// The contributor's folder.
    pub(crate) set: String,
    /// The schema documents of its group, and those that the instance names.
    pub(crate) schema: Vec<PathBuf>,
    pub(crate) instance: PathBuf,
    pub(crate) validity: Validity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validity {
    Valid,
    Invalid,
}

impl Suite {
    /// Unpacks the suite, unless it is already unpacked.
    pub(crate) fn open() -> Suite {
        static UNPACKING: Mutex<()> = Mutex::new(());
        let _one_at_a_time = UNPACKING.lock();
        let archive = castile_corpus::path!("corpus/conformance/xsd/xsdtests-dev.tar.xz");
        let metadata = fs::metadata(archive).unwrap();
        // The name has the archive's size, so a different archive is unpacked again.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("xsts-{}", metadata.len()));
        if !folder.is_dir() {
            let partial = folder.with_extension(format!("partial-{}", std::process::id()));
            fs::create_dir_all(&partial).unwrap();
            let unpacked = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&partial).status();
            assert!(unpacked.as_ref().is_ok_and(|status| status.success()), "tar can't unpack {archive}: {unpacked:?}");
            if fs::rename(&partial, &folder).is_err() {
                // Another process unpacked it first.
                fs::remove_dir_all(&partial).unwrap();
            }
        }
        Suite(folder.canonicalize().unwrap())
    }

    /// Returns the schema tests for XSD 1.0 with an accepted status.
    pub(crate) fn schema_tests(&self) -> Vec<SchemaTest> {
        self.tests("schemaTest", schema_test)
    }

    /// Returns the instance tests for XSD 1.0 with an accepted status.
    pub(crate) fn instance_tests(&self) -> Vec<InstanceTest> {
        self.tests("instanceTest", instance_test)
    }

    fn tests<T>(&self, kind: &str, read: impl Fn(Element<'_>, Element<'_>, &Path, &str) -> Option<T>) -> Vec<T> {
        let mut tests = Vec::new();
        for path in self.catalogues() {
            let bytes = fs::read(&path).unwrap();
            let document = Document::parse(&castile_xsd::decode(&bytes).unwrap()).unwrap();
            let folder = path.parent().unwrap();
            let set = folder.file_name().unwrap().to_string_lossy().trim_end_matches("Meta").to_owned();
            for group in document.root().elements().filter(|group| group.local() == "testGroup") {
                for test in group.elements().filter(|test| test.local() == kind) {
                    tests.extend(read(group, test, folder, &set));
                }
            }
        }
        tests
    }

    /// Returns NIST's schemas, which are in no catalog.
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
    let validity = validity(group, test)?;
    let documents = documents(test, "schemaDocument", folder);
    Some(SchemaTest { name: name(set, group, test), set: set.to_owned(), documents, validity })
}

fn instance_test(group: Element<'_>, test: Element<'_>, folder: &Path, set: &str) -> Option<InstanceTest> {
    let validity = validity(group, test)?;
    let instance = documents(test, "instanceDocument", folder).pop().unwrap();
    let of_group = group.elements().find(|test| test.local() == "schemaTest");
    let mut schema = of_group.map(|test| documents(test, "schemaDocument", folder)).unwrap_or_default();
    for document in named_by(&instance) {
        if !schema.contains(&document) {
            schema.push(document);
        }
    }
    Some(InstanceTest { name: name(set, group, test), set: set.to_owned(), schema, instance, validity })
}

/// Returns the expected validity of a test, if it is for XSD 1.0 and its status is accepted.
fn validity(group: Element<'_>, test: Element<'_>) -> Option<Validity> {
    let children = |local: &'static str| test.elements().filter(move |child| child.local() == local);
    let is_10 = |element: &Element<'_>| element.attribute("version").is_none_or(|version| version.contains("1.0"));
    let expected = children("expected").find(is_10)?;
    let status = children("current").next().and_then(|current| current.attribute("status")).unwrap_or("accepted");
    if !is_10(&test) || !is_10(&group) || !matches!(status, "accepted" | "stable") {
        return None;
    }
    match expected.attribute("validity") {
        Some("valid") => Some(Validity::Valid),
        Some("invalid") => Some(Validity::Invalid),
        _ => None,
    }
}

fn documents(test: Element<'_>, kind: &str, folder: &Path) -> Vec<PathBuf> {
    let documents = test.elements().filter(|child| child.local() == kind);
    let path = |document: Element<'_>| {
        let path = folder.join(document.find_attribute(XLINK, "href").unwrap().value());
        path.canonicalize().unwrap_or(path)
    };
    documents.map(path).collect()
}

fn name(set: &str, group: Element<'_>, test: Element<'_>) -> String {
    let name = |element: Element<'_>| element.attribute("name").unwrap_or_default().to_owned();
    format!("{set}/{}/{}", name(group), name(test))
}

/// Returns the schema documents that an instance names (Part 1 §4.3.2).
fn named_by(instance: &Path) -> Vec<PathBuf> {
    let text = castile_xsd::decode(&fs::read(instance).unwrap()).unwrap().into_owned();
    let Ok(document) = Document::parse(&text) else { return Vec::new() };
    let mut found = Vec::new();
    let mut open = vec![document.root()];
    while let Some(element) = open.pop() {
        let hint = |local| element.find_attribute(XSI, local).map(|hint| hint.value()).unwrap_or_default();
        found.extend(hint("schemaLocation").split_whitespace().skip(1).step_by(2));
        found.extend(hint("noNamespaceSchemaLocation").split_whitespace());
        open.extend(element.elements());
    }
    found.into_iter().filter_map(|location| instance.with_file_name(location).canonicalize().ok()).collect()
}
