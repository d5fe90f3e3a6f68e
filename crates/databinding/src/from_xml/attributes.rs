//! The attributes of a start tag (XSD Part 1 §3.2, §3.4.4): which are allowed, their values, and those that the decoder
//! itself uses, `xsi:nil` and `xsi:type` (§2.6).

use std::sync::Arc;

use castile_budget::BLOCK;
use castile_datatypes::{Invalid, SimpleType, Unscoped};
use castile_xml::tree::is_ncname;

use crate::any::AnyAttribute;
use crate::error::{Error, ErrorKind};
use crate::name::ExpandedName;
use crate::schema::{self, Attributes, Element, TypeName, ValueConstraint, XSI_NAMESPACE, is_same};
use crate::stack::deeper;

use super::attribute_positions::address;
use super::simple::ByType;
use super::types::{Rules, is_simple};
use super::{Decoder, FromXml, Lexical, quoted};

/// Attributes of the envelope's namespace are allowed on every element in SOAP 1.1 (§4.1.1), and on header blocks and the
/// payload in SOAP 1.2 (Part 1 §5.2, §5.3).
const SOAP11_NAMESPACE: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const SOAP12_NAMESPACE: &str = "http://www.w3.org/2003/05/soap-envelope";

impl Decoder<'_> {
    /// Returns the value of an attribute of the start tag that was read last, or `None` if it is absent.
    ///
    /// # Errors
    /// The value is invalid.
    pub fn attribute<T: SimpleType>(
        &mut self,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<Option<T>, Error> {
        self.attribute_of(&ByType::<T>::NEW, attributes, index)
    }

    /// Returns the value of an attribute of the start tag that was read last, or `None` if it is absent. Its type may be
    /// known only at run time.
    ///
    /// # Errors
    /// The value is invalid.
    #[doc(hidden)]
    pub fn attribute_of<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<Option<V>, Error> {
        if self.reader.is_plain() {
            return Ok(None);
        }
        let declared = &attributes.declared[index];
        let place = self.reader.offset();
        let found = match self.attribute_positions.number(attributes, place, index) {
            Some(number) => number.and_then(|number| self.reader.attribute_value(number)),
            None => self.searched(declared),
        };
        let found = match found {
            None if self.lenient.is_some() => self.of_another_form(attributes, declared),
            found => found,
        };
        let Some((text, offset)) = found else { return Ok(None) };
        let heap = of.heap_size(text);
        let value = if heap > 0 {
            let text = text.to_owned();
            self.charge(heap)?;
            self.attribute_value(of, declared, &text, offset)
        } else {
            self.attribute_value(of, declared, text, offset)
        };
        match value {
            Ok(value) => Ok(Some(value)),
            Err((error, Some(value))) => self.tolerate(error).map(|()| Some(value)),
            Err((error, None)) => Err(error),
        }
    }

    /// Searches the attribute among all attributes of the tag.
    fn searched(&self, declared: &'static schema::Attribute) -> Option<(&str, usize)> {
        let mut names = self.reader.attribute_names();
        let (number, ..) = names.find(|&(_, namespace, local)| declared.is(namespace, local))?;
        self.reader.attribute_value(number)
    }

    /// Returns the value of an attribute. An error comes with the value if that violates only facets or a fixed value.
    fn attribute_value<V: 'static>(
        &self,
        of: &impl Lexical<V>,
        declared: &'static schema::Attribute,
        text: &str,
        offset: usize,
    ) -> Result<V, (Error, Option<V>)> {
        let value = match of.parse_in(text, &*self.reader) {
            Ok(value) => value,
            Err(problem) => {
                let error = invalid(declared, &Invalid::text(text, of.name(), problem), offset);
                return Err((error, of.parse_beyond_facets(text)));
            }
        };
        if let Some(facets) = declared.facets
            && let Err(problem) = facets.check(text, &value)
        {
            return Err((invalid(declared, &problem, offset), Some(value)));
        }
        match declared.constraint {
            Some(ValueConstraint::Fixed(fixed)) if !of.is_fixed(&value, fixed) => {
                Err((not_fixed(declared, text, fixed, offset), Some(value)))
            }
            _ => Ok(value),
        }
    }

    /// Returns an attribute that has no namespace although it is declared with one, or the other way round
    /// (`attributeFormDefault`).
    #[cold]
    fn of_another_form(
        &self,
        attributes: &'static Attributes,
        declared: &'static schema::Attribute,
    ) -> Option<(&str, usize)> {
        let (number, ..) = self.reader.attribute_names().find(|&(_, namespace, local)| {
            local == declared.name
                && namespace.is_empty() != declared.namespace.is_empty()
                && !is_ours(namespace)
                && !attributes.takes(namespace, local)
        })?;
        self.reader.attribute_value(number)
    }

    /// Returns the value of a required attribute.
    ///
    /// # Errors
    /// The attribute is absent or its value is invalid.
    pub fn required_attribute<T: SimpleType>(
        &mut self,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<T, Error> {
        self.required_attribute_of(&ByType::<T>::NEW, attributes, index)
    }

    /// Returns the value of a required attribute. Its type may be known only at run time.
    ///
    /// # Errors
    /// The attribute is absent or its value is invalid.
    #[doc(hidden)]
    pub fn required_attribute_of<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<V, Error> {
        match self.attribute_of(of, attributes, index) {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(self.without(&attributes.declared[index])),
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn without(&self, declared: &schema::Attribute) -> Error {
        let message = format!("<{}> has no attribute \"{}\", which was expected", self.tag_name().1, declared.name);
        Error::new(ErrorKind::Structure, self.inside_tag(), message)
    }

    /// Returns the value of an attribute, or its default.
    ///
    /// # Errors
    /// The value is invalid.
    pub fn attribute_or_default<T: SimpleType>(
        &mut self,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<T, Error> {
        self.attribute_or_default_of(&ByType::<T>::NEW, attributes, index)
    }

    /// Returns the value of an attribute, or its default. Its type may be known only at run time.
    ///
    /// # Errors
    /// The value is invalid.
    #[doc(hidden)]
    pub fn attribute_or_default_of<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        attributes: &'static Attributes,
        index: usize,
    ) -> Result<V, Error> {
        if let Some(value) = self.attribute_of(of, attributes, index)? {
            return Ok(value);
        }
        let default = attributes.declared[index].constraint.map_or("", ValueConstraint::value);
        self.charge(default.len())?;
        of.parse_in(default, &Unscoped)
            .map_err(|problem| Invalid::text(default, of.name(), problem))
            .map_err(|problem| Error::new(ErrorKind::Lexical, self.inside_tag(), problem.message().to_owned()))
    }

    /// Returns the attributes that are not declared and match the wildcard.
    pub fn any_attributes(&mut self, attributes: &'static Attributes) -> Vec<AnyAttribute> {
        let offset = self.reader.offset();
        if self.reader.is_plain()
            || (self.attribute_positions.is_of(attributes, offset) && !self.attribute_positions.others)
        {
            return Vec::new();
        }
        let is_other = |attribute: &castile_xml::Attribute<'_>| {
            !matches!(attribute.namespace, XSI_NAMESPACE | SOAP11_NAMESPACE | SOAP12_NAMESPACE)
                && !attributes.declares(attribute.namespace, attribute.name.local())
        };
        let count = self.reader.attributes().filter(is_other).count();
        if !self.try_charge(count * (size_of::<AnyAttribute>() + 2 * BLOCK)) {
            return Vec::new();
        }
        let namespace = |prefix: &str| match prefix {
            "" => Arc::default(),
            prefix => self.reader.resolve_shared(prefix).unwrap_or_default(),
        };
        let others = self.reader.attributes().filter(is_other).map(|attribute| AnyAttribute {
            name: ExpandedName::new(namespace(attribute.name.prefix()), attribute.name.local()),
            value: attribute.value.to_owned(),
        });
        let mut others: Vec<AnyAttribute> = others.collect();
        others.shrink_to_fit();
        others
    }

    // ---- xsi:type ----

    /// Returns the index in `types` of the type that `xsi:type` names. Without `xsi:type` it is 0; for a type that is not in
    /// `types` it is their number.
    ///
    /// # Errors
    /// The value of `xsi:type` is not a name.
    #[inline]
    pub fn type_of(&mut self, types: &'static [TypeName]) -> Result<usize, Error> {
        if let Some(index) = self.given_type_of(types) {
            return Ok(index);
        }
        if !self.may_have_type_attribute() {
            return Ok(0);
        }
        match self.named_type_index(types) {
            Ok(None) => Ok(0),
            Ok(Some(index)) => Ok(index),
            Err(error) => self.tolerate_type(error).map(|()| 0),
        }
    }

    /// Returns the index in `types` of the type that `xsi:type` names; for a type that is not in `types` it is their number.
    /// The declared type of the element is abstract, so `xsi:type` is required.
    ///
    /// # Errors
    /// The attribute is absent, or its value is not a name.
    pub fn concrete_type_of(&mut self, element: &'static Element, types: &'static [TypeName]) -> Result<usize, Error> {
        if let Some(index) = self.given_type_of(types) {
            return Ok(index);
        }
        match self.named_type_index(types) {
            Ok(Some(index)) => return Ok(index),
            Ok(None) => {}
            Err(error) => self.tolerate_type(error)?,
        }
        let message = self.is_instead(element, "of an abstract type", "one that xsi:type names");
        Err(Error::new(ErrorKind::Structure, self.inside_tag(), message))
    }

    /// Returns the index in `types` of the type that the array around the element gives it.
    #[inline]
    fn given_type_of(&mut self, types: &'static [TypeName]) -> Option<usize> {
        let (offset, name) = self.given.as_ref()?;
        let index = index_of(types, &name.namespace, &name.local).filter(|_| *offset == self.reader.offset())?;
        self.given = None;
        Some(index)
    }

    /// Whether the start tag that was read last may have an `xsi:type`. Its attributes have been located.
    #[inline]
    fn may_have_type_attribute(&self) -> bool {
        !self.reader.is_plain()
            && (self.attribute_positions.others || self.attribute_positions.offset != self.reader.offset())
    }

    /// Checks the start tag that was read last against the type that its `xsi:type` names.
    ///
    /// # Errors
    /// It has attributes that this type doesn't have.
    #[doc(hidden)]
    pub fn admit_derived(&mut self, element: &'static Element, of: &dyn schema::RunTimeType) -> Result<(), Error> {
        if !self.reader.is_plain() {
            self.attributes_of(element, of.attributes())?;
        }
        if self.lenient.is_some() {
            self.plan(element, of.content());
        }
        Ok(())
    }

    /// Returns the error that `xsi:type` doesn't name one of `types`.
    #[doc(hidden)]
    #[cold]
    pub fn unknown_type(&mut self, element: &'static Element, types: &'static [TypeName]) -> Error {
        let found = match self.type_name() {
            Ok(Some(found)) => format!("of the type {found}"),
            Ok(None) => "without a type".to_owned(),
            Err(error) => return error,
        };
        let expected: Vec<String> =
            types.iter().map(|of| ExpandedName::new(of.namespace, of.name).to_string()).collect();
        let message = self.is_instead(element, found, expected.join(" or "));
        Error::new(ErrorKind::Structure, self.inside_tag(), message)
    }

    /// Reads the content of an element whose `xsi:type` names the type `T`.
    ///
    /// # Errors
    /// The content doesn't match the type or is not well-formed.
    #[inline]
    pub fn derived<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if !self.reader.is_plain() {
            self.attributes(element, T::ATTRIBUTES)?;
        }
        if self.lenient.is_some() {
            self.plan(element, T::CONTENT);
        }
        T::content(self, element)
    }

    /// Reads a large value into a box, in a function of its own, so that the caller, which reads one of many types, needs no
    /// stack for each of them. It provides the stack that a value of this size may need.
    ///
    /// # Errors
    /// An error of `read`.
    #[inline(never)]
    pub fn boxed<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<Box<T>, Error> {
        self.charge(size_of::<T>() + BLOCK)?;
        deeper::<T, _>(|| match read(self) {
            Ok(value) => Ok(Box::new(value)),
            Err(error) => Err(error),
        })
    }

    /// Reads a value with [`derived`](Self::derived) into a box. A contract has thousands of such calls; with a closure in
    /// each, each would add a function to check and compile.
    ///
    /// # Errors
    /// The content doesn't match the type or is not well-formed.
    pub fn derived_boxed<T: FromXml>(&mut self, element: &'static Element) -> Result<Box<T>, Error> {
        self.boxed(|decoder| decoder.derived(element))
    }

    /// Returns the type that `xsi:type` names.
    pub(crate) fn type_name(&mut self) -> Result<Option<ExpandedName>, Error> {
        let error = match self.named_type() {
            Ok(name) => return Ok(name.map(|(namespace, local)| ExpandedName::new(namespace, local))),
            Err(error) => error,
        };
        self.tolerate_type(error).map(|()| None)
    }

    /// Returns the index in `types` of the type that `xsi:type` names; for a type that is not in `types` it is their number.
    fn named_type_index(&self, types: &'static [TypeName]) -> Result<Option<usize>, Error> {
        if let Some((value, _)) = self.type_attribute()
            && let Some((prefix, local)) = value.split_once(':')
            && !prefix.is_empty()
            && let Some(namespace) = self.reader.resolve(prefix)
            && let Some(index) = index_of(types, namespace, local)
        {
            // The text equals the name of a known type, so its characters are valid.
            return Ok(Some(index));
        }
        let index = |(namespace, local)| index_of(types, namespace, local).unwrap_or(types.len());
        Ok(self.named_type()?.map(index))
    }

    /// Returns namespace and local name of the type that `xsi:type` names.
    pub(crate) fn named_type(&self) -> Result<Option<(&str, &str)>, Error> {
        let Some((value, offset)) = self.type_attribute() else { return Ok(None) };
        let text = value.trim_matches([' ', '\t', '\n', '\r']);
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        let wrong = match self.reader.resolve(prefix) {
            // No type has such a name. But a value of an unknown type would store the name, and write it again.
            Some(_) if !is_ncname(local) || text.starts_with(':') => "",
            Some(namespace) => return Ok(Some((namespace, local))),
            None => ": its prefix is not declared",
        };
        let message = format!("{} is not a valid xs:QName for xsi:type{wrong}", quoted(text));
        Err(Error::new(ErrorKind::Lexical, offset, message))
    }

    /// Returns the value and the offset of `xsi:type`, if it is present.
    fn type_attribute(&self) -> Option<(&str, usize)> {
        if self.attribute_positions.offset == self.reader.offset() {
            return self.reader.attribute_value(self.attribute_positions.type_name? as usize);
        }
        self.reader.qualified_attribute(XSI_NAMESPACE, "type").map(|found| (found.value, found.offset))
    }

    pub(crate) fn refuse_other_type(
        &mut self,
        element: &'static Element,
        expected: Option<TypeName>,
    ) -> Result<(), Error> {
        if !self.may_have_type_attribute() {
            return Ok(());
        }
        if let Some(rules) = is_simple(element, expected.as_ref(), Rules::Literal) {
            return self.admit_simple_type(element, expected.as_ref(), rules).map(drop);
        }
        let Some(expected) = expected else { return Ok(()) };
        match self.type_name()? {
            Some(found) if !found.is(expected.namespace, expected.name) => {
                let expected = ExpandedName::new(expected.namespace, expected.name);
                let message = self.is_instead(element, format_args!("of the type {found}"), expected);
                let error = Error::new(ErrorKind::Structure, self.inside_tag(), message);
                self.tolerate_type(error)
            }
            _ => Ok(()),
        }
    }

    // ---- allowed attributes ----

    /// Locates and checks the attributes of the start tag that was read last.
    pub(crate) fn attributes(
        &mut self,
        element: &'static Element,
        attributes: &'static Attributes,
    ) -> Result<(), Error> {
        self.attributes_of(element, element.run_time_type().map_or(attributes, |of| of.attributes()))
    }

    fn attributes_of(&mut self, element: &'static Element, attributes: &'static Attributes) -> Result<(), Error> {
        self.nil = false;
        if self.reader.is_plain() {
            return Ok(());
        }
        let offset = self.reader.offset();
        match self.reader.attribute_index(address(attributes)) {
            Some(placement) => self.attribute_positions.restore(attributes, offset, placement),
            None => self.locate_attributes(element, attributes, offset)?,
        }
        if let Some(number) = self.attribute_positions.nil {
            self.nil = self.parse_nil(number)?;
        }
        Ok(())
    }

    /// Locates the attributes of a table in the start tag that was read last, and checks the others.
    fn locate_attributes(
        &mut self,
        element: &'static Element,
        attributes: &'static Attributes,
        offset: usize,
    ) -> Result<(), Error> {
        self.attribute_positions.begin(attributes, offset);
        // The attributes are usually in the order of the table, so each search begins after the previous attribute.
        let (mut unknown, mut next) = (false, 0);
        for (number, namespace, name) in self.reader.attribute_names() {
            if namespace == XSI_NAMESPACE {
                self.attribute_positions.put_own(name, number);
            }
            match attributes.position(namespace, name, next) {
                Some(index) => {
                    self.attribute_positions.put(index, number);
                    next = index + 1;
                }
                None => {
                    self.attribute_positions.others = true;
                    unknown |= !is_ours(namespace) && !attributes.allows(namespace);
                }
            }
        }
        if unknown {
            // An invalid value of `xsi:nil` is reported before unknown attributes.
            if let Some(number) = self.attribute_positions.nil {
                self.parse_nil(number)?;
            }
            self.unknown_attributes(element, attributes)?;
        } else if let Some(placement) = self.attribute_positions.to_index(attributes) {
            self.reader.cache_attribute_index(placement);
        }
        Ok(())
    }

    /// Whether the start tag that was read last is nil, by the attribute at this position.
    fn parse_nil(&self, number: u32) -> Result<bool, Error> {
        let Some((value, offset)) = self.reader.attribute_value(number as usize) else { return Ok(false) };
        bool::parse(value).map_err(|_| {
            let message = format!("{} is not a valid xs:boolean for xsi:nil", quoted(value));
            Error::new(ErrorKind::Lexical, offset, message)
        })
    }

    /// Reports the attributes that the element doesn't have.
    #[cold]
    fn unknown_attributes(&mut self, element: &'static Element, attributes: &'static Attributes) -> Result<(), Error> {
        let unknown = self.reader.attributes().filter(|attribute| {
            !is_ours(attribute.namespace) && !attributes.takes(attribute.namespace, attribute.name.local())
        });
        let errors = unknown.map(|attribute| {
            let message =
                format!("an attribute \"{}\", which <{}> does not have", attribute.name.as_str(), element.name);
            Error::new(ErrorKind::Structure, attribute.offset, message)
        });
        let errors: Vec<Error> = errors.collect();
        errors.into_iter().try_for_each(|error| self.tolerate(error))
    }

    /// Whether the start tag that was read last has `xsi:nil="true"`.
    pub(super) fn has_nil_attribute(&self) -> bool {
        let nil = self.reader.qualified_attribute(XSI_NAMESPACE, "nil");
        nil.is_some_and(|nil| bool::parse(nil.value) == Ok(true))
    }

    /// Returns an offset inside the start tag that was read last.
    #[cold]
    pub(super) fn inside_tag(&self) -> usize {
        let offset = self.reader.offset();
        if self.inside(offset) == offset { offset.saturating_sub(1) } else { self.inside(offset) }
    }
}

/// Whether attributes of a namespace are allowed on every element.
fn is_ours(namespace: &str) -> bool {
    matches!(namespace, XSI_NAMESPACE | SOAP11_NAMESPACE | SOAP12_NAMESPACE | castile_xml::XML_NAMESPACE)
}

/// Returns the error for a value that is not of an attribute's type.
#[cold]
fn invalid(declared: &schema::Attribute, problem: &Invalid, offset: usize) -> Error {
    let message = format!("in the attribute \"{}\": {}", declared.name, problem.message());
    Error::new(ErrorKind::Lexical, offset, message)
}

#[cold]
fn not_fixed(declared: &schema::Attribute, text: &str, fixed: &str, offset: usize) -> Error {
    let (found, expected) = (quoted(text), quoted(fixed));
    let message = format!("{found} as the attribute \"{}\", where only {expected} was expected", declared.name);
    Error::new(ErrorKind::Lexical, offset, message)
}

fn index_of(types: &[TypeName], namespace: &str, local: &str) -> Option<usize> {
    types.iter().position(|one| one.name == local && is_same(one.namespace, namespace))
}
