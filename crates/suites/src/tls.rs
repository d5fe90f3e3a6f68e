//! TLS for the load kit, as clients of Castile speak it.

use std::any::Any;
use std::io;

use castile::http::client::{Options, Tls};
use castile_load::{Connecting, User};
use tokio::net::TcpStream;

/// TLS for raw and for generated clients.
#[derive(Debug)]
pub struct Driver(pub Tls);

impl castile_load::Tls for Driver {
    fn connect<'a>(&'a self, host: &'a str, stream: TcpStream) -> Connecting<'a> {
        Box::pin(async move {
            let stream = self.0.connect(host, stream).await.map_err(io::Error::other)?;
            Ok(Box::new(stream) as Box<dyn castile_load::Stream>)
        })
    }
}

/// Lets a generated client speak TLS as its user does.
pub(crate) fn speak(user: &User, options: &mut Options) {
    let driver = user.endpoint.secured.as_ref().and_then(|secured| (&*secured.tls as &dyn Any).downcast_ref());
    if let Some(Driver(tls)) = driver {
        options.tls = tls.clone();
    }
}
