//! Values of contracts that are read at run time.
//!
//! [`Contract`] reads a WSDL document and makes the types of its messages. [`Value`]s of these types are read and
//! written by the same functions that generated code calls. So results, rejections and error positions are the same.

mod compile;
mod contract;
mod json;
mod leak;
mod members;
mod options;
mod plan_cache;
mod read;
mod simple;
mod template;
mod types;
mod value;
mod write;

pub use contract::{Contract, FaultDetail, FaultEntry, Handler, Operation, Port, Served, Service, store_plan};
pub use json::{JsonError, with_files};
pub use members::{NoMember, Simple, SimpleKind};
pub use options::Options;
pub use template::ValueTemplate;
pub use value::{ArrayValue, DerivedValue, EncodedValue, Node, Others, SimpleValue, StructValue, Value};
