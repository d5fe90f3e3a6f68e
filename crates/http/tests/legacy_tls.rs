//! Servers without secure TLS, simulated by `openssl s_server`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use castile_http::client::{
    self, ExchangeOptions, Legacy, LegacyVersion, Options, Proxies, Roots, Tls, TlsOptions, Transport,
};
use castile_http::tls::{Identity, Pem};
use castile_http::{Error, ErrorKind};
use castile_soap::{Version, Written};
use tempfile::TempDir;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<a/>";

fn openssl(folder: &Path, arguments: &str) {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A Diffie-Hellman group of 1,024 bits, made by `openssl genpkey -genparam -algorithm DH -pkeyopt
/// dh_paramgen_prime_len:1024`.
const SMALL_GROUP: &str = "-----BEGIN DH PARAMETERS-----
MIGHAoGBAOTuesEGfmFHim2/H7a5sbasv7pRfwrGDRZbojQcv3h1fnuMzQdOwK5V
H7HlPjwQDjwnV46eRJEPNjmbBWCk58tuWUHR+mghs5NT+dqNvE5xSAMer/DTkJfo
VWwwmYsf0qwNremADUSuJHLlft+GOtNuu6B7dEPpGUlASHWL82Y/AgEC
-----END DH PARAMETERS-----
";

/// Creates certificates for `localhost`, each its own authority: one with a small key, one on a Brainpool curve, and a
/// normal one. The normal one issues another with SHA-1.
fn certificates() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let subject = "-nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost";
    for (name, key) in [
        ("small", "-newkey rsa:1024"),
        ("brainpool", "-newkey ec -pkeyopt ec_paramgen_curve:brainpoolP256r1"),
        ("fine", "-newkey rsa:2048"),
    ] {
        openssl(folder.path(), &format!("req -x509 {key} {subject} -keyout {name}.key -out {name}.pem"));
    }
    std::fs::write(folder.path().join("dh.pem"), SMALL_GROUP).unwrap();
    // Without the extensions in the system's configuration, which would make it an authority.
    std::fs::write(folder.path().join("sha1.cnf"), "[req]\ndistinguished_name=name\n[name]\n").unwrap();
    let subject = subject.replace("/CN=localhost", "/CN=sha1");
    let issued =
        "-config sha1.cnf -CA fine.pem -CAkey fine.key -newkey rsa:2048 -sha1 -addext basicConstraints=CA:FALSE";
    openssl(folder.path(), &format!("req -x509 {issued} {subject} -keyout sha1.key -out sha1.pem"));
    folder
}

/// A server that gives the same answer to every request.
struct Server {
    process: Child,
    port: String,
}

impl Server {
    fn start(folder: &Path, name: &str, arguments: &str) -> Self {
        let own = format!("s_server -accept 127.0.0.1:0 -cert {name}.pem -key {name}.key {arguments}");
        let mut command = Command::new("openssl");
        command.args(own.split(' ')).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let said = lines.find_map(|line| line.unwrap().strip_prefix("ACCEPT ").map(str::to_owned)).unwrap();
        let port = said.rsplit(':').next().unwrap().to_owned();
        let mut answer = process.stdin.take().unwrap();
        std::thread::spawn(move || {
            if lines.any(|line| line.is_ok_and(|line| line.starts_with("POST / "))) {
                answer.write_all(ANSWER).unwrap();
            }
        });
        Server { process, port }
    }

