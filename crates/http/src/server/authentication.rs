//! Authentication of clients: Basic, Bearer and Digest, before the message is read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use std::{fmt, mem};

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use castile_soap::Layer;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Extensions, HeaderValue, Request, Response, header};
use sha2::{Digest as _, Sha256};

use super::answer::{Answer, answer_unread};
use super::refusal::Refusal;
use crate::auth::{Challenge, Hash, Proof, algorithm, challenges, quoted};
use crate::body::Body;
use crate::error::BoxError;
use crate::percent;
use crate::timeout::within;

/// How long a Digest nonce is valid.
const NONCE_TIME: Duration = Duration::from_secs(300);

/// How many nonces are stored to detect replayed requests. Beyond that, the older half is treated as expired.
const NONCES: usize = 10_000;

/// The size limit of an Authorization header, in bytes.
const CREDENTIALS: usize = 16 << 10;

/// The authentication schemes of an endpoint (RFC 9110 §11). Clones share the nonces of Digest.
///
/// A request without valid credentials is answered with 401, and its message is not read. The identity that the check
/// returns is put into the extensions of the request, for layers and methods of the service. The check must finish
/// within the request timeout ([`Options::request_timeout`](super::Options::request_timeout)).
///
/// ```
/// use castile_http::server::{Authentication, Options};
///
/// #[derive(Clone)]
/// struct Caller(String);
///
/// let mut options = Options::default();
/// options.authentication = Some(Authentication::basic("orders", |user: String, password: String| async move {
///     // Compare hashes of passwords, in constant time.
///     (user == "ada" && password == "correct horse").then_some(Caller(user))
/// }));
/// ```
#[derive(Clone)]
pub struct Authentication {
    schemes: Vec<Arc<dyn Scheme>>,
}

impl Authentication {
    /// Accepts a user name and a password, which are sent unencrypted (RFC 7617): use it with TLS. `realm` is shown in
    /// the login prompt. `check` returns the identity that handlers find in the request's extensions, or `None` to
    /// reject the client.
    pub fn basic<F, R, T>(realm: &str, check: F) -> Self
    where
        F: Fn(String, String) -> R + Send + Sync + 'static,
        R: Future<Output = Option<T>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        let challenge = format!("Basic realm={}, charset=\"UTF-8\"", quoted(realm));
        let check = move |user, password| identified(check(user, password));
        Authentication::of(Basic { challenge: visible(&challenge), check })
    }

    /// Accepts a token (RFC 6750). `check` returns the identity that handlers find in the request's extensions, or
    /// `None` to reject the client.
    pub fn bearer<F, R, T>(realm: &str, check: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Option<T>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        let challenge = format!("Bearer realm={}", quoted(realm));
        Authentication::of(Bearer { challenge: visible(&challenge), check: move |token| identified(check(token)) })
    }

    /// Accepts a user name and a proof of the password; the password itself is not sent (RFC 7616, with SHA-256).
    /// `password` returns the password and identity of a user, or `None`.
    ///
    /// A proof is valid for one request: a replayed request is rejected. Nonces are valid for five minutes and only in
    /// this process. With several processes behind a proxy, all requests of a client must reach the same one.
    pub fn digest<F, R, T>(realm: &str, password: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Option<(String, T)>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        Authentication::of(Digest::new(realm, &[Hash::Sha256], password))
    }

    /// Accepts Digest with SHA-256 or MD5 (RFC 2617), for clients that support nothing newer, such as cameras and
    /// meters. The known attacks on MD5 don't apply to this use, but passwords can be guessed faster from recorded
    /// traffic.
    pub fn digest_with_md5<F, R, T>(realm: &str, password: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Option<(String, T)>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        Authentication::of(Digest::new(realm, &[Hash::Sha256, Hash::Md5], password))
    }

    /// Accepts the schemes of `other` too. The credentials of the client decide which scheme is used. Several of one
    /// scheme are tried in turn until one knows the client.
    pub fn or(mut self, other: Authentication) -> Self {
        self.schemes.extend(other.schemes);
        self
    }

    fn of(scheme: impl Scheme + 'static) -> Self {
        Authentication { schemes: vec![Arc::new(scheme)] }
    }

    /// Adds the identity of the client to its extensions, or returns the challenges for a 401.
    pub(super) async fn check(&self, head: &mut Parts) -> Result<(), Vec<HeaderValue>> {
        let mut stale = vec![false; self.schemes.len()];
        if let Some(value) = head.headers.get_mut(header::AUTHORIZATION) {
            value.set_sensitive(true);
        }
        let mut values = head.headers.get_all(header::AUTHORIZATION).iter();
        // Two headers could mean two clients.
        if let (Some(value), None) = (values.next(), values.next())
            && value.len() <= CREDENTIALS
            && let Ok(credentials) = std::str::from_utf8(value.as_bytes())
        {
            let (name, rest) = credentials.split_once(' ').unwrap_or((credentials, ""));
            let named = |scheme: &dyn Scheme| scheme.name().eq_ignore_ascii_case(name);
            for (scheme, is_stale) in self.schemes.iter().zip(&mut stale).filter(|(scheme, _)| named(&***scheme)) {
                match scheme.check(rest.trim(), head).await {
                    Checked::Valid(identity) => {
                        head.extensions.extend(identity);
                        return Ok(());
                    }
                    Checked::Invalid => {}
                    Checked::Stale => *is_stale = true,
                }
            }
        }
        Err(self.schemes.iter().zip(stale).flat_map(|(scheme, is_stale)| scheme.challenges(is_stale)).collect())
    }
}

