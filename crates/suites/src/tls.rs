//! TLS for the load kit, using the TLS of Castile's client.

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

/// Sets the TLS options of a generated client to those of its user.
pub(crate) fn speak(user: &User, options: &mut Options) {
    let driver = user.endpoint.secured.as_ref().and_then(|secured| (&*secured.tls as &dyn Any).downcast_ref());
    if let Some(Driver(tls)) = driver {
        options.tls = tls.clone();
    }
}
