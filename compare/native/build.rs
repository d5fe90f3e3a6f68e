//! Builds the C code that calls libxml2 and expat, if their development packages are installed.

fn main() {
    println!("cargo::rerun-if-changed=src");
    for (package, name) in [("libxml-2.0", "libxml2"), ("expat", "expat")] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        match pkg_config::probe_library(package) {
            Ok(library) => {
                let mut build = cc::Build::new();
                build.file(format!("src/{name}.c")).includes(&library.include_paths).opt_level(3);
                build.compile(&format!("compare_{name}"));
                // Libraries must follow the objects that need them.
                for library in &library.libs {
                    println!("cargo::rustc-link-lib={library}");
                }
                println!("cargo::rustc-cfg={name}");
            }
            Err(_) => println!("cargo::warning={name} is left out: pkg-config knows no {package}"),
        }
    }
}
