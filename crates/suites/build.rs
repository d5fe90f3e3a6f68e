//! Compiles the contracts into Rust, as a user of Castile does.

use castile_codegen::{Options, compile, compile_with};

fn main() {
    for contract in [
        "benchmark1",
        "benchmark1_round2",
        "codec",
        "encoded",
        "interop_group_b",
        "seismic_encoded",
        "soap12_collection",
        "stock",
        "wspex",
    ] {
        compile(format!("contracts/{contract}.wsdl"));
    }
    // The fuzzer has lenient services of these.
    let mut options = Options::default();
    options.lenient = true;
    for contract in ["interop_base", "wstest"] {
        compile_with(format!("contracts/{contract}.wsdl"), &options);
    }
    let mut options = Options::default();
    options.raw = vec!["submitDoc".to_owned()];
    compile_with("contracts/styles.wsdl", &options);
    let mut options = Options::default();
    options.streams = vec!["Results/result-set".to_owned()];
    compile_with("contracts/seismic.wsdl", &options);
    let mut options = Options::default();
    options.stream_binaries = true;
    compile_with("contracts/attachments.wsdl", &options);
    let mut options = Options::default();
    options.facets = true;
    compile_with("contracts/open.wsdl", &options);
}
