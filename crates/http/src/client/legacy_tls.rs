//! TLS by OpenSSL, for servers that don't support what is secure today.

use std::fmt;

use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use openssl::ssl::{SslConnector, SslConnectorBuilder, SslMethod, SslOptions, SslVersion};
use openssl::x509::X509;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_openssl::SslStream;

use super::tls_options::{Legacy, LegacyVersion, Roots, TlsOptions};
use crate::error::{Error, ErrorKind};
use crate::tls::{Pem, Sniffed, TlsVersion};

/// ALPN in the format of OpenSSL: each name follows its length.
const ALPN: &[u8] = b"\x08http/1.1";
/// `SSL_OP_LEGACY_SERVER_CONNECT`, which the crate doesn't define. It is on by default before OpenSSL 3.
const LEGACY_SERVER_CONNECT: SslOptions = SslOptions::from_bits_retain(0x4);

/// A connector with its options loaded.
pub(super) struct Connector {
    connector: SslConnector,
    server_name: Option<String>,
}

impl Connector {
    pub(super) fn load(options: &TlsOptions, legacy: &Legacy) -> Result<Self, Error> {
        let connector = builder(options, legacy)?.build();
        Ok(Connector { connector, server_name: options.server_name.clone() })
    }

    pub(super) async fn shake_hands<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: &str,
        stream: S,
    ) -> Result<SslStream<Sniffed<S>>, Error> {
        let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let name = self.server_name.as_deref().unwrap_or(address.unwrap_or(host));
        let session = self.connector.configure().and_then(|session| session.into_ssl(name)).map_err(|error| {
            let message = format!("found the server name {name:?}, expected a DNS name or an address");
            Error::new(ErrorKind::Tls, message).because(error)
        })?;
        let mut stream = SslStream::new(session, Sniffed::new(stream)).map_err(unusable)?;
        match std::pin::Pin::new(&mut stream).connect().await {
            Ok(()) => Ok(stream),
            Err(error) => {
                let broken_off = Error::new(ErrorKind::Connect, reason(&error, &stream));
                let is_refused = error.ssl_error().is_some();
                Err(if is_refused { broken_off.repeating() } else { broken_off }.because(error))
            }
        }
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

fn builder(options: &TlsOptions, legacy: &Legacy) -> Result<SslConnectorBuilder, Error> {
    let mut builder = SslConnector::builder(SslMethod::tls_client()).map_err(unusable)?;
    let Legacy { ciphers, groups, min_version, allows_insecure_renegotiation } = legacy;
    builder.set_cipher_list(ciphers).map_err(|error| {
        let message = format!("found the ciphers {ciphers:?}, expected a list in the format of `openssl ciphers`");
        Error::new(ErrorKind::Tls, message).because(error)
    })?;
    if let Some(groups) = groups {
        builder.set_groups_list(groups).map_err(|error| {
            let message = format!("found the groups {groups:?}, expected names known to OpenSSL, separated by colons");
            Error::new(ErrorKind::Tls, message).because(error)
        })?;
    }
    let min_version = match (options.min_version, min_version) {
        (TlsVersion::Tls13, _) => SslVersion::TLS1_3,
        (_, LegacyVersion::Tls10) => SslVersion::TLS1,
        (_, LegacyVersion::Tls11) => SslVersion::TLS1_1,
        (_, LegacyVersion::Tls12) => SslVersion::TLS1_2,
    };
    builder.set_min_proto_version(Some(min_version)).map_err(unusable)?;
    if *allows_insecure_renegotiation {
        builder.set_options(LEGACY_SERVER_CONNECT);
    } else {
        builder.clear_options(LEGACY_SERVER_CONNECT);
    }
    builder.set_alpn_protos(ALPN).map_err(unusable)?;
    trust(&mut builder, &options.roots)?;
    if let Some(identity) = &options.identity {
        let (chain, key) = identity.pem();
        let mut certificates = certificates(chain)?.into_iter();
        if let Some(certificate) = certificates.next() {
            builder.set_certificate(&certificate).map_err(|error| of_pem(chain, &error))?;
        }
        for issuer in certificates {
            builder.add_extra_chain_cert(issuer).map_err(|error| of_pem(chain, &error))?;
        }
        let text = read(key)?;
        // Don't prompt for the password of an encrypted key.
        let private = PKey::private_key_from_pem_callback(&text, |_| Ok(0)).map_err(|_| {
            let message = format!("found no private key that is not encrypted in {key}");
            Error::new(ErrorKind::Tls, message)
        })?;
        builder.set_private_key(&private).and_then(|()| builder.check_private_key()).map_err(|_| {
            let message = format!("the private key in {key} is not that of the certificate in {chain}");
            Error::new(ErrorKind::Tls, message)
        })?;
    }
    Ok(builder)
}

/// Trusts only these authorities.
fn trust(builder: &mut SslConnectorBuilder, roots: &Roots) -> Result<(), Error> {
    let mut store = openssl::x509::store::X509StoreBuilder::new().map_err(unusable)?;
    let added = match roots {
        Roots::Platform => &[][..],
        Roots::PlatformAnd(added) | Roots::Only(added) => added,
    };
    match roots {
        Roots::Platform | Roots::PlatformAnd(_) => store.set_default_paths().map_err(unusable)?,
        Roots::Only(only) if only.is_empty() => {
            return Err(Error::new(ErrorKind::Tls, "found no root certificate, expected at least one"));
        }
        Roots::Only(_) => {}
    }
    for pem in added {
        for certificate in certificates(pem)? {
            store.add_cert(certificate).map_err(|error| of_pem(pem, &error))?;
        }
    }
    builder.set_cert_store(store.build());
    Ok(())
}

fn read(pem: &Pem) -> Result<std::borrow::Cow<'_, [u8]>, Error> {
    pem.read().map_err(|error| Error::new(ErrorKind::Tls, format!("{pem} can't be read: {error}")).because(error))
}

