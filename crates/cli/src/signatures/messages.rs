//! Security of messages (WS-Security), for commands that send or receive them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{anyhow, bail};
use castile_soap::{MessageSecurity, Received, SecuredRequest, Written};
use castile_wss::message::{
    AssertionPolicy, CertificateForm, ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, Remembered,
    ReplayCache, UsernameToken,
};
use castile_wss::{PrivateKey, Secret, Trust};
use futures_util::future::{BoxFuture, ready};

use super::{certificates, read};
use crate::package::at_once;
use crate::{login, quantity};

/// What is added to messages that are sent. Secrets are in files or typed at a prompt, because other users of the machine can see command
/// lines.
#[derive(Debug, clap::Args)]
#[group(id = "outgoing_security")]
#[command(next_help_heading = "Message security")]
pub(crate) struct Outgoing {
    /// Add a time stamp: the message expires after 5 minutes
    #[arg(long)]
    wss_timestamp: bool,
    /// Add the name and the password of this user; the password is asked for unless --wss-password-file is given
    #[arg(long, value_name = "NAME")]
    wss_user: Option<String>,
    /// Read that password from the first line of this file; `-` is standard input
    #[arg(long, value_name = "FILE", requires = "wss_user")]
    wss_password_file: Option<PathBuf>,
    /// Send a digest of the password, with a nonce and the time, and not the password itself
    #[arg(long, requires = "wss_user")]
    wss_digest: bool,
    /// Sign messages with the private key in this file, as PEM: RSA, ECDSA or Ed25519
    #[arg(long, value_name = "FILE")]
    wss_key: Option<PathBuf>,
    /// The certificate of that key, as PEM
    #[arg(long, value_name = "FILE", requires = "wss_key")]
    wss_cert: Option<PathBuf>,
    /// How the signature says which certificate it was made with
    #[arg(long, value_name = "FORM", value_enum, default_value_t, requires = "wss_cert")]
    wss_cert_form: Form,
    /// A part to sign: body, timestamp, user, assertion, addressing, attachments, or {NAMESPACE}NAME for a header block; may be repeated
    /// [default: the first six, if the message has them]
    #[arg(long, value_name = "PART", value_parser = part, requires = "wss_key")]
    wss_sign: Vec<Part>,
    /// Send the SAML assertion in this file. With --wss-key and without --wss-cert, the key is that of its subject
    #[arg(long, value_name = "FILE")]
    wss_assertion: Option<PathBuf>,
    /// Answers confirm the signature of their request (SignatureConfirmation), so that nobody can exchange them
    #[arg(long, requires = "wss_key")]
    wss_confirm: bool,
    /// How far the clock of the other side is ahead of ours, such as 90s, or -2h if it is behind
    #[arg(long, value_name = "TIME", value_parser = offset, allow_hyphen_values = true)]
    wss_clock: Option<Offset>,
}

/// What received messages must have.
#[derive(Debug, clap::Args)]
#[group(id = "incoming_security")]
#[command(next_help_heading = "Message security")]
pub(crate) struct Incoming {
    /// Require messages that are received to be signed with one of these certificates, as PEM; may be repeated
    #[arg(long, value_name = "FILE")]
    wss_trust: Vec<PathBuf>,
    /// Require messages that are received to be signed with a certificate that was issued with one of these, as PEM; may be repeated
    #[arg(long, value_name = "FILE")]
    wss_ca: Vec<PathBuf>,
    /// Require a SAML assertion by this issuer, with the certificate that it signs with, as PEM; may be repeated
    #[arg(long, value_name = "NAME=FILE")]
    wss_issuer: Vec<String>,
    /// A name of the receiver; assertions for others are refused; may be repeated
    #[arg(long, value_name = "NAME", requires = "wss_issuer")]
    wss_audience: Vec<String>,
    /// Also accept assertions whose subject signed nothing (bearer)
    #[arg(long, requires = "wss_issuer")]
    wss_bearer: bool,
}

/// Whom a server lets in.
#[derive(Debug, clap::Args)]
#[group(id = "known_users")]
#[command(next_help_heading = "Message security")]
pub(crate) struct Users {
    /// Require the name and the password of a user: this file has NAME:PASSWORD in each line
    #[arg(long, value_name = "FILE")]
    wss_users: Option<PathBuf>,
}

