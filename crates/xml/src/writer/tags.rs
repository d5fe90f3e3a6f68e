//! Tags: names, attributes, and the declarations that they need.

use crate::error::{Error, ErrorKind};
use crate::{XML_NAMESPACE, XMLNS_NAMESPACE, escape};

use super::prefixes::{check_binding, check_namespace};
use super::{Open, Prefix, Problem, Stage, Writer, Written, is_ncname, quoted, unwritable};

impl Writer {
    /// Declares `prefix` for `namespace` on the element that starts next. Call it only to choose a prefix, or to choose
    /// where it is declared. If both are empty, it declares that there is no default namespace.
    ///
    /// # Errors
    /// If the prefix can't be bound to the namespace, if it is already declared for another namespace on the same
    /// element, or if no element can start.
    pub fn declare(&mut self, prefix: &str, namespace: &str) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let at = self.out.len();
        if self.stage == Stage::Epilog {
            return Err(self.misplaced(at, "a declaration", "after the root element"));
        }
        let problem = check_binding(prefix, namespace).and_then(|()| {
            let here = self.scope.len() - self.waiting;
            match self.scope.bound(prefix).filter(|&index| index >= here) {
                Some(index) if self.scope.namespace(index) == namespace => Ok(true),
                Some(index) => {
                    let (prefix, other) = (quoted(prefix), quoted(self.scope.namespace(index)));
                    let message = format!("the prefix {prefix} is declared for {other} on the same element");
                    Err((ErrorKind::Namespace, message))
                }
                // The prefix `xml` is always declared.
                None if prefix == "xml" => Ok(true),
                None => self.check_declaration_limits(prefix, namespace, self.waiting).map(|()| false),
            }
        });
        if !problem.map_err(|problem| self.fail(at, problem))? {
            self.scope.declare(prefix, namespace);
            self.waiting += 1;
        }
        Ok(())
    }

    /// Starts an element. An empty `namespace` means none. Attributes may follow until something else is written.
    ///
    /// # Errors
    /// If `local` is not a name, if the namespace can't be declared here, or if the root element has ended.
    pub fn start(&mut self, namespace: &str, local: &str) -> Result<(), Error> {
        let outside = self.scope.len() - self.waiting;
        let waiting = std::mem::take(&mut self.waiting);
        let at = match self.stage {
            Stage::Epilog => {
                let at = self.begin()?;
                return Err(self.misplaced(at, &format!("the element {}", quoted(local)), "after the root element"));
            }
            Stage::Tag | Stage::Content => self.begin_content("an element")?,
            Stage::Start | Stage::Prolog => self.begin()?,
        };
        self.attributes.clear();
        self.declarations = waiting;
        let prefix = self.prefix_of_element(namespace, local, outside).map_err(|problem| self.fail(at, problem))?;
        self.out.push(b'<');
        let name = self.out.len();
        self.push_name(prefix, local);
        self.open.push(Open { name, name_length: self.out.len() - name, outside });
        self.stage = Stage::Tag;
        for index in outside..self.scope.len() {
            self.push_declaration(index);
        }
        Ok(())
    }

    /// Writes an attribute of the element that was started. An empty `namespace` means none.
    ///
    /// # Errors
    /// If no start tag is open, if `local` is not a name, if the element already has this attribute, or if the value
    /// has a character that XML can't represent.
    pub fn attribute(&mut self, namespace: &str, local: &str, value: &str) -> Result<(), Error> {
        let at = self.open_attribute(namespace, local)?;
        if let Err(place) = escape::push_attribute(&mut self.out, value) {
            let what = format!("the value of the attribute {}", quoted(local));
            return Err(self.fail(at, unwritable(value, place, &what)));
        }
        self.out.push(b'"');
        Ok(())
    }

    /// Writes an attribute whose value is a qualified name, such as `xsi:type`. [`prefix`](Self::prefix) selects its
    /// prefix.
    ///
    /// # Errors
    /// If no start tag is open, if `local` or the local name of the value is not a name, if the element already has this
    /// attribute, or if there is no prefix for the value.
    pub fn qname_attribute(
        &mut self,
        namespace: &str,
        local: &str,
        (value_namespace, value_local): (&str, &str),
    ) -> Result<(), Error> {
        let prefix = self.prefix_of_value(value_namespace, value_local)?;
        self.open_attribute(namespace, local)?;
        self.push_name(prefix, value_local);
        self.out.push(b'"');
        Ok(())
    }

    /// Returns the prefix that stands for `namespace` in a value here, such as in a qualified name. If no prefix in
    /// scope does, one is declared on the start tag, which must be open. The prefix is empty only for no namespace,
    /// because not all readers apply the default namespace to values.
    ///
    /// # Errors
    /// If there is no such prefix, and no open start tag to declare one on.
    pub fn prefix(&mut self, namespace: &str) -> Result<&str, Error> {
        let at = self.begin()?;
        let prefix = self.prefix_of_namespace(namespace).map_err(|problem| self.fail(at, problem))?;
        Ok(prefix.text(&self.scope))
    }

    /// Ends the innermost open element. If it has no content, an empty-element tag is written.
    ///
    /// # Errors
    /// If no element is open.
    pub fn end(&mut self) -> Result<(), Error> {
        let at = self.begin()?;
        let Some(open) = self.open.pop() else {
            let expected = if self.stage == Stage::Epilog { "the end of the document" } else { "the root element" };
            return Err(self.misplaced(at, "the end of an element", &format!("where {expected} was expected")));
        };
        if self.stage == Stage::Tag {
            self.out.extend_from_slice(b"/>");
        } else {
            self.out.extend_from_slice(b"</");
            self.out.extend_from_within(open.name..open.name + open.name_length);
            self.out.push(b'>');
        }
        self.scope.truncate(open.outside);
        self.stage = if self.open.is_empty() { Stage::Epilog } else { Stage::Content };
        Ok(())
    }

    // ---- prefixes ----

    /// Returns the prefix for the name of an element, and declares it if necessary. `outside` is the number of
    /// declarations in scope outside the element.
    fn prefix_of_element(&mut self, namespace: &str, local: &str, outside: usize) -> Result<Prefix, Problem> {
        check_local(local)?;
        if self.open.len() >= self.limits.depth {
            let limit = self.limits.depth;
            return Err((ErrorKind::Limit, format!("more than {limit} open elements, which is the limit")));
        }
        if self.open.is_empty() {
            self.declare_planned(namespace)?;
        }
        let prefix = match namespace {
            "" => {
                self.undeclare_default(outside)?;
                Prefix::None
            }
            XML_NAMESPACE => Prefix::Xml,
            _ => match self.scope.find(namespace, true) {
                Some(index) => Prefix::Declared(index),
                None => Prefix::Declared(self.declare_needed(namespace, Some(outside))?),
            },
        };
        self.check_length(prefix, local)?;
        Ok(prefix)
    }

    /// Adds the declarations that are planned for the root element, whose namespace is `namespace`.
    fn declare_planned(&mut self, namespace: &str) -> Result<(), Problem> {
        // A plan is searched as often as a scope is, so it has the same limit.
        let (planned, limit) = (self.prefixes.planned().len(), self.limits.namespaces);
        if planned > limit {
            return Err((ErrorKind::Limit, format!("{planned} planned prefixes, more than the limit of {limit}")));
        }
        for index in 0..self.prefixes.planned().len() {
            let planned = &self.prefixes.planned()[index];
            // A declaration by the caller takes precedence. An element in no namespace needs the empty prefix.
            let is_free = self.scope.bound(&planned.prefix).is_none();
            if planned.on_root && is_free && !(planned.prefix.is_empty() && namespace.is_empty()) {
                self.check_declaration_limits(&planned.prefix, &planned.namespace, self.in_tag())?;
                self.scope.declare(&planned.prefix, &planned.namespace);
                self.declarations += 1;
            }
        }
        Ok(())
    }

    /// Makes the empty prefix stand for no namespace, in a tag whose own declarations are those from `outside` on.
    /// Returns whether a declaration was necessary.
    fn undeclare_default(&mut self, outside: usize) -> Result<bool, Problem> {
        let Some(index) = self.scope.bound("").filter(|&index| !self.scope.namespace(index).is_empty()) else {
            return Ok(false);
        };
        if index >= outside {
            let namespace = quoted(self.scope.namespace(index));
            let message = format!("found a name in no namespace where {namespace} is declared as the default");
            return Err((ErrorKind::Namespace, message));
        }
        self.check_declaration_limits("", "", self.in_tag())?;
        self.scope.declare("", "");
        self.declarations += 1;
        Ok(true)
    }

    /// Declares `namespace` in the current tag. For the name of an element, `element` is the number of declarations in
    /// scope outside it. For an attribute or a value it is `None`.
    fn declare_needed(&mut self, namespace: &str, element: Option<usize>) -> Result<usize, Problem> {
        if namespace == XMLNS_NAMESPACE {
            let message = format!("found a name in {XMLNS_NAMESPACE:?}, where only declarations are");
            return Err((ErrorKind::Namespace, message));
        }
        check_namespace(namespace)?;
        let planned = self.prefixes.last_first().find(|planned| {
            planned.namespace == namespace
                && match (self.scope.bound(&planned.prefix), planned.prefix.is_empty()) {
                    // The default namespace of outer elements may be replaced.
                    (bound, true) => element.is_some_and(|outside| bound.is_none_or(|index| index < outside)),
                    (bound, false) => bound.is_none(),
                }
        });
        self.check_declaration_limits(planned.map_or("", |planned| &planned.prefix), namespace, self.in_tag())?;
        self.declarations += 1;
        Ok(match planned {
            Some(planned) => self.scope.declare(&planned.prefix, namespace),
            None => self.scope.declare_generated(namespace),
        })
    }

    /// Returns the prefix for the name of an attribute. It is declared and written if necessary.
    fn prefix_of_attribute(&mut self, namespace: &str, local: &str) -> Result<Prefix, Problem> {
        check_local(local)?;
        let prefix = match namespace {
            "" if local == "xmlns" => {
                let message = "found the attribute \"xmlns\", which is a declaration: those are not made by attributes";
                return Err((ErrorKind::Namespace, message.into()));
            }
            "" => Prefix::None,
            XML_NAMESPACE => Prefix::Xml,
            _ => Prefix::Declared(self.find_or_declare(namespace)?),
        };
        self.check_attributes(self.in_tag())?;
        self.check_length(prefix, local)?;
        let is_same = |written: &Written| {
            let there = &self.out[written.local..written.local + written.local_length];
            written.prefix == prefix && there == local.as_bytes()
        };
        if self.attributes.iter().any(is_same) {
            let message = format!("found a second attribute {} of {}", quoted(local), quoted(namespace));
            return Err((ErrorKind::WellFormedness, message));
        }
        Ok(prefix)
    }

    /// Returns a declaration with a prefix. If there is none, it is added and written into the open tag.
    fn find_or_declare(&mut self, namespace: &str) -> Result<usize, Problem> {
        if let Some(index) = self.scope.find(namespace, false) {
            return Ok(index);
        }
        let index = self.declare_needed(namespace, None)?;
        self.push_declaration(index);
        Ok(index)
    }

    /// Returns the prefix for a name in a value.
    pub(super) fn prefix_of_value(&mut self, namespace: &str, local: &str) -> Result<Prefix, Error> {
        let at = self.begin()?;
        let prefix = check_local(local).and_then(|()| self.prefix_of_namespace(namespace));
        prefix.map_err(|problem| self.fail(at, problem))
    }

    fn prefix_of_namespace(&mut self, namespace: &str) -> Result<Prefix, Problem> {
        match namespace {
            "" => self.prefix_of_no_namespace(),
            XML_NAMESPACE => Ok(Prefix::Xml),
            _ if self.stage == Stage::Tag => self.find_or_declare(namespace).map(Prefix::Declared),
            _ => self.scope.find(namespace, false).map(Prefix::Declared).ok_or_else(|| {
                let message = format!("found no prefix for {} in scope, and no open start tag", quoted(namespace));
                (ErrorKind::Namespace, message)
            }),
        }
    }

    fn prefix_of_no_namespace(&mut self) -> Result<Prefix, Problem> {
        // If the name of the open tag has no prefix, it may need the default namespace, which then can't be undeclared.
        let outside = self.open.last().map_or(0, |open| {
            let may_change = self.stage == Stage::Tag && self.name(open).contains(':');
            if may_change { open.outside } else { 0 }
        });
        if self.undeclare_default(outside)? {
            self.push_declaration(self.scope.len() - 1);
        }
        Ok(Prefix::None)
    }

    // ---- bytes ----

    /// Checks an attribute and writes it up to its value. Returns the length of the document before that.
    fn open_attribute(&mut self, namespace: &str, local: &str) -> Result<usize, Error> {
        let at = self.begin()?;
        if self.stage != Stage::Tag {
            return Err(self.misplaced(at, &format!("the attribute {}", quoted(local)), "where no start tag is open"));
        }
        let prefix = self.prefix_of_attribute(namespace, local).map_err(|problem| self.fail(at, problem))?;
        self.out.push(b' ');
        self.push_name(prefix, local);
        self.attributes.push(Written { prefix, local: self.out.len() - local.len(), local_length: local.len() });
        self.out.extend_from_slice(b"=\"");
        Ok(at)
    }

    pub(super) fn push_name(&mut self, prefix: Prefix, local: &str) {
        let prefix = prefix.text(&self.scope);
        if !prefix.is_empty() {
            self.out.extend_from_slice(prefix.as_bytes());
            self.out.push(b':');
        }
        self.out.extend_from_slice(local.as_bytes());
    }

    /// Writes a declaration. The characters of the namespace were checked when it came into scope.
    fn push_declaration(&mut self, index: usize) {
        let (prefix, namespace) = (self.scope.prefix(index), self.scope.namespace(index));
        self.out.extend_from_slice(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
        self.out.extend_from_slice(prefix.as_bytes());
        self.out.extend_from_slice(b"=\"");
        let _ = escape::push_attribute(&mut self.out, namespace);
        self.out.push(b'"');
    }

    // ---- limits ----

    /// Checks the limits for one more declaration in a tag. `in_tag` is the number of attributes and declarations that
    /// it has.
    fn check_declaration_limits(&self, prefix: &str, namespace: &str, in_tag: usize) -> Result<(), Problem> {
        let limit = self.limits.namespaces;
        if self.scope.len() >= limit {
            return Err((ErrorKind::Limit, format!("more than {limit} declarations in scope, which is the limit")));
        }
        self.check_attributes(in_tag)?;
        let length = namespace.len().max("xmlns:".len() + prefix.len());
        if length > self.limits.name_length { Err(self.name_too_long(length)) } else { Ok(()) }
    }

    /// Returns how many attributes and declarations the current tag has.
    fn in_tag(&self) -> usize {
        self.attributes.len() + self.declarations
    }

    /// Checks the limit for one more attribute.
    fn check_attributes(&self, in_tag: usize) -> Result<(), Problem> {
        let limit = self.limits.attributes;
        if in_tag < limit {
            return Ok(());
        }
        Err((ErrorKind::Limit, format!("a tag with more than {limit} attributes, which is the limit")))
    }

    fn check_length(&self, prefix: Prefix, local: &str) -> Result<(), Problem> {
        let prefix = prefix.text(&self.scope);
        let length = prefix.len() + usize::from(!prefix.is_empty()) + local.len();
        if length > self.limits.name_length { Err(self.name_too_long(length)) } else { Ok(()) }
    }
}

fn check_local(local: &str) -> Result<(), Problem> {
    if is_ncname(local) {
        return Ok(());
    }
    Err((ErrorKind::Syntax, format!("found {}, where a name without a colon was expected", quoted(local))))
}
