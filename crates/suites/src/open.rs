//! The service that `tests/hostile` attacks. Its messages have wildcards and values that are expensive
//! to read.
//!
//! It does nothing with its requests, so all costs are Castile's.

use castile::{Fault, Request, Response};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("open");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/open";

/// Accepts requests. Only `echoAny` returns their content.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

/// Implements methods that return nothing.
macro_rules! take {
    ($($method:ident($request:ident);)*) => {
        $(async fn $method(&self, _: Request<$request>) -> Result<Response<Taken>, Fault> {
            Ok(Taken {}.into())
        })*
    };
}

impl Open for Service {
    take! {
        take_any(Any);
        take_mixed(TakeMixed);
        take_anything(TakeAnything);
        take_values(TakeValues);
        take_ints(TakeInts);
        take_tree(Tree);
    }

    async fn echo_any(&self, request: Request<Any>) -> Result<Response<Any>, Fault> {
        Ok(request.into_inner().into())
    }
}