/// How a signature says which certificate it was made with.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Form {
    /// The message has the certificate
    #[default]
    Token,
    /// The name of its issuer and its serial number
    IssuerSerial,
    /// Its extension SubjectKeyIdentifier
    KeyIdentifier,
    /// Its SHA-1 digest
    Thumbprint,
}

/// How far another clock is ahead of ours, or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offset {
    time: Duration,
    is_behind: bool,
}

impl Offset {
    /// Returns the time of the other clock.
    fn now(self) -> SystemTime {
        let now = SystemTime::now();
        let there = match self.is_behind {
            true => now.checked_sub(self.time),
            false => now.checked_add(self.time),
        };
        there.unwrap_or(now)
    }
}

fn offset(text: &str) -> Result<Offset, String> {
    let (text, is_behind) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    Ok(Offset { time: quantity::time(text)?, is_behind })
}

fn part(text: &str) -> Result<Part, String> {
    match (text, text.strip_prefix('{').and_then(|rest| rest.split_once('}'))) {
        ("body", _) => Ok(Part::Body),
        ("timestamp", _) => Ok(Part::Timestamp),
        ("user", _) => Ok(Part::Username),
        ("assertion", _) => Ok(Part::Assertion),
        ("addressing", _) => Ok(Part::Addressing),
        ("attachments", _) => Ok(Part::Attachments),
        (_, Some((namespace, local))) if !local.is_empty() => {
            Ok(Part::Header { namespace: namespace.to_owned(), local: local.to_owned() })
        }
        _ => Err("expected body, timestamp, user, assertion, addressing, attachments or {NAMESPACE}NAME".to_owned()),
    }
}

impl Outgoing {
    /// Returns whether anything is added.
    pub(crate) fn is_given(&self) -> bool {
        self.wss_timestamp || self.wss_user.is_some() || self.wss_key.is_some() || self.wss_assertion.is_some()
    }

    /// Reads the keys and the password. A dry run, which sends nothing, asks for no password.
    pub(crate) fn read(&self, is_dry: bool) -> anyhow::Result<Option<OutgoingSecurity>> {
        if !self.is_given() {
            return Ok(None);
        }
        let mut security = OutgoingSecurity::new();
        // Whoever checks a signature or an assertion wants to know how old the message is.
        if self.wss_timestamp || self.wss_key.is_some() || self.wss_assertion.is_some() {
            security = security.with_timestamp();
        }
        if let Some(name) = &self.wss_user {
            let password = match &self.wss_password_file {
                Some(file) => login::first_line(file)?,
                None if is_dry => "…".to_owned(),
                None => login::prompt(&format!("password of {name}"))?,
            };
            let form = if self.wss_digest { PasswordForm::Digest } else { PasswordForm::Text };
            security = security.with_username(UsernameToken::new(name, password).with_form(form));
        }
        if let Some(path) = &self.wss_key {
            let of_key = |error| anyhow!("{}: {error}", path.display());
            security = security.with_signature(PrivateKey::from_pem(&read(path)?).map_err(of_key)?);
        }
        if let Some(path) = &self.wss_cert {
            let Some(certificate) = certificates(path)?.into_iter().next() else {
                bail!("{} has no certificate", path.display());
            };
            security = security.with_certificate(certificate).with_certificate_form(match self.wss_cert_form {
                Form::Token => CertificateForm::Token,
                Form::IssuerSerial => CertificateForm::IssuerSerial,
                Form::KeyIdentifier => CertificateForm::KeyIdentifier,
                Form::Thumbprint => CertificateForm::Thumbprint,
            });
        }
        if let Some(path) = &self.wss_assertion {
            security = security.with_assertion(read(path)?);
            // A sender with a certificate of its own vouches for the subject.
            if self.wss_key.is_some() && self.wss_cert.is_none() {
                security = security.with_key_of_subject();
            }
        }
        if !self.wss_sign.is_empty() {
            security = security.with_signed(self.wss_sign.iter().cloned());
        }
        if let Some(offset) = self.wss_clock {
            security = security.with_clock(move || offset.now());
        }
        Ok(Some(security))
    }

