//! Parses the `#[xml(…)]` attributes of types, fields and variants.

use castile_plan::plan::Wildcard;
use heck::{ToLowerCamelCase, ToPascalCase, ToShoutySnakeCase, ToSnakeCase};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Path, Type};

use crate::placeholders::NAMESPACE;

/// The attributes of a type.
#[derive(Default)]
pub(crate) struct TypeAttributes {
    /// The namespace of the type.
    pub(crate) namespace: Option<Expr>,
    pub(crate) name: Option<LitStr>,
    /// The name of the element that has this type in messages.
    pub(crate) element: Option<LitStr>,
    pub(crate) rename_all: Option<Case>,
    /// Whether the elements of the type are in no namespace.
    pub(crate) is_unqualified: bool,
    /// Whether the elements of the type may occur in any order.
    pub(crate) is_all: Option<Span>,
    /// Whether the contract declares the type inline, without a name.
    pub(crate) is_anonymous: bool,
    /// Whether other types flatten the type.
    pub(crate) is_group: bool,
    /// Whether the enum has a type and its derived types as variants.
    pub(crate) is_derived: Option<Span>,
    /// Whether the enum is a union of simple types.
    pub(crate) is_union: Option<Span>,
    /// The base type.
    pub(crate) extends: Option<Path>,
    /// The facets of a simple type: the name, the value, and its place.
    pub(crate) facets: Vec<(String, String, Span)>,
    pub(crate) documentation: String,
}

/// The attributes of a field or a variant.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) name: Option<LitStr>,
    /// The namespace of the element or attribute, if it differs from that of the type.
    pub(crate) namespace: Option<Expr>,
    pub(crate) role: Option<(Role, Span)>,
    /// The namespaces that a wildcard accepts.
    pub(crate) of_namespaces: Option<LitStr>,
    /// Set if a `Vec<u8>` is a list of numbers, to the place of the attribute.
    pub(crate) is_repeated: Option<Span>,
    pub(crate) min: Option<LitInt>,
    pub(crate) max: Option<LitInt>,
    pub(crate) default: Option<LitStr>,
    /// Whether the default is the only valid value.
    pub(crate) is_fixed: bool,
    /// The adapter that reads and writes the values.
    pub(crate) with: Option<Type>,
    /// The name of the element that wraps all values.
    pub(crate) wrap: Option<LitStr>,
    /// Set if the values can be read item by item, to the place of the attribute.
    pub(crate) is_items: Option<Span>,
    pub(crate) documentation: String,
}

/// The role of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Attribute,
    Text,
    /// Text and elements in any order.
    Mixed,
    /// The content of the field's type, without an element around it.
    Flattened,
    /// A wildcard for elements.
    Any,
    AnyAttributes,
    /// Any value that no other variant matches.
    Other,
    /// The base type itself, which the types of the other variants extend.
    Itself,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Role::Attribute => "attribute",
            Role::Text => "text",
            Role::Mixed => "mixed",
            Role::Flattened => "flatten",
            Role::Any => "any",
            Role::AnyAttributes => "any_attributes",
            Role::Other => "other",
            Role::Itself => "itself",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    Required,
    Optional,
    Repeated,
}

/// The conversion of Rust names to XML names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Case {
    Camel,
    Pascal,
    Snake,
    Shouting,
    AsItIs,
}

const CASES: &str = "\"camelCase\", \"PascalCase\", \"snake_case\", \"SCREAMING_SNAKE_CASE\" or \"as it is\"";
const FACETS: [&str; 12] = [
    "length",
    "min_length",
    "max_length",
    "pattern",
    "white_space",
    "max_inclusive",
    "max_exclusive",
    "min_inclusive",
    "min_exclusive",
    "total_digits",
    "fraction_digits",
    "enumeration",
];

