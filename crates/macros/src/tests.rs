//! Tests of the errors of the macros. `tests/errors` has one item in each file, and next to it the expected errors with their
//! places. `BLESS=1 cargo test -p castile-macros --lib` updates them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use syn::{DeriveInput, Item, Meta};

/// Expands an item with the first macro that it names.
fn expanded(source: &str) -> syn::Result<proc_macro2::TokenStream> {
    match syn::parse_str::<Item>(source)? {
        Item::Trait(mut item) => {
            let attribute = item.attrs.remove(0);
            let of = match attribute.meta {
                Meta::Path(_) => crate::service::ServiceAttributes::default(),
                _ => attribute.parse_args()?,
            };
            crate::service::service(&of, item)
        }
        _ => {
            let input: DeriveInput = syn::parse_str(source)?;
            match source.lines().next() {
                Some("#[derive(FaultDetail)]") => crate::messages::fault_detail(&input),
                Some("#[derive(Header)]") => crate::messages::header(&input),
                _ => crate::derived(&input),
            }
        }
    }
}

/// Returns the errors of an item with their places.
fn errors(source: &str) -> String {
    let mut out = String::new();
    match expanded(source) {
        Ok(code) => writeln!(out, "no error: {code}").unwrap(),
        Err(errors) => {
            for error in errors {
                let start = error.span().start();
                writeln!(out, "{}:{}: {error}", start.line, start.column + 1).unwrap();
            }
        }
    }
    out
}

#[test]
fn errors_show_what_to_write() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut different = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        count += 1;
        let found = errors(&fs::read_to_string(&path).unwrap());
        let expected = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push(format!("{}: {found}", path.display()));
        }
    }
    assert!(count > 50, "{count} files");
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// The sizes that the macros assume without asking the compiler are correct.
#[test]
fn datatypes_are_small() {
    use castile_datatypes::*;
    macro_rules! are_small {
        ($($datatype:ident)*) => {$(
            let (bare, optional) = (size_of::<$datatype>(), size_of::<Option<$datatype>>());
            let of: syn::Type = syn::parse_quote!(Option<$datatype>);
            assert!(bare.max(optional) <= crate::fields::max_bytes(&of).unwrap(), "{bare} {optional}");
        )*};
    }
    are_small!(AnyUri Base64Binary Date DateTime Decimal Duration GYear GYearMonth HexBinary Integer QName Time);
    for of in
        ["String", "Option<String>", "u64", "Option<f64>", "Option<bool>", "Vec<u8>", "Option<Vec<u8>>", "Box<u8>"]
    {
        assert!(crate::fields::max_bytes(&syn::parse_str(of).unwrap()).is_some(), "{of}");
    }
    assert!(crate::fields::max_bytes(&syn::parse_str("Order").unwrap()).is_none());
}
