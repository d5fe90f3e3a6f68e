//! The suite's catalogues, read with our reader.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;

use castile_xml::tree::{Document, Element};

/// The files of the suite, in memory.
pub(crate) struct Suite(HashMap<String, Vec<u8>>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    NotWellFormed,
    Valid,
    Invalid,
    Error,
}

/// A test case.
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) type_: Type,
    pub(crate) uri: String,
    pub(crate) output: Option<String>,
    version: Option<String>,
    edition: Option<String>,
    recommendation: Option<String>,
}

impl Suite {
    /// Unpacks the suite.
    pub(crate) fn open(path: &Path) -> Suite {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut files = HashMap::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut bytes = Vec::new();
            let name = file.name().unwrap().into_owned();
            file.read_to_end(&mut bytes).unwrap();
            files.insert(name, bytes);
        }
        Suite(files)
    }

    pub(crate) fn file(&self, name: &str) -> &[u8] {
        self.0.get(name).unwrap_or_else(|| panic!("{name} is not in the archive"))
    }

    /// Returns the tests of all catalogues that `xmlconf.xml` declares as entities and refers to.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let main = std::str::from_utf8(self.file("xmlconf/xmlconf.xml")).unwrap();
        let mut cases = Vec::new();
        for declaration in main.split("<!ENTITY").skip(1) {
            let mut parts = declaration.split(['"', '>']);
            let (name, uri) = (parts.next().unwrap().split_whitespace().next().unwrap(), parts.next().unwrap());
            assert!(main.contains(&format!("&{name};")));
            self.catalogue(&format!("xmlconf/{uri}"), &mut cases);
        }
        cases
    }

    fn catalogue(&self, name: &str, cases: &mut Vec<Case>) {
        let text = std::str::from_utf8(self.file(name)).unwrap();
        // An external entity may begin with a text declaration, and may have more than one element.
        let content = match text.strip_prefix("<?xml ") {
            Some(rest) => rest.split_once("?>").unwrap().1,
            None => text,
        };
        let document = Document::parse(&format!("<TESTCASES>{content}</TESTCASES>")).unwrap();
        let (folder, _) = name.rsplit_once('/').unwrap();
        let mut walk: Vec<Element<'_>> = vec![document.root()];
        while let Some(element) = walk.pop() {
            if element.local() == "TEST" {
                cases.push(Case::read(element, folder));
            } else {
                walk.extend(element.elements());
            }
        }
    }
}

impl Case {
    fn read(element: Element<'_>, folder: &str) -> Case {
        let attribute = |name: &str| element.attribute(name).map(str::to_owned);
        let file = |name: &str| attribute(name).map(|uri| format!("{folder}/{uri}"));
        Case {
            id: attribute("ID").unwrap(),
            type_: match element.attribute("TYPE").unwrap() {
                "not-wf" => Type::NotWellFormed,
                "valid" => Type::Valid,
                "invalid" => Type::Invalid,
                "error" => Type::Error,
                other => panic!("TYPE {other}"),
            },
            uri: file("URI").unwrap(),
            output: file("OUTPUT"),
            version: attribute("VERSION"),
            edition: attribute("EDITION"),
            recommendation: attribute("RECOMMENDATION"),
        }
    }

    /// Returns the groups of the test that may be left out.
    pub(crate) fn groups(&self) -> BTreeSet<String> {
        let mut groups = BTreeSet::new();
        groups.extend(self.version.as_ref().map(|version| format!("VERSION={version}")));
        groups.extend(self.edition.as_ref().map(|edition| format!("EDITION={edition}")));
        groups.extend(self.recommendation.as_ref().map(|name| format!("RECOMMENDATION={name}")));
        groups
    }
}
