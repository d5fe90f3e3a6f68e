//! Passwords (Username Token Profile 1.1).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Range;

use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_datatypes::DateTime;
use castile_xml::escape;
use futures_util::future::{BoxFuture, ready};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::crypto;
use crate::explain::ExplainedUsername;
use crate::key::Secret;
use crate::uris::{PASSWORD_DIGEST, PASSWORD_TEXT};
use crate::{Error, ErrorKind};

/// The passwords of those who may call a service.
pub trait Passwords: fmt::Debug + Send + Sync {
    /// Returns the password of a user, which is needed to check a digest of it. A store that has only hashes of passwords
    /// returns `None`, and refuses digests.
    fn password<'a>(&'a self, username: &'a str) -> BoxFuture<'a, Option<Secret>>;

    /// Returns whether a user has this password, which was sent as text. A store that has only hashes of passwords
    /// implements this.
    fn is_password<'a>(&'a self, username: &'a str, password: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let known = self.password(username).await;
            // Digests have one length, so that the comparison takes as long for every password, and for an unknown user.
            let expected = crypto::sha256([known.as_ref().map_or(&b""[..], Secret::bytes)]);
            match (expected, crypto::sha256([password.as_bytes()])) {
                (Ok(expected), Ok(found)) => bool::from(expected.ct_eq(&found)) && known.is_some(),
                _ => false,
            }
        })
    }
}

impl Passwords for BTreeMap<String, Secret> {
    fn password<'a>(&'a self, username: &'a str) -> BoxFuture<'a, Option<Secret>> {
        Box::pin(ready(self.get(username).cloned()))
    }
}

impl Passwords for HashMap<String, Secret> {
    fn password<'a>(&'a self, username: &'a str) -> BoxFuture<'a, Option<Secret>> {
        Box::pin(ready(self.get(username).cloned()))
    }
}

/// A user name with a password, to be sent.
#[derive(Clone, Debug)]
pub struct UsernameToken {
    username: String,
    password: Secret,
    form: PasswordForm,
}

/// How a password is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PasswordForm {
    /// As it is. It needs TLS.
    #[default]
    Text,
    /// As a SHA-1 digest of a nonce, the time and the password.
    Digest,
}

impl UsernameToken {
    /// Creates a user name with a password.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        UsernameToken { username: username.into(), password: Secret::new(password.into()), form: PasswordForm::Text }
    }

    /// Sets how the password is sent.
    #[must_use]
    pub fn with_form(self, form: PasswordForm) -> Self {
        UsernameToken { form, ..self }
    }

    /// Writes the token.
    ///
    /// # Errors
    /// The name, or a password that is sent as text, has a character that XML doesn't have.
    pub(super) fn write(&self, id: &str, now: DateTime, nonce: &[u8]) -> Result<Zeroizing<String>, Error> {
        let is_writable = |text: &str| text.chars().all(escape::is_char);
        let unwritable =
            |what: &str| Error::new(ErrorKind::Unsupported, format!("{what} with a character that XML doesn't have"));
        if !is_writable(&self.username) {
            return Err(unwritable("a user name"));
        }
        let username = crate::signature::escaped(&self.username);
        Ok(Zeroizing::new(match self.form {
            PasswordForm::Text => {
                let password = std::str::from_utf8(self.password.bytes()).ok().filter(|text| is_writable(text));
                let password = password.ok_or_else(|| unwritable("a password"))?;
                format!(
                    "<wsse:UsernameToken wsu:Id=\"{id}\"><wsse:Username>{username}</wsse:Username><wsse:Password Type=\"{PASSWORD_TEXT}\">{}</wsse:Password></wsse:UsernameToken>",
                    *Zeroizing::new(crate::signature::escaped(password))
                )
            }
            PasswordForm::Digest => {
                let created = now.to_string();
                let digest = digest(nonce, &created, self.password.bytes());
                format!(
                    "<wsse:UsernameToken wsu:Id=\"{id}\"><wsse:Username>{username}</wsse:Username><wsse:Password Type=\"{PASSWORD_DIGEST}\">{}</wsse:Password><wsse:Nonce EncodingType=\"{}\">{}</wsse:Nonce><wsu:Created>{created}</wsu:Created></wsse:UsernameToken>",
                    STANDARD.encode(digest),
                    crate::uris::BASE64_BINARY,
                    STANDARD.encode(nonce)
                )
            }
        }))
    }
}

/// A received token.
#[derive(Default)]
pub(crate) struct ReceivedUsername {
    pub(super) username: String,
    pub(super) password: Option<Zeroizing<String>>,
    /// Whether the password is a digest of it.
    pub(super) is_digest: bool,
    pub(super) nonce: Option<Vec<u8>>,
    /// As it was written, and as a moment.
    pub(super) created: Option<(String, DateTime)>,
}

impl ReceivedUsername {
    /// Returns whether the password is right.
    pub(super) async fn is_right(&self, passwords: &dyn Passwords) -> bool {
        let Some(password) = &self.password else { return false };
        if !self.is_digest {
            return passwords.is_password(&self.username, password).await;
        }
        let (Some(nonce), Some((created, _))) = (&self.nonce, &self.created) else { return false };
        let known = passwords.password(&self.username).await;
        let expected = digest(nonce, created, known.as_ref().map_or(b"", Secret::bytes));
        let Some(found) = self.password_digest() else { return false };
        bool::from(expected.as_slice().ct_eq(&found)) && known.is_some()
    }

    /// Returns what people may see of it.
    pub(super) fn explained(self, range: Range<usize>) -> ExplainedUsername {
        let form = if self.is_digest { PasswordForm::Digest } else { PasswordForm::Text };
        ExplainedUsername {
            name: self.username,
            form: self.password.map(|_| form),
            has_nonce: self.nonce.is_some(),
            created: self.created.map(|(_, created)| created),
            range,
        }
    }

    /// Returns the digest of the password, if that was sent.
    pub(super) fn password_digest(&self) -> Option<Vec<u8>> {
        STANDARD.decode(self.password.as_ref().filter(|_| self.is_digest)?.trim()).ok()
    }
}

/// Returns the digest of a password (§3.1).
fn digest(nonce: &[u8], created: &str, password: &[u8]) -> Vec<u8> {
    let mut digest = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    digest.update(nonce);
    digest.update(created.as_bytes());
    digest.update(password);
    digest.finish().as_ref().to_vec()
}
