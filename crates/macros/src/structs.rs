//! Structs: complex types, and simple types with facets.

use castile_plan::names;
use castile_plan::plan::{
    Attribute, Base, Content, Element, Field, Item, Made, Nil, Path, Presence, Role as PlanRole, Storage, Struct, Term,
    TypeName, Value, Wildcard,
};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataStruct, DeriveInput, Fields, FieldsNamed};

use crate::attributes::{Case, FieldAttribute, FieldAttributes, Occurrence, Role, TypeAttributes};
use crate::declaration::{AttributeOf, Complex, ContentOf};
use crate::expansion::Expansion;
use crate::fields::{self, Member, MemberKind, Shape, adapted, check_value, differ, generic_argument, type_of_adapted};
use crate::placeholders::{ATTRIBUTES, ELEMENTS, NAMESPACE};
use crate::simple;

/// The total size in bytes of fields with known types up to which the size of the struct is not checked.
const MAX_UNCHECKED_SIZE: usize = 512;

pub(crate) fn derived(input: &DeriveInput, data: &DataStruct) -> syn::Result<TokenStream> {
    let of = TypeAttributes::read(&input.attrs)?;
    if let Some(span) = of.is_derived.or(of.is_union) {
        return Err(syn::Error::new(span, "only an enum can be one of several types"));
    }
    match &data.fields {
        Fields::Named(fields) => {
            without_facets(&of)?;
            complex(input, &of, fields)
        }
        Fields::Unit => {
            without_facets(&of)?;
            complex(input, &of, &FieldsNamed { brace_token: Default::default(), named: Default::default() })
        }
        Fields::Unnamed(fields) => match fields.unnamed.first().filter(|_| fields.unnamed.len() == 1) {
            Some(field) => simple::restricted(input, &of, field),
            None => Err(syn::Error::new(
                fields.span(),
                "fields need names, which become those of elements and attributes; only a struct with one value has \
                 an unnamed field, and is a simple type",
            )),
        },
    }
}

pub(crate) fn without_facets(of: &TypeAttributes) -> syn::Result<()> {
    match of.facets.first() {
        Some((facet, _, span)) => Err(syn::Error::new(
            *span,
            format!("{facet} is only for simple types: structs around one value, such as `struct Code(String)`"),
        )),
        None => Ok(()),
    }
}

