//! Compiles the contracts into Rust, as a user of Castile does.

fn main() {
    for contract in ["benchmark1", "codec", "interop_base", "interop_group_b", "soap12_collection", "wstest"] {
        castile_codegen::compile(format!("contracts/{contract}.wsdl"));
    }
}
