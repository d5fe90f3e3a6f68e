//! Compiles the contracts into Rust, as a user of Castile does.

fn main() {
    for contract in ["benchmark1", "codec", "wstest"] {
        castile_codegen::compile(format!("contracts/{contract}.wsdl"));
    }
}
