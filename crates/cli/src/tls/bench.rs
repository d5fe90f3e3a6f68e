//! `castile bench --tls`: a certificate for Castile and the floor, and a driver that trusts it.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::Context;
use castile::http::client::{Roots, Tls, TlsOptions};
use castile::http::tls::Pem;
use castile_suites::tls::Driver;

/// A certificate for localhost with an ECDSA key on P-256, valid until 2109. The key is public, so don't use it for anything else.
const CERTIFICATE: &str = include_str!("bench/certificate.pem");
const KEY: &str = include_str!("bench/key.pem");

/// The TLS options of a bench that starts its servers.
#[derive(clap::Args)]
#[group(id = "bench_tls")]
#[command(next_help_heading = "TLS")]
pub(crate) struct BenchArguments {
    /// Measure Castile and the HTTP floor over TLS. New connections resume a session
    #[arg(long = "tls", conflicts_with_all = ["url", "peers"])]
    over_tls: bool,
    /// Begin each connection with a full handshake
    #[arg(long, requires = "over_tls")]
    full_handshakes: bool,
}

impl BenchArguments {
    /// Sets up TLS, either with session resumption or with a full handshake for each connection. Returns `None` if TLS isn't requested.
    pub(crate) fn load(&self) -> anyhow::Result<Option<Secured>> {
        if !self.over_tls {
            return Ok(None);
        }
        let folder = tempfile::tempdir().context("can't store the certificate of the servers")?;
        for (name, text) in [("certificate.pem", CERTIFICATE), ("key.pem", KEY)] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
        let mut options = TlsOptions::default();
        options.roots = Roots::Only(vec![Pem::bytes(CERTIFICATE)]);
        options.server_name = Some("localhost".to_owned());
        options.full_handshakes = self.full_handshakes;
        Ok(Some(Secured { folder, client: Arc::new(Driver(Tls::with_options(options)?)) }))
    }
}

/// The certificate files for the servers, and the TLS settings of the driver.
#[derive(Debug)]
pub(crate) struct Secured {
    folder: tempfile::TempDir,
    client: Arc<dyn castile_load::Tls>,
}

impl Secured {
    /// Returns the arguments that make a server use the certificate.
    pub(crate) fn arguments(&self) -> [OsString; 4] {
        let file = |name: &str| self.folder.path().join(name).into();
        ["--tls-cert".into(), file("certificate.pem"), "--tls-key".into(), file("key.pem")]
    }

    /// Returns the TLS settings of the driver.
    pub(crate) fn client(&self) -> &Arc<dyn castile_load::Tls> {
        &self.client
    }
}
