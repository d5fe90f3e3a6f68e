//! The module `tls` of a build without the feature `tls`: no options, and types without values.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::bail;
use castile_load::{Endpoint, Proxy};

/// The TLS options of a server: none.
#[derive(clap::Args)]
pub(crate) struct ServerArguments {}

impl ServerArguments {
    /// Returns `None`.
    pub(crate) fn load(&self) -> anyhow::Result<Option<ServerTls>> {
        Ok(None)
    }
}

/// The TLS configuration of a server, which no server has.
#[derive(Clone)]
pub(crate) enum ServerTls {}

impl ServerTls {
    pub(crate) fn listen<L>(&self, _listener: L) -> L {
        match *self {}
    }

    pub(crate) fn reload_on_change(&self) {
        match *self {}
    }
}

/// The TLS options of a client that calls one server: none.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientArguments {}

/// The options of [`ClientArguments`], for error messages.
pub(crate) const FOR_CLIENTS: &str = "TLS options";

impl ClientArguments {
    /// Returns `false`.
    pub(crate) fn is_given(&self) -> bool {
        false
    }

    /// Returns the endpoint at an http URL, through the proxy if there is one.
    pub(crate) fn endpoint(&self, url: &str, proxy: Option<Proxy>) -> anyhow::Result<Endpoint> {
        if url.starts_with("https://") {
            bail!("found {url}, expected a URL of http: this castile is built without the feature tls");
        }
        Ok(Endpoint::resolve_through(url, None, proxy)?)
    }
}

/// The TLS options of a bench that starts its servers: none.
#[derive(clap::Args)]
pub(crate) struct BenchArguments {}

impl BenchArguments {
    /// Returns `None`.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Secured>> {
        Ok(None)
    }
}

/// The certificates of a bench over TLS, which no bench has.
#[derive(Debug)]
pub(crate) enum Secured {}

impl Secured {
    pub(crate) fn arguments(&self) -> [OsString; 4] {
        match *self {}
    }

    pub(crate) fn client(&self) -> &Arc<dyn castile_load::Tls> {
        match *self {}
    }
}
