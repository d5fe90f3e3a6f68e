//! Renders structs: complex types and groups in them, their tables, and their implementations for reading and writing.

use std::collections::HashSet;

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::documentation;
use super::{
    Context, base, boxed_reader, by_index, element_table, facets, field_type, group_trait, literal, occurs, wildcard,
};
use castile_plan::names::Ident;
use castile_plan::plan::{
    Attribute, Base, Content, DefaultValue, Field, Made, Occurrence, Presence, Role, Storage, Struct, Term, TypeName,
    ValueConstraint, Wildcard,
};

pub(super) fn render(plan: &Struct, context: Context<'_>) -> TokenStream {
    let (derives, attributes_of_type) = context.extras(&plan.path);
    let ident = &plan.path.ident;
    let documentation = documentation(&plan.documentation);
    let unused = context.allow_unused();
    let default = (plan.made == Made::ByDefault).then(|| quote! { Default, });
    let declared = declare(plan, context);
    let made = constructor(plan, context);
    let implementation = implementation(plan, context);
    quote! {
        #documentation
        #[derive(Clone, Debug, #default PartialEq #derives)]
        #attributes_of_type
        #unused
        pub struct #ident { #declared }

        #made

        #implementation
    }
}

/// Renders the tables of a struct, and its implementations for reading and writing.
pub(super) fn implementation(plan: &Struct, context: Context<'_>) -> TokenStream {
    let fields: &[Field] = match &plan.content {
        Content::Sequence(fields) | Content::All(fields) => fields,
        Content::Simple { .. } | Content::Mixed { .. } => &[],
    };
    let elements = element_table(&plan.table, fields, context);
    let attributes = attribute_table(plan, context);
    let implementation = match &plan.role {
        Role::Type(name) => complex_type(plan, name.as_ref(), context),
        Role::Group => group(plan, fields, context),
    };
    quote! {
        #elements

        #attributes

        #implementation
    }
}

