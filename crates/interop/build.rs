//! Compiles the contracts of the matrix, as a user of Castile does.

fn main() {
    for contract in ["wrapped", "bare", "rpc", "encoded", "mtom", "swa", "addressing"] {
        castile_codegen::compile(format!("../../tests/interop/matrix/contracts/{contract}.wsdl"));
    }
}
