fn main() {
    let path = std::env::args().nth(1).unwrap();
    match castile_codegen::generate(path.as_ref(), &Default::default()) {
        Ok(g) => println!("{}", g.source),
        Err(d) => d.iter().for_each(|d| println!("{d}")),
    }
}
