//! The options of an endpoint.

use std::time::Duration;

use castile_budget::Budget;

use super::address::Address;
use super::authentication::Authentication;
use super::receiving::Pace;
use crate::workers::{DEFAULT_OFFLOAD_ABOVE, Workers};

/// The options of an [`Endpoint`](super::Endpoint).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How messages are read and written: their limits (16 MiB by default), whether they may violate the contract,
    /// which header blocks are understood, MTOM and WS-Addressing.
    ///
    /// Messages of more than 256 KiB are read and written by the [shared](Workers::shared) workers instead of the
    /// threads that drive connections. So are larger documents of the contract and larger pages. With `offload` set to
    /// `None` all of that is done in place.
    pub messages: castile_soap::Options,
    /// How long a message may take from its head to its end, and a package until the end of its root part. The rest of
    /// a package has no such limit; instead, something must arrive within this time while the server waits for it. 30 s
    /// by default.
    pub body_read_timeout: Duration,
    /// The rate at which a body must arrive, in bytes per second. Only time in which the server waits for it counts. A
    /// third of [`body_read_timeout`](Self::body_read_timeout) is free, and each further period of that length raises
    /// the required rate by this value. After the root part of a package the count begins again, and one whole period
    /// is free. So with the defaults, a part that takes an hour must arrive at 6 kB/s on average. 100 by default; 0
    /// requires nothing.
    pub body_rate: u32,
    /// How many times as large as its gzip encoding a request may be. Its first 64 KiB are not checked. All other
    /// limits apply to the decoded size. 100 by default. With 0, requests in gzip are answered with 415.
    pub gzip_ratio: u32,
    /// The size in bytes above which answers are compressed with gzip, for clients that accept it. Streamed answers are
    /// then always compressed. `None`, the default, compresses nothing: it takes processor time, so it pays only if the
    /// network is slow. Over TLS, the size of an answer can reveal secrets that are compressed together with input of
    /// the client (BREACH).
    pub gzip_above: Option<usize>,
    /// How long the service may take to answer. Its future is dropped after that. For a package the time begins again
    /// whenever more of it arrives. Streaming an answer takes as long as the client takes
    /// ([`Server::write_timeout`](super::Server::write_timeout)). 60 s by default.
    pub request_timeout: Duration,
    /// How clients are authenticated, before the message is read. `None`, the default, admits every client. The
    /// contract is shown only to authenticated clients, too.
    pub authentication: Option<Authentication>,
    /// The memory that requests share: messages, the values decoded from them, and answers until they are sent. `None`
    /// by default: the [`budget`](super::Server::budget) of the server that calls the endpoint, or that of the process
    /// if another server does.
    pub budget: Option<Budget>,
    /// The disk space that waiting parts of packages share. `None` by default: the
    /// [`disk_budget`](super::Server::disk_budget) of the server that calls the endpoint, or that of the process.
    pub disk_budget: Option<Budget>,
    /// The service address in the contract. By default it is the address that the connection was made to, which only a
    /// [`Server`](super::Server) knows. Under axum, the contract is unchanged by default. Set an address under axum,
    /// behind a proxy, and if the host name matters.
    pub address: Address,
    /// Whether a GET is answered with an HTML page, if the service was generated with one. `true` by default.
    /// [`authentication`](Self::authentication) protects the page like the contract. Layers don't: they see only
    /// messages.
    #[cfg(feature = "page")]
    pub page: bool,
}

impl Default for Options {
    fn default() -> Self {
        let mut messages = castile_soap::Options::default();
        messages.offload = Some(Workers::shared().above(DEFAULT_OFFLOAD_ABOVE));
        Options {
            messages,
            body_read_timeout: Duration::from_secs(30),
            body_rate: 100,
            gzip_ratio: 100,
            gzip_above: None,
            request_timeout: Duration::from_secs(60),
            authentication: None,
            budget: None,
            disk_budget: None,
            address: Address::default(),
            #[cfg(feature = "page")]
            page: true,
        }
    }
}

impl Options {
    /// Returns how fast a body must arrive.
    pub(super) fn pace(&self) -> Pace {
        Pace { limit: self.body_read_timeout, rate: self.body_rate }
    }
}
