//! The plan of a contract as a bundle keeps it, so that the contract needs not be read and planned again.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_plan::Plan;
use castile_xsd::{Bundle, Made};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};

/// What made a plan. The number is another one whenever a plan is kept in another way, or another plan is made of the same contract.
const BY: &str = concat!("castile-plan ", env!("CARGO_PKG_VERSION"), "/1");

/// A larger plan is not kept, and not read: values take many times the room that they take in a file.
const MOST_BYTES: usize = 16 << 20;

/// Keeps a plan in the bundle of its contract. One that is too large is not kept.
pub(crate) fn keep(plan: &Plan, bundle: &mut Bundle) {
    bundle.made = None;
    let Ok(bytes) = postcard::to_stdvec(plan) else { return };
    if bytes.len() <= MOST_BYTES
        && let Ok(packed) = packed(&bytes)
    {
        bundle.made = Some(Made { by: BY.to_owned(), of: hash(bundle), text: STANDARD.encode(packed) });
    }
}

/// The plan that a bundle keeps, if it is one of its documents.
pub(crate) fn plan(bundle: &Bundle) -> Option<Plan> {
    let Made { by, of, text } = bundle.made.as_ref()?;
    if by != BY || *of != hash(bundle) {
        return None;
    }
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(text).ok()?;
    ZlibDecoder::new(&*packed).take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() > MOST_BYTES {
        return None;
    }
    postcard::from_bytes(&bytes).ok()
}

/// Bytes that take less room, and less time to read with the bundle.
fn packed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The documents of a bundle, as a hash in hexadecimal digits.
fn hash(bundle: &Bundle) -> String {
    let mut hasher = Sha256::new();
    bundle.identity(|piece| hasher.update(piece));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};

    use castile_plan::plan::Plan;
    use castile_xsd::Files;

    use super::*;
    use crate::compile::{Types, leak};
    use crate::{Contract, Options};

    /// Every construct of schemas and of SOAP encoding.
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
        crate::keep(&mut bundle);
        bundle.made.is_some().then_some(bundle)
    }

    /// Messages beside a contract.
    fn messages(contract: &Path) -> Vec<String> {
        let paths = std::fs::read_dir(contract.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let messages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "xml"));
        messages.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()).collect()
    }

    fn bytes(plan: &Plan) -> Vec<u8> {
        postcard::to_stdvec(plan).unwrap()
    }

    /// What is kept is what would be planned. If it is another plan than that of the file, programs would take theirs for ours: then the
    /// number in `BY` has to be another one.
    #[test]
    fn what_is_kept_is_what_is_planned() {
        let mut hashes = format!("{BY}\n");
        for contract in contracts() {
            let Some(bundle) = bundle(&contract) else { continue };
            let written = bundle.write();
            let (read, problems) = Bundle::read("bundle", written.as_bytes());
            assert_eq!(read.as_ref(), Some(&bundle), "{problems:?}");
            let kept = bytes(&plan(&bundle).unwrap());
            let of_plan = castile_plan::planned_of(&bundle, &Options::default().of_plan()).unwrap();
            assert_eq!(kept, bytes(&of_plan.1), "{}", contract.display());
            let name = contract.parent().unwrap().file_name().unwrap().to_string_lossy();
            let hash = Sha256::digest(&kept)[..8].iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
            writeln!(hashes, "{name} {hash}").unwrap();
        }
        assert!(hashes.lines().count() > 20, "{hashes}");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept.txt");
        let known = std::fs::read_to_string(&file).unwrap_or_default();
        let is_new = !known.starts_with(&format!("{BY}\n"));
        if is_new && std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &hashes).unwrap();
        } else {
            assert_eq!(known, hashes, "plans changed: raise the number in BY, and run this with BLESS=1");
        }
    }

    #[test]
    fn a_plan_of_other_documents_is_not_taken() {
        let contract = contracts().into_iter().find(|contract| contract.to_string_lossy().contains("faults")).unwrap();
        let kept = bundle(&contract).unwrap();
        assert!(plan(&kept).is_some());
        let (changed, _) = Bundle::read("b", kept.write().replacen("xs:string", "xs:token", 1).as_bytes());
        assert!(plan(&changed.unwrap()).is_none());
        let mut changed = kept.clone();
        changed.made.as_mut().unwrap().by.push('x');
        assert!(plan(&changed).is_none());
        // What would be much more than it seems, too.
        let large = STANDARD.encode(packed(&vec![0; MOST_BYTES + 1]).unwrap());
        for text in ["", "x", "AAAA", "////////", &large] {
            changed = kept.clone();
            changed.made.as_mut().unwrap().text = text.to_owned();
            assert!(plan(&changed).is_none(), "{text}");
        }
    }

    /// Who writes a bundle can write any plan. It may make no sense, but nothing panics, nests without end or takes all memory.
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
            let whole = bytes(&plan(&bundle).unwrap());
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
                let Ok(plan) = postcard::from_bytes::<Plan>(&bytes) else { continue };
                taken += 1;
                leak(Types::new(leak(postcard::from_bytes::<Plan>(&bytes).unwrap()))).make();
                let contract = Contract::of(plan, &Options::default(), &[], None);
                for operation in contract.services.iter().flat_map(|service| service.operations()) {
                    for message in &messages {
                        let _ = operation.request_from_xml(message).map(|value| serde_json::to_string(&value));
                    }
                }
            }
        }
        assert!(tried > 500 && taken > 100, "{taken} of {tried} plans were taken");
    }

    /// What holds itself, and what holds very much.
    #[test]
    fn a_plan_may_nest_without_end() {
        use castile_plan::plan::{Base, Content, Item, Rule, Term};
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
                    // It had fields of groups above.
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
            leak(Types::new(leak(plan))).make();
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
            let contract = Contract::of(plan, &options, &[], None);
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

    fn within(number: usize, base: castile_plan::plan::Base) -> castile_plan::plan::Base {
        use castile_plan::plan::Base;
        if number % 3 == 1 { Base::Shared(Box::new(base)) } else { base }
    }
}
