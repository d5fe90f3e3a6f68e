//! Reads and writes documents of a schema, without SOAP: as a whole, and element by element.

use std::io::Read;

use castile::document;

mod quakes {
    castile::include_contract!("quakes");
}
use quakes::{Catalogue, Quake};

fn main() -> Result<(), document::Error> {
    let mut catalogue = Catalogue { region: "Hindu Kush".into(), quake: Vec::new() };
    for magnitude in ["4.5", "6.1"].map(|text| text.parse().expect("it is a decimal")) {
        let time = "2026-11-27T23:05:00Z".parse().expect("it is a moment");
        catalogue.quake.push(Quake { time, magnitude });
    }
    let text = document::to_string(&catalogue)?;
    println!("{text}");

    let read: Catalogue = document::from_str(&text)?;
    assert_eq!(read, catalogue);

    // A file, a socket, what comes out of a decompressor: of any size.
    let source = text.as_bytes().chain(std::io::empty());
    let mut quakes = document::open::<Catalogue, _>(source).items::<Quake>();
    for quake in quakes.by_ref() {
        let Quake { time, magnitude } = quake?;
        println!("{magnitude} at {time}");
    }
    // What stands around them is read at the end.
    println!("in {}", quakes.rest()?.region);

    let wrong = text.replace("6.1", "strong");
    println!("{}", document::from_str::<Catalogue>(&wrong).expect_err("it is no number"));
    Ok(())
}
