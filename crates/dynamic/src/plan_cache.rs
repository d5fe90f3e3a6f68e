//! Stores the plan of a contract in a bundle, so that the contract need not be read and planned again.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_plan::Plan;
use castile_plan::plan::{Item, Path};
use castile_xsd::{Bundle, Made};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::leak::leak_all;
use crate::{Contract, Options};

/// The program that made a plan. Change the number whenever plans are serialized differently, or whenever a contract
/// gives a different plan.
const BY: &str = concat!("castile-plan ", env!("CARGO_PKG_VERSION"), "/9");

/// Maximum size of a stored plan. In memory, values take many times their size in a file.
const MAX_BYTES: usize = 16 << 20;

/// A plan in the form in which a bundle stores it.
#[derive(Deserialize, Serialize)]
pub(crate) struct StoredPlan<'a> {
    /// The plan without its items.
    pub(crate) plan: Plan,
    /// The serialized items. A request needs few of thousands, so each is decoded when it is first needed ([`item`]).
    #[serde(borrow)]
    pub(crate) items: Vec<(Path, &'a [u8])>,
}

/// Stores a plan in the bundle of its contract, unless it is too large.
pub(crate) fn store(plan: Plan, bundle: &mut Bundle) {
    bundle.made = None;
    let Ok(bytes) = bytes(plan) else { return };
    if bytes.len() <= MAX_BYTES
        && let Ok(packed) = packed(&bytes)
    {
        bundle.made = Some(Made { by: BY.to_owned(), of: hash(bundle), text: STANDARD.encode(packed) });
    }
}

fn bytes(mut plan: Plan) -> postcard::Result<Vec<u8>> {
    let items = std::mem::take(&mut plan.items).into_iter();
    let items = items.map(|item| Ok((item.path().clone(), postcard::to_stdvec(&item)?)));
    let items = items.collect::<postcard::Result<Vec<_>>>()?;
    let items = items.iter().map(|(path, bytes)| (path.clone(), bytes.as_slice())).collect();
    postcard::to_stdvec(&StoredPlan { plan, items })
}

/// Returns the plan stored in a bundle, if it was made from the documents in the bundle.
pub(crate) fn plan(bundle: &Bundle) -> Option<StoredPlan<'static>> {
    read(unpacked(bundle)?)
}

/// Decodes a plan from bytes, which stay in memory until the process ends. The plan may be arbitrary, because anyone
/// can write a bundle.
fn read(bytes: Vec<u8>) -> Option<StoredPlan<'static>> {
    let stored: StoredPlan<'_> = postcard::from_bytes(leak_all(bytes)).ok()?;
    // Items in the plan itself would bypass the checks in `item`.
    stored.plan.items.is_empty().then_some(stored)
}

/// Decodes an item of a plan. An invalid item is treated as missing.
pub(crate) fn item(bytes: &[u8]) -> Option<Item> {
    // Stored plans have no facets. Facets from a file are rejected, because making them may take much work, as for
    // patterns.
    postcard::from_bytes(bytes).ok().filter(|item| !matches!(item, Item::Restriction(_)))
}

/// For tests that change stored plans.
impl Contract {
    /// Returns the plan stored in a bundle as one serialized value.
    #[doc(hidden)]
    pub fn serialized_plan(bundle: &Bundle) -> Option<Vec<u8>> {
        let StoredPlan { mut plan, items } = plan(bundle)?;
        plan.items = items.iter().filter_map(|(_, bytes)| item(bytes)).collect();
        postcard::to_stdvec(&plan).ok()
    }

    /// Returns the contract of such a plan, as if it were stored in a bundle.
    #[doc(hidden)]
    pub fn of_serialized_plan(plan: &[u8]) -> Option<Self> {
        let stored = read(bytes(postcard::from_bytes(plan).ok()?).ok()?)?;
        Some(Contract::of(stored.plan, stored.items, &Options::default(), &[], None))
    }
}

fn unpacked(bundle: &Bundle) -> Option<Vec<u8>> {
    let Made { by, of, text } = bundle.made.as_ref()?;
    if by != BY || *of != hash(bundle) {
        return None;
    }
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(text).ok()?;
    ZlibDecoder::new(&*packed).take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= MAX_BYTES).then_some(bytes)
}

