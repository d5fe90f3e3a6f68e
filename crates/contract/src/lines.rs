//! Writes XML with one element in each line.

use castile_xml::escape::{push_attribute, push_text};

use crate::Error;

/// A writer of XML lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    out: Vec<u8>,
    open: Vec<&'static str>,
    /// The first text that contains characters that XML doesn't allow.
    wrong: Option<String>,
}

/// The attributes of an element in order.
pub(crate) type Attributes<'a> = Vec<(&'a str, String)>;

impl Lines {
    pub(crate) fn declaration(&mut self) {
        self.out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    }

    /// Writes an element with its content.
    pub(crate) fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&str, String)],
        inside: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.start(name, attributes);
        self.out.extend_from_slice(b">\n");
        let before = self.out.len();
        self.open.push(name);
        inside(self)?;
        self.open.pop();
        if self.out.len() == before {
            // The element is empty.
            self.out.truncate(before - ">\n".len());
            self.out.extend_from_slice(b"/>\n");
        } else {
            self.indent();
            self.out.extend_from_slice(format!("</{name}>\n").as_bytes());
        }
        Ok(())
    }

    /// Writes an empty element.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: &[(&str, String)]) {
        self.start(name, attributes);
        self.out.extend_from_slice(b"/>\n");
    }

    /// Writes an element with a text, unless the text is empty.
    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.start(name, &[]);
        self.out.push(b'>');
        if push_text(&mut self.out, text).is_err() {
            self.wrong.get_or_insert_with(|| text.to_owned());
        }
        self.out.extend_from_slice(format!("</{name}>\n").as_bytes());
    }

    fn start(&mut self, name: &str, attributes: &[(&str, String)]) {
        self.indent();
        self.out.extend_from_slice(format!("<{name}").as_bytes());
        for (name, value) in attributes {
            self.out.extend_from_slice(format!(" {name}=\"").as_bytes());
            if push_attribute(&mut self.out, value).is_err() {
                self.wrong.get_or_insert_with(|| value.clone());
            }
            self.out.push(b'"');
        }
    }

    fn indent(&mut self) {
        self.out.resize(self.out.len() + 2 * self.open.len(), b' ');
    }

    pub(crate) fn finish(self) -> Result<String, Error> {
        match self.wrong {
            Some(text) => Err(Error::new(format!("{text:?} has a character that is not allowed in XML"))),
            None => Ok(String::from_utf8_lossy(&self.out).into_owned()),
        }
    }
}
