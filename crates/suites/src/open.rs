//! What schemas leave open, and values that cost much to read: the service that `tests/hostile` attacks.
//!
//! It does nothing with what comes, so that all it costs is Castile's.

use castile::{Fault, Request, Response};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("open");
}

use contract::*;

/// Where the service is mounted.
pub const PATH: &str = "/open";

/// Takes what comes. Only `echoAny` answers with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

/// Methods that answer nothing.
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
