//! Prints a contract that is designed to be expensive, or the names of all available shapes.
//!
//!     cargo run -p castile-xsd --example hostile -- SHAPE BYTES

#[path = "../tests/hostile/shapes.rs"]
mod shapes;

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(bytes)) = (arguments.next(), arguments.next()) else {
        for shape in shapes::SHAPES {
            println!("{}", shape.name);
        }
        return Ok(());
    };
    let shape = shapes::shape(&name).ok_or_else(|| format!("there is no shape {name}"))?;
    let contract = shape.contract(shape.size_of(bytes.parse()?));
    Ok(std::io::stdout().write_all(contract.as_bytes())?)
}
