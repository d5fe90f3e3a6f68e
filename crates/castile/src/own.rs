//! What the code of `castile-macros` asks while it is compiled, and what it takes from the library beside that.

use castile_databinding::ComplexType;
use castile_databinding::datatypes::SimpleType;
use castile_databinding::declared::{Declared, is_same};
use castile_databinding::schema::TypeName;
use castile_soap::{Description, Fault, FaultDetail, Header, Request};

/// The most that a value takes where it stands, in bytes. What is larger overflows a stack where several are in flight.
const MOST: usize = 1 << 10;

/// Ends the compilation with this message if a type is too large.
pub const fn is_small(size: usize, message: &str) {
    if size > MOST {
        panic!("{}", message)
    }
}

/// Ends the compilation if a type is too large, with the message of the field that takes most.
pub const fn are_small(size: usize, fields: &[(usize, &str)]) {
    if size <= MOST {
        return;
    }
    let (mut largest, mut index) = (0, 1);
    while index < fields.len() {
        if fields[index].0 > fields[largest].0 {
            largest = index;
        }
        index += 1;
    }
    panic!("{}", fields[largest].1)
}

/// Ends the compilation if what is held in a type has tags of another namespace.
pub const fn is_of(found: Option<&str>, namespace: &str) {
    if let Some(found) = found
        && !is_same(found, namespace)
    {
        panic!("the elements within are in another namespace than those around them")
    }
}

/// Asks that a type is a simple one.
pub const fn is_simple<T: SimpleType>() {}

/// Asks that what is flattened has no text among its elements, for which only mixed content has a place.
pub const fn has_elements_alone<T: ComplexType>() {}

/// Asks that a contract can declare a type.
pub const fn can_be_declared<T: Declared>() {}

/// Ends the compilation with this message if a type is called otherwise.
pub const fn is_called(found: Option<TypeName>, namespace: &str, name: &str, message: &str) {
    match found {
        Some(found) if is_same(found.namespace, namespace) && is_same(found.name, name) => {}
        Some(_) => panic!("{}", message),
        None => {
            panic!("a variant holds a struct of its own, and no other enum: list the variants of that one here, too")
        }
    }
}

/// A service with a page for people, where the program has these.
pub const fn paged(service: Description, page: fn() -> &'static str) -> Description {
    if cfg!(feature = "page") { service.with_page(castile_soap::Page::made(page)) } else { service }
}

/// Writes text, escaped. `false` if XML can't carry it.
pub fn push_text(out: &mut Vec<u8>, text: &str) -> bool {
    castile_xml::escape::push_text(out, text).is_ok()
}

/// A header block that a method can't do without.
///
/// # Errors
/// That it is absent, or isn't what it should be.
pub fn required_header<H: Header, Q, D: FaultDetail>(request: &Request<Q>) -> Result<H, Fault<D>> {
    match request.header::<H>()? {
        Some(header) => Ok(header),
        None => Err(Fault::sender(format!("there is no header block <{}>", H::ELEMENT.name))),
    }
}
