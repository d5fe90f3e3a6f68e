//! Renders structs: complex types and groups in them, their tables, and their implementations for reading and writing.

mod model;
mod read;
mod write;

use proc_macro2::TokenStream;
use quote::quote;

use castile_plan::names::Ident;
use castile_plan::plan::{
    Attribute, Content, DefaultValue, Field, Made, Occurrence, Presence, Role, Struct, Term, TypeName,
};

use super::documentation::documentation;
use super::{Context, base, element_table, facets, field_type, group_trait, literal, wildcard};
pub(super) use model::{all_of, begins, first_of};
use model::{content, first};
use read::{all, read_content, sequence};
pub(super) use read::{local, read, unboxed};
pub(super) use write::constraint;
use write::{write, write_attributes, write_content};

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
