//! Renders which elements a struct may contain, and which it may start with.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use castile_plan::names::Ident;
use castile_plan::plan::{Content, Field, Struct, Term};

use crate::render::{Context, group_trait, wildcard};

/// Renders the possible children of a type for a lenient decoder.
pub(super) fn content(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
    if !context.is_lenient {
        return None;
    }
    let table = &plan.table;
    let content = match &plan.content {
        Content::Simple { .. } | Content::Mixed { .. } => return None,
        Content::Sequence(fields) if fields.is_empty() => quote! { Sequence(&[]) },
        Content::Sequence(fields) if has_distinct_names(fields) => quote! { Sequence(&#table) },
        Content::Sequence(fields) | Content::All(fields) => {
            let particles = particles(table, fields, context);
            quote! { Among(const { &[#(#particles),*] }) }
        }
    };
    Some(quote! { .content(xs::Content::#content) })
}

/// Returns true if all fields are elements with different local names, so that a child's local name determines its
/// field.
fn has_distinct_names(fields: &[Field]) -> bool {
    let mut names = HashSet::new();
    fields.iter().all(|field| field.element().is_some_and(|element| names.insert(&element.name)))
}

/// Returns everything that fields may contain.
pub(super) fn particles(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let elements =
        fields.iter().any(|field| field.element().is_some()).then(|| quote! { xs::First::Elements(&#table) });
    elements.into_iter().chain(fields.iter().filter_map(|field| particle(field, context))).collect()
}

/// Returns what a group may contain, or what a wildcard matches.
fn particle(field: &Field, context: Context<'_>) -> Option<TokenStream> {
    match &field.term {
        Term::Group(path) => {
            let (path, group) = (context.path(path), group_trait());
            Some(quote! { xs::First::Group(<#path as #group>::ALL) })
        }
        _ => first_of(field, context),
    }
}

/// Renders the list of everything that a group may contain, if it differs from what it may start with.
pub(crate) fn all_of(
    first: &[TokenStream],
    table: &Ident,
    fields: &[Field],
    context: Context<'_>,
) -> Option<TokenStream> {
    if !context.is_lenient {
        return None;
    }
    let all = particles(table, fields, context);
    let text = |tokens: &[TokenStream]| tokens.iter().map(ToString::to_string).collect::<Vec<_>>();
    (text(first) != text(&all)).then(|| quote! { const ALL: &'static [xs::First] = &[#(#all),*]; })
}

/// Returns what a group or a wildcard may start with.
pub(crate) fn first_of(field: &Field, context: Context<'_>) -> Option<TokenStream> {
    match &field.term {
        Term::Element { .. } => None,
        Term::Group(path) => {
            let (path, group) = (context.path(path), group_trait());
            Some(quote! { xs::First::Group(<#path as #group>::FIRST) })
        }
        Term::Any(any) => {
            let any = wildcard(any, context);
            Some(quote! { xs::First::Wildcard(const { &#any }) })
        }
    }
}

/// Returns the fields that a sequence may start with: all up to and including the first required one.
pub(crate) fn begins(fields: &[Field]) -> &[Field] {
    let end = fields.iter().position(|field| field.min_occurs > 0).map_or(fields.len(), |index| index + 1);
    &fields[..end]
}

/// Returns what the fields of a sequence may start with.
pub(super) fn first(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let count = |fields: &[Field]| fields.iter().filter(|field| field.element().is_some()).count();
    let elements = match (count(begins(fields)), count(fields)) {
        (0, _) => None,
        (some, all) if some == all => Some(quote! { xs::First::Elements(&#table) }),
        (some, _) => {
            let some = Literal::usize_unsuffixed(some);
            Some(quote! { xs::First::Elements(#table.split_at(#some).0) })
        }
    };
    elements.into_iter().chain(begins(fields).iter().filter_map(|field| first_of(field, context))).collect()
}