    /// Returns an error if there is a clock that nothing uses.
    fn expect_use_of_clock(&self, has_policy: bool) -> anyhow::Result<()> {
        if self.wss_clock.is_some() && !self.is_given() && !has_policy {
            bail!("found --wss-clock, expected an option that adds or requires security, too");
        }
        Ok(())
    }

    /// Returns whether answers confirm the signatures of their requests.
    pub(crate) fn confirms(&self) -> bool {
        self.wss_confirm
    }

    /// Returns the security of a client, if any option is given.
    pub(crate) fn of_client(&self, answers: &Incoming, is_dry: bool) -> anyhow::Result<Option<ClientSecurity>> {
        self.client(answers.policy(self.wss_clock)?, is_dry)
    }

    /// Returns the security of the users of a load, if any option is given. Answers are not remembered, because their number has no
    /// limit.
    pub(crate) fn of_users(&self, answers: &Incoming, is_dry: bool) -> anyhow::Result<Option<ClientSecurity>> {
        self.client(answers.policy(self.wss_clock)?.map(unremembered), is_dry)
    }

    fn client(&self, answers: Option<Policy>, is_dry: bool) -> anyhow::Result<Option<ClientSecurity>> {
        self.expect_use_of_clock(answers.is_some())?;
        if self.wss_confirm && answers.is_none() {
            bail!(
                "found --wss-confirm, expected --wss-trust or --wss-ca, too: answers that confirm a request are signed"
            );
        }
        let requests = self.read(is_dry)?;
        if requests.is_none() && answers.is_none() {
            return Ok(None);
        }
        let mut security = ClientSecurity::new(requests.unwrap_or_default());
        if let Some(policy) = answers {
            security = security.with_answer_policy(policy);
        }
        Ok(Some(if self.wss_confirm { security.with_signature_confirmation() } else { security }))
    }

    /// Returns what requests to a server must have, if any option is given.
    pub(crate) fn of_requests(&self, requests: &Incoming, users: &Users) -> anyhow::Result<Option<Policy>> {
        let policy = requests.policy(self.wss_clock)?;
        self.expect_use_of_clock(policy.is_some() || users.wss_users.is_some())?;
        let Some(path) = &users.wss_users else { return Ok(policy) };
        let passwords = passwords(path)?;
        Ok(Some(match policy {
            Some(policy) => policy.with_passwords(passwords),
            None => match self.wss_clock {
                Some(offset) => Policy::authenticated_by(passwords).with_clock(move || offset.now()),
                None => Policy::authenticated_by(passwords),
            },
        }))
    }
}

impl Incoming {
    /// Returns whether anything is required.
    pub(crate) fn is_given(&self) -> bool {
        self.has_trust() || !self.wss_issuer.is_empty()
    }

    fn has_trust(&self) -> bool {
        !(self.wss_trust.is_empty() && self.wss_ca.is_empty())
    }

    /// Returns which assertions are accepted, without those that a sender vouches for.
    fn assertions(&self) -> anyhow::Result<AssertionPolicy> {
        let mut issuers: BTreeMap<&str, Trust> = BTreeMap::new();
        for given in &self.wss_issuer {
            // A name may be a URL with an equals sign.
            let Some((name, path)) = given.rsplit_once('=') else {
                bail!("found --wss-issuer {given}, expected NAME=FILE");
            };
            let trust = issuers.remove(name).unwrap_or_default();
            issuers.insert(name, certificates(path.as_ref())?.into_iter().fold(trust, Trust::with_certificate));
        }
        let policy = AssertionPolicy::new();
        let policy = issuers.into_iter().fold(policy, |policy, (name, trust)| policy.with_issuer(name, trust));
        let policy = self.wss_audience.iter().fold(policy, AssertionPolicy::with_audience);
        Ok(if self.wss_bearer { policy.with_bearer() } else { policy })
    }