impl fmt::Debug for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.schemes.iter().map(|scheme| scheme.name())).finish()
    }
}

/// Authenticates the clients of any HTTP service, for example [`Metrics`](super::Metrics). An endpoint has
/// [`Options::authentication`](super::Options::authentication) instead. A check must finish within 60 s.
impl<S> Layer<S> for Authentication {
    type Service = Authenticated<S>;

    fn layer(&self, service: S) -> Authenticated<S> {
        Authenticated { service, authentication: self.clone() }
    }
}

/// A service with an [`Authentication`] in front of it.
#[derive(Clone, Debug)]
pub struct Authenticated<S> {
    service: S,
    authentication: Authentication,
}

impl<S, B, R> tower_service::Service<Request<B>> for Authenticated<S>
where
    S: tower_service::Service<Request<B>, Response = Response<R>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    R: http_body::Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Answer {
        let another = self.service.clone();
        // This service has been polled ready, the clone has not.
        let mut service = mem::replace(&mut self.service, another);
        let authentication = self.authentication.clone();
        Box::pin(async move {
            let limit = Duration::from_secs(60);
            let (mut head, body) = request.into_parts();
            let refusal = match within(limit, authentication.check(&mut head)).await {
                Ok(Ok(())) => {
                    let response = service.call(Request::from_parts(head, body)).await;
                    return response.map(|response| response.map(Body::stream));
                }
                Ok(Err(challenges)) => Refusal::Unauthorized { challenges },
                Err(_) => Refusal::HandlerTimeout { limit },
            };
            answer_unread(refusal.into_response(), body, head.headers.contains_key(header::EXPECT)).await
        })
    }
}

/// The result of a check.
enum Checked {
    Valid(Extensions),
    Invalid,
    /// The nonce is not ours, too old, or was used with this count before. The client may succeed with another one.
    Stale,
}

impl From<Option<Extensions>> for Checked {
    fn from(identity: Option<Extensions>) -> Self {
        identity.map_or(Checked::Invalid, Checked::Valid)
    }
}

trait Scheme: Send + Sync {
    fn name(&self) -> &'static str;

    /// Returns the challenges for a client without valid credentials.
    fn challenges(&self, is_stale: bool) -> Vec<HeaderValue>;

    /// Checks the credentials after the name of the scheme.
    fn check<'a>(&'a self, credentials: &'a str, head: &'a Parts) -> BoxFuture<'a, Checked>;
}

async fn identified<T: Clone + Send + Sync + 'static>(check: impl Future<Output = Option<T>>) -> Option<Extensions> {
    let mut extensions = Extensions::new();
    extensions.insert(check.await?);
    Some(extensions)
}

/// Converts a text to a header value. Characters that a header can't have become question marks.
fn visible(text: &str) -> HeaderValue {
    let shown: String = text.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }).collect();
    // The text is always valid.
    HeaderValue::try_from(shown).unwrap_or_else(|_| HeaderValue::from_static(""))
}

struct Basic<F> {
    challenge: HeaderValue,
    check: F,
}