/// Compresses bytes. That also reduces the time to read the bundle.
fn packed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Returns the hash of the documents of a bundle, in hexadecimal digits.
fn hash(bundle: &Bundle) -> String {
    let mut hasher = Sha256::new();
    bundle.identity(|piece| hasher.update(piece));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use castile_plan::names::Ident;
    use castile_plan::plan::{self, Base, Content, Facet, Field, Rule, Term};
    use castile_xsd::Files;
    use serde_json::json;

    use super::*;
    use crate::Operation;
    use crate::compile::Types;
    use crate::leak::leak;

    /// Returns contracts that have every construct of schemas and of SOAP encoding.
    fn contracts() -> Vec<PathBuf> {
        let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/features");
        let folders = std::fs::read_dir(features).unwrap().map(|entry| entry.unwrap().path());
        let mut contracts: Vec<PathBuf> = folders.map(|folder| folder.join("service.wsdl")).collect();
        contracts.retain(|contract| contract.exists());
        contracts.sort();
        assert!(contracts.len() > 20, "{contracts:?}");
        contracts
    }

    fn bundle(contract: &Path) -> Option<Bundle> {
        let mut bundle = castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0?;
        crate::store_plan(&mut bundle);
        bundle.made.is_some().then_some(bundle)
    }

    /// Returns the messages beside a contract.
    fn messages(contract: &Path) -> Vec<String> {
        let paths = std::fs::read_dir(contract.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let messages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
        messages.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
    }

    fn unpacked(bundle: &Bundle) -> Vec<u8> {
        super::unpacked(bundle).unwrap()
    }

    /// A stored plan equals the planned one. If the hash of the plan differs from the file, programs would use plans
    /// that older versions stored: then change the number in `BY`.
    #[test]
    fn the_stored_plan_equals_the_plan() {
        let mut hashes = format!("{BY}\n");
        for contract in contracts() {
            let Some(bundle) = bundle(&contract) else { continue };
            let written = bundle.write();
            let (read, problems) = Bundle::read("bundle", written.as_bytes());
            assert_eq!(read.as_ref(), Some(&bundle), "{problems:?}");
            let stored = unpacked(&bundle);
            let of_plan = castile_plan::planned_of(&bundle, &Options::default().of_plan()).unwrap();
            assert_eq!(stored, bytes(of_plan.1).unwrap(), "{}", contract.display());
            let whole: Plan = postcard::from_bytes(&Contract::serialized_plan(&bundle).unwrap()).unwrap();
            assert_eq!(stored, bytes(whole).unwrap(), "{}", contract.display());
            let name = contract.parent().unwrap().file_name().unwrap().to_string_lossy();
            let hash =
                Sha256::digest(&stored)[..8].iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
            writeln!(hashes, "{name} {hash}").unwrap();
        }
        assert!(hashes.lines().count() > 20, "{hashes}");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plan_hashes.txt");
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let is_new = !known.starts_with(&format!("{BY}\n"));
        if is_new && std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &hashes).unwrap();
        } else {
            assert_eq!(known, hashes, "plans changed: raise the number in BY, and run this with BLESS=1");
        }
    }

    #[test]
    fn a_plan_of_other_documents_is_not_used() {
        let contract = contracts().into_iter().find(|contract| contract.to_string_lossy().contains("faults")).unwrap();
        let stored = bundle(&contract).unwrap();
        assert!(plan(&stored).is_some());
        let (changed, _) = Bundle::read("b", stored.write().replacen("xs:string", "xs:token", 1).as_bytes());
        assert!(plan(&changed.unwrap()).is_none());
        let mut changed = stored.clone();
        changed.made.as_mut().unwrap().by.push('x');
        assert!(plan(&changed).is_none());
        // The same applies to data that is much larger after decompression.
        let large = STANDARD.encode(packed(&vec![0; MAX_BYTES + 1]).unwrap());
        for text in ["", "x", "AAAA", "////////", &large] {
            changed = stored.clone();
            changed.made.as_mut().unwrap().text = text.to_owned();
            assert!(plan(&changed).is_none(), "{text}");
        }
    }

    /// Anyone can write a bundle with an arbitrary plan. Nothing may panic, recurse endlessly or exhaust memory.
    #[test]
    fn a_plan_may_be_anything() {
        let (mut tried, mut taken) = (0, 0);
        let mut random = 1_u64;
        let mut random = move |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as usize % below
        };
        for contract in contracts() {
            let Some(bundle) = bundle(&contract) else { continue };
            let whole = unpacked(&bundle);
            let messages = messages(&contract);
            for _ in 0..30 {
                let mut bytes = whole.clone();
                for _ in 0..=random(3) {
                    let at = random(bytes.len());
                    match random(3) {
                        0 => bytes[at] = random(256) as u8,
                        1 => bytes[at] ^= 1 << random(8),
                        _ => bytes.copy_within(at..(at + random(20)).min(whole.len()), random(whole.len() - 20)),
                    }
                }
                tried += 1;
                let Some(StoredPlan { plan, items }) = read(bytes.clone()) else { continue };
                taken += 1;
                leak(Types::new(leak(plan), items)).make();
                let StoredPlan { plan, items } = read(bytes).unwrap();
                let contract = Contract::of(plan, items, &Options::default(), &[], None);
                for operation in contract.services.iter().flat_map(|service| service.operations()) {
                    for message in &messages {
                        let _ = operation.request_from_xml(message).map(|value| serde_json::to_string(&value));
                    }
                }
            }
        }
        assert!(tried > 500 && taken > 100, "{taken} of {tried} plans were taken");
    }

    /// Plans with items that contain themselves, and plans with very many items.
    #[test]
    fn a_plan_may_nest_without_end() {
        let (mut groups_there, mut unions, mut restrictions, mut all, mut read) = (0, 0, 0, 0, 0);
        let options = Options { facets: true, ..Options::default() };
        for path in contracts() {
            let Some(bundle) = bundle(&path) else { continue };
            let (_, mut plan, _) = castile_plan::planned_of(&bundle, &options.of_plan()).unwrap();
            let groups = plan.items.iter().filter(|item| item.fields().len() > 1).map(|item| item.path().clone());
            let groups: Vec<_> = groups.collect();
            groups_there += groups.len();
            for (number, item) in plan.items.iter_mut().enumerate() {
                for field in item.fields_mut().iter_mut().filter(|_| !groups.is_empty()) {
                    field.term = Term::Group(groups[number % groups.len()].clone());
                }
                match item {
                    // Its fields were replaced by groups before.
                    Item::Struct(of) if number % 2 == 0 => {
                        if let Content::Sequence(fields) = &mut of.content {
                            all += 1;
                            of.content = Content::All(std::mem::take(fields));
                        }
                    }
                    Item::Union(of) => {
                        unions += 1;
                        of.members.iter_mut().for_each(|member| member.base = Base::Item(of.path.clone()));
                    }
                    Item::Restriction(of) => {
                        restrictions += 1;
                        of.rule = Rule::AnyOf(vec![of.path.clone(), of.path.clone()]);
                    }
                    _ => {}
                }
            }
            leak(Types::new(leak(plan), Vec::new())).make();
            // Types that are derived from themselves.
            let (_, mut plan, _) = castile_plan::planned_of(&bundle, &options.of_plan()).unwrap();
            for item in &mut plan.items {
                if let Item::Derived(of) = item {
                    let path = of.path.clone();
                    let variants = of.variants.iter_mut().enumerate();
                    variants.for_each(|(number, variant)| variant.base = within(number, Base::Item(path.clone())));
                    read += 1;
                }
            }
            let contract = Contract::of(plan, Vec::new(), &options, &[], None);
            for operation in contract.services.iter().flat_map(|service| service.operations()) {
                let _ = operation.find_in_request(&["a", "b"]);
                for message in &messages(&path) {
                    let value = operation.request_from_xml(message);
                    let _ = value.map(|value| operation.request_from_json(&serde_json::to_value(&value).unwrap()));
                }
            }
        }
        assert!(groups_there > 10 && unions > 1 && restrictions > 10, "{groups_there} {unions} {restrictions}");
        assert!(all > 10 && read > 5, "{all} {read}");
    }

    fn within(number: usize, base: Base) -> Base {
        if number % 3 == 1 { Base::Shared(Box::new(base)) } else { base }
    }

    // ---- malformed plans ----

    /// Returns a plan with these items, whose first request has these fields.
    fn plan_of(fields: Vec<Field>, items: Vec<Item>) -> Plan {
        let contract = contracts().into_iter().find(|contract| contract.ends_with("sequence/service.wsdl")).unwrap();
        let bundle = castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0.unwrap();
        let (_, mut plan, _) = castile_plan::planned_of(&bundle, &Options::default().of_plan()).unwrap();
        let Base::Item(path) = plan.services[0].operations[0].request.base.clone() else {
            panic!("no type of its own")
        };
        let of = plan.items.iter_mut().find_map(|item| match item {
            Item::Struct(of) if of.path == path => Some(of),
            _ => None,
        });
        let of = of.unwrap();
        (of.attributes, of.any_attributes, of.content) = (Vec::new(), None, Content::Sequence(fields));
        plan.items.extend(items);
        plan
    }

    fn path(name: &str) -> plan::Path {
        plan::Path { module: 0, ident: Ident::new(name) }
    }

    fn field(term: Term, min_occurs: u32, max_occurs: Option<u32>) -> Field {
        let (ident, documentation) = (Ident::new("field"), String::new());
        Field {
            ident,
            documentation,
            min_occurs,
            max_occurs,
            term,
            storage: plan::Storage::InPlace,
            streams: false,
            adapter: None,
        }
    }

    fn element(name: &str, base: Base, facets: Option<plan::Path>) -> Term {
        let (namespace, tag, name) = (String::new(), name.to_owned(), name.to_owned());
        let element = plan::Element { namespace, name, slot: 0, constraint: None, facets, types: None };
        Term::Element { element, value: plan::Value { base, nil: plan::Nil::Never }, tag, counted: false }
    }

    fn group(name: &str, fields: Vec<Field>) -> Item {
        Item::Struct(plan::Struct {
            path: path(name),
            table: Ident::new("TABLE"),
            documentation: String::new(),
            role: plan::Role::Group,
            attributes: Vec::new(),
            attribute_table: None,
            any_attributes: None,
            content: Content::Sequence(fields),
            made: plan::Made::Whole,
        })
    }

    fn union(name: &str, members: Vec<Base>) -> Item {
        let member = |base| plan::Member { ident: Ident::new("Member"), base, is_enumeration: false, facets: None };
        Item::Union(plan::Union {
            path: path(name),
            documentation: String::new(),
            name: name.to_owned(),
            members: members.into_iter().map(member).collect(),
            has_facets: true,
            has_names: false,
        })
    }

    fn restriction(name: &str, rule: Rule) -> Item {
        let base = Base::Primitive("String");
        Item::Restriction(plan::Restriction { path: path(name), name: name.to_owned(), base, rule })
    }

    /// Reads a request of a plan from XML and from JSON, and uses it in all ways. This must end in time on a stack of
    /// the usual size.
    fn read_all(name: &'static str, plan: Plan, content: &'static str, json: serde_json::Value) {
        on_a_thread(name, move || {
            let contract = Contract::of(plan, Vec::new(), &Options::default(), &[], None);
            let operation: &'static Operation = &contract.services[0].operations()[0];
            let root = &operation.soap().request.element;
            let (prefix, namespace) = if root.namespace.is_empty() { ("", "") } else { ("r:", root.namespace) };
            let declared = if prefix.is_empty() { String::new() } else { format!(" xmlns:r=\"{namespace}\"") };
            let xml = format!("<{prefix}{}{declared}>{content}</{prefix}{}>", root.name, root.name);
            let _ = operation.find_in_request(&["a", "b"]);
            let mut values = vec![operation.request_from_json(&json), operation.request_from_json(&json!({}))];
            values.extend(operation.request_from_xml(&xml).map(Ok));
            let _ = operation.request_problems(&json!({"a": 1, "b": {}}));
            for value in values.into_iter().flatten() {
                let written = serde_json::to_value(&value).unwrap();
                let _ = operation.request_from_json(&written);
                let _ = castile_soap::message::write(
                    castile_soap::Version::Soap11,
                    &operation.soap().request,
                    &value,
                    Vec::new(),
                );
                assert!(value == value.clone() && !format!("{value:?}").is_empty());
            }
        });
    }

    fn on_a_thread(name: &'static str, work: impl FnOnce() + Send + 'static) {
        // Code without optimization needs more stack.
        let stack = if cfg!(debug_assertions) { 2 << 20 } else { 512 << 10 };
        let (sender, receiver) = channel();
        let worker = std::thread::Builder::new().stack_size(stack).spawn(move || {
            work();
            let _ = sender.send(());
        });
        let ended = receiver.recv_timeout(Duration::from_secs(120));
        assert!(ended.is_ok(), "{name}: {ended:?}");
        worker.unwrap().join().unwrap();
    }

    /// The process crashed, because nested groups were visited without checking the stack.
    #[test]
    fn groups_within_each_other_have_an_end() {
        const MANY: usize = 10_000;
        let chain = || {
            let groups = (0..MANY).map(|number| {
                let mut fields = vec![field(element(&format!("e{number}"), Base::Primitive("i32"), None), 0, Some(1))];
                if number + 1 < MANY {
                    fields.push(field(Term::Group(path(&format!("G{}", number + 1))), 1, Some(1)));
                }
                group(&format!("G{number}"), fields)
            });
            plan_of(vec![field(Term::Group(path("G0")), 1, Some(1))], groups.collect())
        };
        read_all("a chain of groups", chain(), "<e50>1</e50>", json!({"e50": 1}));
        let repeated = || {
            let groups = (0..MANY).map(|number| {
                let mut fields = vec![field(element("e", Base::Primitive("i32"), None), 0, Some(1))];
                if number + 1 < MANY {
                    fields.push(field(Term::Group(path(&format!("G{}", number + 1))), 0, None));
                }
                group(&format!("G{number}"), fields)
            });
            plan_of(vec![field(Term::Group(path("G0")), 0, None)], groups.collect())
        };
        read_all("a chain of repeated groups", repeated(), "<e>1</e><e>2</e>", json!({"$group": [{"e": 1}]}));
        // They are made from the innermost outwards, so each finds the next one already made.
        on_a_thread("groups that were made before", move || {
            let types: &'static Types = leak(Types::new(leak(chain()), Vec::new()));
            let mut maker = types.maker();
            for number in (0..MANY).rev() {
                let group = maker.group(&path(&format!("G{number}"))).unwrap();
                assert!(group.particles().depth <= 128, "{}", group.particles().depth);
            }
        });
    }

    /// It took 2^60 steps.
    #[test]
    fn unions_that_double_have_an_end() {
        let member = |number: usize| match number {
            0 => Base::Primitive("i32"),
            number => Base::Item(path(&format!("U{}", number - 1))),
        };
        let of = move |count: usize, members: usize| {
            let unions = (0..count).map(|number| union(&format!("U{number}"), vec![member(number); members])).collect();
            let base = Base::Item(path(&format!("U{}", count - 1)));
            plan_of(vec![field(element("x", base, None), 1, Some(1))], unions)
        };
        read_all("unions that double", of(60, 2), "<x>1</x>", json!({"x": 0.30000000000000004}));
        read_all("unions that double, of no value", of(60, 2), "<x>a</x>", json!({"x": ["a"]}));
        read_all("a chain of unions", of(10_000, 1), "<x>1</x>", json!({"x": 1}));
        // Types that were made before have the same depth.
        on_a_thread("unions that were made before", move || {
            let types: &'static Types = leak(Types::new(leak(of(100_000, 1)), Vec::new()));
            for number in (0..100_000).step_by(100) {
                types.maker().base(&Base::Item(path(&format!("U{number}"))));
            }
        });
    }

    /// The values of lists were nested like their types, and were dropped without checking the stack.
    #[test]
    fn lists_have_no_lists() {
        let unions = (0..10_000).map(|number: usize| {
            let member = match number {
                0 => Base::Primitive("i32"),
                number => Base::Item(path(&format!("U{}", number - 1))),
            };
            union(&format!("U{number}"), vec![Base::List(Box::new(Base::List(Box::new(member))))])
        });
        let base = Base::Item(path("U9999"));
        let plan = plan_of(vec![field(element("x", base, None), 1, Some(1))], unions.collect());
        read_all("unions of lists", plan, "<x>1</x>", json!({"x": ["1"]}));
    }

    /// It took 2^60 steps.
    #[test]
    fn facets_that_double_have_an_end() {
        let of = |count: usize, members: usize| {
            let restrictions = (0..count).map(|number| {
                let rule = match number {
                    0 => Rule::Facets { facets: vec![Facet::Number("max_length", 1)], of: None },
                    number => Rule::AnyOf(vec![path(&format!("R{}", number - 1)); members]),
                };
                restriction(&format!("R{number}"), rule)
            });
            let facets = Some(path(&format!("R{}", count - 1)));
            plan_of(vec![field(element("x", Base::Primitive("String"), facets), 1, Some(1))], restrictions.collect())
        };
        read_all("facets that double", of(60, 2), "<x>ab</x>", json!({"x": "ab"}));
        read_all("a chain of facets", of(10_000, 1), "<x>ab</x>", json!({"x": "ab"}));
        let chain = (0..10_000).map(|number: usize| {
            let before = (number > 0).then(|| path(&format!("R{}", number - 1)));
            restriction(&format!("R{number}"), Rule::Facets { facets: Vec::new(), of: before })
        });
        let of_x = element("x", Base::Primitive("String"), Some(path("R9999")));
        let plan = plan_of(vec![field(of_x, 1, Some(1))], chain.collect());
        read_all("a chain of facets of facets", plan, "<x>ab</x>", json!({"x": "ab"}));
    }

    /// Stored plans have no facets, so facets in a file are from someone else.
    #[test]
    fn facets_are_not_read() {
        let contract = contracts().into_iter().find(|contract| contract.ends_with("facets/service.wsdl")).unwrap();
        let mut bundle = castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0.unwrap();
        let options = Options { facets: true, ..Options::default() };
        let (_, planned, _) = castile_plan::planned_of(&bundle, &options.of_plan()).unwrap();
        let beside = postcard::to_stdvec(&StoredPlan { plan: planned, items: Vec::new() }).unwrap();
        assert!(read(beside).is_none(), "facets are among the items of the plan itself");
        let (_, planned, _) = castile_plan::planned_of(&bundle, &options.of_plan()).unwrap();
        store(planned, &mut bundle);
        let StoredPlan { items, .. } = plan(&bundle).unwrap();
        let whole = items.iter().map(|(_, bytes)| postcard::from_bytes::<Item>(bytes).unwrap());
        let facets = whole.filter(|item| matches!(item, Item::Restriction(_))).count();
        let read = items.iter().filter_map(|(_, bytes)| item(bytes)).count();
        assert!(facets > 10 && read == items.len() - facets, "{facets} of {}, and {read} are read", items.len());
    }

    /// It was read recursively without end.
    #[test]
    fn shared_nodes_are_stored_once() {
        let base = (0..100).fold(Base::Primitive("i32"), |base, _| Base::Shared(Box::new(base)));
        let plan = plan_of(vec![field(element("x", base, None), 1, Some(1))], Vec::new());
        read_all("nodes of nodes", plan, "<x>1</x>", json!({"x": 1}));
    }

    /// An empty group was repeated endlessly.
    #[test]
    fn what_never_comes_ends_a_repeated_group() {
        let never = field(element("x", Base::Primitive("i32"), None), 0, Some(0));
        let groups = vec![group("G", vec![never])];
        let plan = plan_of(vec![field(Term::Group(path("G")), 0, None)], groups);
        read_all("a group of nothing", plan, "<x>1</x>", json!({}));
    }

    /// Each wildcard had its own list of everything that follows it, which took gigabytes.
    #[test]
    fn wildcards_before_groups_share_the_following_particles() {
        const MANY: usize = 20_000;
        let wildcards =
            (0..MANY).map(|_| field(Term::Any(plan::Wildcard::OneOf(vec!["urn:w".to_owned()])), 0, Some(1)));
        let group = vec![group("G", vec![field(element("x", Base::Primitive("i32"), None), 1, Some(1))])];
        let groups = (0..MANY).map(|_| field(Term::Group(path("G")), 0, Some(1)));
        let plan = plan_of(wildcards.chain(groups).collect(), group);
        read_all("many wildcards", plan, "<x>1</x>", json!({}));
    }

    #[test]
    fn a_missing_particle_matches_nothing() {
        let contract = contracts().into_iter().find(|contract| contract.ends_with("mixed/service.wsdl")).unwrap();
        let bundle = castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0.unwrap();
        let (_, mut plan, _) = castile_plan::planned_of(&bundle, &Options::default().of_plan()).unwrap();
        let mut changed = 0;
        for item in &mut plan.items {
            if let Item::Choice(plan::Choice { order: order @ Some(_), .. }) = item {
                let kind = plan::ParticleKind::Element(usize::MAX);
                *order = Some(plan::Particle { min: 1, max: Some(1), kind });
                changed += 1;
            }
        }
        assert!(changed > 0);
        leak(Types::new(leak(plan), Vec::new())).make();
    }

    // ---- contracts ----

    /// The summary included operations that were not requested.
    #[test]
    fn a_summary_is_of_the_operations_that_are_asked_for() {
        let contract =
            contracts().into_iter().find(|contract| contract.ends_with("typed_faults/service.wsdl")).unwrap();
        let planned = || {
            let bundle = castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0.unwrap();
            let (_, mut plan, _) = castile_plan::planned_of(&bundle, &Options::default().of_plan()).unwrap();
            plan.left_out.push(plan::LeftOut { name: "lost".to_owned(), label: "lost".to_owned(), reason: None });
            plan
        };
        let first = planned().services[0].operations[0].name.clone();
        let summary = |operations: Vec<String>| {
            Contract::of(planned(), Vec::new(), &Options { operations, ..Options::default() }, &[], None).summary
        };
        assert_eq!(summary(vec![first.clone()]), None);
        assert_eq!(summary(vec![first, "lost".to_owned()]).as_deref(), Some("1 of 2 operations; left out: lost"));
        assert!(summary(Vec::new()).unwrap().ends_with(" operations; left out: lost"));
    }

    /// A service without requested operations removed its header blocks from other services.
    #[test]
    fn header_blocks_may_be_those_of_another_service() {
        let contract =
            contracts().into_iter().find(|contract| contract.ends_with("header_blocks/service.wsdl")).unwrap();
        let bundle = bundle(&contract).unwrap();
        let StoredPlan { mut plan, items } = super::plan(&bundle).unwrap();
        let mut first = super::plan(&bundle).unwrap().plan;
        for operation in first.services.iter_mut().flat_map(|service| &mut service.operations) {
            operation.name.insert_str(0, "other");
        }
        plan.services.iter_mut().for_each(|service| service.headers.clear());
        let with_headers = plan.services.iter().flat_map(|service| &service.operations);
        let wanted = with_headers.filter(|operation| !operation.request.headers.is_empty()).map(|one| one.name.clone());
        let wanted: Vec<String> = wanted.collect();
        assert!(!wanted.is_empty());
        plan.services.splice(0..0, first.services);
        let contract = Contract::of(plan, items, &Options { operations: wanted, ..Options::default() }, &[], None);
        assert!(!contract.services.is_empty());
        for operation in contract.services.iter().flat_map(|service| service.operations()) {
            let refused = operation.header_from_json(&json!({"nothing": 1})).unwrap_err();
            assert!(refused.message.contains("expected one of"), "{refused}");
        }
    }
}
