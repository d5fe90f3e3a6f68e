//! Compares two contracts, and reports what changed and who is broken by each change.
//!
//! A program that [writes its contract](https://docs.rs/castile) stores it in its repository, and a test compares the
//! two. This crate is for that test, so add it to the `dev-dependencies`:
//!
//! ```
//! # mod orders { pub fn wsdl() -> Result<String, std::fmt::Error> {
//! #     Ok("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' targetNamespace='urn:orders'/>".into())
//! # } }
//! # let folder = std::env::temp_dir().join(format!("castile-diff-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let file = folder.join("orders.wsdl");
//! # std::fs::write(&file, orders::wsdl()?)?;
//! # const _: &str = stringify!(
//! let file = "contracts/orders.wsdl";
//! # );
//! castile_diff::assert_contract(file, &orders::wsdl()?);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bindings;
mod change;
mod content;
mod error;
pub mod kinds;
mod pairs;
mod policies;
mod services;
mod simple;
mod text;
mod types;

use std::path::Path;

use castile_wsdl::{Definitions, Diagnostic, Severity};
use castile_xsd::Documents;

pub use change::{Breaks, Broken, Change, Changes};
pub use error::Error;
pub use text::Styles;

/// Returns the changes from `old` to `new`.
///
/// # Errors
/// The contracts are too large to be compared.
pub fn changes(old: &Definitions, new: &Definitions) -> Result<Changes, Error> {
    services::changes(old, new)
}

/// Returns the changes from the WSDL document `old` to the WSDL document `new`. Both must be complete: nothing is
/// imported.
///
/// # Errors
/// One of them is broken or imports another document, or they are too large to be compared.
pub fn between(old: &str, new: &str) -> Result<Changes, Error> {
    changes(&read("the old contract", old)?, &read("the new contract", new)?)
}

fn read(name: &str, wsdl: &str) -> Result<Definitions, Error> {
    let documents = Documents::new().with(name, wsdl);
    let (definitions, diagnostics) = castile_wsdl::read(name, &documents);
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    match (definitions, diagnostics.iter().find(is_error)) {
        (Some(definitions), None) => Ok(definitions),
        (_, error) => {
            let reason = error.map_or_else(|| "it is not a WSDL".to_owned(), ToString::to_string);
            Err(Error(format!("{name} can't be read: {reason}")))
        }
    }
}

/// Compares the contract of a program with its published file, and fails the test if they differ. The message has the
/// changes and who is broken by them. With `BLESS=1` in the environment the file is written instead.
///
/// # Panics
/// The contracts differ, or the file can't be read.
#[track_caller]
pub fn assert_contract(file: impl AsRef<Path>, contract: &str) {
    if let Err(message) = check(file.as_ref(), contract, std::env::var_os("BLESS").is_some()) {
        panic!("{message}");
    }
}

fn check(file: &Path, contract: &str, is_blessed: bool) -> Result<(), String> {
    let shown = file.display();
    if is_blessed {
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| std::fs::write(file, contract));
        return written.map_err(|error| format!("{shown} can't be written: {error}"));
    }
    const WRITES: &str = "`BLESS=1 cargo test` writes it";
    let kept = match std::fs::read_to_string(file) {
        Ok(kept) => kept,
        Err(error) => return Err(format!("{shown} can't be read: {error}\n{WRITES}")),
    };
    // A checkout may have different line ends.
    if kept.lines().eq(contract.lines()) {
        return Ok(());
    }
    let changes = match between(&kept, contract) {
        Ok(changes) if changes.list.is_empty() => {
            "No message changes; only documentation, names or their order change.\n".to_owned()
        }
        Ok(changes) => changes.text((&shown.to_string(), "the program"), &Styles::default()),
        Err(error) => format!("{error}\n"),
    };
    Err(format!("{shown} is not the contract of the program.\n\n{changes}\n{WRITES}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "only tests come here")]
mod tests {
    use super::*;

    fn contract(element: &str) -> String {
        format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:t='urn:o' xmlns:xs='http://www.w3.org/2001/XMLSchema'
              xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' targetNamespace='urn:o'>
              <types><xs:schema targetNamespace='urn:o' elementFormDefault='qualified'>
                <xs:element name='order'><xs:complexType><xs:sequence>{element}</xs:sequence></xs:complexType></xs:element>
              </xs:schema></types>
              <message name='m'><part name='m' element='t:order'/></message>
              <portType name='P'><operation name='place'><input message='t:m'/></operation></portType>
              <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>
                <operation name='place'><soap:operation soapAction=''/><input><soap:body use='literal'/></input></operation>
              </binding>
              <service name='S'><port name='P' binding='t:B'><soap:address location='http://localhost/'/></port></service>
            </definitions>"
        )
    }

    #[test]
    fn a_changed_contract_lists_who_breaks() {
        let folder = std::env::temp_dir().join(format!("castile-diff-{}", std::process::id()));
        let file = folder.join("kept/orders.wsdl");
        let old = contract("<xs:element name='item' type='xs:string'/>");
        let message = check(&file, &old, false).unwrap_err();
        assert!(message.contains("can't be read") && message.ends_with("`BLESS=1 cargo test` writes it"), "{message}");
        assert_eq!(check(&file, &old, true), Ok(()));
        assert_eq!(check(&file, &old.replace('\n', "\r\n"), false), Ok(()));
        let new = contract("<xs:element name='item' type='xs:string'/><xs:element name='size' type='xs:int'/>");
        let message = check(&file, &new, false).unwrap_err();
        let said = [
            "orders.wsdl is not the contract of the program.",
            "orders.wsdl → the program: 1 change\n\noperation place\n  required element added\n    place/order.size in the request\n",
            "breaks old clients: old clients don't write it, but new servers require it",
            "old clients on a new server: break, by 1 change",
        ];
        for said in said {
            assert!(message.contains(said), "{said:?} is not in {message}");
        }
        let message = check(&file, &old.replacen("      ", "\n", 1), false).unwrap_err();
        assert!(message.contains("No message changes; only documentation, names or their order change."), "{message}");
        let import = contract("").replacen("<types>", "<import namespace='urn:x' location='Cargo.toml'/><types>", 1);
        assert!(between(&import, &old).is_err());
        let message = check(&file, "<x/>", false).unwrap_err();
        assert!(message.contains("the new contract can't be read: "), "{message}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