fn complex(input: &DeriveInput, of: &TypeAttributes, fields: &FieldsNamed) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut expansion = Expansion::new(ident, of)?;
    let mut attributes = Vec::new();
    let mut declared_attributes = Vec::new();
    let mut any_attributes = None;
    let (mut text, mut mixed) = (None, None);
    let mut particles = Vec::new();
    let mut members: Vec<(Member, proc_macro2::Span)> = Vec::new();
    let mut sizes = Vec::new();
    let mut wraps = Vec::new();
    let mut repeats = Repeats::default();
    for field in &fields.named {
        let Some(name) = &field.ident else { continue };
        let said = FieldAttributes::read(&field.attrs)?;
        sizes.push((name.clone(), field.ty.clone()));
        match said.role() {
            Some(Role::Attribute) => {
                said.refuse(
                    &[FieldAttribute::Name, FieldAttribute::Namespace, FieldAttribute::Default, FieldAttribute::With],
                    "an attribute",
                )?;
                let (plan, declared) = attribute(&mut expansion, of, name, &field.ty, &said)?;
                attributes.push(plan);
                declared_attributes.push(declared);
            }
            Some(Role::AnyAttributes) => {
                said.refuse(&[], "a field with `any_attributes`")?;
                if any_attributes.is_some() {
                    return Err(syn::Error::new(name.span(), "another field already has `any_attributes`"));
                }
                any_attributes = Some((names::Ident::new(&name.to_string()), said.wildcard(Wildcard::Any)?));
            }
            Some(Role::Text) => {
                said.refuse(&[], "the text of an element")?;
                if text.is_some() {
                    return Err(syn::Error::new(name.span(), "another field is already the text of the element"));
                }
                text = Some((name.clone(), field.ty.clone()));
            }
            Some(Role::Mixed) => {
                said.refuse(&[], "mixed content")?;
                let Some(piece) = generic_argument(&field.ty, "Vec").filter(|_| mixed.is_none()) else {
                    let message = "mixed content must be one `Vec` of an enum with a variant for the text";
                    return Err(syn::Error::new_spanned(&field.ty, message));
                };
                mixed = Some((name.clone(), piece.clone()));
            }
            Some(Role::Other) => {
                let span = said.role.map_or(name.span(), |(_, span)| span);
                return Err(syn::Error::new(span, "only a variant can be `other`"));
            }
            Some(Role::Itself) => {
                let span = said.role.map_or(name.span(), |(_, span)| span);
                let message =
                    "only a variant can be `itself`: write the fields of the extended type here, before others";
                return Err(syn::Error::new(span, message));
            }
            None if said.wrap.is_some() => {
                let Wrapped { member, plan, item, code } =
                    wrapped(&mut expansion, of, name, &field.ty, &said, wraps.len())?;
                if let Some(span) = said.is_items {
                    repeats.wrapped(&expansion, &member.name, &field.ty, wraps.len(), said.with.is_some(), span)?;
                }
                particles.push(plan);
                members.push((member, name.span()));
                wraps.push((item, code));
            }
            None | Some(Role::Flattened | Role::Any) => {
                let (member, plan) = fields::member(&mut expansion, of, name, &field.ty, &said, Case::Camel)?;
                if let Some(span) = said.is_items {
                    let elements = members.iter().filter(|(member, _)| member.kind == MemberKind::Element).count();
                    repeats.field(&expansion, &member, &plan, elements, span)?;
                }
                particles.push(plan);
                members.push((member, name.span()));
            }
        }
    }
    if let Some(span) = repeats.span.filter(|_| of.is_group) {
        return Err(syn::Error::new(span, "a flattened group can't have items"));
    }
    if let Some((name, _)) = &mixed
        && (!members.is_empty() || text.is_some() || of.is_all.is_some() || of.is_group || of.extends.is_some())
    {
        let message = "mixed content must be the only content of an element: its elements are variants of the same \
            enum as the text";
        return Err(syn::Error::new(name.span(), message));
    }
    let is_all = of.is_all.is_some();
    fields::check_distinguishable(&members, &mut particles, is_all)?;
    differ(
        declared_attributes.iter().map(|declared| (declared.namespace.as_ref(), declared.name.as_str(), declared.span)),
    )?;
    if let (Some((_, _)), Some((_, span))) = (&text, members.first()) {
        let message =
            "an element with text can't contain elements: make this an attribute, or make the text an element";
        return Err(syn::Error::new(*span, message));
    }
    let members: Vec<Member> = members.into_iter().map(|(member, _)| member).collect();
    if let Some(span) = of.is_all {
        for member in &members {
            if member.kind != MemberKind::Element || member.max != Some(1) {
                return Err(syn::Error::new(
                    span,
                    format!(
                        "elements in any order may occur at most once (cos-all-limited), but `{}` doesn't",
                        member.name
                    ),
                ));
            }
        }
    }
    let has_table = !attributes.is_empty() || any_attributes.is_some();
    if let Some(span) = of.is_all.filter(|_| text.is_some() || of.is_group) {
        let message = "elements in any order must be the only content of an element (cos-all-limited), without text \
            and without flattened fields";
        return Err(syn::Error::new(span, message));
    }
    if of.is_group && members.iter().all(|member| member.min == 0) {
        let message = "an empty group can't be distinguished from an absent one: make one of its elements required, \
            and the field that contains the group an `Option`";
        return Err(syn::Error::new(ident.span(), message));
    }
    let of_text = text.as_ref().map(|(name, _)| name.span());
    if let Some(span) = of_text.or(has_table.then(|| ident.span())).filter(|_| of.is_group) {
        return Err(syn::Error::new(span, "a flattened group can only have elements"));
    }
    let content = match (&text, &mixed) {
        (_, Some((name, piece))) => {
            Content::Mixed { ident: names::Ident::new(&name.to_string()), piece: expansion.of(piece) }
        }
        (Some((name, of)), _) => {
            Content::Simple { ident: names::Ident::new(&name.to_string()), value: expansion.base(of), facets: None }
        }
        _ if is_all => Content::All(particles),
        _ => Content::Sequence(particles),
    };
    let type_name = TypeName { namespace: NAMESPACE.to_owned(), name: of.name(ident)? };
    let declaration = Complex {
        ident,
        name: (!of.is_anonymous).then(|| type_name.name.clone()),
        documentation: if of.is_anonymous { "" } else { &of.documentation },
        extends: of.extends.as_ref(),
        attributes: &declared_attributes,
        any_attributes: any_attributes.as_ref().map(|(_, any)| any),
        content: match (&text, &mixed) {
            (_, Some((_, piece))) => ContentOf::Mixed(piece),
            (Some((_, of)), _) => ContentOf::Text(of),
            _ if is_all => ContentOf::All(&members),
            _ => ContentOf::Sequence(&members),
        },
    };
    let mut checks = is_small(ident, &sizes);
    checks.extend(sound(&expansion, &members));
    let mut rest = declaration.code(&expansion, &checks);
    let role = match (of.is_group, of.is_anonymous) {
        (true, _) => PlanRole::Group,
        (false, true) => PlanRole::Type(None),
        (false, false) => PlanRole::Type(Some(type_name.clone())),
    };
    let mut items = vec![Item::Struct(Struct {
        path: expansion.itself(),
        table: names::Ident::new(ELEMENTS),
        documentation: String::new(),
        role,
        attributes,
        attribute_table: has_table.then(|| names::Ident::new(ATTRIBUTES)),
        any_attributes,
        content,
        made: Made::Whole,
    })];
    for (item, code) in wraps {
        items.push(item);
        rest.extend(code);
    }
    rest.extend(repeats.code);
    if of.is_group {
        // A group can also be the whole content of an element.
        rest.extend(element_of_group(&expansion, &type_name.name));
    }
    Ok(expansion.code(items, rest))
}

