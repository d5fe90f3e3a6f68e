//! The plan as Rust source.

mod absolute;
mod documentation;
mod encoded;
mod enums;
mod facets;
mod layout;
mod messages;
mod own;
mod piece;
mod service;
mod types;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use castile_xml::visible_lines;
use proc_macro2::TokenStream;
use quote::quote;

use crate::Options;
use castile_plan::Document;
use castile_plan::names::Ident;
use castile_plan::plan::{
    Base, Element, Extras, Faults, Field, Held, Item, Module, NamedTypes, Nil, Occurrence, Path, Payload, Plan,
    Repeats, Service, Term, TypedRoot, Value, Wildcard,
};
use piece::{Bugs, Piece};

/// The files beside the source of a server: the documents of the contract, and what a page shows.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) documents: &'a [Document],
    pub(crate) page: Option<&'a str>,
}

/// The source of a module, formatted.
pub(crate) fn render(plan: &Plan, beside: Beside<'_>, options: &Options) -> Result<String, Vec<String>> {
    let rendering = Rendering::new(plan);
    let root = rendering.context(plan, options);
    let parts = parts(plan);
    let mut services = Vec::new();
    let mut modules: Vec<(bool, Vec<Piece>)> = plan.modules.iter().map(|_| (false, Vec::new())).collect();
    let mut tables = Vec::new();
    for (part, piece) in parts.iter().zip(pieces(&parts, beside, options, root)) {
        match part {
            Part::Service(_) => services.push(piece),
            Part::Headers(_)
            | Part::Document(_)
            | Part::Repeats(_)
            | Part::Faults { .. }
            | Part::Tables(..)
            | Part::Own(_) => tables.push(piece),
            Part::Item(item) => {
                let (imports, pieces) = &mut modules[item.path().module];
                // All of an enumeration is made by a macro, which is called by its path.
                *imports |= !matches!(item, Item::Enumeration(_));
                pieces.push(piece);
            }
        }
    }
    let mut modules = plan.modules.iter().zip(modules);

    let (imports, items) = modules.next().map(|(_, module)| module).unwrap_or_default();
    let imports = imports || !plan.services.is_empty() || !plan.documents.is_empty();
    let body: Vec<Piece> = services.into_iter().chain(items).chain(tables).collect();
    // Names that are declared here hide those of the library; none of them is one that generated code takes from it.
    let library = quote! { use ::castile::codegen::*; };
    let imported =
        |imports: bool, context| imports.then(|| Piece::new("the imports", context, || library.clone()).source);
    let mut source = imported(imports, root).unwrap_or_default();
    source += &Piece::new("the namespaces", root, || rendering.namespaces.constants(plan)).source;
    source.extend(body.into_iter().map(|piece| piece.source));
    if let Some(Module { ident, .. }) = module_of_messages(plan) {
        let exported = quote! { pub use self::#ident::*; };
        source += &Piece::new("the types of messages", root, || exported.clone()).source;
    }
    for (module, (Module { namespace, ident }, (imports, body))) in (1..).zip(modules) {
        if body.is_empty() {
            continue;
        }
        let context = Context { module, ..root };
        let unused = root.allow_unused();
        let documentation = match namespace.as_str() {
            "" => "Types of no namespace.".to_owned(),
            // As in an address: a backtick would end what is code.
            namespace => format!("Types of the namespace `{}`.", namespace.replace('`', "%60")),
        };
        let documentation = documentation::line(&documentation);
        let empty = quote! {
            #documentation
            #unused
            #[allow(clippy::enum_variant_names, reason = "the contract has it so")]
            #[allow(clippy::module_inception, reason = "the module around it may be called the same")]
            pub mod #ident {}
        };
        let empty = Piece::new(&format!("the module {ident}"), root, || empty).source;
        source += empty.trim_end().trim_end_matches('}');
        source.push('\n');
        source += &imported(imports, context).unwrap_or_default();
        source.extend(body.into_iter().map(|piece| piece.source));
        source += "}\n";
    }
    // What would steer a terminal or turn the text, which rustc refuses, can stand in literals, where an escape means the
    // same, and in documentation.
    let source = visible_lines(&layout::space(&source)).into_owned();
    rendering.bugs.instead_of(source)
}

/// The module in which the types of messages stand, where the contract's own namespace has none: who uses the service finds them beside
/// it.
fn module_of_messages(plan: &Plan) -> Option<&Module> {
    // Tables stand there whatever they are of.
    let is_type = |item: &&Item| !matches!(item, Item::NamedTypes(_) | Item::Restriction(_));
    if plan.items.iter().filter(is_type).any(|item| item.path().module == 0) {
        return None;
    }
    let operations = plan.services.iter().flat_map(|service| &service.operations);
    let messages = operations.flat_map(|operation| std::iter::once(&operation.request).chain(&operation.response));
    let module = messages.filter_map(|message| match (&message.payload, &message.base) {
        (Payload::Content { path, .. }, _) | (_, Base::Item(path)) => Some(path.module),
        _ => None,
    });
    plan.modules.get(module.min()?)
}

/// Renders what makes types and a trait of a program those of a contract, for `castile-macros`. Paths are absolute.
#[doc(hidden)]
pub struct OfProgram<'a> {
    /// What is planned of types.
    pub plan: &'a Plan,
    /// The default namespace of their tags. The first namespace of the plan stands as `CASTILE_NAMESPACE`, the second one as
    /// `CASTILE_NAMESPACE_1`.
    pub namespace: &'a str,
    /// The path of what generated code takes from the library.
    pub library: &'a str,
    /// What names in the plan stand for.
    pub meant: &'a dyn Fn(&str) -> Option<TokenStream>,
}

