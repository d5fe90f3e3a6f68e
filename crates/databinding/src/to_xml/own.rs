//! Elements of types of a program: their tags have no prefix, so each stands where its namespace is the default one, or declares
//! it.

use super::{Encoder, ToXml};

impl Encoder {
    /// Writes an element of a type of a program, whose tags have `namespace` as their default one.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn own<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        match T::NAMESPACE {
            Some(other) if other != namespace => self.foreign(namespace, other, start, value),
            _ if self.undeclared => self.declaring(namespace, start, value, end),
            _ => value.element(self, start, end),
        }
    }

    /// Writes an element as [`own`](Self::own) does, where nothing around it declares its namespace.
    #[doc(hidden)]
    pub fn own_root<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        match T::NAMESPACE {
            Some(other) if other != namespace => self.foreign(namespace, other, start, value),
            _ => self.declaring(namespace, start, value, end),
        }
    }

    /// Writes an element as [`own`](Self::own) does for each value.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn own_repeated<T: ToXml>(&mut self, namespace: &'static str, start: &str, values: &[T], end: &str) {
        match T::NAMESPACE {
            None if !self.undeclared => self.repeated(start, values, end),
            Some(own) if own == namespace && !self.undeclared => self.repeated(start, values, end),
            _ => {
                for value in values {
                    if self.is_outgrown() {
                        return;
                    }
                    self.own(namespace, start, value, end);
                }
            }
        }
    }

    /// Writes an element as [`own`](Self::own) does for each of what stands for values.
    #[doc(hidden)]
    pub fn own_adapted<T: ToXml>(
        &mut self,
        namespace: &'static str,
        start: &str,
        values: impl Iterator<Item = T>,
        end: &str,
    ) {
        for value in values {
            if self.is_outgrown() {
                return;
            }
            self.own(namespace, start, &value, end);
        }
    }

    /// Writes `xsi:type` of a type of a program, which is in `namespace`.
    #[doc(hidden)]
    pub fn own_type_of(&mut self, namespace: &str, name: &str) {
        if !self.undeclared {
            return self.type_of(name);
        }
        if !self.declare(vec![(namespace.to_owned(), "own".to_owned())]) {
            self.fail();
        }
        self.type_of(&format!("own:{name}"));
    }

    /// Writes an element with its default namespace.
    #[cold]
    fn declaring<T: ToXml>(&mut self, namespace: &str, start: &str, value: &T, end: &str) {
        let start = self.with_declarations(start, &[(namespace, "")]);
        let was_undeclared = std::mem::take(&mut self.undeclared);
        value.element(self, &start, end);
        self.undeclared = was_undeclared;
    }

    /// Writes an element of `namespace` whose content has the default namespace `within`.
    #[cold]
    fn foreign<T: ToXml>(&mut self, namespace: &str, within: &str, start: &str, value: &T) {
        let name = start.trim_matches(['<', '>']).split(' ').next().unwrap_or_default();
        let name = name.split_once(':').map_or(name, |(_, local)| local);
        // What the payload declares is not what is in scope here.
        self.declares_more = true;
        let was_undeclared = self.undeclared;
        if namespace.is_empty() {
            // A name in no namespace has no prefix, so the default one is declared by each child.
            self.undeclared = true;
            value.element(self, &format!("<{name}>"), &format!("</{name}>"));
        } else {
            self.undeclared = false;
            let declared = [(namespace, "own"), (within, "")];
            let start = self.with_declarations(&format!("<own:{name}>"), &declared);
            value.element(self, &start, &format!("</own:{name}>"));
        }
        self.undeclared = was_undeclared;
    }

    /// A start tag with declarations.
    fn with_declarations(&mut self, start: &str, declarations: &[(&str, &str)]) -> String {
        let before = self.out.len();
        self.raw(start.strip_suffix('>').unwrap_or(start));
        let declarations =
            declarations.iter().map(|(namespace, prefix)| ((*namespace).to_owned(), (*prefix).to_owned()));
        if !self.declare(declarations.collect()) {
            self.fail();
        }
        self.raw(">");
        String::from_utf8_lossy(&self.out.split_off(before)).into_owned()
    }

    /// Whether elements of a type of a program have to declare their default namespace themselves.
    pub(crate) fn is_undeclared(&self) -> bool {
        self.undeclared
    }
}
