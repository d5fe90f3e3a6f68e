//! Compiles the contract whose messages have what those of the suites lack.

fn main() {
    castile_codegen::compile("contracts/shapes.wsdl");
}
