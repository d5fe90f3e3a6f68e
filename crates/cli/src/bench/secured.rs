//! `castile bench --tls`: a certificate for Castile and the floor, and a driver that trusts it.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::Context;
use castile::http::client::{Roots, Tls, TlsOptions};
use castile::http::tls::Pem;
use castile_suites::tls::Driver;

/// A certificate for localhost with an ECDSA key on P-256, valid until 2109. The key is public, so don't use it for anything else.
const CERTIFICATE: &str = include_str!("secured/certificate.pem");
const KEY: &str = include_str!("secured/key.pem");

/// The certificate files for the servers, and the TLS settings of the driver.
#[derive(Debug)]
pub(super) struct Secured {
    folder: tempfile::TempDir,
    pub(super) client: Arc<dyn castile_load::Tls>,
}

impl Secured {
    /// Sets up TLS, either with session resumption or with a full handshake for each connection.
    pub(super) fn new(full_handshakes: bool) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("can't store the certificate of the servers")?;
        for (name, text) in [("certificate.pem", CERTIFICATE), ("key.pem", KEY)] {
            let file = folder.path().join(name);
            std::fs::write(&file, text).with_context(|| file.display().to_string())?;
        }
        let mut options = TlsOptions::default();
        options.roots = Roots::Only(vec![Pem::bytes(CERTIFICATE)]);
        options.server_name = Some("localhost".to_owned());
        options.full_handshakes = full_handshakes;
        Ok(Secured { folder, client: Arc::new(Driver(Tls::with_options(options)?)) })
    }

    /// Returns the arguments that make a server use the certificate.
    pub(super) fn arguments(&self) -> [OsString; 4] {
        let file = |name: &str| self.folder.path().join(name).into();
        ["--tls-cert".into(), file("certificate.pem"), "--tls-key".into(), file("key.pem")]
    }
}
