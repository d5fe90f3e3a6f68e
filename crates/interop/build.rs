//! Compiles the contracts of the matrix, and that of the tests of WS-Security, as a user of Castile does.

fn main() {
    for contract in ["wrapped", "bare", "rpc", "encoded", "mtom", "swa", "addressing"] {
        castile_codegen::compile(format!("../../tests/interop/matrix/contracts/{contract}.wsdl"));
    }
    // That of the example `secured`.
    castile_codegen::compile("../../tests/interop/security/orders.wsdl");
}
