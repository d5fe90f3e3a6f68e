//! Writes the seeds of every fuzz target to `DIRECTORY/TARGET/`: `cargo run -p castile-fuzz --example seeds -- DIRECTORY`.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let root = std::env::args().nth(1).unwrap_or_else(|| "fuzz/seeds".to_owned());
    for check in castile_fuzz::CHECKS {
        let directory = Path::new(&root).join(check.name);
        fs::create_dir_all(&directory)?;
        let seeds = castile_fuzz::seeds(check.name);
        for (number, seed) in seeds.iter().enumerate() {
            fs::write(directory.join(format!("{number:03}")), seed)?;
        }
        println!("{:>5} seeds for {}", seeds.len(), check.name);
    }
    Ok(())
}
