//! Compile-time checks of the code that `castile-macros` generates, and the library functions that this code needs.

use castile_databinding::ComplexType;
use castile_databinding::datatypes::SimpleType;
use castile_databinding::declared::{Declared, is_same};
use castile_databinding::schema::TypeName;
use castile_soap::{Description, Fault, FaultDetail, Header, Request};

/// The largest size of a value in bytes, without its heap data. Several larger values in one future can overflow the stack.
const MAX_SIZE: usize = 1 << 10;

/// Fails the compilation with this message if a type is too large.
pub const fn is_small(size: usize, message: &str) {
    if size > MAX_SIZE {
        panic!("{}", message)
    }
}

/// Fails the compilation if a type is too large, with the message of its largest field.
pub const fn are_small(size: usize, fields: &[(usize, &str)]) {
    if size <= MAX_SIZE {
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

/// Fails the compilation if the elements of an inner type are in another namespace.
pub const fn is_of(found: Option<&str>, namespace: &str) {
    if let Some(found) = found
        && !is_same(found, namespace)
    {
        panic!("the elements within are in another namespace than those around them")
    }
}

/// Checks that `T` is a simple type.
pub const fn is_simple<T: SimpleType>() {}

/// Checks that a flattened type has element content only. Text between elements needs mixed content.
pub const fn has_elements_alone<T: ComplexType>() {}

/// Checks that a contract can declare a type.
pub const fn can_be_declared<T: Declared>() {}

/// Fails the compilation with this message if a type has another name.
pub const fn is_called(found: Option<TypeName>, namespace: &str, name: &str, message: &str) {
    match found {
        Some(found) if is_same(found.namespace, namespace) && is_same(found.name, name) => {}
        Some(_) => panic!("{}", message),
        None => {
            panic!("a variant holds a struct of its own, and no other enum: list the variants of that one here, too")
        }
    }
}

/// Returns the service with a page for people, if the feature `page` is on.
pub const fn paged(service: Description, page: fn() -> &'static str) -> Description {
    if cfg!(feature = "page") { service.with_page(castile_soap::Page::made(page)) } else { service }
}

/// Writes text, escaped. Returns `false` if the text has a character that XML doesn't allow.
pub fn push_text(out: &mut Vec<u8>, text: &str) -> bool {
    castile_xml::escape::push_text(out, text).is_ok()
}

/// Returns a header block that a method requires.
///
/// # Errors
/// Returns a fault if the block is absent or invalid.
pub fn required_header<H: Header, Q, D: FaultDetail>(request: &Request<Q>) -> Result<H, Fault<D>> {
    match request.header::<H>()? {
        Some(header) => Ok(header),
        None => Err(Fault::sender(format!("there is no header block <{}>", H::ELEMENT.name))),
    }
}