impl Case {
    fn of(text: &LitStr) -> syn::Result<Self> {
        Ok(match text.value().as_str() {
            "camelCase" => Case::Camel,
            "PascalCase" => Case::Pascal,
            "snake_case" => Case::Snake,
            "SCREAMING_SNAKE_CASE" => Case::Shouting,
            "as it is" => Case::AsItIs,
            other => return Err(syn::Error::new(text.span(), format!("{other:?} is not one of {CASES}"))),
        })
    }

    /// Returns the XML name for a Rust name.
    pub(crate) fn name(self, ident: &Ident) -> String {
        let name = ident.to_string();
        let name = name.trim_start_matches("r#");
        match self {
            Case::Camel => name.to_lower_camel_case(),
            Case::Pascal => name.to_pascal_case(),
            Case::Snake => name.to_snake_case(),
            Case::Shouting => name.to_shouty_snake_case(),
            Case::AsItIs => name.to_owned(),
        }
    }
}

impl TypeAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut of = TypeAttributes { documentation: documentation(attributes), ..TypeAttributes::default() };
        each(attributes, |meta| of.set(meta))?;
        Ok(of)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let key = key(meta);
        match key.as_str() {
            "namespace" => once(meta, &mut self.namespace, |meta| Ok(bare(meta.value()?.parse()?))),
            "name" => once(meta, &mut self.name, name),
            "element" => once(meta, &mut self.element, name),
            "rename_all" => once(meta, &mut self.rename_all, |meta| Case::of(&meta.value()?.parse()?)),
            "unqualified" => flag(&mut self.is_unqualified),
            // `castile::service` uses this for the messages that it generates.
            "anonymous" => flag(&mut self.is_anonymous),
            "group" => flag(&mut self.is_group),
            "all" => once(meta, &mut self.is_all, |meta| Ok(meta.path.span())),
            "derived" => once(meta, &mut self.is_derived, |meta| Ok(meta.path.span())),
            "union" => once(meta, &mut self.is_union, |meta| Ok(meta.path.span())),
            "extends" => once(meta, &mut self.extends, |meta| meta.value()?.parse()),
            facet if FACETS.contains(&facet) => {
                let value = bare(meta.value()?.parse()?);
                let name = facet.to_lower_camel_case();
                if !matches!(facet, "pattern" | "enumeration") && self.facets.iter().any(|(known, ..)| *known == name) {
                    return Err(meta.error("this is given twice"));
                }
                self.facets.push((name, text_of(&value)?, value.span()));
                Ok(())
            }
            _ => Err(unknown(
                meta,
                "namespace, name, element, rename_all, unqualified, group, all, derived, union, extends, or a facet such as \
                 pattern, max_length and min_inclusive",
            )),
        }
    }

    /// Returns the name of an element or an attribute.
    pub(crate) fn name_of(&self, ident: &Ident, field: &FieldAttributes, case: Case) -> syn::Result<String> {
        ncname(self.text_of(ident, field, case), field.name.as_ref().map_or(ident.span(), Spanned::span))
    }

    /// Returns the text of an enumeration value, which doesn't have to be a name.
    pub(crate) fn text_of(&self, ident: &Ident, field: &FieldAttributes, case: Case) -> String {
        match &field.name {
            Some(name) => name.value(),
            None => self.rename_all.unwrap_or(case).name(ident),
        }
    }

    /// Returns the name of the type.
    pub(crate) fn name(&self, ident: &Ident) -> syn::Result<String> {
        let name = self.name.as_ref().map_or_else(|| Case::AsItIs.name(ident), LitStr::value);
        ncname(name, self.name.as_ref().map_or(ident.span(), Spanned::span))
    }

    /// Rejects attributes that have no meaning for this kind of type.
    pub(crate) fn refuse(&self, what: &str, said: &[(bool, &str)], ident: &Ident) -> syn::Result<()> {
        match said.iter().find(|(is_said, _)| *is_said) {
            Some((_, said)) => Err(syn::Error::new(ident.span(), format!("{what} can't have `{said}`"))),
            None => Ok(()),
        }
    }

    /// Returns the namespace of the type.
    pub(crate) fn namespace(&self, ident: &Ident) -> syn::Result<Expr> {
        self.namespace.clone().ok_or_else(|| {
            let message = "the type has no namespace: add `#[xml(namespace = \"urn:example:orders\")]` to it, or \
                `namespace = \"\"` for no namespace";
            syn::Error::new(ident.span(), message)
        })
    }
}

