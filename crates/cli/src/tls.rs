//! TLS options of the command line: the certificates of a server, and what a client trusts.

mod bench;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::bail;
use castile::http::client;
use castile::http::server::{ClientCertificates, ClientRoots, Listener, Tls, TlsListener, TlsOptions};
use castile::http::tls::{Identity, Pem};
use castile_load::{Endpoint, Proxy};
use castile_suites::tls::Driver;
use tokio::time::sleep;

pub(crate) use self::bench::{BenchArguments, Secured};
use crate::errors::WARNING;

/// How often the files of a server are checked for changes.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// The certificates and keys of a server.
#[derive(clap::Args)]
#[group(id = "server_tls")]
#[command(next_help_heading = "TLS")]
pub(crate) struct ServerArguments {
    /// Serve https with this certificate and its chain, in PEM. The file is reloaded on SIGHUP and when it has changed, which is checked
    /// every 5 s
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM and not encrypted
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Require client certificates, issued by one of the authorities in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Check client certificates, but also serve clients without one
    #[arg(long, requires = "client_ca")]
    client_cert_optional: bool,
    /// Reject client certificates that are on a revocation list in this PEM file
    #[arg(long, value_name = "FILE", requires = "client_ca")]
    client_crl: Option<PathBuf>,
}

impl ServerArguments {
    /// Loads the files. Returns `None` if TLS isn't requested.
    pub(crate) fn load(&self) -> anyhow::Result<Option<ServerTls>> {
        let (Some(chain), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        let mut options = TlsOptions::new(Identity::new(Pem::file(chain), Pem::file(key)));
        if let Some(authorities) = &self.client_ca {
            let mut roots = ClientRoots::new(Pem::file(authorities));
            if let Some(lists) = &self.client_crl {
                roots = roots.revocation_lists(Pem::file(lists));
            }
            options.client_certificates = match self.client_cert_optional {
                true => ClientCertificates::Optional(roots),
                false => ClientCertificates::Required(roots),
            };
        }
        let files = [&self.tls_cert, &self.tls_key, &self.client_ca, &self.client_crl];
        let files = files.into_iter().flatten().cloned().collect();
        Ok(Some(ServerTls { tls: Tls::with_options(options)?, files }))
    }
}

/// The TLS configuration of a server, and the files it is loaded from.
#[derive(Clone)]
pub(crate) struct ServerTls {
    tls: Tls,
    files: Arc<[PathBuf]>,
}

impl ServerTls {
    /// Accepts the connections of a listener over TLS.
    pub(crate) fn listen<L: Listener>(&self, listener: L) -> TlsListener<L> {
        self.tls.listen(listener)
    }

    /// Reloads the files when they change, and on SIGHUP, until the runtime ends. From this call on, SIGHUP doesn't end the process.
    pub(crate) fn reload_on_change(&self) {
        tokio::spawn(reload_on_change(self.tls.clone(), self.files.clone(), HangUps::new()));
    }
}

/// Reloads the files in a loop. A file that can't be used is reported once and retried at each check; the previous configuration stays in
/// use.
async fn reload_on_change(tls: Tls, files: Arc<[PathBuf]>, mut hang_ups: HangUps) {
    let mut reported = None;
    // The loaded configuration may already be out of date, so the first check reloads it.
    let mut seen = None;
    loop {
        let is_asked = tokio::select! {
            () = hang_ups.next() => true,
            () = sleep(POLL_INTERVAL) => false,
        };
        let (tls, files, before) = (tls.clone(), files.clone(), seen.take());
        let looking = tokio::task::spawn_blocking(move || {
            // Read before loading, so that the next check detects a change in the meantime.
            let now = Some(stamps(&files));
            if now == before && !is_asked {
                return (now, None);
            }
            let loaded = tls.reload();
            (now.filter(|_| loaded.is_ok()), Some(loaded))
        });
        let Ok((now, loaded)) = looking.await else { return };
        seen = now;
        let error = match loaded {
            None => continue,
            Some(Ok(is_new)) => {
                match is_new {
                    true => note!("TLS: loaded new files"),
                    false if is_asked => note!("TLS: the files are unchanged"),
                    false => {}
                }
                None
            }
            Some(Err(error)) => Some(error.to_string()),
        };
        if let Some(error) = &error
            && (is_asked || reported.as_ref() != Some(error))
        {
            note!("{WARNING}warning{WARNING:#}: TLS: {error}; the previously loaded files stay in use");
        }
        reported = error;
    }
}

/// The metadata that shows that a file changed. Reading revocation lists at each check would take longer.
#[derive(PartialEq)]
struct Stamp {
    modified: SystemTime,
    size: u64,
    /// Device, inode and change time: a file may be replaced by one with the same size and modification time.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

/// Returns the stamp of each file, or `None` for a missing file.
fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    #[cfg(unix)]
    use std::os::unix::fs::MetadataExt;

