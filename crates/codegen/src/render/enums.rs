//! Renders enums: choices, types with their derived types, enumerations and unions.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::documentation;
use super::types::{all_of, first_of, read, unboxed};
use super::{Context, base, by_index, element_table, group_trait, occurrence, pointed, variant_type};
use castile_plan::names::Ident;
use castile_plan::plan::{
    Base, Choice, Derived, Enumeration, EnumerationVariant, Field, Member, Occurrence, Particle, ParticleKind, Storage,
    Term, Union,
};

/// Renders attributes that allow clippy lints which enums of a contract may trigger.
fn allow(context: Context<'_>) -> Option<TokenStream> {
    let unused = context.allow_unused();
    let allow = quote! {
        #unused
        #[allow(clippy::enum_variant_names, reason = "the contract requires it")]
    };
    (context.module == 0).then_some(allow)
}

// ---- choices ----

pub(super) fn choice(plan: &Choice, context: Context<'_>) -> TokenStream {
    let (derives, attributes_of_type) = context.extras(&plan.path);
    let ident = &plan.path.ident;
    let documentation = documentation(&plan.documentation);
    let allow = allow(context);
    let declared = plan.variants.iter().map(|variant| {
        let documentation = super::documentation::documentation(&variant.documentation);
        let (ident, held) = (&variant.ident, variant_type(variant, context));
        quote! { #documentation #ident(#held), }
    });
    let text = plan.text.iter().map(|ident| {
        quote! {
            /// Text.
            #ident(String),
        }
    });
    let implementation = implementation_of_choice(plan, context);
    quote! {
        #documentation
        #[derive(Clone, Debug, PartialEq #derives)]
        #attributes_of_type
        #allow
        pub enum #ident { #(#text)* #(#declared)* }

        #implementation
    }
}

/// Renders the table of a choice, and its implementations for reading and writing.
pub(super) fn implementation_of_choice(plan: &Choice, context: Context<'_>) -> TokenStream {
    let Choice { path, table, variants, .. } = plan;
    let ident = &path.ident;
    let table_item = element_table(table, variants, context);
    let group = group_trait();
    let elements = table_item.is_some().then(|| quote! { xs::First::Elements(&#table) });
    let first = elements.into_iter().chain(variants.iter().filter_map(|variant| first_of(variant, context)));
    let first: Vec<TokenStream> = first.collect();
    let all = all_of(&first, table, variants, context);
    let order = plan.order.as_ref().map(|order| order_of(order, table, context));
    let mixed = plan.text.iter().map(|text| {
        quote! {
            impl ::castile::codegen::Mixed for #ident {
                #order

                fn text(text: String) -> Self {
                    Self::#text(text)
                }
            }
        }
    });
    let read = context.guarded(variants, read_choice(plan, context));
    let write = variants.iter().map(|variant| write_variant(variant, context));
    let namespace = context.declares_namespace();
    let write_text = plan.text.iter().map(|text| quote! { Self::#text(text) => out.text(text), });
    let write = context.guarded(variants, quote! { match self { #(#write_text)* #(#write)* } });
    quote! {
        #table_item

        impl #group for #ident {
            const FIRST: &'static [xs::First] = &[#(#first),*];
            #all
            #namespace

            fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
                #read
            }

            fn write(&self, out: &mut Encoder) {
                #write
            }
        }

        #(#mixed)*
    }
}

/// Renders the allowed order of the pieces of mixed content. `table` has their elements.
fn order_of(plan: &Particle, table: &Ident, context: Context<'_>) -> TokenStream {
    let mut leaves = Vec::new();
    let particle = ordered(plan, table, &mut leaves, context);
    quote! {
        fn order() -> Option<&'static xs::Order> {
            static ORDER: xs::LazyLock<xs::Order> =
                xs::LazyLock::new(|| xs::Order::new(&#particle, vec![#(#leaves),*]));
            Some(&ORDER)
        }
    }
}

/// Renders a particle. What its leaves match is added to `leaves`.
fn ordered(plan: &Particle, table: &Ident, leaves: &mut Vec<TokenStream>, context: Context<'_>) -> TokenStream {
    let (min, max) = occurrence(plan.min, plan.max);
    let (compositor, particles) = match &plan.kind {
        ParticleKind::Element(number) => {
            let (from, to) = (Literal::usize_unsuffixed(*number), Literal::usize_unsuffixed(number + 1));
            leaves.push(quote! { xs::First::Elements(&#table[#from..#to]) });
            return quote! { xs::Particle::leaf(#min, #max) };
        }
        ParticleKind::Any(any) => {
            let any = super::wildcard(any, context);
            leaves.push(quote! { xs::First::Wildcard(const { &#any }) });
            return quote! { xs::Particle::leaf(#min, #max) };
        }
        ParticleKind::Sequence(particles) => (quote! { sequence }, particles),
        ParticleKind::Choice(particles) => (quote! { choice }, particles),
        ParticleKind::All(particles) => (quote! { all }, particles),
    };
    let particles: Vec<TokenStream> =
        particles.iter().map(|particle| ordered(particle, table, leaves, context)).collect();
    quote! { xs::Particle::#compositor(#min, #max, vec![#(#particles),*]) }
}

fn read_choice(plan: &Choice, context: Context<'_>) -> TokenStream {
    let Choice { table, variants, .. } = plan;
    let (elements, others): (Vec<&Field>, Vec<&Field>) =
        variants.iter().partition(|variant| variant.element().is_some());
    let arms = elements
        .iter()
        .enumerate()
        .map(|(index, variant)| made(variant, &read(variant, table, index, context), context));
    let arms: Vec<TokenStream> = arms.collect();
    let matched = by_index(&quote! { index }, &arms);
    if others.is_empty() {
        return match arms.len() {
            1 => quote! {
                if decoder.next_of(&#table)?.is_none() {
                    return Ok(None);
                }
                Ok(Some(#matched))
            },
            _ => quote! {
                let Some(index) = decoder.next_of(&#table)? else { return Ok(None) };
                let choice = #matched;
                Ok(Some(choice))
            },
        };
    }
    let elements = match arms.len() {
        0 => quote! {},
        1 => quote! {
            if decoder.next_of(&#table)?.is_some() {
                return Ok(Some(#matched));
            }
        },
        _ => quote! {
            if let Some(index) = decoder.next_of(&#table)? {
                let choice = #matched;
                return Ok(Some(choice));
            }
        },
    };
    let others = others.iter().map(|variant| match (&variant.term, variant.occurrence()) {
        (Term::Any(any), Occurrence::Required) => {
            let (any, ident) = (super::wildcard(any, context), &variant.ident);
            quote! {
                if let Some(any) = decoder.optional_any(const { &#any })? {
                    return Ok(Some(Self::#ident(any)));
                }
            }
        }
        (_, Occurrence::Required) => {
            let ident = &variant.ident;
            quote! {
                if let Some(group) = decoder.optional_group()? {
                    return Ok(Some(Self::#ident(group)));
                }
            }
        }
        _ => {
            let (first, read) = (first_of(variant, context), read(variant, table, 0, context));
            let made = made(variant, &read, context);
            quote! {
                if decoder.begins(&[#first])? {
                    return Ok(Some(#made));
                }
            }
        }
    });
    quote! {
        #elements
        #(#others)*
        Ok(None)
    }
}

/// Renders the creation of a variant from a read value. Large values are boxed at once, so that they don't enlarge the
/// stack frame of the function that reads all variants.
fn made(variant: &Field, read: &TokenStream, context: Context<'_>) -> TokenStream {
    let ident = &variant.ident;
    if variant.adapter.is_some() {
        let read = unboxed(variant, quote! { #read? }, context);
        return quote! { Self::#ident(#read) };
    }
    match (&variant.term, variant.storage == Storage::Boxed) {
        (Term::Element { .. }, true) => quote! { Self::#ident(decoder.boxed(|decoder| #read)?) },
        _ => quote! { Self::#ident(#read?) },
    }
}

fn write_variant(variant: &Field, context: Context<'_>) -> TokenStream {
    let name = &variant.ident;
    let occurrence = variant.occurrence();
    let value = if variant.storage == Storage::Boxed {
        quote! { &**value }
    } else {
        quote! { value }
    };
    match (&variant.term, occurrence) {
        (Term::Element { tag, .. }, _) => {
            let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
            if let Some(namespace) = variant.element().and_then(|element| context.other_namespace(&element.namespace)) {
                return match occurrence {
                    Occurrence::Repeated => quote! {
                        Self::#name(values) => {
                            for value in values { out.own_in_other_namespace(#namespace, #start, value, #end); }
                        }
                    },
                    _ => quote! { Self::#name(value) => out.own_in_other_namespace(#namespace, #start, #value, #end), },
                };
            }
            if let Some(namespace) = context.own_namespace() {
                let adapter = variant.adapter.as_ref().map(|adapter| base(adapter, context));
                return match (occurrence, adapter) {
                    (Occurrence::Repeated, Some(adapter)) => quote! {
                        Self::#name(values) =>
                            out.own_adapted(#namespace, #start, values.iter().map(<#adapter>::of), #end),
                    },
                    (Occurrence::Repeated, None) => {
                        quote! { Self::#name(values) => out.own_repeated(#namespace, #start, values, #end), }
                    }
                    (_, Some(adapter)) => {
                        quote! { Self::#name(value) => out.own(#namespace, #start, &<#adapter>::of(value), #end), }
                    }
                    (_, None) => quote! { Self::#name(value) => out.own(#namespace, #start, #value, #end), },
                };
            }
            if let Term::Element { element, value: of, .. } = &variant.term
                && context.is_own(&of.base)
            {
                let reference = &value;
                let namespace = context.namespace(&element.namespace);
                return match occurrence {
                    Occurrence::Repeated => quote! {
                        Self::#name(values) => for value in values { out.own_within(#namespace, #start, value, #end); },
                    },
                    _ => quote! { Self::#name(value) => out.own_within(#namespace, #start, #reference, #end), },
                };
            }
            match occurrence {
                Occurrence::Repeated => quote! { Self::#name(values) => out.repeated(#start, values, #end), },
                _ => quote! { Self::#name(value) => out.element(#start, #value, #end), },
            }
        }
        (Term::Group(_), Occurrence::Repeated) => quote! { Self::#name(groups) => out.groups(groups), },
        (Term::Group(_), _) => quote! { Self::#name(value) => out.group(#value), },
        (Term::Any(_), Occurrence::Repeated) => quote! { Self::#name(elements) => out.any_elements(elements), },
        (Term::Any(_), _) => quote! { Self::#name(element) => out.any([element]), },
    }
}

// ---- derived types ----

pub(super) fn derived(plan: &Derived, context: Context<'_>) -> TokenStream {
    let (derives, attributes_of_type) = context.extras(&plan.path);
    let ident = &plan.path.ident;
    let documentation = documentation(&plan.documentation);
    let allow = allow(context);
    let declared = plan.variants.iter().map(|variant| {
        let documentation = super::documentation::documentation(&variant.documentation);
        let held = pointed(base(&variant.base, context), variant.storage);
        let ident = &variant.ident;
        quote! { #documentation #ident(#held), }
    });
    let other = plan.other.iter().map(|other| {
        quote! {
            /// A value of a type that the contract doesn't have.
            #other(::castile::AnyType),
        }
    });
    let implementation = implementation_of_derived(plan, context);
    quote! {
        #documentation
        #[derive(Clone, Debug, PartialEq #derives)]
        #attributes_of_type
        #allow
        pub enum #ident {
            #(#declared)*
            #(#other)*
        }

        #implementation
    }
}

/// Renders the table of types, and the implementations for reading and writing a value of any of them.
pub(super) fn implementation_of_derived(plan: &Derived, context: Context<'_>) -> TokenStream {
    let Derived { path, table, variants, other, .. } = plan;
    let ident = &path.ident;
    let names = variants.iter().map(|variant| {
        let (namespace, name) = (context.namespace(&variant.name.namespace), &variant.name.name);
        quote! { xs::TypeName::new(#namespace, #name) }
    });
    let count = Literal::usize_unsuffixed(variants.len());
    let known = variants.iter().map(|variant| (&variant.ident, variant.storage == Storage::Boxed));
    let mut arms: Vec<TokenStream> = known
        .chain(other.iter().map(|other| (other, false)))
        .map(|(ident, is_boxed)| match is_boxed {
            false => quote! { decoder.derived(element).map(Self::#ident) },
            true => quote! { decoder.derived_boxed(element).map(Self::#ident) },
        })
        .collect();
    if other.is_none() {
        arms.push(quote! { Err(decoder.unknown_type(element, &#table)) });
    }
    let type_of = if plan.is_abstract {
        quote! { decoder.concrete_type_of(element, &#table)? }
    } else {
        quote! { decoder.type_of(&#table)? }
    };
    let read = match &arms[..] {
        // No type is derived from the abstract type, but a value must still declare a different type.
        [other] => quote! { #type_of; #other },
        arms => by_index(&type_of, arms),
    };
    let attributes = variants.iter().map(|variant| {
        let ident = &variant.ident;
        match &variant.tag {
            None => quote! { Self::#ident(value) => value.attributes(out), },
            Some(tag) => {
                let type_of = match context.own_namespace() {
                    Some(namespace) => quote! { out.own_type_of(#namespace, #tag); },
                    None => quote! { out.type_of(#tag); },
                };
                quote! {
                    Self::#ident(value) => {
                        #type_of
                        value.attributes(out);
                    }
                }
            }
        }
    });
    let attributes_of_other = other.iter().map(|other| quote! { Self::#other(value) => value.attributes(out), });
    let contents = variants.iter().map(|variant| &variant.ident).chain(other);
    let namespace = context.declares_namespace();
    quote! {
        static #table: [xs::TypeName; #count] = [#(#names),*];

        impl FromXml for #ident {
            const ATTRIBUTES: &'static xs::Attributes = &xs::Attributes::ANY;

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                #read
            }
        }

        impl ToXml for #ident {
            const HAS_ATTRIBUTES: bool = true;
            #namespace

            fn attributes(&self, out: &mut Encoder) {
                match self {
                    #(#attributes)*
                    #(#attributes_of_other)*
                }
            }

            fn content(&self, out: &mut Encoder) {
                match self { #(Self::#contents(value) => value.content(out),)* }
            }
        }
    }
}

/// Renders conversions from each type to the enum.
pub(super) fn conversions(plan: &Derived, context: Context<'_>) -> String {
    let mut out = format!("::castile::codegen::conversions! {{\n    {};\n", plan.path.ident);
    for variant in &plan.variants {
        let of = base(&variant.base, context).to_string().replace(' ', "");
        out.push_str(&format!("    {} = {of},\n", variant.ident));
    }
    out + "}\n"
}

// ---- simple types ----

pub(super) fn enumeration(plan: &Enumeration, context: Context<'_>) -> TokenStream {
    let Enumeration { path, other, .. } = plan;
    let (derives, attributes_of_type) = context.extras(path);
    let ident = &path.ident;
    let documentation = documentation(&plan.documentation);
    let allow = allow(context);
    let declared = plan.variants.iter().map(|variant| {
        let documentation = super::documentation::documentation(&variant.documentation);
        let ident = &variant.ident;
        quote! { #documentation #ident, }
    });
    quote! {
        #documentation
        #[derive(Clone, Debug, PartialEq, Eq, Hash #derives)]
        #attributes_of_type
        #allow
        pub enum #ident {
            #(#declared)*
            /// A value that the contract doesn't list.
            #other(String),
        }

    }
}

/// Returns the values of an enumeration with their texts. They are formatted here, because no formatter can format the
/// input of a macro.
pub(super) fn values(plan: &Enumeration) -> String {
    let Enumeration { path, name, other, .. } = plan;
    let white_space = if plan.collapses { "Collapse" } else { "Preserve" };
    let no = if plan.is_strict { "no " } else { "" };
    let mut out = format!(
        "::castile::codegen::enumeration! {{\n    {}: {}, {white_space}, {no}{other};\n",
        path.ident,
        Literal::string(name)
    );
    for EnumerationVariant { ident, value, .. } in &plan.variants {
        out.push_str(&format!("    {ident} = {},\n", Literal::string(value)));
    }
    out + "}\n"
}

pub(super) fn union(plan: &Union, context: Context<'_>) -> TokenStream {
    let Union { path, name, members, has_names, .. } = plan;
    let (derives, attributes_of_type) = context.extras(path);
    let ident = &path.ident;
    let documentation = documentation(&plan.documentation);
    let allow = allow(context);
    let declared = members.iter().map(|member| {
        let (ident, held) = (&member.ident, base(&member.base, context));
        let documentation = format!(
            " A value of `{}`.",
            held.to_string().replace(' ', "").trim_start_matches("::castile::datatypes::")
        );
        quote! { #[doc = #documentation] #ident(#held), }
    });
    let last = members.len().saturating_sub(1);
    let parse = if *has_names {
        quote! { parse_in(text, scope) }
    } else {
        quote! { parse(text) }
    };
    let reads = members.iter().enumerate().map(|(index, Member { ident, base: of, is_enumeration, facets })| {
        let of = base(of, context);
        let is_listed = (*is_enumeration && index < last).then(|| quote! { && !matches!(value, #of::Other(_)) });
        let is_allowed = facets.as_ref().map(|path| {
            let path = context.path(path);
            quote! { && xs::Check::check(&#path, text, &value).is_ok() }
        });
        quote! {
            if let Ok(value) = <#of as SimpleType>::#parse #is_listed #is_allowed {
                return Ok(Self::#ident(value));
            }
        }
    });
    let parse_text = match has_names {
        false => quote! {
            fn parse(text: &str) -> Result<Self, Option<String>> {
                #(#reads)*
                Err(None)
            }
        },
        true => quote! {
            const HAS_NAMES: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                Self::parse_in(text, &::castile::datatypes::Unscoped)
            }

            fn parse_in(text: &str, scope: &dyn ::castile::datatypes::Scope) -> Result<Self, Option<String>> {
                #(#reads)*
                Err(None)
            }

            fn parse_prefix(_: &str, _: usize) -> Option<(Self, usize)> {
                None
            }
        },
    };
    let write_names = has_names.then(|| {
        let idents = members.iter().map(|member| &member.ident);
        quote! {

            fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut ::castile::datatypes::Prefixes<'_>) -> bool {
                match self { #(Self::#idents(value) => value.write_in(out, prefixes),)* }
            }
        }
    });
    let heaps = members.iter().map(|member| {
        let of = base(&member.base, context);
        quote! { <#of as SimpleType>::heap_size(text) }
    });
    let heap = heaps.reduce(|most, heap| quote! { #most.max(#heap) });
    let idents = members.iter().map(|member| &member.ident);
    let facets = plan.has_facets.then(|| quote! { ::castile::codegen::union_value!(#ident); });
    let beyond_facets = plan.has_facets.then(|| {
        let allowed = members.iter().map(|Member { ident, base: of, .. }| {
            let of = base(of, context);
            quote! {
                if let Ok(value) = <#of as SimpleType>::parse(text) {
                    return Some(Self::#ident(value));
                }
            }
        });
        let items = members.iter().filter(|member| matches!(member.base, Base::Item(_)));
        let items = items.map(|Member { ident, base: of, .. }| {
            let of = base(of, context);
            quote! { <#of as SimpleType>::parse_beyond_facets(text).map(Self::#ident) }
        });
        let rest = items.reduce(|one, other| quote! { #one.or_else(|| #other) }).unwrap_or_else(|| quote! { None });
        quote! {

            fn parse_beyond_facets(text: &str) -> Option<Self> {
                #(#allowed)*
                #rest
            }
        }
    });
    quote! {
        #documentation
        #[derive(Clone, Debug, PartialEq #derives)]
        #attributes_of_type
        #allow
        pub enum #ident { #(#declared)* }

        ::castile::codegen::simple_type!(#ident);

        impl SimpleType for #ident {
            const NAME: &'static str = #name;
            const IS_OF_CONTRACT: bool = true;

            #parse_text
            #beyond_facets

            fn heap_size(text: &str) -> usize {
                #heap
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                match self { #(Self::#idents(value) => value.write(out),)* }
            }
            #write_names
        }

        #facets
    }
}
