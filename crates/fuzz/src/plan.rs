//! Checks plans that are stored in bundles. A bundle's author may write any plan.
//!
//! This is not a target of libFuzzer: the types of a contract stay in memory until the process ends, so memory grows with
//! each input.

use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use castile_dynamic::Contract;
use castile_xsd::Files;
use fastrand::Rng;

use crate::seeds;

/// How many operations of a contract are called, and how many messages each of them reads.
const MAX_OPERATIONS: usize = 8;
const MAX_MESSAGES: usize = 4;

/// The most changes that are made to a plan at a time.
const MAX_CHANGES: usize = 4;

/// A contract with its stored plan, and messages of the contract.
struct StoredPlan {
    plan: Vec<u8>,
    messages: Vec<String>,
}

/// Reads any bytes as the plan of a contract. The first byte selects the contract whose messages are read with it.
///
/// Nothing panics, and the work is bounded.
pub fn plan(input: &[u8]) {
    let Some((&number, plan)) = input.split_first() else { return };
    let kept = stored_plans();
    let messages = &kept[usize::from(number) % kept.len()].messages;
    let Some(contract) = Contract::of_serialized_plan(plan) else { return };
    for operation in contract.services.iter().flat_map(|service| service.operations()).take(MAX_OPERATIONS) {
        let _ = operation.find_in_request(&["a", "b"]);
        let _ = operation.request_problems(&serde_json::json!({"a": [{}]}));
        for message in messages {
            let Ok(value) = operation.request_from_xml(message) else { continue };
            let Ok(json) = serde_json::to_value(&value) else { continue };
            let _ = operation.request_from_json(&json);
        }
    }
}

/// Returns the plans of the test contracts, in the input format of [`plan`].
///
/// # Panics
/// A file of the tests can't be read.
pub fn plans() -> Vec<Vec<u8>> {
    let plans = stored_plans().iter().enumerate();
    // There are fewer than 256 of them; otherwise the first 256 are enough.
    let plans = plans.filter_map(|(number, kept)| Some([&[u8::try_from(number).ok()?], &*kept.plan].concat()));
    plans.collect()
}

fn stored_plans() -> &'static [StoredPlan] {
    static PLANS: OnceLock<Vec<StoredPlan>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/features");
        let kept: Vec<StoredPlan> =
            seeds::entries(&features).iter().filter_map(|feature| of_feature(feature)).collect();
        assert!(kept.len() > 20, "{} contracts keep a plan", kept.len());
        kept
    })
}

fn of_feature(feature: &Path) -> Option<StoredPlan> {
    let contract = feature.join("service.wsdl");
    let mut bundle =
        contract.exists().then(|| castile_wsdl::bundle(&contract.to_string_lossy(), &Files::new()).0)??;
    castile_dynamic::store_plan(&mut bundle);
    let plan = Contract::serialized_plan(&bundle)?;
    let is_right = |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ok"));
    let messages = seeds::entries(feature).into_iter().filter(|file| is_right(file));
    let messages = messages.filter_map(|file| std::fs::read_to_string(file).ok()).take(MAX_MESSAGES);
    Some(StoredPlan { plan, messages: messages.collect() })
}

/// Changes a plan in a few places. The same `seed` makes the same changes.
pub fn mutate_plan(input: &[u8], seed: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let mut plan = input.to_vec();
    for _ in 0..random.usize(1..=MAX_CHANGES) {
        if plan.is_empty() {
            break;
        }
        let at = random.usize(..plan.len());
        match random.u32(0..10) {
            0 => plan[at] = random.u8(..),
            1 => plan[at] ^= 1 << random.u32(..8),
            2 => {
                let end = (at + random.usize(..20)).min(plan.len());
                let to = random.usize(..=plan.len() - (end - at));
                plan.copy_within(at..end, to);
            }
            // Replaces what a reference refers to.
            _ => {
                let names = names(&plan);
                if let (Some(one), Some(other)) = (random.choice(&names), random.choice(&names)) {
                    let other = plan[other.clone()].to_vec();
                    plan.splice(one.clone(), other);
                }
            }
        }
    }
    plan
}

/// Returns ranges that may be names: a length, and that many characters.
fn names(plan: &[u8]) -> Vec<Range<usize>> {
    let name = |start: usize| {
        let length = usize::from(plan[start]);
        let name = plan.get(start + 1..start + 1 + length)?;
        let is_name =
            (2..64).contains(&length) && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        is_name.then_some(start..start + 1 + length)
    };
    (0..plan.len()).filter_map(name).collect()
}
