//! The features of the generator's tests as types and traits of a program: the messages of each are read and written as by what is
//! generated of its contract.
//!
//! The messages stand in `crates/codegen/tests/features`. `features/left.tsv` says what is left, and why: features, and messages of
//! those that are tested. What it says without need is an error, so that it only shrinks.

#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(missing_docs, reason = "a test")]
// Types that nest as deeply as those of `deep` are printed.
#![recursion_limit = "1024"]

#[path = "features/choices.rs"]
mod choices;
#[path = "../../codegen/tests/support/messages.rs"]
mod messages;
#[path = "features/namespaces.rs"]
mod namespaces;
#[path = "features/sequences.rs"]
mod sequences;
#[path = "features/services.rs"]
mod services;
#[path = "../../codegen/tests/support/mod.rs"]
mod support;
#[path = "features/values.rs"]
mod values;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use castile::codegen::HttpService;
use castile_codegen::{Options, generate};

use messages::Answer;

/// What types of features are made of.
mod prelude {
    pub(crate) use castile::datatypes::*;
    pub(crate) use castile::{
        AnyAttribute, AnyType, Fault, Nillable, NillableWithAttributes, Request, Response, Xml, service,
    };

    pub(crate) use crate::support::handled;
    pub(crate) use crate::{Echo, echo};
}

/// Implements every feature's trait: what comes goes back.
pub struct Echo;

/// The trait `Feature` with operations that take and answer the same type.
macro_rules! echo {
    ($namespace:literal) => {
        echo!($namespace, echo(Value));
    };
    ($namespace:literal, $(@$style:ident,)? $($(#[$said:meta])* $operation:ident($of:ty)),+) => {
        #[service(namespace = $namespace $(, $style)?)]
        pub trait Feature {
            $($(#[$said])* async fn $operation(&self, request: Request<$of>) -> ::std::result::Result<Response<$of>, Fault>;)+
        }

        impl Feature for Echo {
            $(async fn $operation(&self, request: Request<$of>) -> ::std::result::Result<Response<$of>, Fault> {
                ::std::result::Result::Ok(handled(request.into_inner()).into())
            })+
        }
    };
}
pub(crate) use echo;

/// A test for each feature, which has a module of this name that has a `FeatureServer`. Behind a `+` stands the operation of another
/// namespace, which has a module and a server of its own.
macro_rules! features {
    ($($part:ident { $($feature:ident $(+ $other:ident)?)* })*) => {
        const EXCHANGED: &[&str] = &[$($(stringify!($feature)),*),*];

        $($(
            #[test]
            fn $feature() {
                let feature = stringify!($feature);
                let others: &[&str] = &[$(concat!("ok-", stringify!($other), ".xml"))?];
                reads(feature, &$part::$feature::feature::wsdl().unwrap());
                let server = $part::$feature::FeatureServer::new(Echo);
                support::on_a_small_stack(|| exchange(feature, server, |message| !others.contains(&message)));
                $(
                    let server = $part::$feature::$other::FeatureServer::new(Echo);
                    support::on_a_small_stack(|| exchange(feature, server, |message| others.contains(&message)));
                )?
            }
        )*)*
    };
}

features! {
    choices { choice groups lenient mixed streams substitution }
    namespaces { adjusted collisions imports two_namespaces + other unqualified wildcards }
    sequences { all deep derivation documentation extension inline_structs large names optional_and_repeated recursion repeated_names sequence }
    services { binding_alone both_versions rpc_literal }
    values { attributes datatypes default_values enumerations facets nillable simple_content simple_payload simple_types }
}

const FEATURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../codegen/tests/features");

/// What is left: a feature, or a message of one, and why.
fn left() -> Vec<(&'static str, &'static str)> {
    include_str!("features/left.tsv").lines().map(|line| line.split_once('\t').unwrap()).collect()
}

/// Sends messages of a feature to a server. Those that are left are answered otherwise.
async fn exchange<S: HttpService>(feature: &str, server: S, is_meant: impl Fn(&str) -> bool) {
    let directory = Path::new(FEATURES).join(feature);
    let left: HashSet<_> = left().into_iter().map(|(what, _)| what).collect();
    let mut different = Vec::new();
    for (file, answer) in messages::exchange(&directory, &server, &is_meant).await {
        let message = format!("{feature}/{}", file.file_name().unwrap().to_str().unwrap());
        let how = match answer {
            Answer::Same => None,
            Answer::Different(how) => Some(how),
            Answer::Refused(found) => {
                let expected = fs::read_to_string(file.with_extension("error")).unwrap();
                let expected = expected.trim_start_matches("soap:");
                (found != expected).then(|| format!("expected {expected:?}, found {found:?}"))
            }
        };
        match (how, left.contains(message.as_str())) {
            (Some(how), false) => different.push(format!("{message}: {how}")),
            (None, true) => different.push(format!("{message} is left without need")),
            _ => {}
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The front end has nothing to say of the contract of a feature's types, unless it has of that of the feature.
fn reads(feature: &str, wsdl: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("service.wsdl");
    fs::write(&file, wsdl).unwrap();
    let generated = generate(&file, &Options::default());
    let generated = generated.unwrap_or_else(|problems| panic!("{problems:?}\n{wsdl}"));
    let may_say = Path::new(FEATURES).join(feature).join("diagnostics.txt").exists();
    assert!(may_say || generated.diagnostics.is_empty(), "{:?}\n{wsdl}", generated.diagnostics);
}

#[test]
fn each_feature_is_tested_or_left() {
    let mut names: Vec<&str> = EXCHANGED.iter().chain(services::CALLED).copied().collect();
    let tested: HashSet<_> = names.iter().copied().collect();
    let left = left();
    for (what, why) in &left {
        assert!(!why.is_empty(), "{what}");
        match what.split_once('/') {
            None => names.push(what),
            Some((feature, _)) => {
                assert!(tested.contains(feature), "{what}: the feature is not tested");
                assert!(Path::new(FEATURES).join(what).exists(), "{what}: there is no such message");
            }
        }
    }
    names.sort_unstable();
    let directories = fs::read_dir(FEATURES).unwrap();
    let mut features: Vec<_> = directories.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    features.sort_unstable();
    assert_eq!(names, features);
}