fn declare(plan: &Struct, context: Context<'_>) -> TokenStream {
    let attributes = plan.attributes.iter().filter_map(|attribute| {
        let Attribute { ident, base: of, .. } = attribute;
        let documentation = documentation(&attribute.documentation);
        let of = base(of, context);
        let ty = match attribute.presence {
            Presence::Required | Presence::Default(_) => of,
            Presence::Optional => quote! { Option<#of> },
            Presence::Fixed { .. } => return None,
        };
        Some(quote! { #documentation pub #ident: #ty, })
    });
    let any_attributes = plan.any_attributes.iter().map(|(ident, _)| {
        quote! {
            /// Other attributes.
            pub #ident: Vec<::castile::AnyAttribute>,
        }
    });
    let content = match &plan.content {
        Content::Simple { ident, value, .. } => {
            let value = base(value, context);
            quote! {
                /// The value of the element.
                pub #ident: #value,
            }
        }
        Content::Mixed { ident, piece } => {
            let piece = context.path(piece);
            quote! {
                /// Text and elements, in their order.
                pub #ident: Vec<#piece>,
            }
        }
        Content::Sequence(fields) | Content::All(fields) => {
            let fields = fields.iter().map(|field| {
                let Field { ident, .. } = field;
                let documentation = documentation(&field.documentation);
                let ty = field_type(field, context);
                quote! { #documentation pub #ident: #ty, }
            });
            quote! { #(#fields)* }
        }
    };
    match &plan.content {
        Content::Simple { .. } => quote! { #content #(#attributes)* #(#any_attributes)* },
        _ => quote! { #(#attributes)* #(#any_attributes)* #content },
    }
}

/// Renders the constructor or the `Default` implementation of a struct, where `Default` isn't derived.
fn constructor(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
    let ident = &plan.path.ident;
    let has_new = match plan.made {
        Made::Whole | Made::ByDefault => return None,
        Made::ByDefaultOfContract => false,
        Made::OfParts => true,
    };
    // For each part: its name, its type if it is a parameter, and its value.
    let mut parts: Vec<(&Ident, Option<TokenStream>, TokenStream)> = Vec::new();
    for Attribute { ident, base: of, presence, default, .. } in &plan.attributes {
        let required = || Some(base(of, context));
        let (required, value) = match (presence, default) {
            (Presence::Fixed { .. }, _) => continue,
            (Presence::Optional, _) => (None, quote! { None }),
            (Presence::Default(_), Some(value)) => (None, default_value(value, context)),
            (Presence::Default(_) | Presence::Required, _) => (required(), quote! { #ident }),
        };
        parts.push((ident, required, value));
    }
    parts.extend(plan.any_attributes.iter().map(|(ident, _)| (ident, None, quote! { Vec::new() })));
    match &plan.content {
        Content::Simple { ident, value, .. } => {
            parts.insert(0, (ident, Some(base(value, context)), quote! { #ident }));
        }
        Content::Mixed { ident, .. } => parts.push((ident, None, quote! { Vec::new() })),
        Content::Sequence(fields) | Content::All(fields) => {
            parts.extend(fields.iter().map(|field| {
                let ident = &field.ident;
                match (field.occurrence(), &field.term) {
                    (Occurrence::Required, _) => (ident, Some(field_type(field, context)), quote! { #ident }),
                    (Occurrence::Optional, _) => (ident, None, quote! { None }),
                    (Occurrence::Repeated, Term::Any(_)) => (ident, None, quote! { Default::default() }),
                    (Occurrence::Repeated, _) if field.streams => (ident, None, quote! { Default::default() }),
                    (Occurrence::Repeated, _) => (ident, None, quote! { Vec::new() }),
                }
            }));
        }
    }
    if !has_new {
        let values = parts.into_iter().map(|(ident, required, value)| match required {
            Some(_) => quote! { #ident: Default::default() },
            None => quote! { #ident: #value },
        });
        return Some(quote! {
            impl Default for #ident {
                fn default() -> Self {
                    Self { #(#values),* }
                }
            }
        });
    }
    let required = parts.iter().filter_map(|(ident, required, _)| required.as_ref().map(|of| quote! { #ident: #of }));
    let required: Vec<TokenStream> = required.collect();
    // The maximum number of parameters for which clippy gives no warning.
    const CONSTRUCTOR_ARGUMENTS: usize = 7;
    let many = (required.len() > CONSTRUCTOR_ARGUMENTS).then(|| {
        quote! { #[allow(clippy::too_many_arguments, reason = "the contract has this many")] }
    });
    let values = parts.iter().map(|(ident, required, value)| match required {
        Some(_) => quote! { #ident },
        None => quote! { #ident: #value },
    });
    (!required.is_empty()).then(|| {
        quote! {
            impl #ident {
                /// A value of what must be there.
                #[allow(dead_code, reason = "a program may make values in another way")]
                #many
                pub fn new(#(#required),*) -> Self {
                    Self { #(#values),* }
                }
            }
        }
    })
}

fn default_value(value: &DefaultValue, context: Context<'_>) -> TokenStream {
    match value {
        DefaultValue::Text(text) => {
            let text = literal(text);
            quote! { #text.to_owned() }
        }
        DefaultValue::Literal(literal) => literal.parse().unwrap_or_default(),
        DefaultValue::Variant(path, variant) => {
            let path = context.path(path);
            quote! { #path::#variant }
        }
    }
}

// ---- elements of the type ----

fn complex_type(plan: &Struct, name: Option<&TypeName>, context: Context<'_>) -> TokenStream {
    let ident = &plan.path.ident;
    let fields: &[Field] = match &plan.content {
        Content::Sequence(fields) | Content::All(fields) => fields,
        Content::Simple { .. } | Content::Mixed { .. } => &[],
    };
    let (read, write) = (read_content(plan, context), write_content(plan, context));
    let write_attributes = write_attributes(plan, context);
    let attributes = plan.attribute_table.as_ref();
    let name = name.map(|name| (context.namespace(&name.namespace), &name.name));
    if let Content::Simple { .. } = plan.content {
        let attributes = attributes.map(|table| quote! { const ATTRIBUTES: &'static xs::Attributes = &#table; });
        let name = name.map(|(namespace, name)| {
            quote! { const TYPE: Option<xs::TypeName> = Some(xs::TypeName::new(#namespace, #name)); }
        });
        let write_attributes = write_attributes.map(|write| {
            quote! {
                const HAS_ATTRIBUTES: bool = true;

                fn attributes(&self, out: &mut Encoder) { #write }
            }
        });
        return quote! {
            impl FromXml for #ident {
                #attributes
                #name

                fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> { #read }
            }

            impl ToXml for #ident {
                #write_attributes

                fn content(&self, out: &mut Encoder) { #write }
            }
        };
    }
    let attributes = attributes.map(|table| quote! { .attributes(&#table) });
    let content = content(plan, context);
    let model = match name {
        None if attributes.is_none() && content.is_none() => None,
        None => Some(quote! { xs::Model::UNNAMED }),
        Some((namespace, name)) => Some(quote! { xs::Model::named(#namespace, #name) }),
    };
    let model = model.map(|model| quote! { const MODEL: xs::Model = #model #attributes #content; });
    let write_attributes =
        write_attributes.map(|write| quote! { fn write_attributes(&self, out: &mut Encoder) { #write } });
    let has_attributes = write_attributes.is_some().then(|| quote! { const WRITES_ATTRIBUTES: bool = true; });
    let namespace = context.declares_namespace();
    let guarded = context.needs_guard(fields).then(|| quote! { const IS_GUARDED: bool = true; });
    let is_empty = matches!(&plan.content, Content::Sequence(fields) | Content::All(fields) if fields.is_empty());
    let has_children = is_empty.then(|| quote! { const WRITES_CHILDREN: bool = false; });
    let out = if is_empty {
        quote! { _ }
    } else {
        quote! { out }
    };
    let decoder = if is_empty && plan.attributes.is_empty() && plan.any_attributes.is_none() {
        quote! { _ }
    } else {
        quote! { decoder }
    };
    quote! {
        impl ComplexType for #ident {
            #namespace
            #guarded
            #model
            #has_attributes
            #has_children

            fn read(#decoder: &mut Decoder<'_>) -> Result<Self, Error> { #read }

            #write_attributes

            fn write(&self, #out: &mut Encoder) { #write }
        }
    }
}

// ---- reading ----

fn read_content(plan: &Struct, context: Context<'_>) -> TokenStream {
    let ident = &plan.path.ident;
    let table = &plan.attribute_table;
    let checks = plan.attributes.iter().enumerate().filter_map(|(index, attribute)| {
        let Presence::Fixed { required, .. } = attribute.presence else { return None };
        let (of, index) = (base(&attribute.base, context), Literal::usize_unsuffixed(index));
        Some(if required {
            quote! { decoder.required_attribute::<#of>(&#table, #index)?; }
        } else {
            quote! { decoder.attribute::<#of>(&#table, #index)?; }
        })
    });
    let checks: Vec<TokenStream> = checks.collect();
    match &plan.content {
        Content::Simple { ident: value, facets, .. } => {
            let attributes = attribute_values(plan, context);
            let read = match facets {
                None => quote! { decoder.simple(element)? },
                Some(path) => {
                    let path = context.path(path);
                    quote! { decoder.restricted(element, &#path)? }
                }
            };
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #value: #read })
            }
        }
        Content::Mixed { ident: content, .. } => {
            let attributes = attribute_values(plan, context);
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #content: decoder.mixed()? })
            }
        }
        Content::Sequence(fields) => {
            let attributes = attribute_values(plan, context);
            let reads = sequence(&plan.table, fields, context);
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #(#reads),* })
            }
        }
        Content::All(fields) => {
            // Attributes are available until the first child is read.
            let (locals, attributes): (Vec<TokenStream>, Vec<TokenStream>) =
                attribute_locals(plan, context).into_iter().unzip();
            let (all, value) = all(ident, &plan.table, fields, &attributes, context);
            quote! {
                #(#checks)*
                #(#locals)*
                #all
                Ok(#value)
            }
        }
    }
}

fn attribute_table(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
    let table = plan.attribute_table.as_ref()?;
    let declared = plan.attributes.iter().map(|attribute| {
        let (namespace, name) = (context.namespace(&attribute.namespace), &attribute.name);
        let constraint = match &attribute.presence {
            Presence::Default(value) if attribute.is_fixed => quote! { .fixed(#value) },
            Presence::Default(value) => quote! { .default(#value) },
            Presence::Fixed { value, .. } => quote! { .fixed(#value) },
            Presence::Required | Presence::Optional => quote! {},
        };
        let facets = facets::reference(&attribute.facets, context);
        quote! { xs::Attribute::new(#namespace, #name) #constraint #facets }
    });
    let any = plan.any_attributes.iter().map(|(_, any)| {
        let any = wildcard(any, context);
        quote! { .and(#any) }
    });
    Some(quote! { static #table: xs::Attributes = xs::Attributes::new(&[#(#declared),*]) #(#any)*; })
}

/// Renders how each attribute that has a field is read.
fn attribute_reads<'a>(plan: &'a Struct, context: Context<'a>) -> impl Iterator<Item = (&'a Ident, TokenStream)> {
    let table = &plan.attribute_table;
    let declared = plan.attributes.iter().enumerate().filter_map(move |(index, attribute)| {
        let index = Literal::usize_unsuffixed(index);
        let read = match attribute.presence {
            Presence::Required => quote! { required_attribute },
            Presence::Optional => quote! { attribute },
            Presence::Default(_) => quote! { attribute_or_default },
            Presence::Fixed { .. } => return None,
        };
        let read = quote! { decoder.#read(&#table, #index)? };
        let adapter = attribute.adapter.as_ref().map(|adapter| base(adapter, context));
        let read = match (adapter, &attribute.presence) {
            (None, _) => read,
            (Some(adapter), Presence::Optional) => quote! { #read.map(<#adapter>::value) },
            (Some(adapter), _) => quote! { <#adapter>::value(#read) },
        };
        Some((&attribute.ident, read))
    });
    let any = plan.any_attributes.iter();
    declared.chain(any.map(move |(ident, _)| (ident, quote! { decoder.any_attributes(&#table) })))
}

fn attribute_values(plan: &Struct, context: Context<'_>) -> Vec<TokenStream> {
    attribute_reads(plan, context).map(|(ident, read)| quote! { #ident: #read }).collect()
}

fn attribute_locals(plan: &Struct, context: Context<'_>) -> Vec<(TokenStream, TokenStream)> {
    let locals = attribute_reads(plan, context).map(|(ident, read)| {
        let local = local(ident);
        let value = if *ident == local {
            quote! { #ident }
        } else {
            quote! { #ident: #local }
        };
        (quote! { let #local = #read; }, value)
    });
    locals.collect()
}

/// Renders how each field of a sequence is read.
fn sequence(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let mut elements = 0;
    let reads = fields.iter().enumerate().map(|(number, field)| {
        let name = &field.ident;
        let read = match &field.term {
            Term::Any(any) => {
                read_any(any, field, &after(any, &fields[number + 1..], table, elements, context), context)
            }
            _ => read(field, table, elements, context),
        };
        elements += usize::from(field.element().is_some());
        let read = unboxed(field, quote! { #read? }, context);
        quote! { #name: #read }
    });
    reads.collect()
}

/// Renders the value of a field from the result of `read`, taking it from its box or applying the adapter.
pub(super) fn unboxed(field: &Field, read: TokenStream, context: Context<'_>) -> TokenStream {
    if let Some(adapter) = &field.adapter {
        let adapter = base(adapter, context);
        return match field.occurrence() {
            Occurrence::Required => quote! { <#adapter>::value(#read) },
            Occurrence::Optional => quote! { #read.map(<#adapter>::value) },
            Occurrence::Repeated => quote! { #read.into_iter().map(<#adapter>::value).collect() },
        };
    }
    let boxed = boxed_reader();
    match (field.storage, &field.term, field.occurrence()) {
        (Storage::Boxed, Term::Element { .. }, Occurrence::Required) => quote! { #boxed::value(#read) },
        (Storage::Boxed, Term::Element { .. }, Occurrence::Optional) => quote! { #boxed::optional(#read) },
        _ => read,
    }
}

/// Returns which of the fields after a wildcard could also match the wildcard. There are `elements` before it.
fn after(any: &Wildcard, fields: &[Field], table: &Ident, elements: usize, context: Context<'_>) -> Vec<TokenStream> {
    let mut declared = fields.iter().filter_map(Field::element);
    // A program may use constants for its namespaces, so the listed ones may be unknown here.
    let is_listed = context.own.is_some() && matches!(any, Wildcard::OneOf(_));
    let elements = declared.any(|element| is_listed || any.allows(&element.namespace)).then(|| {
        let elements = Literal::usize_unsuffixed(elements);
        quote! { xs::First::Elements(#table.split_at(#elements).1) }
    });
    // A group beside a wildcard for other namespaces seldom has elements of other namespaces.
    let groups = fields.iter().filter(|field| matches!(field.term, Term::Group(_)) && !matches!(any, Wildcard::Not(_)));
    elements.into_iter().chain(groups.filter_map(|field| first_of(field, context))).collect()
}

/// Renders the call that reads a field of a sequence. `index` is the index of its element in the table.
pub(super) fn read(field: &Field, table: &Ident, index: usize, context: Context<'_>) -> TokenStream {
    let index = Literal::usize_unsuffixed(index);
    let occurrence = field.occurrence();
    let streamed = field.streams.then(|| quote! { .map(::castile::Items::from) });
    match (&field.term, occurrence) {
        (Term::Element { .. }, Occurrence::Required) => quote! { decoder.required(&#table, #index) },
        (Term::Element { .. }, Occurrence::Optional) => quote! { decoder.optional(&#table, #index) },
        (Term::Element { counted: true, .. }, Occurrence::Repeated) => {
            quote! { decoder.counted(&#table, #index) #streamed }
        }
        (Term::Element { .. }, Occurrence::Repeated) => quote! { decoder.repeated(&#table, #index) #streamed },
        (Term::Group(_), Occurrence::Required) => quote! { decoder.group() },
        (Term::Group(_), Occurrence::Optional) => quote! { decoder.optional_group() },
        (Term::Group(_), Occurrence::Repeated) => {
            let (min, max) = occurs(field);
            quote! { decoder.repeated_group(#min, #max) }
        }
        (Term::Any(any), _) => read_any(any, field, &[], context),
    }
}

/// Renders the call that reads what a wildcard matches, up to the elements in `after`.
fn read_any(any: &Wildcard, field: &Field, after: &[TokenStream], context: Context<'_>) -> TokenStream {
    let any = wildcard(any, context);
    let before = (!after.is_empty() && field.occurrence() != Occurrence::Required)
        .then(|| quote! { .before(const { &[#(#after),*] }) });
    match field.occurrence() {
        Occurrence::Required => quote! { decoder.any(const { &#any }) },
        Occurrence::Optional => quote! { decoder.optional_any(const { &#any #before }) },
        Occurrence::Repeated => {
            let (min, max) = occurs(field);
            quote! { decoder.repeated_any(const { &#any.occurs(#min, #max) #before }) }
        }
    }
}

fn all(
    ident: &Ident,
    table: &Ident,
    fields: &[Field],
    attributes: &[TokenStream],
    context: Context<'_>,
) -> (TokenStream, TokenStream) {
    let locals: Vec<Ident> = fields.iter().map(|field| local(&field.ident)).collect();
    let in_order = locals.iter().enumerate().map(|(index, local)| {
        let index = Literal::usize_unsuffixed(index);
        quote! { let mut #local = decoder.in_order(&#table, #index)?; }
    });
    let arms = locals.iter().enumerate().map(|(index, local)| {
        let index = Literal::usize_unsuffixed(index);
        quote! { decoder.once(&mut #local, &#table, #index)? }
    });
    let arms: Vec<TokenStream> = arms.collect();
    let read = by_index(&quote! { index }, &arms);
    let others = match arms.len() {
        1 => quote! { while decoder.one_of(&#table)?.is_some() { #read; } },
        _ => quote! { while let Some(index) = decoder.one_of(&#table)? { #read } },
    };
    let values = fields.iter().zip(&locals).enumerate().map(|(index, (field, local))| {
        let (name, number) = (&field.ident, Literal::usize_unsuffixed(index));
        match field.occurrence() {
            Occurrence::Required => {
                let value = unboxed(field, quote! { decoder.present(#local, &#table, #number)? }, context);
                quote! { #name: #value }
            }
            _ if field.storage == Storage::Boxed || field.adapter.is_some() => {
                let value = unboxed(field, quote! { #local }, context);
                quote! { #name: #value }
            }
            _ if name == local => quote! { #name },
            _ => quote! { #name: #local },
        }
    });
    let read = quote! {
        #(#in_order)*
        #others
    };
    (read, quote! { #ident { #(#attributes,)* #(#values),* } })
}

/// Returns the variable that holds a field's value until all values are read.
pub(super) fn local(field: &Ident) -> Ident {
    match field.as_str() {
        // These names are used for other variables. No field has a name that ends with an underscore.
        name @ ("decoder" | "element" | "index" | "outer" | "parts") => Ident::new(&format!("{name}_")),
        _ => field.clone(),
    }
}

fn group(plan: &Struct, fields: &[Field], context: Context<'_>) -> TokenStream {
    let Struct { path, table, .. } = plan;
    let ident = &path.ident;
    let group = group_trait();
    let first = first(table, fields, context);
    let whole = all_of(&first, table, fields, context);
    let read = match &plan.content {
        Content::All(fields) => {
            let (all, value) = all(ident, table, fields, &[], context);
            quote! {
                #all
                let group = #value;
            }
        }
        _ => {
            let reads = sequence(table, fields, context);
            quote! { let group = #ident { #(#reads),* }; }
        }
    };
    let write = fields.iter().map(|field| write(field, context));
    let write = context.guarded(fields, quote! { #(#write)* });
    let read = context.guarded(
        fields,
        quote! {
            if !decoder.begins(Self::FIRST)? {
                return Ok(None);
            }
            #read
            Ok(Some(group))
        },
    );
    let namespace = context.declares_namespace();
    quote! {
        impl #group for #ident {
            const FIRST: &'static [xs::First] = &[#(#first),*];
            #whole
            #namespace

            fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
                #read
            }

            fn write(&self, out: &mut Encoder) {
                #write
            }
        }
    }
}

/// Returns the fields that a sequence may start with: all up to and including the first required one.
pub(super) fn begins(fields: &[Field]) -> &[Field] {
    let end = fields.iter().position(|field| field.min_occurs > 0).map_or(fields.len(), |index| index + 1);
    &fields[..end]
}

/// Returns what the fields of a sequence may start with.
fn first(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
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

// ---- possible content ----

/// Renders the possible children of a type for a lenient decoder.
fn content(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
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
fn particles(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
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
pub(super) fn all_of(
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
pub(super) fn first_of(field: &Field, context: Context<'_>) -> Option<TokenStream> {
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

// ---- writing ----

fn write_attributes(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
    let attributes = plan.attributes.iter().enumerate().map(|(number, attribute)| {
        let Attribute { ident, tag, namespace, .. } = attribute;
        // An attribute without a prefix is in no namespace, regardless of the namespace of the tags.
        if context.own.is_some() && !namespace.is_empty() {
            let (namespace, prefix) = (context.namespace(namespace), format!("n{number}"));
            return match attribute.presence {
                Presence::Optional => quote! {
                    if let Some(value) = &self.#ident { out.own_attribute(#namespace, #tag, #prefix, value); }
                },
                _ => quote! { out.own_attribute(#namespace, #tag, #prefix, &self.#ident); },
            };
        }
        if let Some(adapter) = attribute.adapter.as_ref().map(|adapter| base(adapter, context)) {
            return match &attribute.presence {
                Presence::Optional => {
                    quote! { out.optional_attribute(#tag, &self.#ident.as_ref().map(<#adapter>::of)); }
                }
                _ => quote! { out.attribute(#tag, &<#adapter>::of(&self.#ident)); },
            };
        }
        match &attribute.presence {
            Presence::Required | Presence::Default(_) => quote! { out.attribute(#tag, &self.#ident); },
            Presence::Optional => quote! { out.optional_attribute(#tag, &self.#ident); },
            Presence::Fixed { value, .. } => {
                let mut text = format!(" {tag}=\"").into_bytes();
                // The value is from an XML document, so it has only characters that XML allows.
                let _ = castile_xml::escape::push_attribute(&mut text, value);
                text.push(b'"');
                let text = String::from_utf8_lossy(&text).into_owned();
                quote! { out.raw(#text); }
            }
        }
    });
    let any = plan.any_attributes.iter().map(|(ident, _)| quote! { out.any_attributes(&self.#ident); });
    let attributes: Vec<TokenStream> = attributes.chain(any).collect();
    (!attributes.is_empty()).then(|| quote! { #(#attributes)* })
}

fn write_content(plan: &Struct, context: Context<'_>) -> TokenStream {
    match &plan.content {
        Content::Simple { ident, .. } => quote! { out.simple(&self.#ident); },
        Content::Mixed { ident, .. } => quote! { out.groups(&self.#ident); },
        Content::Sequence(fields) | Content::All(fields) => {
            let write = fields.iter().map(|field| write(field, context));
            quote! { #(#write)* }
        }
    }
}

fn write(field: &Field, context: Context<'_>) -> TokenStream {
    let name = &field.ident;
    let occurrence = field.occurrence();
    match &field.term {
        Term::Element { tag, .. } => {
            let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
            if let Some(namespace) = field.element().and_then(|element| context.other_namespace(&element.namespace)) {
                let write = |value| quote! { out.own_in_other_namespace(#namespace, #start, #value, #end); };
                let write_value = write(match field.storage {
                    Storage::Boxed => quote! { &**value },
                    _ => quote! { value },
                });
                return match (occurrence, field.storage) {
                    (Occurrence::Required, Storage::Boxed) => write(quote! { &*self.#name }),
                    (Occurrence::Required, _) => write(quote! { &self.#name }),
                    (Occurrence::Optional, _) => quote! { if let Some(value) = &self.#name { #write_value } },
                    (Occurrence::Repeated, _) => quote! { for value in &self.#name { #write_value } },
                };
            }
            let adapter = field.adapter.as_ref().map(|adapter| base(adapter, context));
            // Values of primitive types contain no elements, so they need no namespace.
            let is_of_language =
                matches!(&field.term, Term::Element { value, .. } if matches!(value.base, Base::Primitive(_)));
            if let Some(namespace) = context.own_namespace().filter(|_| adapter.is_some() || !is_of_language) {
                return match (occurrence, adapter, field.storage) {
                    (Occurrence::Repeated, Some(adapter), _) => {
                        quote! { out.own_adapted(#namespace, #start, self.#name.iter().map(<#adapter>::of), #end); }
                    }
                    (Occurrence::Repeated, None, _) if field.streams => {
                        quote! { out.own_items(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Repeated, None, _) => {
                        quote! { out.own_repeated(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Optional, Some(adapter), _) => quote! {
                        out.own_optional(#namespace, #start, &self.#name.as_ref().map(<#adapter>::of), #end);
                    },
                    (Occurrence::Optional, None, Storage::Boxed) => quote! {
                        if let Some(value) = &self.#name { out.own(#namespace, #start, &**value, #end); }
                    },
                    (Occurrence::Optional, None, _) => {
                        quote! { out.own_optional(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Required, Some(adapter), _) => {
                        quote! { out.own(#namespace, #start, &<#adapter>::of(&self.#name), #end); }
                    }
                    (Occurrence::Required, None, Storage::Boxed) => {
                        quote! { out.own(#namespace, #start, &*self.#name, #end); }
                    }
                    (Occurrence::Required, None, _) => quote! { out.own(#namespace, #start, &self.#name, #end); },
                };
            }
            if let Term::Element { element, value: of, .. } = &field.term
                && context.is_own(&of.base)
            {
                let namespace = context.namespace(&element.namespace);
                let value = match field.storage {
                    Storage::Boxed => quote! { &**value },
                    Storage::InPlace | Storage::Recursive => quote! { value },
                };
                let write = quote! { out.own_within(#namespace, #start, #value, #end); };
                return match occurrence {
                    Occurrence::Required => quote! { { let value = &self.#name; #write } },
                    Occurrence::Optional => quote! { if let Some(value) = &self.#name { #write } },
                    Occurrence::Repeated => quote! { for value in &self.#name { #write } },
                };
            }
            match (occurrence, field.storage) {
                (Occurrence::Required, Storage::Boxed) => quote! { out.element(#start, &*self.#name, #end); },
                (Occurrence::Required, _) => quote! { out.element(#start, &self.#name, #end); },
                (Occurrence::Optional, Storage::Boxed) => quote! { out.optional_boxed(#start, &self.#name, #end); },
                (Occurrence::Optional, _) => quote! { out.optional(#start, &self.#name, #end); },
                (Occurrence::Repeated, _) if field.streams => quote! { out.items(#start, &self.#name, #end); },
                (Occurrence::Repeated, _) => quote! { out.repeated(#start, &self.#name, #end); },
            }
        }
        Term::Group(_) => match occurrence {
            Occurrence::Required => quote! { out.group(&self.#name); },
            Occurrence::Optional => quote! { out.optional_group(&self.#name); },
            Occurrence::Repeated => quote! { out.groups(&self.#name); },
        },
        Term::Any(_) => match occurrence {
            Occurrence::Required => quote! { out.any([&self.#name]); },
            Occurrence::Optional => quote! { out.any(&self.#name); },
            Occurrence::Repeated => quote! { out.any_elements(&self.#name); },
        },
    }
}

/// Renders the default or fixed value of an element.
pub(super) fn constraint(constraint: &Option<ValueConstraint>) -> TokenStream {
    match constraint {
        None => quote! {},
        Some(ValueConstraint::Default(value)) => {
            let value = literal(value);
            quote! { .default(#value) }
        }
        Some(ValueConstraint::Fixed(value)) => {
            let value = literal(value);
            quote! { .fixed(#value) }
        }
    }
}
