//! Passwords (Username Token Profile 1.1).

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_datatypes::DateTime;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::crypto::Crypto;
use crate::key::Secret;
use crate::uris::{PASSWORD_DIGEST, PASSWORD_TEXT};
use crate::{DigestAlgorithm, Error, ErrorKind};

/// The passwords of those who may call a service.
pub trait Passwords: fmt::Debug + Send + Sync {
    /// Returns the password of a user. It is needed for a digest of the password, which a sender may send instead.
    fn password(&self, username: &str) -> Option<Secret>;

    /// Returns whether a user has this password. A store that has only hashes of passwords implements this.
    fn is_password(&self, username: &str, password: &str) -> bool {
        // The comparison takes as long for a user who doesn't exist.
        let known = self.password(username);
        let expected = known.as_ref().map_or(&b""[..], Secret::bytes);
        bool::from(expected.ct_eq(password.as_bytes())) && known.is_some()
    }
}

impl Passwords for BTreeMap<String, Secret> {
    fn password(&self, username: &str) -> Option<Secret> {
        self.get(username).cloned()
    }
}

impl Passwords for HashMap<String, Secret> {
    fn password(&self, username: &str) -> Option<Secret> {
        self.get(username).cloned()
    }
}

/// A user name with a password, to be sent.
#[derive(Clone, Debug)]
pub struct Username {
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

impl Username {
    /// Creates a user name with a password.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Username { username: username.into(), password: Secret::new(password.into()), form: PasswordForm::Text }
    }

    /// Sets how the password is sent.
    #[must_use]
    pub fn with_form(self, form: PasswordForm) -> Self {
        Username { form, ..self }
    }

    /// Writes the token.
    pub(super) fn write(
        &self,
        id: &str,
        now: DateTime,
        nonce: &[u8],
        crypto: &dyn Crypto,
    ) -> Result<Zeroizing<String>, Error> {
        let username = crate::signature::escaped(&self.username);
        let password = Zeroizing::new(String::from_utf8_lossy(self.password.bytes()).into_owned());
        Ok(Zeroizing::new(match self.form {
            PasswordForm::Text => format!(
                "<wsse:UsernameToken wsu:Id=\"{id}\"><wsse:Username>{username}</wsse:Username><wsse:Password Type=\"{PASSWORD_TEXT}\">{}</wsse:Password></wsse:UsernameToken>",
                *Zeroizing::new(crate::signature::escaped(&password))
            ),
            PasswordForm::Digest => {
                let created = now.to_string();
                let digest = digest(nonce, &created, self.password.bytes(), crypto)
                    .ok_or_else(|| Error::new(ErrorKind::Unsupported, "the cryptographic library lacks SHA-1"))?;
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
pub(crate) struct UsernameToken {
    pub(super) username: String,
    pub(super) password: Option<Zeroizing<String>>,
    /// Whether the password is a digest of it.
    pub(super) is_digest: bool,
    pub(super) nonce: Option<Vec<u8>>,
    /// As it was written, and as a moment.
    pub(super) created: Option<(String, DateTime)>,
}

impl UsernameToken {
    /// Returns whether the password is right.
    pub(super) fn is_right(&self, passwords: &dyn Passwords, crypto: &dyn Crypto) -> bool {
        let Some(password) = &self.password else { return false };
        if !self.is_digest {
            return passwords.is_password(&self.username, password);
        }
        let (Some(nonce), Some((created, _))) = (&self.nonce, &self.created) else { return false };
        let known = passwords.password(&self.username);
        let expected = digest(nonce, created, known.as_ref().map_or(b"", Secret::bytes), crypto);
        let Ok(found) = STANDARD.decode(password.trim()) else { return false };
        expected.is_some_and(|expected| expected.ct_eq(&found).into()) && known.is_some()
    }
}

/// Returns the digest of a password (§3.1).
fn digest(nonce: &[u8], created: &str, password: &[u8], crypto: &dyn Crypto) -> Option<Vec<u8>> {
    let mut digest = crypto.digest(DigestAlgorithm::Sha1)?;
    digest.update(nonce);
    digest.update(created.as_bytes());
    digest.update(password);
    Some(digest.finish())
}