impl FieldAttributes {
    pub(crate) fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut of = FieldAttributes { documentation: documentation(attributes), ..FieldAttributes::default() };
        each(attributes, |meta| of.set(meta))?;
        Ok(of)
    }

    fn set(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let role = match key(meta).as_str() {
            "attribute" => Role::Attribute,
            "text" => Role::Text,
            "mixed" => Role::Mixed,
            "flatten" => Role::Flattened,
            "any" => Role::Any,
            "any_attributes" => Role::AnyAttributes,
            "other" => Role::Other,
            "itself" => Role::Itself,
            "name" => return once(meta, &mut self.name, |meta| meta.value()?.parse()),
            "namespace" => return once(meta, &mut self.namespace, |meta| Ok(bare(meta.value()?.parse()?))),
            "with" => return once(meta, &mut self.with, |meta| meta.value()?.parse()),
            "wrap" => return once(meta, &mut self.wrap, name),
            key @ ("default" | "fixed") => {
                let is_fixed = key == "fixed";
                if self.default.is_some() && is_fixed != self.is_fixed {
                    return Err(meta.error("a value is either `fixed` or `default`, not both"));
                }
                self.is_fixed = is_fixed;
                return once(meta, &mut self.default, |meta| meta.value()?.parse());
            }
            "min" => return once(meta, &mut self.min, |meta| meta.value()?.parse()),
            "max" => return once(meta, &mut self.max, |meta| meta.value()?.parse()),
            "repeated" => return once(meta, &mut self.is_repeated, |meta| Ok(meta.path.span())),
            "items" => return once(meta, &mut self.is_items, |meta| Ok(meta.path.span())),
            _ => {
                return Err(unknown(
                    meta,
                    "attribute, text, mixed, flatten, any, any_attributes, other, itself, name, namespace, wrap, with, default, fixed, min, max, \
                     repeated, items",
                ));
            }
        };
        if let Some((other, _)) = self.role {
            let message = format!(
                "expected one of attribute, text, mixed, flatten, any and any_attributes, or other or itself for a \
                 variant; this is also {}",
                other.word()
            );
            return Err(meta.error(message));
        }
        self.role = Some((role, meta.path.span()));
        if matches!(role, Role::Any | Role::AnyAttributes) && meta.input.peek(syn::Token![=]) {
            self.of_namespaces = Some(meta.value()?.parse()?);
        }
        Ok(())
    }

    /// Returns the namespaces that a wildcard accepts (XSD Part 1 §3.10.2), or `unsaid` if there is no attribute.
    pub(crate) fn wildcard(&self, unsaid: Wildcard) -> syn::Result<Wildcard> {
        let Some(said) = &self.of_namespaces else { return Ok(unsaid) };
        let text = said.value();
        match text.trim() {
            "##any" => return Ok(Wildcard::Any),
            "##other" => return Ok(Wildcard::Not(NAMESPACE.to_owned())),
            _ => {}
        }
        let list = text.split_whitespace().map(|namespace| match namespace {
            "##local" => Ok(String::new()),
            keyword if keyword.starts_with("##") => {
                let message = format!("{keyword:?} is not \"##any\", \"##other\", \"##local\" or a namespace");
                Err(syn::Error::new(said.span(), message))
            }
            namespace => Ok(namespace.to_owned()),
        });
        match list.collect::<syn::Result<Vec<String>>>()? {
            list if list.is_empty() => Err(syn::Error::new(said.span(), "the list of namespaces is empty")),
            list => Ok(Wildcard::OneOf(list)),
        }
    }

    pub(crate) fn role(&self) -> Option<Role> {
        self.role.map(|(role, _)| role)
    }

    /// Rejects attributes that have no meaning for this field.
    pub(crate) fn refuse(&self, allowed: &[FieldAttribute], what: &str) -> syn::Result<()> {
        let said = [
            (FieldAttribute::Name, self.name.as_ref().map(Spanned::span)),
            (FieldAttribute::Namespace, self.namespace.as_ref().map(Spanned::span)),
            (FieldAttribute::Repeated, self.is_repeated),
            (FieldAttribute::Items, self.is_items),
            (FieldAttribute::Bounds, self.min.as_ref().or(self.max.as_ref()).map(Spanned::span)),
            (FieldAttribute::Default, self.default.as_ref().map(Spanned::span)),
            (FieldAttribute::With, self.with.as_ref().map(Spanned::span)),
            (FieldAttribute::Wrap, self.wrap.as_ref().map(Spanned::span)),
        ];
        for (said, span) in said {
            if let Some(span) = span.filter(|_| !allowed.contains(&said)) {
                return Err(syn::Error::new(span, format!("{what} can't have {}", said.word())));
            }
        }
        Ok(())
    }
}

