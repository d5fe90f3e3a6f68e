//! Authentication of a client: Basic, Bearer and Digest.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, WeakShared};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Uri, header};

use crate::auth::{Challenge, Hash, Proof, algorithm, challenges, hex, quoted};
use crate::error::{BoxError, Error, ErrorKind};
use crate::percent;

/// The credentials of a client. Clones share tokens and challenges.
///
/// ```
/// use castile_http::client::{Credentials, Options};
///
/// let mut options = Options::default();
/// options.credentials = Some(Credentials::basic("ada", "correct horse"));
/// ```
#[derive(Clone)]
pub struct Credentials {
    kind: Arc<CredentialsKind>,
}

enum CredentialsKind {
    /// A header value that is sent with each request.
    Fixed(HeaderValue),
    Tokens(Tokens),
    Digest(Digest),
}

/// The credentials that a request was sent with.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) value: Option<HeaderValue>,
    /// The number of the token or challenge; 0 is none.
    generation: u64,
}

impl Credentials {
    /// Creates credentials from a user name and a password, which are sent unencrypted with each request (RFC 7617).
    /// Use them over `https` only, because anyone who can read the connection can read both. A user name can't contain
    /// a colon: the server would take the rest for the password.
    pub fn basic(user: &str, password: &str) -> Self {
        fixed(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
    }

    /// Creates credentials from a token that is sent with each request (RFC 6750).
    ///
    /// # Errors
    /// [`ErrorKind::Request`] if the token can't be in a header. The message doesn't repeat the token.
    pub fn bearer(token: &str) -> Result<Self, Error> {
        Ok(CredentialsKind::Fixed(bearer(token)?).into())
    }

    /// Creates credentials whose tokens `issue` provides (RFC 6750). It is called before the first request, and again
    /// when the server answers 401 Unauthorized. The rejected request is then sent once more. Requests that need a
    /// token at the same time share one call, and all fail if it fails. The call is dropped when no request waits for
    /// it any more.
    ///
    /// ```
    /// use castile_http::client::Credentials;
    ///
    /// let credentials = Credentials::bearer_from(|| async {
    ///     // Ask the authorization server.
    ///     Ok("token".to_owned())
    /// });
    /// ```
    pub fn bearer_from<F, R>(issue: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, BoxError>> + Send + 'static,
    {
        let issue = Arc::new(move || Box::pin(issue()) as BoxFuture<'static, _>);
        CredentialsKind::Tokens(Tokens::new(issue)).into()
    }

    /// Creates credentials from a user name and a password. The password never goes over the network: requests prove
    /// that the client knows it (RFC 7616, with MD5 or SHA-256, the stronger one that the server offers).
    ///
    /// The first request is answered with a challenge and sent again with the proof. Later requests include the proof
    /// from the start. A streamed request can't be sent again: without an earlier challenge it fails with 401.
    pub fn digest(user: &str, password: &str) -> Self {
        let (user, password) = (user.to_owned(), password.to_owned());
        CredentialsKind::Digest(Digest { user, password, session: Mutex::default() }).into()
    }

    /// Returns the credentials to send with a request.
    pub(super) async fn of(&self, method: &Method, url: &Uri) -> Result<Sent, Error> {
        match &*self.kind {
            CredentialsKind::Fixed(value) => Ok(Sent { value: Some(value.clone()), generation: 0 }),
            CredentialsKind::Tokens(tokens) => {
                let (value, generation) = tokens.newer_than(0).await?;
                Ok(Sent { value: Some(value), generation })
            }
            CredentialsKind::Digest(digest) => Ok(digest.proof(method, url)),
        }
    }

    /// Handles a 401 with these headers. Returns whether there are new credentials, other than the `sent` ones.
    pub(super) async fn renew(&self, sent: &Sent, answer: &HeaderMap) -> Result<bool, Error> {
        match &*self.kind {
            CredentialsKind::Fixed(_) => Ok(false),
            CredentialsKind::Tokens(tokens) => tokens.newer_than(sent.generation).await.map(|_| true),
            CredentialsKind::Digest(digest) => Ok(digest.challenged(sent, answer)),
        }
    }
}

impl From<CredentialsKind> for Credentials {
    fn from(kind: CredentialsKind) -> Self {
        Credentials { kind: Arc::new(kind) }
    }
}

impl fmt::Debug for Credentials {
    /// Secrets are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &*self.kind {
            CredentialsKind::Fixed(_) => "fixed",
            CredentialsKind::Tokens(_) => "tokens",
            CredentialsKind::Digest(_) => "digest",
        };
        f.debug_tuple("Credentials").field(&kind).finish()
    }
}

fn fixed(text: String) -> Credentials {
    // Base64 is always a valid header value.
    let mut value = HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    CredentialsKind::Fixed(value).into()
}

fn bearer(token: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| unfit())?;
    value.set_sensitive(true);
    Ok(value)
}

fn unfit() -> Error {
    Error::new(ErrorKind::Request, "found a token with characters that are not allowed in a header")
}