impl OfProgram<'_> {
    /// The tables of types, and how they are read and written.
    pub fn types(&self) -> TokenStream {
        self.render(|context| items(self.plan, context))
    }

    /// How a type is a header block.
    pub fn header(&self, block: &TypedRoot) -> TokenStream {
        self.render(|context| messages::header(block, context))
    }

    /// How a type is a document.
    pub fn document(&self, document: &TypedRoot) -> TokenStream {
        self.render(|context| messages::document(document, context))
    }

    /// How an enum is what faults say.
    pub fn faults(&self, faults: &Faults) -> TokenStream {
        self.render(|context| messages::implementation_of_faults(faults, context))
    }

    /// The client of a service, and the table of its operations.
    pub fn client(&self, service: &Service) -> TokenStream {
        self.render(|context| {
            let (client, table) = (service::client(service, context), messages::table(service, context));
            quote! { #client #table }
        })
    }

    fn render(&self, render: impl FnOnce(Context<'_>) -> TokenStream) -> TokenStream {
        let rendering = Rendering::new(self.plan);
        let context = Context { own: Some(self.namespace), ..rendering.context(self.plan, &Options::default()) };
        absolute::absolute(render(context), self.library, self.meant)
    }
}

fn items(plan: &Plan, context: Context<'_>) -> TokenStream {
    let implementations = plan.items.iter().map(|item| match item {
        Item::Struct(planned) => types::implementation(planned, context),
        Item::Choice(planned) => enums::implementation_of_choice(planned, context),
        Item::Derived(planned) => enums::implementation_of_derived(planned, context),
        Item::Restriction(planned) => facets::restriction(planned, context),
        Item::Enumeration(_)
        | Item::Union(_)
        | Item::NamedTypes(_)
        | Item::EncodedStruct(_)
        | Item::EncodedArray(_) => TokenStream::new(),
    });
    implementations.collect()
}

/// How many lines each type takes, and the services together.
pub(crate) fn lines(plan: &Plan, beside: Beside<'_>, options: &Options) -> Result<(Vec<usize>, usize), Vec<String>> {
    let rendering = Rendering::new(plan);
    let root = rendering.context(plan, options);
    let parts = parts(plan);
    let (mut of_items, mut of_services) = (Vec::new(), 0);
    for (part, piece) in parts.iter().zip(pieces(&parts, beside, options, root)) {
        let lines = piece.source.lines().filter(|line| !line.is_empty()).count();
        match part {
            Part::Item(_) => of_items.push(lines),
            _ => of_services += lines,
        }
    }
    rendering.bugs.instead_of((of_items, of_services))
}

/// What is rendered by itself.
enum Part<'a> {
    /// The trait, the server and the client.
    Service(&'a Service),
    /// What is known of the service of this number and its operations.
    Tables(usize, &'a Service),
    /// What headers hold.
    Headers(&'a Service),
    Document(&'a TypedRoot),
    /// What can be read item by item.
    Repeats(&'a Repeats),
    /// What the faults of an operation can say, and those of one before it that can say the same.
    Faults {
        operation: &'a str,
        faults: &'a Faults,
        like: Option<&'a Faults>,
    },
    /// That a type of the program is what one of the contract is.
    Own(&'a Item),
    /// A type.
    Item(&'a Item),
}

/// All that is rendered. The types are in the order of the plan, and so is what belongs to services; that of one service stands in
/// the order of the source.
fn parts(plan: &Plan) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = plan.services.iter().map(Part::Service).collect();
    let mut known: HashMap<Vec<&Ident>, Vec<&Faults>> = HashMap::new();
    for (number, service) in plan.services.iter().enumerate() {
        if !service.headers.is_empty() {
            parts.push(Part::Headers(service));
        }
        for operation in &service.operations {
            let (operation, Some(faults)) = (&*operation.name, &operation.faults) else { continue };
            let alike = known.entry(faults.variants.iter().map(|variant| &variant.ident).collect()).or_default();
            let like = alike.iter().find(|like| like.are_like(faults)).copied();
            if like.is_none() {
                alike.push(faults);
            }
            parts.push(Part::Faults { operation, faults, like });
        }
        parts.push(Part::Tables(number, service));
    }
    parts.extend(plan.documents.iter().map(Part::Document));
    parts.extend(plan.repeats.iter().map(Part::Repeats));
    parts.extend(plan.items.iter().filter(|item| plan.own.contains_key(item.path())).map(Part::Own));
    parts.extend(plan.items.iter().filter(|item| !plan.unwritten.contains(item.path())).map(Part::Item));
    parts
}

/// All parts in their order. They don't know of each other, so they are rendered beside each other.
fn pieces(parts: &[Part<'_>], beside: Beside<'_>, options: &Options, root: Context<'_>) -> impl Iterator<Item = Piece> {
    const AT_ONCE: usize = 32;
    let chunks: Vec<&[Part<'_>]> = parts.chunks(AT_ONCE).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = chunks.get(number) else { return done };
            let pieces = chunk.iter().map(|part| piece(part, beside, options, root));
            done.push((number, pieces.collect::<Vec<_>>()));
        }
    };
    // A build script was given one job by cargo, whose others build other crates.
    let is_job = std::env::var_os("CARGO_MAKEFLAGS").is_some();
    let most = if is_job { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    let helpers = most.min(chunks.len()).saturating_sub(1);
    let mut done = thread::scope(|scope| {
        // A thread that can't be had is one that doesn't help.
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (0..helpers).filter_map(spawn).collect();
        let mut done = work();
        for helper in helpers {
            match helper.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().flat_map(|(_, pieces)| pieces)
}

fn piece(part: &Part<'_>, beside: Beside<'_>, options: &Options, root: Context<'_>) -> Piece {
    let of_service = |service: &Service| format!("the service {}", service.name);
    match *part {
        Part::Service(service) => Piece::new(&of_service(service), root, || service::render(service, options, root)),
        Part::Tables(number, service) => {
            Piece::new(&of_service(service), root, || service::tables(service, number, beside, options, root))
        }
        Part::Headers(service) => Piece::new(&format!("the header blocks of {}", of_service(service)), root, || {
            service.headers.iter().map(|header| messages::header(header, root)).collect()
        }),
        Part::Document(document) => Piece::new(&format!("the document {}", document.root.element.name), root, || {
            messages::document(document, root)
        }),
        Part::Repeats(repeats) => {
            Piece::new(&format!("the items {}", repeats.element.name), root, || messages::repeats(repeats, root))
        }
        Part::Faults { operation, faults, like } => {
            Piece::new(&format!("the type {}", faults.ident), root, || match like {
                Some(like) => messages::same_faults(operation, faults, like),
                None => messages::fault_detail(faults, root),
            })
        }
        Part::Own(item) => Piece::new(&format!("the type {}", item.path().ident), root, || own::check(item, root)),
        Part::Item(item) => self::item(item, Context { module: item.path().module, ..root }),
    }
}

fn item(item: &Item, context: Context<'_>) -> Piece {
    let tokens = || match item {
        Item::Struct(planned) => types::render(planned, context),
        Item::Choice(planned) => enums::choice(planned, context),
        Item::Derived(planned) => enums::derived(planned, context),
        Item::Enumeration(planned) => enums::enumeration(planned, context),
        Item::Union(planned) => enums::union(planned, context),
        Item::Restriction(planned) => facets::restriction(planned, context),
        Item::NamedTypes(planned) => named_types(planned, context),
        Item::EncodedStruct(planned) => encoded::structure(planned, context),
        Item::EncodedArray(planned) => encoded::array(planned, context),
    };
    let piece = Piece::new(&format!("the type {}", item.path().ident), context, tokens);
    match item {
        Item::Enumeration(planned) => piece.with(&enums::values(planned), context),
        Item::Derived(planned) if !planned.variants.is_empty() => {
            piece.with(&enums::conversions(planned, context), context)
        }
        _ => piece,
    }
}

fn base(base: &Base, context: Context<'_>) -> TokenStream {
    match base {
        Base::Primitive(name) => name.parse().unwrap_or_default(),
        Base::Datatype(name) => {
            let path: TokenStream = name.parse().unwrap_or_default();
            quote! { ::castile::datatypes::#path }
        }
        Base::Rust(path) => path.parse().unwrap_or_default(),
        Base::List(item) => {
            let item = self::base(item, context);
            quote! { ::castile::datatypes::List<#item> }
        }
        Base::AnyType => quote! { ::castile::AnyType },
        Base::Nothing => quote! { () },
        Base::Raw => quote! { ::castile::Raw },
        Base::Shared(value) => {
            let value = self::base(value, context);
            quote! { ::castile::Shared<#value> }
        }
        Base::Item(path) => context.path(path),
    }
}

/// What is done for each index of a table: the last arm is for the rest, of which there is none.
fn by_index(index: &TokenStream, arms: &[TokenStream]) -> TokenStream {
    match arms {
        [only] => quote! { #only },
        _ => {
            let last = arms.len().saturating_sub(1);
            let patterns = (0..arms.len()).map(|number| {
                if number == last {
                    return quote! { _ };
                }
                let number = proc_macro2::Literal::usize_unsuffixed(number);
                quote! { #number }
            });
            quote! { match #index { #(#patterns => #arms,)* } }
        }
    }
}

fn value(value: &Value, held: Held, context: Context<'_>) -> TokenStream {
    let rendered = recursive(base(&value.base, context), held);
    match value.nil {
        Nil::Never => rendered,
        Nil::Plain => quote! { Nillable<#rendered> },
        Nil::WithAttributes => quote! { ::castile::NillableWithAttributes<#rendered> },
    }
}

fn recursive(of: TokenStream, held: Held) -> TokenStream {
    match held {
        Held::Recursive => quote! { Recursive<#of> },
        Held::InPlace | Held::Boxed => of,
    }
}

/// The type of one value of a particle.
fn one(field: &Field, context: Context<'_>) -> TokenStream {
    match &field.term {
        Term::Element { value, .. } => self::value(value, field.held, context),
        Term::Group(path) => recursive(context.path(path), field.held),
        Term::Any(_) => quote! { ::castile::Any },
    }
}

/// The type of a field.
fn held(field: &Field, context: Context<'_>) -> TokenStream {
    let one = boxed(one(field, context), field.held);
    match field.occurrence() {
        Occurrence::Required => one,
        Occurrence::Optional => quote! { Option<#one> },
        Occurrence::Repeated if field.streams => quote! { ::castile::Items<#one> },
        Occurrence::Repeated => many(field, one),
    }
}

/// The type of all values of a particle.
fn many(field: &Field, one: TokenStream) -> TokenStream {
    match field.term {
        Term::Element { .. } | Term::Group(_) => quote! { Vec<#one> },
        Term::Any(_) => quote! { ::castile::AnyElements },
    }
}

/// The type of what a variant holds.
fn variant_held(variant: &Field, context: Context<'_>) -> TokenStream {
    let one = one(variant, context);
    match variant.occurrence() {
        Occurrence::Required | Occurrence::Optional => boxed(one, variant.held),
        Occurrence::Repeated => many(variant, one),
    }
}

/// The type of a value that stands in a box if it is large.
fn boxed(of: TokenStream, held: Held) -> TokenStream {
    match held {
        Held::Boxed => quote! { Box<#of> },
        Held::InPlace | Held::Recursive => of,
    }
}

/// The type of a value that nothing holds but the one around it.
fn pointed(of: TokenStream, held: Held) -> TokenStream {
    boxed(recursive(of, held), held)
}

/// What reads values that stand in a box.
fn boxed_reader() -> TokenStream {
    quote! { ::castile::codegen::Boxed }
}

fn group_trait() -> TokenStream {
    quote! { ::castile::codegen::Group }
}

/// A text as a literal: what makes it look like other code is escaped.
fn literal(text: &str) -> TokenStream {
    let literal = proc_macro2::Literal::string(text);
    quote! { #literal }
}

fn occurs(field: &Field) -> (TokenStream, TokenStream) {
    occurrence(field.min_occurs, field.max_occurs)
}

fn occurrence(min: u32, max: Option<u32>) -> (TokenStream, TokenStream) {
    let min = proc_macro2::Literal::u32_unsuffixed(min);
    let max = match max {
        Some(max) => {
            let max = proc_macro2::Literal::u32_unsuffixed(max);
            quote! { Some(#max) }
        }
        None => quote! { None },
    };
    (quote! { #min }, max)
}

fn wildcard(wildcard: &Wildcard, context: Context<'_>) -> TokenStream {
    let namespaces = namespaces(wildcard, context);
    quote! { xs::Wildcard::new(xs::Namespaces::#namespaces) }
}

fn namespaces(wildcard: &Wildcard, context: Context<'_>) -> TokenStream {
    match wildcard {
        Wildcard::Any => quote! { Any },
        Wildcard::Not(target) if context.own.is_some() => {
            let target = context.namespace(target);
            quote! { Not(#target) }
        }
        Wildcard::Not(target) => quote! { Not(#target) },
        Wildcard::OneOf(list) => quote! { OneOf(&[#(#list),*]) },
    }
}

/// The table of those fields that are elements, if there are any.
fn element_table(table: &Ident, fields: &[Field], context: Context<'_>) -> Option<TokenStream> {
    let elements: Vec<TokenStream> = fields
        .iter()
        .filter_map(|field| {
            let declared = field.element()?;
            Some(match (field.occurrence(), field.min_occurs, field.max_occurs) {
                (Occurrence::Required, ..) => element(declared, context),
                (Occurrence::Optional, ..) => element_by(quote! { optional }, declared, context),
                (Occurrence::Repeated, 0, None) => element_by(quote! { repeated }, declared, context),
                (Occurrence::Repeated, ..) => {
                    let (element, (min, max)) = (element(declared, context), occurs(field));
                    quote! { #element.occurs(#min, #max) }
                }
            })
        })
        .collect();
    let count = proc_macro2::Literal::usize_unsuffixed(elements.len());
    (!elements.is_empty()).then(|| quote! { static #table: [Element; #count] = [#(#elements),*]; })
}

/// What rendering a plan makes of it, and finds out.
struct Rendering<'a> {
    namespaces: Namespaces<'a>,
    items: HashMap<&'a Path, &'a Item>,
    bugs: Bugs,
}

impl<'a> Rendering<'a> {
    fn new(plan: &'a Plan) -> Self {
        let items = plan.items.iter().map(|item| (item.path(), item)).collect();
        Rendering { namespaces: Namespaces::new(plan), items, bugs: Bugs::default() }
    }

    fn context(&'a self, plan: &'a Plan, options: &Options) -> Context<'a> {
        let Rendering { namespaces, items, bugs } = self;
        Context { plan, namespaces, items, bugs, module: 0, is_lenient: options.lenient, own: None }
    }
}

/// What is rendered, and in which module.
#[derive(Clone, Copy)]
struct Context<'a> {
    plan: &'a Plan,
    namespaces: &'a Namespaces<'a>,
    items: &'a HashMap<&'a Path, &'a Item>,
    bugs: &'a Bugs,
    module: usize,
    /// Whether there are tables for lenient decoders.
    is_lenient: bool,
    /// The default namespace of the tags, if the types are those of a program.
    own: Option<&'a str>,
}

/// The constants of namespaces: their numbers, and which were asked for.
struct Namespaces<'a> {
    numbers: HashMap<&'a str, usize>,
    used: Vec<AtomicBool>,
}

impl<'a> Namespaces<'a> {
    fn new(plan: &'a Plan) -> Self {
        let numbers =
            plan.namespaces.iter().enumerate().map(|(index, namespace)| (namespace.as_str(), index)).collect();
        Namespaces { numbers, used: plan.namespaces.iter().map(|_| AtomicBool::new(false)).collect() }
    }

    /// Those that were asked for.
    fn constants(&self, plan: &Plan) -> TokenStream {
        let used = plan.namespaces.iter().zip(&self.used).enumerate();
        let constants =
            used.filter(|(_, (_, is_used))| is_used.load(Ordering::Relaxed)).map(|(index, (namespace, _))| {
                let name = constant(index);
                quote! { const #name: &str = #namespace; }
            });
        quote! { #(#constants)* }
    }
}

impl Context<'_> {
    /// The constant of a namespace, or nothing to be named for no namespace.
    fn namespace(self, namespace: &str) -> TokenStream {
        if namespace.is_empty() {
            return quote! { "" };
        }
        if self.own.is_some() {
            let number = self.plan.namespaces.iter().position(|known| known == namespace).unwrap_or_default();
            let name = match number {
                0 => "CASTILE_NAMESPACE".to_owned(),
                number => format!("CASTILE_NAMESPACE_{number}"),
            };
            let name = quote::format_ident!("{name}");
            return quote! { #name };
        }
        let Some(&index) = self.namespaces.numbers.get(namespace) else { return literal(namespace) };
        self.namespaces.used[index].store(true, Ordering::Relaxed);
        let constant = constant(index);
        match self.module {
            0 => constant,
            _ => quote! { super::#constant },
        }
    }

    /// The default namespace of the tags, where the types are those of a program.
    fn own_namespace(self) -> Option<TokenStream> {
        self.own.map(|namespace| self.namespace(namespace))
    }

    /// The namespace of an element or an attribute of a type of a program, if it is another one than that of the tags.
    fn elsewhere(self, namespace: &str) -> Option<TokenStream> {
        self.own.filter(|own| *own != namespace).map(|_| self.namespace(namespace))
    }

    /// Whether values of a type of a program may hold each other: nothing but the compiler knows which do.
    fn needs_guard(self, fields: &[Field]) -> bool {
        let is_own = |field: &Field| match &field.term {
            Term::Element { value, .. } => matches!(value.base, Base::Rust(_)),
            Term::Group(_) => true,
            Term::Any(_) => false,
        };
        self.own.is_some() && fields.iter().any(is_own)
    }

    /// What a function of a group of a program does, on more stack if there is little left.
    fn guarded(self, fields: &[Field], body: TokenStream) -> TokenStream {
        match self.needs_guard(fields) {
            true => quote! { ::castile::codegen::deeper::<Self, _>(|| { #body }) },
            false => body,
        }
    }

    /// Whether the program has the type of such values.
    fn is_own(self, base: &Base) -> bool {
        matches!(base, Base::Item(path) if self.plan.own.contains_key(path))
    }

    /// That the tags of a type of a program need their default namespace.
    fn declares_namespace(self) -> Option<TokenStream> {
        let namespace = self.own_namespace()?;
        Some(quote! { const NAMESPACE: Option<&'static str> = Some(#namespace); })
    }

    /// Where nothing refers to the types, none of them is dead code. What holds for a module is said once, before it;
    /// there is no place before the whole.
    fn allow_unused(self) -> Option<TokenStream> {
        let allow = quote! { #[allow(dead_code, reason = "a program may use some types and not the rest")] };
        (self.plan.services.is_empty() && self.module == 0).then_some(allow)
    }

    /// What a type derives beside what all do, with a comma before each; and its attributes.
    fn extras(self, path: &Path) -> (TokenStream, TokenStream) {
        let Some(Extras { derives, attributes }) = self.plan.extras.get(path) else { return Default::default() };
        let parsed = |text: &String| text.parse::<TokenStream>().unwrap_or_default();
        let (derives, attributes) = (derives.iter().map(parsed), attributes.iter().map(parsed));
        (quote! { #(, #derives)* }, quote! { #(#[#attributes])* })
    }

    /// A type as it is called here.
    fn path(self, path: &Path) -> TokenStream {
        if let Some(own) = self.plan.own.get(path) {
            return own.parse().unwrap_or_default();
        }
        let Path { module, ident } = path;
        let of = &self.plan.modules[*module].ident;
        match (self.module, *module) {
            (here, there) if here == there => quote! { #ident },
            (0, _) => quote! { #of::#ident },
            (_, 0) => quote! { super::#ident },
            _ => quote! { super::#of::#ident },
        }
    }
}

fn constant(index: usize) -> TokenStream {
    match index {
        0 => quote! { NAMESPACE },
        _ => {
            let name = quote::format_ident!("NAMESPACE_{}", index + 1);
            quote! { #name }
        }
    }
}

fn element(element: &Element, context: Context<'_>) -> TokenStream {
    element_by(quote! { new }, element, context)
}

/// An element by one of its constructors: the compiler evaluates thousands of tables, so a call less for each element counts.
fn element_by(constructor: TokenStream, element: &Element, context: Context<'_>) -> TokenStream {
    let Element { namespace, name, slot, constraint, facets, types } = element;
    let namespace = context.namespace(namespace);
    let slot = proc_macro2::Literal::u16_unsuffixed(*slot);
    let constraint = types::constraint(constraint);
    let facets = facets::reference(facets, context);
    let types = types.as_ref().map(|path| {
        let path = context.path(path);
        quote! { .types(&#path) }
    });
    quote! { Element::#constructor(#namespace, #name, #slot) #constraint #facets #types }
}

fn named_types(plan: &NamedTypes, context: Context<'_>) -> TokenStream {
    let NamedTypes { path, name, builtin, of_contract } = plan;
    let ident = &path.ident;
    let of_contract = of_contract.iter().map(|(namespace, names)| {
        let namespace = context.namespace(namespace);
        quote! { (#namespace, #names) }
    });
    quote! { static #ident: xs::SimpleTypes = xs::SimpleTypes::new(#name, #builtin, &[#(#of_contract),*]); }
}