/// The attributes of a field other than its role.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldAttribute {
    Name,
    Namespace,
    Repeated,
    Items,
    Bounds,
    Default,
    With,
    Wrap,
}

impl FieldAttribute {
    fn word(self) -> &'static str {
        match self {
            FieldAttribute::Name => "its own name",
            FieldAttribute::Namespace => "its own namespace",
            FieldAttribute::Repeated => "repeated values",
            FieldAttribute::Items => "items",
            FieldAttribute::Bounds => "min or max",
            FieldAttribute::Default => "a default",
            FieldAttribute::With => "an adapter",
            FieldAttribute::Wrap => "an element around it",
        }
    }
}

fn each(attributes: &[Attribute], mut set: impl FnMut(&ParseNestedMeta<'_>) -> syn::Result<()>) -> syn::Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("xml")) {
        attribute.parse_nested_meta(|meta| set(&meta))?;
    }
    Ok(())
}

fn key(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

fn flag(flag: &mut bool) -> syn::Result<()> {
    *flag = true;
    Ok(())
}

fn once<T>(
    meta: &ParseNestedMeta<'_>,
    place: &mut Option<T>,
    read: impl FnOnce(&ParseNestedMeta<'_>) -> syn::Result<T>,
) -> syn::Result<()> {
    if place.is_some() {
        return Err(meta.error("this is given twice"));
    }
    *place = Some(read(meta)?);
    Ok(())
}

fn name(meta: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let name: LitStr = meta.value()?.parse()?;
    ncname(name.value(), name.span()).map(|_| name)
}

/// Checks that a text is an XML name without a colon (Namespaces in XML 1.0 §3).
pub(crate) fn ncname(name: String, span: Span) -> syn::Result<String> {
    match castile_xml::tree::is_ncname(&name) {
        true => Ok(name),
        false => {
            let message = format!("{name:?} is not an XML name (an NCName): give another one with `name = \"…\"`");
            Err(syn::Error::new(span, message))
        }
    }
}

fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> syn::Error {
    meta.error(format!("this is unknown here, expected one of {known}"))
}

/// Unwraps the invisible groups that `macro_rules` put around an expression.
fn bare(mut expression: Expr) -> Expr {
    while let Expr::Group(group) = expression {
        expression = *group.expr;
    }
    expression
}

/// Returns the text of a literal, which may also be a number.
fn text_of(value: &Expr) -> syn::Result<String> {
    let negative = |literal: &Expr| match literal {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => Some(unary.expr.clone()),
        _ => None,
    };
    if let Some(inner) = negative(value) {
        return text_of(&inner).map(|text| format!("-{text}"));
    }
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.value()),
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Ok(number.base10_digits().to_owned()),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => Ok(number.base10_digits().to_owned()),
        _ => Err(syn::Error::new_spanned(value, "a text or a number was expected")),
    }
}

/// Returns the documentation, without the space at the beginning of each line.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> = lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