/// A function that issues a token.
type Issue = dyn Fn() -> BoxFuture<'static, Result<String, BoxError>> + Send + Sync;

/// Tokens that are issued one after the other.
struct Tokens {
    issue: Arc<Issue>,
    current: Arc<Mutex<Current>>,
}

#[derive(Default)]
struct Current {
    token: Option<HeaderValue>,
    generation: u64,
    /// The call of `issue` in progress. It is dropped when nobody waits for it any more.
    issuing: Option<WeakShared<Issuing>>,
}

type Issuing = BoxFuture<'static, Result<(HeaderValue, u64), Failure>>;

/// Why no token is available.
#[derive(Clone)]
enum Failure {
    NotIssued(Arc<BoxError>),
    Unfit,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotIssued(failure) => {
                Error::new(ErrorKind::Credentials, format!("no token was issued: {failure}"))
            }
            Failure::Unfit => unfit(),
        }
    }
}

impl Tokens {
    fn new(issue: Arc<Issue>) -> Self {
        Tokens { issue, current: Arc::default() }
    }

    /// Returns the current token if it is newer than `generation`, and otherwise a newly issued one.
    async fn newer_than(&self, generation: u64) -> Result<(HeaderValue, u64), Error> {
        let issuing = {
            let mut current = lock(&self.current);
            match current.issuing.as_ref().and_then(WeakShared::upgrade) {
                Some(issuing) => issuing,
                None => {
                    if let Some(token) = current.token.clone().filter(|_| current.generation > generation) {
                        return Ok((token, current.generation));
                    }
                    let issuing = self.issuing().shared();
                    current.token = None;
                    current.issuing = issuing.downgrade();
                    issuing
                }
            }
        };
        Ok(issuing.await?)
    }

    /// Issues a token and stores it.
    fn issuing(&self) -> Issuing {
        let (issue, current) = (self.issue.clone(), self.current.clone());
        Box::pin(async move {
            let issued = issue().await.map_err(|error| Failure::NotIssued(Arc::new(error)));
            let token = issued.and_then(|token| bearer(&token).map_err(|_| Failure::Unfit));
            let mut current = lock(&current);
            current.issuing = None;
            let token = token?;
            current.generation += 1;
            current.token = Some(token.clone());
            Ok((token, current.generation))
        })
    }
}

fn lock(current: &Mutex<Current>) -> MutexGuard<'_, Current> {
    current.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user name, a password, and the last challenge of the server.
struct Digest {
    user: String,
    password: String,
    session: Mutex<Session>,
}

#[derive(Default)]
struct Session {
    challenge: Option<DigestChallenge>,
    generation: u64,
    /// How many requests were sent for the challenge.
    count: u32,
}

/// A challenge that the client can answer.
#[derive(Debug)]
struct DigestChallenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    hash: Hash,
    is_session: bool,
    /// Whether the server supports the quality of protection `auth`, with which requests are counted.
    is_counted: bool,
    hashes_user: bool,
    names_algorithm: bool,
}

impl DigestChallenge {
    fn read(challenge: &Challenge<'_>) -> Option<Self> {
        if !challenge.scheme.eq_ignore_ascii_case("Digest") {
            return None;
        }
        let (hash, is_session) = algorithm(challenge.get("algorithm"))?;
        let is_counted = match challenge.get("qop") {
            None => false,
            Some(offered) => {
                // Without `auth`, the body would have to be hashed as well.
                offered.split(',').any(|quality| quality.trim().eq_ignore_ascii_case("auth")).then_some(true)?
            }
        };
        if is_session && !is_counted {
            // The session hash needs the client's nonce, which is sent only with the count.
            return None;
        }
        Some(DigestChallenge {
            realm: challenge.get("realm").unwrap_or_default().to_owned(),
            nonce: challenge.get("nonce")?.to_owned(),
            opaque: challenge.get("opaque").map(str::to_owned),
            hash,
            is_session,
            is_counted,
            hashes_user: challenge.get("userhash").is_some_and(|value| value.eq_ignore_ascii_case("true")),
            names_algorithm: challenge.get("algorithm").is_some(),
        })
    }
}

impl Digest {
    fn session(&self) -> std::sync::MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn proof(&self, method: &Method, url: &Uri) -> Sent {
        let mut session = self.session();
        let generation = session.generation;
        session.count = session.count.saturating_add(1);
        let count = format!("{:08x}", session.count);
        let value = session.challenge.as_ref().and_then(|asked| self.meets(asked, &count, method, url));
        Sent { value, generation }
    }