/// Generates the code with which a group can be the whole content of an element.
pub(crate) fn element_of_group(expansion: &Expansion, name: &str) -> TokenStream {
    let ident = expansion.ident();
    let (namespace, of_elements) = (expansion.namespace(), expansion.namespace_of_elements());
    quote! {
        impl castile_codegen_::ComplexType for #ident {
            const NAMESPACE: ::core::option::Option<&'static str> = ::core::option::Option::Some(#of_elements);
            const MODEL: castile_codegen_::xs::Model = castile_codegen_::xs::Model::named(#namespace, #name);

            fn read(decoder: &mut ::castile::Decoder<'_>) -> ::core::result::Result<Self, castile_codegen_::Error> {
                decoder.group()
            }

            fn write(&self, out: &mut ::castile::Encoder) {
                out.group(self);
            }
        }
    }
}

fn attribute(
    expansion: &mut Expansion,
    of: &TypeAttributes,
    ident: &syn::Ident,
    ty: &syn::Type,
    said: &FieldAttributes,
) -> syn::Result<(Attribute, AttributeOf)> {
    let shape = Shape::of(ty, said)?;
    if shape.is_boxed || shape.occurrence == Occurrence::Repeated {
        return Err(syn::Error::new(
            ty.span(),
            "an attribute occurs at most once: use `castile::datatypes::List` for values separated by spaces",
        ));
    }
    let presence = match (shape.occurrence, &said.default) {
        (Occurrence::Optional, Some(default)) => {
            return Err(syn::Error::new(
                default.span(),
                "an attribute with a default always has a value: remove the `Option`",
            ));
        }
        (Occurrence::Optional, None) => Presence::Optional,
        (_, Some(default)) => Presence::Default(default.value()),
        (_, None) => Presence::Required,
    };
    let name = of.name_of(ident, said, Case::Camel)?;
    if name == "xmlns" {
        return Err(syn::Error::new(ident.span(), "an attribute `xmlns` would declare a namespace (no-xmlns)"));
    }
    if let Some(default) = &said.default {
        check_value(&shape.of, &default.value(), default.span())?;
    }
    let adapter = said.with.as_ref().map(|with| adapted(expansion, with, &shape.of));
    if let (Some(with), Some(_)) = (&said.with, &said.namespace) {
        return Err(syn::Error::new(with.span(), "an attribute of another namespace can't have an adapter"));
    }
    let declared = AttributeOf {
        name: name.clone(),
        namespace: said.namespace.clone(),
        of: said.with.as_ref().map_or_else(|| shape.of.clone(), |with| type_of_adapted(with, &shape.of)),
        is_required: presence == Presence::Required,
        default: said.default.as_ref().map(syn::LitStr::value),
        is_fixed: said.is_fixed,
        documentation: said.documentation.clone(),
        span: ident.span(),
    };
    let plan = Attribute {
        ident: names::Ident::new(&ident.to_string()),
        documentation: String::new(),
        namespace: said.namespace.as_ref().map(|namespace| expansion.other(namespace)).unwrap_or_default(),
        tag: name.clone(),
        name,
        base: expansion.base(&shape.of),
        facets: None,
        presence,
        default: None,
        is_fixed: said.is_fixed,
        adapter,
    };
    Ok((plan, declared))
}

