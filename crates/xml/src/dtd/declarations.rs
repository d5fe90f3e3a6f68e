//! Markup declarations (XML 1.0, productions 45, 52 to 60, 70 to 76, 82).

use std::sync::Arc;

use super::content;
use super::cursor::{Cursor, Result};
use super::subset::{Parameter, Subset, replacement_text};
use super::value::collapse;
use super::{AttributeDeclaration, Entity, EntityKind, Notation};
use crate::error::{Error, ErrorKind};

impl Subset {
    /// Reads what follows `<!ELEMENT`.
    pub(super) fn element(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        const CONTEXT: &str = "in an element type declaration";
        cursor.need_space(CONTEXT)?;
        cursor.qname(CONTEXT)?;
        cursor.need_space(CONTEXT)?;
        content::read(cursor)?;
        cursor.space();
        cursor.expect(">", CONTEXT)
    }

    /// Reads what follows `<!NOTATION`.
    pub(super) fn notation(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        const CONTEXT: &str = "in a notation declaration";
        cursor.need_space(CONTEXT)?;
        let name = cursor.ncname(CONTEXT)?.to_owned();
        cursor.need_space(CONTEXT)?;
        let (public, system) = self.external_id(cursor, true)?;
        let public_id = public.map(|public| {
            public.split([' ', '\r', '\n']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
        });
        self.dtd.notations.push(Notation { name, public_id, system_id: system.map(str::to_owned) });
        cursor.space();
        cursor.expect(">", CONTEXT)
    }

    /// Reads what follows `<!ENTITY`.
    pub(super) fn entity(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        const CONTEXT: &str = "in an entity declaration";
        cursor.need_space(CONTEXT)?;
        let is_parameter = cursor.take("%");
        if is_parameter {
            cursor.need_space(CONTEXT)?;
        }
        let start = cursor.at;
        let name = cursor.ncname(CONTEXT)?;
        cursor.need_space(CONTEXT)?;
        let kind = self.entity_definition(cursor, is_parameter)?;
        cursor.space();
        cursor.expect(">", CONTEXT)?;
        if let Some(message) = self.changes_predefined(name, is_parameter, &kind) {
            return Err(Error::new(ErrorKind::WellFormedness, start, message));
        }
        // The first declaration binds (XML 1.0 §4.2).
        if self.unread {
        } else if is_parameter {
            if !self.parameters.contains_key(name) {
                let text = if let EntityKind::Internal(text) = kind { Some(Arc::from(text)) } else { None };
                self.parameters.insert(name.into(), self.declared_parameters.len());
                self.declared_parameters.push(Parameter { text, is_open: false });
            }
        } else if !self.dtd.entities.contains_key(name) {
            self.dtd.entities.insert(name.into(), self.dtd.declared_entities.len());
            self.dtd.declared_entities.push(Entity { kind, in_parameter_entity: !self.open.is_empty() });
        }
        Ok(())
    }

    /// Reads an `EntityDef` or a `PEDef` (productions 73 and 74).
    fn entity_definition(&mut self, cursor: &mut Cursor<'_>, is_parameter: bool) -> Result<EntityKind> {
        const CONTEXT: &str = "in an entity declaration";
        if matches!(cursor.peek(), Some(b'"' | b'\'')) {
            let (value, start) = cursor.literal(CONTEXT)?;
            return Ok(EntityKind::Internal(replacement_text(value, start)?.into()));
        }
        self.external_id(cursor, false)?;
        let spaced = cursor.space();
        if is_parameter || cursor.peek() != Some(b'N') {
            return Ok(EntityKind::External);
        }
        if !spaced {
            return Err(cursor.unexpected("white space", CONTEXT));
        }
        cursor.expect("NDATA", CONTEXT)?;
        cursor.need_space(CONTEXT)?;
        cursor.ncname(CONTEXT)?;
        Ok(EntityKind::Unparsed)
    }

    /// Returns an error if `name` must not be declared so: predefined entities may be declared, but not changed (XML
    /// 1.0 §4.6).
    fn changes_predefined(&self, name: &str, is_parameter: bool, kind: &EntityKind) -> Option<String> {
        let (plain, references) = match name {
            "lt" => (None, ["&#60;", "&#x3c;"]),
            "amp" => (None, ["&#38;", "&#x26;"]),
            "gt" => (Some(">"), ["&#62;", "&#x3e;"]),
            "apos" => (Some("'"), ["&#39;", "&#x27;"]),
            "quot" => (Some("\""), ["&#34;", "&#x22;"]),
            _ => return None,
        };
        let is_the_same = matches!(kind, EntityKind::Internal(text)
            if Some(&**text) == plain || references.iter().any(|reference| text.eq_ignore_ascii_case(reference)));
        (!is_parameter && !is_the_same)
            .then(|| format!("a declaration of the entity \"{name}\" that changes its value"))
    }

    /// Reads what follows `<!ATTLIST`.
    pub(super) fn attribute_list(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        const CONTEXT: &str = "in an attribute-list declaration";
        cursor.need_space(CONTEXT)?;
        let (element, _) = cursor.qname(CONTEXT)?;
        loop {
            let spaced = cursor.space();
            if cursor.take(">") {
                return Ok(());
            }
            if !spaced {
                return Err(cursor.unexpected("white space", CONTEXT));
            }
            let (name, local) = cursor.qname(CONTEXT)?;
            cursor.need_space(CONTEXT)?;
            let is_tokenized = attribute_type(cursor)?;
            cursor.need_space(CONTEXT)?;
            let default = self.default_value(cursor, is_tokenized)?;
            self.declare_attribute(element, AttributeDeclaration { name: name.into(), local, is_tokenized, default });
        }
    }

    fn declare_attribute(&mut self, element: &str, declaration: AttributeDeclaration) {
        if self.unread {
            return;
        }
        if !self.dtd.elements.contains_key(element) {
            self.dtd.elements.insert(element.into(), super::Attributes::default());
        }
        let Some(attributes) = self.dtd.elements.get_mut(element) else { return };
        // The first declaration binds (XML 1.0 §3.3).
        if !attributes.by_name.contains_key(&declaration.name) {
            let index = self.dtd.attributes.len();
            attributes.by_name.insert(declaration.name.clone(), index);
            if declaration.default.is_some() {
                attributes.defaults.push(index);
            }
            self.dtd.attributes.push(declaration);
        }
    }

    /// Reads a `DefaultDecl` (production 60). Returns the normalised default value, if there is one.
    fn default_value(&mut self, cursor: &mut Cursor<'_>, is_tokenized: bool) -> Result<Option<Box<str>>> {
        const CONTEXT: &str = "in the default of an attribute";
        if cursor.take("#REQUIRED") || cursor.take("#IMPLIED") {
            return Ok(None);
        }
        if cursor.take("#FIXED") {
            cursor.need_space(CONTEXT)?;
        }
        let (literal, start) = cursor.literal(CONTEXT)?;
        let mut value = String::new();
        self.dtd
            .push_value(literal, &mut value, &mut self.expansion)
            .map_err(|(kind, message)| Error::new(kind, start, message))?;
        let value = if is_tokenized { collapse(&value).unwrap_or(value) } else { value };
        Ok(Some(value.into()))
    }
}

/// Reads an `AttType` (production 54). Returns whether it is another type than CDATA.
fn attribute_type(cursor: &mut Cursor<'_>) -> Result<bool> {
    const CONTEXT: &str = "in the type of an attribute";
    // A keyword precedes the keywords that are prefixes of it.
    const TOKENIZED: [&str; 7] = ["IDREFS", "IDREF", "ID", "ENTITIES", "ENTITY", "NMTOKENS", "NMTOKEN"];
    if cursor.take("CDATA") {
        return Ok(false);
    }
    if TOKENIZED.iter().any(|keyword| cursor.take(keyword)) {
        return Ok(true);
    }
    let is_notation = cursor.take("NOTATION");
    if is_notation {
        cursor.need_space(CONTEXT)?;
    }
    if cursor.peek() != Some(b'(') {
        return Err(cursor.unexpected("a type", CONTEXT));
    }
    cursor.at += 1;
    loop {
        cursor.space();
        if is_notation {
            cursor.ncname(CONTEXT)?
        } else {
            cursor.nmtoken(CONTEXT)?
        };
        cursor.space();
        if cursor.take(")") {
            return Ok(true);
        }
        cursor.expect("|", CONTEXT)?;
    }
}