    async fn answers(&self, tls: TlsOptions) -> Result<(), Error> {
        let mut options = Options::default();
        options.proxies = Proxies::none();
        options.tls = Tls::with_options(tls)?;
        let transport = Transport::with_options(options);
        let url = format!("https://localhost:{}/", self.port).parse().unwrap();
        let message = Written::new("<a/>");
        let reply =
            client::exchange(transport, &url, Version::Soap11, "", message, ExchangeOptions::new(1 << 20)).await?;
        assert_eq!(reply.received.message, "<a/>");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn trusting(folder: &Path, name: &str) -> TlsOptions {
    let mut tls = TlsOptions::default();
    tls.roots = Roots::Only(vec![Pem::file(folder.join(format!("{name}.pem")))]);
    tls
}

#[tokio::test]
async fn old_servers_are_supported_on_request() {
    let folder = certificates();
    let folder = folder.path();
    let with = |change: fn(&mut Legacy)| {
        let mut legacy = Legacy::default();
        change(&mut legacy);
        legacy
    };
    for (name, authority, arguments, legacy) in [
        // A client without such a group, like rustls, is rejected with an alert that has no details.
        ("fine", "fine", "-tls1_2 -cipher DHE-RSA-AES256-GCM-SHA384:@SECLEVEL=0 -dhparam dh.pem", with(|_| {})),
        ("small", "small", "-tls1_2 -cipher DHE-RSA-AES256-SHA:@SECLEVEL=0 -dhparam dh.pem", with(|_| {})),
        ("small", "small", "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0", with(|_| {})),
        (
            "sha1",
            "fine",
            "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0",
            with(|legacy| {
                legacy.ciphers = "DEFAULT:@SECLEVEL=0".into();
            }),
        ),
        ("fine", "fine", "-tls1_2 -cipher AES256-SHA256:@SECLEVEL=0", with(|_| {})),
        (
            "brainpool",
            "brainpool",
            "-tls1_2 -named_curve brainpoolP256r1",
            with(|legacy| {
                legacy.groups = Some("brainpoolP256r1:P-256".into());
            }),
        ),
        (
            "fine",
            "fine",
            "-tls1 -cipher ALL:@SECLEVEL=0",
            with(|legacy| {
                legacy.min_version = LegacyVersion::Tls10;
                legacy.ciphers = "DEFAULT:@SECLEVEL=0".into();
            }),
        ),
    ] {
        let error = Server::start(folder, name, arguments).answers(trusting(folder, authority)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect, "{arguments}: {error}");
        assert!(error.to_string().contains("`TlsOptions::legacy`"), "{arguments}: {error}");
        let mut tls = trusting(folder, authority);
        tls.legacy = Some(legacy);
        Server::start(folder, name, arguments)
            .answers(tls)
            .await
            .unwrap_or_else(|error| panic!("{name}, {arguments}: {error}"));
    }
}

#[tokio::test]
async fn legacy_tls_trusts_the_same_roots() {
    let folder = certificates();
    let folder = folder.path();
    let legacy = |mut tls: TlsOptions| {
        tls.legacy = Some(Legacy::default());
        tls
    };
    let error = Server::start(folder, "fine", "-tls1_2").answers(legacy(trusting(folder, "small"))).await.unwrap_err();
    assert!(error.to_string().contains("the certificate is not accepted: self"), "{error}");
    let mut tls = legacy(trusting(folder, "fine"));
    tls.server_name = Some("example.org".into());
    let error = Server::start(folder, "fine", "-tls1_2").answers(tls).await.unwrap_err();
    assert!(error.to_string().contains("the certificate is not accepted: hostname mismatch"), "{error}");

    // The client sends a certificate.
    let asking = "-tls1_2 -Verify 1 -CAfile small.pem -verify_return_error -cipher ALL:@SECLEVEL=0";
    let error = Server::start(folder, "fine", asking).answers(legacy(trusting(folder, "fine"))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    let [chain, key] = ["small.pem", "small.key"].map(|file| Pem::file(folder.join(file)));
    let mut tls = legacy(trusting(folder, "fine"));
    tls.identity = Some(Identity::new(chain.clone(), key));
    Server::start(folder, "fine", asking).answers(tls.clone()).await.unwrap();

    tls.identity = Some(Identity::new(chain, Pem::file(folder.join("fine.key"))));
    let error = Tls::with_options(tls.clone()).unwrap_err().to_string();
    assert!(
        error.starts_with("the private key in ") && error.contains(" is not that of the certificate in "),
        "{error}"
    );
    tls.identity = None;
    tls.legacy.as_mut().unwrap().ciphers = "none such".into();
    let error = Tls::with_options(tls).unwrap_err().to_string();
    assert_eq!(error, "found the ciphers \"none such\", expected a list in the format of `openssl ciphers`");
}
