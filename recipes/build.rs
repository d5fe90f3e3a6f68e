//! Compiles the contracts into Rust.

use castile_codegen::{Options, compile, compile_with};

fn main() {
    // One recipe tolerates answers that deviate from the contract, another has a page for people.
    let mut options = Options::default();
    options.lenient = true;
    options.page = true;
    compile_with("contracts/orders.wsdl", &options);

    // One operation of many, with the types that it reaches.
    let mut options = Options::default();
    options.operations = vec!["find".into()];
    compile_with("contracts/directory.wsdl", &options);

    // An operation whose messages are not what the contract says is read as XML.
    let mut options = Options::default();
    options.server = false;
    options.raw = vec!["history".into()];
    compile_with("contracts/rates.wsdl", &options);

    compile("contracts/photos.wsdl");
    // Documents without a service.
    compile("contracts/quakes.xsd");
}
