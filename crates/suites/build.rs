//! Compiles the contracts into Rust, as a user of Castile does.

use castile_codegen::{Options, compile_with};

fn main() {
    let mut common = Options::default();
    common.page = std::env::var_os("CARGO_FEATURE_PAGE").is_some();
    let compile = |contract: &str, set: fn(&mut Options)| {
        let mut options = common.clone();
        set(&mut options);
        compile_with(format!("contracts/{contract}.wsdl"), &options);
    };
    for contract in ["benchmark1", "benchmark1_round2", "codec", "encoded", "seismic_encoded", "stock", "wspex"] {
        compile(contract, |_| {});
    }
    // The fuzzer has lenient services for the contracts with this option.
    if std::env::var_os("CARGO_FEATURE_INTEROP").is_some() {
        compile("interop_base", |options| options.lenient = true);
        compile("interop_group_b", |_| {});
        compile("soap12_collection", |_| {});
    }
    compile("wstest", |options| options.lenient = true);
    compile("styles", |options| options.raw = vec!["submitDoc".to_owned()]);
    compile("seismic", |options| options.streams = vec!["Results/result-set".to_owned()]);
    compile("attachments", |options| options.stream_binaries = true);
    compile("open", |options| options.facets = true);
}
