//! Compiles the contract whose messages have what those of the suites lack.

fn main() {
    let mut options = castile_codegen::Options::default();
    options.lenient = true;
    castile_codegen::compile_with("contracts/shapes.wsdl", &options);
}