impl<F, R> Scheme for Basic<F>
where
    F: Fn(String, String) -> R + Send + Sync,
    R: Future<Output = Option<Extensions>> + Send,
{
    fn name(&self) -> &'static str {
        "Basic"
    }

    fn challenges(&self, _: bool) -> Vec<HeaderValue> {
        vec![self.challenge.clone()]
    }

    fn check<'a>(&'a self, credentials: &'a str, _: &'a Parts) -> BoxFuture<'a, Checked> {
        Box::pin(async move {
            let decoded = BASE64_STANDARD.decode(credentials).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let pair = decoded.as_deref().and_then(|pair| pair.split_once(':'));
            match pair {
                Some((user, password)) => (self.check)(user.to_owned(), password.to_owned()).await.into(),
                None => Checked::Invalid,
            }
        })
    }
}

struct Bearer<F> {
    challenge: HeaderValue,
    check: F,
}

impl<F, R> Scheme for Bearer<F>
where
    F: Fn(String) -> R + Send + Sync,
    R: Future<Output = Option<Extensions>> + Send,
{
    fn name(&self) -> &'static str {
        "Bearer"
    }

    fn challenges(&self, _: bool) -> Vec<HeaderValue> {
        vec![self.challenge.clone()]
    }

    fn check<'a>(&'a self, credentials: &'a str, _: &'a Parts) -> BoxFuture<'a, Checked> {
        Box::pin(async move { (self.check)(credentials.to_owned()).await.into() })
    }
}

/// Returns the password and identity of a user.
type Password = Box<dyn Fn(String) -> BoxFuture<'static, Option<(String, Extensions)>> + Send + Sync>;

struct Digest {
    realm: String,
    /// Strongest first.
    hashes: &'static [Hash],
    password: Password,
    /// The secret key that protects our nonces from forgery.
    key: [u8; 32],
    start: Instant,
    watched: Mutex<WatchedNonces>,
}

/// The nonces that have been used.
#[derive(Debug, Default)]
struct WatchedNonces {
    nonces: HashMap<String, NonceUse>,
    /// The creation time of the youngest nonce that was forgotten early. Nonces up to this time are rejected, because
    /// their use is unknown. Times are relative to the start.
    forgotten: Option<Duration>,
}

/// The requests that used a nonce.
#[derive(Debug)]
struct NonceUse {
    /// The creation time, relative to the start.
    made: Duration,
    /// The highest count, and a bit for each of the 64 counts up to it: the lowest bit is the highest count. Requests
    /// may arrive out of order.
    highest: u32,
    came: u64,
}

impl Digest {
    fn new<F, R, T>(realm: &str, hashes: &'static [Hash], password: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Option<(String, T)>> + Send + 'static,
        T: Clone + Send + Sync + 'static,
    {
        let mut key = [0; 32];
        // Without random numbers nonces would be predictable. Other parts of a server need random numbers too.
        getrandom::fill(&mut key).expect("the system has random numbers");
        let password: Password = Box::new(move |user| {
            let asked = password(user);
            Box::pin(async move {
                let (password, identity) = asked.await?;
                let mut extensions = Extensions::new();
                extensions.insert(identity);
                Some((password, extensions))
            })
        });
        // As sent in the header, because clients hash that text.
        let realm = visible(realm).to_str().unwrap_or_default().to_owned();
        Digest { realm, hashes, password, key, start: Instant::now(), watched: Mutex::default() }
    }

    /// Creates a nonce: the milliseconds since the start, random bits, and a seal over both.
    fn nonce(&self) -> String {
        let mut random = [0; 8];
        // Without random bits, two nonces of the same millisecond may be equal. They still can't be forged.
        let _ = getrandom::fill(&mut random);
        let mut bytes = (self.start.elapsed().as_millis() as u64).to_be_bytes().to_vec();
        bytes.extend(random);
        bytes.extend(self.seal(&bytes));
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Computes the seal of a nonce. The text has a fixed length and half of the hash is cut off, so a seal can't be
    /// extended to a longer text.
    fn seal(&self, text: &[u8]) -> [u8; 16] {
        let hash = Sha256::new().chain_update(self.key).chain_update(text).finalize();
        let mut seal = [0; 16];
        seal.copy_from_slice(&hash[..16]);
        seal
    }

    /// Returns the creation time of a nonce, relative to the start. `None` if it isn't ours.
    fn made(&self, nonce: &str) -> Option<Duration> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(nonce).ok()?;
        let (text, seal) = bytes.split_at_checked(16)?;
        if !is_equal(&self.seal(text), seal) {
            return None;
        }
        let millis = u64::from_be_bytes(text.first_chunk().copied()?);
        Some(Duration::from_millis(millis))
    }

    /// Records the use of a nonce with a count. Returns whether the nonce is valid and had not been used with this
    /// count.
    fn take_count(&self, nonce: &str, count: u32, made: Duration) -> bool {
        let now = self.start.elapsed();
        let is_good = |made: Duration| now.saturating_sub(made) < NONCE_TIME;
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_good(made) || watched.forgotten.is_some_and(|forgotten| made <= forgotten) {
            return false;
        }
        if watched.nonces.len() >= NONCES && !watched.nonces.contains_key(nonce) {
            watched.nonces.retain(|_, seen| is_good(seen.made));
            if watched.nonces.len() >= NONCES {
                watched.forget();
            }
        }
        match watched.nonces.entry(nonce.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(NonceUse { made, highest: count, came: 1 });
                true
            }
            Entry::Occupied(mut entry) => entry.get_mut().take_count(count),
        }
    }