fn certificates(pem: &Pem) -> Result<Vec<X509>, Error> {
    let found = X509::stack_from_pem(&read(pem)?).map_err(|error| of_pem(pem, &error))?;
    if found.is_empty() {
        return Err(Error::new(ErrorKind::Tls, format!("found no certificate in {pem}")));
    }
    Ok(found)
}

fn of_pem(pem: &Pem, error: &ErrorStack) -> Error {
    Error::new(ErrorKind::Tls, format!("{pem} can't be used: {}", error_messages(error)))
}

fn unusable(error: ErrorStack) -> Error {
    Error::new(ErrorKind::Tls, format!("OpenSSL can't be set up: {}", error_messages(&error))).because(error)
}

/// Returns the messages of OpenSSL without error numbers and source locations.
fn error_messages(error: &ErrorStack) -> String {
    let reasons: Vec<&str> = error.errors().iter().filter_map(openssl::error::Error::reason).collect();
    if reasons.is_empty() { "it doesn't give a reason".to_owned() } else { reasons.join(", ") }
}

fn reason<S>(error: &openssl::ssl::Error, stream: &SslStream<S>) -> String {
    use openssl::x509::X509VerifyResult;

    // An error of our own stream is wrapped in the error of OpenSSL.
    if let Some(reason) = error.io_error().and_then(|error| crate::tls::reason(error)) {
        return reason;
    }
    let verified = stream.ssl().verify_result();
    if verified != X509VerifyResult::OK {
        return format!("the certificate is not accepted: {}", verified.error_string());
    }
    match (error.ssl_error(), error.io_error()) {
        (Some(stack), _) => format!("the TLS handshake broke off: {}", error_messages(stack)),
        (None, Some(error)) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            format!("the TLS handshake broke off: {error}")
        }
        _ => "the server closed the connection in the TLS handshake".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use openssl::ssl::{Ssl, SslAcceptor, SslContext};
    use rcgen::{CertificateParams, DnType, Issuer, KeyPair};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::runtime::{Builder, Runtime};
    use tokio::time::timeout;

    use super::*;

    /// A certificate with its own authority, and its key.
    struct Own {
        pem: String,
        key: String,
    }

    impl Own {
        fn new() -> Self {
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
            Own { pem: certificate.pem(), key: key.serialize_pem() }
        }

        /// Creates a server that sends this certificate, followed by `others`.
        fn server(&self, version: SslVersion, others: &[String]) -> SslContext {
            let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server()).unwrap();
            builder.set_max_proto_version(Some(version)).unwrap();
            builder.set_certificate(&X509::from_pem(self.pem.as_bytes()).unwrap()).unwrap();
            builder.set_private_key(&PKey::private_key_from_pem(self.key.as_bytes()).unwrap()).unwrap();
            for other in others {
                builder.add_extra_chain_cert(X509::from_pem(other.as_bytes()).unwrap()).unwrap();
            }
            builder.build().into_context()
        }

        /// Creates a client that trusts only this certificate.
        fn client(&self) -> Connector {
            let options = TlsOptions { roots: Roots::Only(vec![Pem::bytes(&self.pem)]), ..TlsOptions::default() };
            Connector::load(&options, &Legacy::default()).unwrap()
        }
    }

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
    }

    /// Copies bytes, but replaces a part: after `begin` bytes it leaves out `left_out` bytes and writes `other`
    /// instead.
    async fn hand_on(
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        (begin, mut left_out, other): (usize, usize, Vec<u8>),
    ) {
        let (mut came, mut other, mut read) = (0, Some(other), [0; 16 << 10]);
        while let Ok(length @ 1..) = from.read(&mut read).await {
            let mut rest = &read[..length];
            if other.is_some() && came + length >= begin {
                let (before, behind) = rest.split_at(begin - came);
                let put = other.take().unwrap_or_default();
                if to.write_all(&[before, &put].concat()).await.is_err() {
                    return;
                }
                rest = behind;
            }
            came += length;
            if other.is_none() {
                let skipped = left_out.min(rest.len());
                left_out -= skipped;
                rest = &rest[skipped..];
            }
            if to.write_all(rest).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    }

    /// Runs a handshake in which the server's bytes are changed on the way. Returns the first answer or the error.
    async fn shaken(client: &Connector, server: &SslContext, piece: (usize, usize, Vec<u8>)) -> Result<String, Error> {
        let (ours, at_client) = duplex(64 << 10);
        let (at_server, theirs) = duplex(64 << 10);
        let (mut client_reads, client_writes) = tokio::io::split(at_client);
        let (server_reads, mut server_writes) = tokio::io::split(at_server);
        // The direction to the server is not changed.
        let there = tokio::spawn(async move {
            let _ = tokio::io::copy(&mut client_reads, &mut server_writes).await;
            let _ = server_writes.shutdown().await;
        });
        let back = tokio::spawn(hand_on(server_reads, client_writes, piece));
        let mut session = SslStream::new(Ssl::new(server).unwrap(), theirs).unwrap();
        let serve = tokio::spawn(async move {
            if std::pin::Pin::new(&mut session).accept().await.is_ok() {
                let _ = session.write_all(b"answer").await;
                let _ = session.read(&mut [0; 64]).await;
            }
        });
        let exchange = async {
            let mut stream = client.shake_hands("localhost", ours).await?;
            assert_eq!(stream.ssl().verify_result(), openssl::x509::X509VerifyResult::OK);
            let mut answer = [0; 6];
            let read = timeout(Duration::from_secs(5), stream.read_exact(&mut answer)).await;
            Ok(match read {
                Ok(Ok(_)) => String::from_utf8_lossy(&answer).into_owned(),
                _ => String::new(),
            })
        };
        // The clock is paused: a wait for the missing bytes times out immediately.
        let result = timeout(Duration::from_secs(60), exchange).await;
        for task in [there, back, serve] {
            task.abort();
        }
        result.unwrap_or_else(|_| Err(Error::new(ErrorKind::Connect, "it takes for ever")))
    }

    /// A handshake with changed bytes always ends, and only the configured server is trusted.
    #[test]
    fn changed_handshakes_end() {
        let (known, stranger) = (Own::new(), Own::new());
        let client = known.client();
        let servers = [SslVersion::TLS1_2, SslVersion::TLS1_3]
            .map(|version| (known.server(version, &[]), stranger.server(version, std::slice::from_ref(&stranger.pem))));
        // Alerts, a request for another handshake, a cipher change, a certificate of no length, tickets, no TLS.
        let seeds: [&[u8]; 9] = [
            b"",
            b"\x15\x03\x03\x00\x02\x02\x28",
            b"\x15\x03\x03\x00\x02\x01\x00",
            b"\x16\x03\x03\x00\x04\x00\x00\x00\x00",
            b"\x14\x03\x03\x00\x01\x01",
            b"\x16\x03\x03\x00\x07\x0b\x00\x00\x03\x00\x00\x00",
            b"\x16\x03\x03\x40\x00\x0b\xff\xff\xff\xff\xff\xff",
            b"\x16\x03\x01\x00\x31\x04\x00\x00\x2d\x00\x00\x1c\x20",
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
        ];
        let runtime = runtime();
        for (fine, other) in &servers {
            assert_eq!(runtime.block_on(shaken(&client, fine, (0, 0, Vec::new()))).unwrap(), "answer");
            assert!(runtime.block_on(shaken(&client, other, (0, 0, Vec::new()))).is_err());
        }
        let (mut taken, mut refused) = (0, 0);
        crate::mutations::check_mutations(&seeds, |text, random| {
            let (fine, other) = &servers[random.usize(..servers.len())];
            let (server, is_trusted) = if random.u32(0..4) == 0 { (other, false) } else { (fine, true) };
            let left_out = [0, 1, text.len(), random.usize(..2_000)][random.usize(..4)];
            let piece = (random.usize(..1_500), left_out, text.to_vec());
            match runtime.block_on(shaken(&client, server, piece)) {
                Ok(answer) => {
                    assert!(is_trusted && (answer.is_empty() || answer == "answer"), "{answer:?}");
                    taken += 1;
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.len() < 500 && !said.contains(|c: char| c.is_control()), "{said:?}");
                    refused += 1;
                }
            }
        });
        println!("{taken} handshakes were done, {refused} were not");
    }

    /// Certificates that may all be each other's issuer: as many as allowed, and more.
    #[test]
    fn a_server_with_many_certificates_is_handled_quickly() {
        let (known, stranger) = (Own::new(), Own::new());
        // Each one is issued by the previous one, and the first by the last.
        let authorities: Vec<_> = (0..8)
            .map(|number| {
                let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
                params.distinguished_name.push(DnType::CommonName, format!("authority {number}"));
                params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
                (params, KeyPair::generate().unwrap())
            })
            .collect();
        let issued = |params: &CertificateParams, key: &KeyPair, by: usize| {
            let (issuer, issuer_key) = &authorities[by % authorities.len()];
            params.signed_by(key, &Issuer::from_params(issuer, issuer_key)).unwrap().pem()
        };
        let others = |count: usize| -> Vec<String> {
            let issued = (0..count).map(|number| {
                let (params, key) = &authorities[number % authorities.len()];
                issued(params, key, number + 1)
            });
            issued.collect()
        };
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let own = Own { pem: issued(&leaf, &key, 0), key: key.serialize_pem() };
        let runtime = runtime();
        for (count, shown) in [(8, &own), (100, &own), (200, &own), (400, &own), (200, &stranger)] {
            let others = others(count);
            for version in [SslVersion::TLS1_2, SslVersion::TLS1_3] {
                let server = shown.server(version, &others);
                let begun = Instant::now();
                let error = runtime.block_on(shaken(&known.client(), &server, (0, 0, Vec::new()))).unwrap_err();
                let took = begun.elapsed();
                println!("{count} certificates: {took:?}, {error}");
                assert!(took < Duration::from_secs(5), "{count} certificates: {took:?}");
                assert!(!error.to_string().contains(|c: char| c.is_control()), "{error}");
            }
        }
    }
}