    /// Computes the credentials that answer a challenge (RFC 7616 §3.4).
    fn meets(&self, asked: &DigestChallenge, count: &str, method: &Method, url: &Uri) -> Option<HeaderValue> {
        let Digest { user, password, .. } = self;
        // As in the request line: with a slash before a query.
        let uri = url.path_and_query().map_or_else(|| "/".to_owned(), PathAndQuery::to_string);
        let mut random = [0; 16];
        getrandom::fill(&mut random).ok()?;
        let cnonce = hex(&random);
        let secret = asked.hash.of(&[user, &asked.realm, password]);
        let counted = asked.is_counted.then_some((count, &*cnonce, "auth"));
        let proof = Proof {
            hash: asked.hash,
            secret: &secret,
            is_session: asked.is_session,
            nonce: &asked.nonce,
            counted,
            method: method.as_str(),
            uri: &uri,
        };
        let response = proof.response();
        let name = match asked.hashes_user {
            true => format!("username={}", quoted(&asked.hash.of(&[user, &asked.realm]))),
            false if user.is_ascii() => format!("username={}", quoted(user)),
            false => format!("username*=UTF-8''{}", percent::encoded(user)),
        };
        let mut value = format!(
            "Digest {name}, realm={}, nonce={}, uri={}, response=\"{response}\"",
            quoted(&asked.realm),
            quoted(&asked.nonce),
            quoted(&uri)
        );
        if asked.names_algorithm {
            let variant = if asked.is_session { "-sess" } else { "" };
            let _ = write!(value, ", algorithm={}{variant}", asked.hash.name());
        }
        if asked.is_counted {
            let _ = write!(value, ", qop=auth, nc={count}, cnonce=\"{cnonce}\"");
        }
        if let Some(opaque) = &asked.opaque {
            let _ = write!(value, ", opaque={}", quoted(opaque));
        }
        if asked.hashes_user {
            value.push_str(", userhash=true");
        }
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Stores the strongest challenge that the client can answer. Returns whether there is one.
    fn challenged(&self, sent: &Sent, answer: &HeaderMap) -> bool {
        let values = answer.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let mut best: Option<DigestChallenge> = None;
        for asked in values.flat_map(challenges).filter_map(|challenge| DigestChallenge::read(&challenge)) {
            // Among equally strong challenges the first one is used (RFC 7616 §3.7).
            if best.as_ref().is_none_or(|best| asked.hash > best.hash) {
                best = Some(asked);
            }
        }
        let Some(asked) = best else { return false };
        let mut session = self.session();
        // Another request may have stored a newer challenge already.
        if session.generation == sent.generation {
            *session = Session { challenge: Some(asked), generation: sent.generation + 1, count: 0 };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a server asks for, the client sends one set of credentials for that challenge, without the password.
    #[test]
    fn changed_challenges_are_met_or_not() {
        let seeds: [&[u8]; 5] = [
            b"Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256, opaque=\"o\", userhash=true",
            b"Digest realm=\"a \\\"b\\\"\", nonce=\"n\\\\\", qop=\"auth-int, auth\", algorithm=MD5-sess",
            b"Digest realm=r, nonce=n",
            b"Basic realm=\"r\", Digest nonce=\"n\", algorithm=\"sha-256\", qop=auth",
            b"Digest nonce=\"n\", algorithm=SHA-512-256",
        ];
        let url = Uri::from_static("/a?b='c");
        crate::mutations::check_mutations(&seeds, |text, random| {
            let Ok(value) = HeaderValue::from_bytes(text) else { return };
            let user = ["ada", "Jäsøn", "a\"b\\c"][random.usize(..3)].to_owned();
            let digest = Digest { user, password: "secret-password".to_owned(), session: Mutex::default() };
            let first = digest.proof(&Method::POST, &url);
            assert!(first.value.is_none());
            let mut answer = HeaderMap::new();
            answer.append(header::WWW_AUTHENTICATE, value);
            if !digest.challenged(&first, &answer) {
                return;
            }
            let sent = digest.proof(&Method::POST, &url).value.unwrap();
            let sent = sent.to_str().unwrap();
            assert!(!sent.contains("secret-password"));
            let read = challenges(sent);
            let [given] = &read[..] else { panic!("{sent}") };
            let session = digest.session();
            let asked = session.challenge.as_ref().unwrap();
            assert_eq!(given.scheme, "Digest");
            assert_eq!(given.get("nonce"), Some(&*asked.nonce), "{sent}");
            assert_eq!(given.get("realm"), Some(&*asked.realm), "{sent}");
            assert_eq!(given.get("opaque"), asked.opaque.as_deref(), "{sent}");
            assert_eq!(given.get("uri"), Some("/a?b='c"), "{sent}");
        });
    }

    /// Regression: the request had a slash before the query, but the proof was computed without it.
    #[test]
    fn the_target_is_proven_as_it_is_sent() {
        let digest = Digest { user: "ada".to_owned(), password: "p".to_owned(), session: Mutex::default() };
        let mut answer = HeaderMap::new();
        answer.append(header::WWW_AUTHENTICATE, HeaderValue::from_static("Digest realm=\"r\", nonce=\"n\""));
        let url = Uri::from_static("http://a.example?x");
        assert!(digest.challenged(&digest.proof(&Method::POST, &url), &answer));
        let sent = digest.proof(&Method::POST, &url).value.unwrap();
        assert!(sent.to_str().unwrap().contains("uri=\"/?x\""), "{sent:?}");
    }
}