    /// Returns what received messages must have, if any option is given.
    fn policy(&self, clock: Option<Offset>) -> anyhow::Result<Option<Policy>> {
        if !self.is_given() {
            return Ok(None);
        }
        let mut trust = Trust::new();
        for path in &self.wss_trust {
            trust = certificates(path)?.into_iter().fold(trust, Trust::with_certificate);
        }
        for path in &self.wss_ca {
            trust = certificates(path)?.into_iter().fold(trust, Trust::with_authority);
        }
        let policy = match (self.has_trust(), self.wss_issuer.is_empty()) {
            (_, true) => Policy::signed_by(trust),
            (false, false) => Policy::asserted_by(self.assertions()?),
            // Those who are trusted to sign may vouch for others.
            (true, false) => {
                let assertions = self.assertions()?.with_sender_vouches(trust.clone());
                Policy::signed_by(trust).with_assertions(assertions)
            }
        };
        Ok(Some(match clock {
            Some(offset) => policy.with_clock(move || offset.now()),
            None => policy,
        }))
    }

    /// Returns what messages in files must have, at a time, if any option is given. Files may be read again.
    pub(crate) fn policy_at(&self, time: Option<SystemTime>) -> anyhow::Result<Option<Policy>> {
        let policy = self.policy(None)?.map(unremembered);
        Ok(policy.map(|policy| match time {
            Some(time) => policy.with_clock(move || time),
            None => policy,
        }))
    }
}

/// Returns a policy that accepts messages again, and assertions for one use.
fn unremembered(policy: Policy) -> Policy {
    policy.with_replay_cache(Unremembered)
}

/// Remembers nothing.
#[derive(Debug)]
struct Unremembered;

impl ReplayCache for Unremembered {
    fn remember(&self, _: [u8; 32], _: SystemTime, _: SystemTime) -> BoxFuture<'_, Remembered> {
        Box::pin(ready(Remembered::New))
    }
}

/// Verifies a message, whose package is in memory, by a policy that asks nobody else: no passwords are checked.
pub(crate) fn verify(policy: &Policy, message: &mut Received) -> Result<(), castile_wss::Error> {
    at_once(policy.verify_received(message)).map(drop)
}

/// Checks the security of an answer, whose package is in memory. `signatures` are those of the request.
pub(crate) fn verify_answer(
    security: &ClientSecurity,
    answer: &mut Received,
    signatures: &[Vec<u8>],
) -> Result<(), castile_soap::Error> {
    at_once(security.verify(answer, signatures))
}

/// Secures a message with keys from files.
pub(crate) fn secure(security: &ClientSecurity, message: Vec<u8>) -> Result<SecuredRequest, castile_soap::Error> {
    at_once(security.secure(&Written::new(message)))
}

/// Reads the names and passwords of users.
fn passwords(path: &Path) -> anyhow::Result<BTreeMap<String, Secret>> {
    let Ok(text) = String::from_utf8(read(path)?) else { bail!("{} is not text", path.display()) };
    let mut users = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let Some((name, password)) = line.split_once(':') else {
            bail!("line {} of {} has no colon, expected NAME:PASSWORD", number + 1, path.display());
        };
        if users.insert(name.to_owned(), Secret::new(password)).is_some() {
            bail!("line {} of {} has the name of an earlier line", number + 1, path.display());
        }
    }
    Ok(users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_clock_is_ahead_or_behind() {
        assert_eq!(offset("90s"), Ok(Offset { time: Duration::from_secs(90), is_behind: false }));
        assert_eq!(offset("-2h"), Ok(Offset { time: Duration::from_secs(7_200), is_behind: true }));
        assert!(offset("--2h").is_err());
        let (ahead, now) = (offset("1h").unwrap().now(), SystemTime::now());
        assert!(ahead > now + Duration::from_secs(3_500));
    }

    #[test]
    fn a_header_block_is_named_with_its_namespace() {
        let block = Part::Header { namespace: "urn:a".to_owned(), local: "b".to_owned() };
        assert_eq!(part("{urn:a}b"), Ok(block));
        assert_eq!(part("attachments"), Ok(Part::Attachments));
        assert_eq!(part("assertion"), Ok(Part::Assertion));
        assert!(part("{urn:a}").is_err());
        assert!(part("b").is_err());
    }
}