const NO_ITEMS: &str = "items must be elements with their own type";

/// Generates the code for reading the items of a struct.
#[derive(Default)]
struct Repeats {
    code: TokenStream,
    span: Option<proc_macro2::Span>,
    /// Whether a field has items of any type inside its values.
    has_generic_items: bool,
}

impl Repeats {
    /// Adds the items of a `Vec` in its own element. `number` is the number of that element.
    fn wrapped(
        &mut self,
        expansion: &Expansion,
        around: &str,
        of: &syn::Type,
        number: usize,
        is_adapted: bool,
        span: proc_macro2::Span,
    ) -> syn::Result<()> {
        self.span = Some(span);
        if is_adapted {
            return Err(syn::Error::new(span, NO_ITEMS));
        }
        let values = generic_argument(of, "Option").unwrap_or(of);
        let Some(item) = generic_argument(values, "Vec") else { return Ok(()) };
        let table = quote::format_ident!("{ELEMENTS}_{number}");
        let namespace = expansion.namespace_of_elements();
        self.to(expansion, &quote! { (#namespace, #around) }, item, &quote! { #table[0] });
        Ok(())
    }

    /// Adds the items of the field at this index, or the items inside its value.
    fn field(
        &mut self,
        expansion: &Expansion,
        member: &Member,
        plan: &Field,
        index: usize,
        span: proc_macro2::Span,
    ) -> syn::Result<()> {
        self.span = Some(span);
        if member.kind != MemberKind::Element || plan.adapter.is_some() {
            return Err(syn::Error::new(span, NO_ITEMS));
        }
        if plan.occurrence() == castile_plan::plan::Occurrence::Repeated {
            let table = quote::format_ident!("{ELEMENTS}");
            self.to(expansion, &TokenStream::new(), &member.of, &quote! { #table[#index] });
            return Ok(());
        }
        if std::mem::replace(&mut self.has_generic_items, true) {
            return Err(syn::Error::new(span, "another field already contains items"));
        }
        let (ident, of, name, namespace) =
            (expansion.ident(), &member.of, &member.name, expansion.namespace_of_elements());
        self.code.extend(quote! {
            impl<CastileItem> ::castile::document::Repeats<CastileItem> for #ident
            where
                #of: ::castile::document::Repeats<CastileItem>,
            {
                const PATH: &'static castile_codegen_::ItemPath = &castile_codegen_::ItemPath::through(
                    &[(#namespace, #name)],
                    <#of as ::castile::document::Repeats<CastileItem>>::PATH,
                );
            }
        });
        Ok(())
    }

    fn to(&mut self, expansion: &Expansion, through: &TokenStream, item: &syn::Type, element: &TokenStream) {
        let ident = expansion.ident();
        self.code.extend(quote! {
            impl ::castile::document::Repeats<#item> for #ident {
                const PATH: &'static castile_codegen_::ItemPath =
                    &castile_codegen_::ItemPath::to(&[#through], &#element);
            }
        });
    }
}

/// A field whose values are in their own element.
struct Wrapped {
    member: Member,
    plan: Field,
    item: Item,
    code: TokenStream,
}

/// Plans a field whose values are in their own element. Generates a type for that element, which has no values at run time.
/// `number` distinguishes it from the other such types of the struct.
fn wrapped(
    expansion: &mut Expansion,
    of_type: &TypeAttributes,
    ident: &syn::Ident,
    of: &syn::Type,
    said: &FieldAttributes,
    number: usize,
) -> syn::Result<Wrapped> {
    let is_optional = generic_argument(of, "Option").is_some();
    let values = generic_argument(of, "Option").unwrap_or(of);
    if generic_argument(values, "Vec").is_none() {
        return Err(syn::Error::new_spanned(of, "`wrap` is only for a `Vec` or an `Option<Vec<…>>`"));
    }
    let Some(around) = &said.wrap else { return Err(syn::Error::new_spanned(of, "this can't have `wrap`")) };
    if let Some(default) = &said.default {
        return Err(syn::Error::new_spanned(default, "values in a wrapping element can't have a default"));
    }
    let wrapper = quote::format_ident!("CastileWrapped{number}");
    let borrowed = quote::format_ident!("CastileBorrowed{number}");
    let field = quote::format_ident!("values");
    let (member, plan) = fields::member(expansion, of_type, ident, values, said, Case::Camel)?;
    let adapter = plan.adapter.as_ref().map(|_| {
        let with = &said.with;
        let of = generic_argument(values, "Vec");
        quote! { castile_codegen_::Adapted<#with, #of> }
    });
    let item = Item::Struct(Struct {
        path: Path { module: 0, ident: names::Ident::new(&wrapper.to_string()) },
        table: names::Ident::new(&format!("{ELEMENTS}_{number}")),
        documentation: String::new(),
        role: PlanRole::Type(None),
        attributes: Vec::new(),
        attribute_table: None,
        any_attributes: None,
        content: Content::Sequence(vec![Field { ident: names::Ident::new("values"), ..plan }]),
        made: Made::Whole,
    });
    let (namespace, start, end) =
        (expansion.namespace_of_elements(), format!("<{}>", member.name), format!("</{}>", member.name));
    let write = match adapter {
        Some(adapter) => quote! { out.own_adapted(#namespace, #start, self.0.iter().map(<#adapter>::of), #end) },
        None => quote! { out.own_repeated(#namespace, #start, self.0, #end) },
    };
    let members = [member];
    let declaration = Complex {
        ident: &wrapper,
        name: None,
        documentation: "",
        extends: None,
        attributes: &[],
        any_attributes: None,
        content: ContentOf::Sequence(&members),
    };
    let table = quote::format_ident!("{ELEMENTS}_{number}");
    let declaration = declaration.code_with(&table, expansion, &TokenStream::new());
    let code = quote! {
        struct #wrapper {
            #field: #values,
        }

        struct #borrowed<'a>(&'a #values);

        impl #wrapper {
            fn value(self) -> #values {
                self.#field
            }

            fn of(values: &#values) -> #borrowed<'_> {
                #borrowed(values)
            }
        }

        impl ::castile::ToXml for #borrowed<'_> {
            const NAMESPACE: ::core::option::Option<&'static str> = ::core::option::Option::Some(#namespace);

            fn content(&self, out: &mut ::castile::Encoder) {
                #write
            }
        }

        #declaration
    };
    let name = around.value();
    let element = Element {
        namespace: expansion.of_elements().to_owned(),
        name: name.clone(),
        slot: expansion.slot(),
        constraint: None,
        facets: None,
        types: None,
    };
    let min = u32::from(!is_optional);
    let base = Base::Rust(wrapper.to_string().into());
    let plan = Field {
        ident: names::Ident::new(&ident.to_string()),
        documentation: String::new(),
        min_occurs: min,
        max_occurs: Some(1),
        term: Term::Element {
            element,
            value: Value { base: base.clone(), nil: Nil::Never },
            tag: name.clone(),
            counted: false,
        },
        storage: Storage::InPlace,
        streams: false,
        adapter: Some(base),
    };
    let member = Member {
        name,
        namespace: None,
        of: syn::parse_quote!(#wrapper),
        kind: MemberKind::Element,
        min,
        max: Some(1),
        default: None,
        items: said.is_items,
        any: None,
        documentation: said.documentation.clone(),
    };
    Ok(Wrapped { member, plan, item, code })
}

/// Generates the check that a value is not larger than those of generated code. The compiler checks it only if a field may be
/// large, because there can be thousands of types.
pub(crate) fn is_small(ident: &syn::Ident, fields: &[(syn::Ident, syn::Type)]) -> TokenStream {
    let known: usize = fields.iter().filter_map(|(_, of)| fields::max_bytes(of)).sum();
    let are_small = known <= MAX_UNCHECKED_SIZE;
    let doubtful: Vec<_> = fields.iter().filter(|(_, of)| !are_small || fields::max_bytes(of).is_none()).collect();
    if doubtful.is_empty() {
        return TokenStream::new();
    }
    let message = |field: &syn::Ident| {
        format!(
            "a `{ident}` takes more than 1 KiB, most of it in `{field}`, so nested messages could overflow the stack: \
             put the value into a `Box`"
        )
    };
    // With one such field, it is the largest one.
    if let [(field, _)] = &doubtful[..] {
        let message = message(field);
        return quote_spanned! { ident.span() =>
            castile_codegen_::is_small(::core::mem::size_of::<#ident>(), #message);
        };
    }
    let fields = doubtful.into_iter().map(|(field, of)| {
        let message = message(field);
        quote! { (::core::mem::size_of::<#of>(), #message) }
    });
    quote_spanned! { ident.span() =>
        castile_codegen_::are_small(::core::mem::size_of::<#ident>(), &[#(#fields),*]);
    }
}

/// Checks that flattened types have elements in the same namespace, so that their tags are correct. Checks that members with a
/// default have simple types.
pub(crate) fn sound(expansion: &Expansion, members: &[Member]) -> TokenStream {
    let namespace = expansion.namespace_of_elements();
    let flattened = members.iter().filter(|member| member.kind == MemberKind::Flattened).map(|member| {
        let of = &member.of;
        quote_spanned! { of.span() =>
            castile_codegen_::is_of(<#of as castile_codegen_::Group>::NAMESPACE, #namespace);
            castile_codegen_::has_elements_alone::<#of>();
        }
    });
    let defaults = members.iter().filter(|member| member.default.is_some()).map(|member| {
        let of = &member.of;
        quote_spanned! { of.span() => castile_codegen_::is_simple::<#of>(); }
    });
    quote! { #(#flattened)* #(#defaults)* }
}
