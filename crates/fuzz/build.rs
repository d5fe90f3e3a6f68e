//! Compiles a contract whose messages have what those of the suites lack, and a schema of documents.

fn main() {
    let mut options = castile_codegen::Options::default();
    options.lenient = true;
    castile_codegen::compile_with("contracts/shapes.wsdl", &options);
    castile_codegen::compile("../codegen/tests/documents/quakes/schema.xsd");
}