    async fn proven(&self, credentials: &str, head: &Parts) -> Checked {
        let text = format!("Digest {credentials}");
        let read = challenges(&text);
        let [given] = &read[..] else { return Checked::Invalid };
        let Some(claim) = Claim::read(given, head) else { return Checked::Invalid };
        if !self.hashes.contains(&claim.hash) || claim.realm != self.realm {
            return Checked::Invalid;
        }
        let Some(made) = self.made(claim.nonce) else { return Checked::Stale };
        let Some((password, identity)) = (self.password)(claim.user.clone().into_owned()).await else {
            return Checked::Invalid;
        };
        let secret = claim.hash.of(&[&claim.user, claim.realm, &password]);
        let proof = Proof {
            hash: claim.hash,
            secret: &secret,
            is_session: claim.is_session,
            nonce: claim.nonce,
            counted: Some((claim.count, claim.cnonce, "auth")),
            method: head.method.as_str(),
            uri: claim.uri,
        };
        if !is_equal(proof.response().as_bytes(), claim.response.to_ascii_lowercase().as_bytes()) {
            return Checked::Invalid;
        }
        let count = u32::from_str_radix(claim.count, 16).ok().filter(|count| *count > 0);
        match count {
            Some(count) if self.take_count(claim.nonce, count, made) => Checked::Valid(identity),
            _ => Checked::Stale,
        }
    }
}

impl WatchedNonces {
    /// Forgets the older half. Their clients get new nonces.
    fn forget(&mut self) {
        let mut made: Vec<Duration> = self.nonces.values().map(|seen| seen.made).collect();
        let half = made.len() / 2;
        let (_, youngest, _) = made.select_nth_unstable(half);
        let youngest = *youngest;
        self.nonces.retain(|_, seen| seen.made > youngest);
        self.forgotten = Some(youngest);
    }
}

impl NonceUse {
    /// Records a count. Returns whether it is new.
    fn take_count(&mut self, count: u32) -> bool {
        if count > self.highest {
            self.came = self.came.checked_shl(count - self.highest).unwrap_or(0) | 1;
            self.highest = count;
            return true;
        }
        let Some(bit) = 1_u64.checked_shl(self.highest - count) else { return false };
        let is_first = self.came & bit == 0;
        self.came |= bit;
        is_first
    }
}

/// The parameters of a Digest request.
struct Claim<'a> {
    user: Cow<'a, str>,
    realm: &'a str,
    nonce: &'a str,
    uri: &'a str,
    response: &'a str,
    count: &'a str,
    cnonce: &'a str,
    hash: Hash,
    is_session: bool,
}

impl<'a> Claim<'a> {
    /// Reads the parameters (RFC 7616 §3.4). They must be for this request.
    fn read(given: &'a Challenge<'_>, head: &Parts) -> Option<Self> {
        let (hash, is_session) = algorithm(given.get("algorithm"))?;
        let uri = given.get("uri")?;
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let is_counted = given.get("qop").is_some_and(|quality| quality.eq_ignore_ascii_case("auth"));
        // A proxy may have converted between a path and an absolute URL.
        if !is_counted || (uri != target && target_of(uri) != Some(target)) {
            return None;
        }
        Some(Claim {
            user: match given.get("username") {
                Some(user) => user.into(),
                None => {
                    // Other characters are percent-encoded (RFC 5987 §3.2).
                    let user = percent::decoded_if_sound(given.get("username*")?.strip_prefix("UTF-8''")?)?;
                    String::from_utf8(user).ok()?.into()
                }
            },
            realm: given.get("realm")?,
            nonce: given.get("nonce")?,
            uri,
            response: given.get("response")?,
            count: given.get("nc").filter(|count| count.len() == 8)?,
            cnonce: given.get("cnonce")?,
            hash,
            is_session,
        })
    }
}