    let stamp = |file: &PathBuf| {
        let about = std::fs::metadata(file).ok()?;
        Some(Stamp {
            modified: about.modified().ok()?,
            size: about.len(),
            #[cfg(unix)]
            inode: (about.dev(), about.ino(), about.ctime(), about.ctime_nsec()),
        })
    };
    files.iter().map(stamp).collect()
}

/// The SIGHUP signals of the process, on systems that have them.
struct HangUps {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl HangUps {
    fn new() -> Self {
        HangUps {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

/// The authorities that a client trusts, and the client's certificate.
#[derive(Debug, clap::Args)]
#[group(id = "trust")]
#[command(next_help_heading = "TLS")]
pub(crate) struct Trust {
    /// Trust only the authorities in this PEM file instead of those of the system; may be repeated
    #[arg(long = "ca", value_name = "FILE")]
    pub(crate) authorities: Vec<PathBuf>,
    /// The client's certificate and its chain, in PEM, for servers that request one
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The key of the client's certificate, in PEM and not encrypted
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub(crate) client_key: Option<PathBuf>,
}

impl Trust {
    /// Returns whether any option is given.
    pub(crate) fn is_given(&self) -> bool {
        !self.authorities.is_empty() || self.client_cert.is_some()
    }

    /// Returns the TLS settings for fetching documents, if any option is given. Contracts often come from servers within an organisation,
    /// whose authorities the system knows.
    pub(crate) fn for_fetching(&self) -> anyhow::Result<Option<client::Tls>> {
        self.is_given().then(|| Ok(client::Tls::with_options(self.options())?)).transpose()
    }

    fn options(&self) -> client::TlsOptions {
        let mut options = client::TlsOptions::default();
        if !self.authorities.is_empty() {
            options.roots = client::Roots::Only(self.authorities.iter().map(Pem::file).collect());
        }
        if let (Some(chain), Some(key)) = (&self.client_cert, &self.client_key) {
            options.identity = Some(Identity::new(Pem::file(chain), Pem::file(key)));
        }
        options
    }
}

/// The TLS options of a client that calls one server.
#[derive(Debug, clap::Args)]
#[group(id = "client_tls")]
#[command(next_help_heading = "TLS")]
pub(crate) struct ClientArguments {
    #[command(flatten)]
    trust: Trust,
    /// The server name to request, which the certificate must have [default: the host of the URL]
    #[arg(long, value_name = "NAME")]
    server_name: Option<String>,
}

/// The options of [`ClientArguments`], for error messages.
pub(crate) const FOR_CLIENTS: &str = "--ca, --client-cert and --server-name";

impl ClientArguments {
    /// Returns whether any option is given.
    pub(crate) fn is_given(&self) -> bool {
        self.trust.is_given() || self.server_name.is_some()
    }

    /// Returns the endpoint at an http or https URL, with these TLS options, through the proxy if there is one.
    pub(crate) fn endpoint(&self, url: &str, proxy: Option<Proxy>) -> anyhow::Result<Endpoint> {
        let tls = self.for_url(url)?.map(|tls| Arc::new(Driver(tls)) as Arc<dyn castile_load::Tls>);
        Ok(Endpoint::resolve_through(url, tls.as_ref(), proxy)?)
    }

    /// Returns the TLS settings for a URL, or `None` for http.
    pub(crate) fn for_url(&self, url: &str) -> anyhow::Result<Option<client::Tls>> {
        if !url.starts_with("https://") {
            if self.is_given() {
                bail!("{FOR_CLIENTS} require https, but the URL is {url}");
            }
            return Ok(None);
        }
        let mut options = self.trust.options();
        options.server_name.clone_from(&self.server_name);
        Ok(Some(client::Tls::with_options(options)?))
    }
}
