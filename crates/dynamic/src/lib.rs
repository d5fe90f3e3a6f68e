//! Values of a contract that is read while the program runs.
//!
//! [`Contract`] reads a WSDL and knows the types of its messages. [`Value`]s of these are read and written by the calls that generated
//! code makes, so what is read, what is refused, and where, is the same.

mod compile;
mod contract;
mod form;
mod json;
mod kept;
mod members;
mod read;
mod simple;
mod types;
mod value;
mod write;

pub use contract::{Contract, FaultDetail, FaultEntry, Handler, Operation, Options, Port, Served, Service, keep};
pub use form::Form;
pub use json::{JsonError, with_files};
pub use members::{NoMember, Simple, SimpleKind};
pub use value::{ArrayValue, DerivedValue, EncodedValue, Node, Others, SimpleValue, StructValue, Value};