/// Returns the part of a URL after the host. Returns `None` for a path, whatever it contains.
fn target_of(url: &str) -> Option<&str> {
    let (scheme, behind) = url.split_once("://")?;
    let target = behind.get(behind.find(['/', '?'])?..)?;
    (!scheme.contains(['/', '?'])).then_some(target)
}

impl Scheme for Digest {
    fn name(&self) -> &'static str {
        "Digest"
    }

    fn challenges(&self, is_stale: bool) -> Vec<HeaderValue> {
        let stale = if is_stale { ", stale=true" } else { "" };
        let challenge = |hash: &Hash| {
            let (realm, nonce) = (quoted(&self.realm), self.nonce());
            visible(&format!(
                "Digest realm={realm}, qop=\"auth\", algorithm={}, nonce=\"{nonce}\", charset=UTF-8{stale}",
                hash.name()
            ))
        };
        self.hashes.iter().map(challenge).collect()
    }

    fn check<'a>(&'a self, credentials: &'a str, head: &'a Parts) -> BoxFuture<'a, Checked> {
        Box::pin(self.proven(credentials, head))
    }
}

/// Compares two texts in a time that doesn't depend on their content.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |differences, (one, other)| differences | (one ^ other));
    // `black_box` keeps the compiler from ending the loop early.
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: `%zz` was read as itself, so one user had two names.
    #[test]
    fn a_name_with_a_broken_escape_is_refused() {
        let (head, ()) = http::Request::get("/").body(()).unwrap().into_parts();
        for (name, expected) in [
            ("a%41%C3%A9", Some("aA\u{e9}")),
            ("a%zz", None),
            ("a%4", None),
            ("a%", None),
            ("%+1", None),
            ("a%FF", None),
        ] {
            let text = format!(
                "Digest username*=UTF-8''{name}, realm=\"r\", nonce=\"n\", uri=\"/\", algorithm=SHA-256, qop=auth, \
                 nc=00000001, cnonce=\"c\", response=\"0\""
            );
            let given = challenges(&text);
            let claim = Claim::read(&given[0], &head);
            assert_eq!(claim.as_ref().map(|claim| &*claim.user), expected, "{name}");
        }
    }

    #[test]
    fn each_count_comes_once() {
        let mut seen = NonceUse { made: Duration::ZERO, highest: 1, came: 1 };
        for (count, expected) in [
            (1, false),
            (3, true),
            (2, true),
            (2, false),
            (3, false),
            (66, true),
            (3, false),
            (4, true),
            (2, false),
            (u32::MAX, true),
            (u32::MAX, false),
            (u32::MAX - 63, true),
            (u32::MAX - 64, false),
        ] {
            assert_eq!(seen.take_count(count), expected, "{count}");
        }
    }

    #[test]
    fn nonces_are_ours_and_grow_old() {
        let digest = Digest::new("r", &[Hash::Md5], |_| async { None::<(String, ())> });
        let nonce = digest.nonce();
        assert!(digest.made(&nonce).is_some_and(|made| made <= digest.start.elapsed()));
        let other = Digest::new("r", &[Hash::Md5], |_| async { None::<(String, ())> });
        assert_eq!(other.made(&nonce), None);
        for wrong in ["", "x", &nonce[1..], &format!("{nonce}A"), &nonce.to_ascii_lowercase()] {
            assert_eq!(digest.made(wrong), None, "{wrong}");
        }
        assert_ne!(nonce, digest.nonce());
    }

    #[test]
    fn nonces_that_are_watched_are_bounded() {
        let mut digest = Digest::new("r", &[Hash::Md5], |_| async { None::<(String, ())> });
        digest.start = Instant::now().checked_sub(Duration::from_secs(3_600)).unwrap();
        let now = digest.start.elapsed();
        let take = |millis: u32| digest.take_count(&millis.to_string(), 1, now + Duration::from_millis(millis.into()));
        // Regression: a client with too many nonces locked out all others.
        for millis in 0..3 * NONCES as u32 {
            assert!(take(millis), "{millis}");
            assert!(digest.watched.lock().unwrap().nonces.len() <= NONCES);
        }
        // Nothing can be replayed, neither stored nor forgotten nonces.
        assert!((0..3 * NONCES as u32).all(|millis| !take(millis)));
        assert!(digest.watched.lock().unwrap().forgotten.is_some());
        // Expired nonces are removed.
        digest.start -= NONCE_TIME + Duration::from_secs(60);
        let later = digest.start.elapsed();
        assert!(digest.take_count("later", 1, later));
        assert!(!digest.take_count("later", 1, later));
        assert!(!digest.take_count("too old", 1, later - NONCE_TIME));
    }

    #[test]
    fn a_proof_is_for_one_target() {
        for (url, expected) in [
            ("http://a/b?c", Some("/b?c")),
            ("https://a:1/b", Some("/b")),
            ("http://a?b", Some("?b")),
            ("http://a/b?http://c/d", Some("/b?http://c/d")),
            ("/a?://b/c", None),
            ("?://b/c", None),
            ("http://a", None),
            ("/a", None),
            ("", None),
        ] {
            assert_eq!(target_of(url), expected, "{url}");
        }
    }

    #[test]
    fn texts_are_compared_whole() {
        assert!(is_equal(b"", b"") && is_equal(b"ab", b"ab"));
        assert!(!is_equal(b"ab", b"a") && !is_equal(b"ab", b"ac") && !is_equal(b"", b"a"));
    }

    /// Whatever a client sends, it is admitted only with the password, and each proof only once.
    #[tokio::test]
    async fn changed_credentials_are_rejected() {
        let known = |user: String| async move { (user == "ada").then(|| ("correct horse".to_owned(), ())) };
        let digest = Digest::new("r", &[Hash::Sha256, Hash::Md5], known);
        let (key, start) = (digest.key, digest.start);
        // The same `Digest`, before any request.
        let digest_anew = || Digest { key, start, ..Digest::new("r", &[Hash::Sha256, Hash::Md5], known) };
        let nonce = digest.nonce();
        let response = |hash: Hash, uri| {
            let secret = hash.of(&["ada", "r", "correct horse"]);
            let counted = Some(("00000001", "c", "auth"));
            Proof { hash, secret: &secret, is_session: false, nonce: &nonce, counted, method: "POST", uri }.response()
        };
        let credentials = |hash: Hash, uri| {
            let (name, response) = (hash.name(), response(hash, uri));
            format!(
                "Digest username=\"ada\", realm=\"r\", nonce=\"{nonce}\", uri=\"{uri}\", algorithm={name}, response=\"{response}\", qop=auth, nc=00000001, cnonce=\"c\""
            )
        };
        let (first, second) = (credentials(Hash::Sha256, "/who?x"), credentials(Hash::Md5, "http://a/who?x"));
        let seeds: [&[u8]; 5] = [
            first.as_bytes(),
            second.as_bytes(),
            b"Basic YWRhOmNvcnJlY3QgaG9yc2U=",
            b"Bearer good",
            b"Digest username*=UTF-8''%41da",
        ];
        let basic = Authentication::basic("r", |user: String, password: String| async move {
            (user == "ada" && password == "correct horse").then_some(())
        });
        let bearer = Authentication::bearer("r", |token: String| async move { (token == "good").then_some(()) });
        let responses = [response(Hash::Sha256, "/who?x"), response(Hash::Md5, "http://a/who?x")];
        let mut texts: Vec<_> = seeds.map(<[u8]>::to_vec).into();
        crate::mutations::check_mutations(&seeds, |text, _| texts.push(text.to_vec()));
        let mut proofs = 0;
        for text in texts {
            let Ok(value) = HeaderValue::from_bytes(&text) else { continue };
            let request = http::Request::post("/who?x").header("authorization", value).body(()).unwrap();
            let (mut head, ()) = request.into_parts();
            let schemes = Authentication::of(digest_anew()).or(basic.clone()).or(bearer.clone());
            let is_known = schemes.check(&mut head).await.is_ok();
            let text = String::from_utf8_lossy(&text);
            let is_digest = text.get(..6).is_some_and(|name| name.eq_ignore_ascii_case("digest"));
            if is_known && is_digest {
                proofs += 1;
                let response = challenges(&text)[0].get("response").unwrap().to_ascii_lowercase();
                assert!(responses.contains(&response), "{text} {key:?}");
                assert!(schemes.check(&mut head).await.is_err(), "{text} {key:?}");
            }
            let may_be = text.contains("YWRhOmNvcnJlY3QgaG9yc2U=") || text.contains("good") || is_digest;
            assert!(!is_known || may_be, "{text}");
        }
        assert!(proofs >= 2, "those that were not changed are proofs");
    }
}
