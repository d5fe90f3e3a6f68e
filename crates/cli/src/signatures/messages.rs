//! Security of messages (WS-Security), for commands that send or receive them.

mod values;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::bail;
use castile_soap::{MessageSecurity, Received, SecuredRequest, Written};
use castile_wss::message::{
    AssertionPolicy, CertificateForm, ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, Remembered,
    ReplayCache, UsernameToken,
};
use castile_wss::{Algorithms, PrivateKey, Secret, SignatureAlgorithm, Trust};
use futures_util::future::{BoxFuture, ready};

use super::{certificate_of, certificates, read, unusable, with_certificates, with_revocation_lists};
use crate::errors::WARNING;
use crate::login;
use crate::package::at_once;
use crate::quantity::{self, Offset, offset};
use values::{algorithm, part};

/// What is added to messages that are sent. Secrets are in files or typed at a prompt, because other users of the machine can see command
/// lines.
#[derive(Debug, clap::Args)]
#[group(id = "outgoing_security")]
#[command(next_help_heading = "Security of sent messages")]
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
    /// The certificate of that key, as PEM. The file may have those of its issuers, too, which only --wss-cert-form path sends
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
    /// Sign with this algorithm: rsa, rsa-pss or ecdsa, with -sha256, -sha384 or -sha512, such as rsa-pss-sha256. Digests use the same hash
    /// function [default: that of the key, with SHA-256 for RSA]
    #[arg(long, value_name = "NAME", value_parser = algorithm, requires = "wss_key")]
    wss_algorithm: Option<SignatureAlgorithm>,
    /// The receiver need not understand what is added (mustUnderstand), for one that refuses it otherwise
    #[arg(long)]
    wss_no_must_understand: bool,
}

/// What is known about the other side.
#[derive(Debug, clap::Args)]
#[group(id = "other_side")]
#[command(next_help_heading = "Message security")]
pub(crate) struct Peer {
    /// How far the clock of the other side is ahead of ours, such as 90s, or -2h if it is behind
    #[arg(long, value_name = "TIME", value_parser = offset, allow_hyphen_values = true)]
    wss_clock: Option<Offset>,
    /// How far received messages may be made in the future or in the past, and assertions be outside their time [default: 60s, and 300s in
    /// the past]
    #[arg(long, value_name = "DURATION", value_parser = quantity::positive_time)]
    wss_skew: Option<Duration>,
    /// Also accept SHA-1, SHA-224 and DSA, and RSA keys of at least 1024 bits; allow to sign with SHA-1
    #[arg(long)]
    wss_legacy: bool,
}

/// What received messages must have.
#[derive(Debug, clap::Args)]
#[group(id = "incoming_security")]
#[command(next_help_heading = "Security of received messages")]
pub(crate) struct Incoming {
    /// Require messages that are received to be signed with one of these certificates, as PEM; may be repeated
    #[arg(long, value_name = "FILE")]
    wss_trust: Vec<PathBuf>,
    /// Require messages that are received to be signed with a certificate that was issued with one of these, as PEM; may be repeated
    #[arg(long, value_name = "FILE")]
    wss_ca: Vec<PathBuf>,
    /// Certificates that may be needed between that of a signature and one of --wss-ca, or that it only describes; may be repeated
    #[arg(long, value_name = "FILE", requires = "wss_ca")]
    wss_intermediate: Vec<PathBuf>,
    /// Refuse the certificates in these lists of their authorities (CRL), as PEM or DER. Each authority then needs a list; may be repeated
    #[arg(long, value_name = "FILE")]
    wss_crl: Vec<PathBuf>,
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

/// What answers must have.
#[derive(Debug, clap::Args)]
#[group(id = "answer_security")]
#[command(next_help_heading = "Security of received messages")]
pub(crate) struct Answers {
    #[command(flatten)]
    incoming: Incoming,
    /// What answers must have [default: signed, if a trust is given. Otherwise a Security in them is not checked, and refused if it must be
    /// understood]
    #[arg(long, value_name = "WHAT", value_enum)]
    wss_answer: Option<AnswerSecurity>,
}

/// What answers must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AnswerSecurity {
    /// What --wss-trust, --wss-ca and --wss-issuer require
    Signed,
    /// A time stamp that is near; only TLS tells who made them
    Timestamp,
    /// Nothing, not even a Security. One that is there is understood, and a time stamp in it has to be near
    Any,
}

/// Whom a server lets in.
#[derive(Debug, clap::Args)]
#[group(id = "known_users")]
#[command(next_help_heading = "Security of received messages")]
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
    /// The message has the certificate and those of its issuers that are in the file
    Path,
}

impl Outgoing {
    /// Returns the first option that adds something.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let options = [
            ("--wss-user", self.wss_user.is_some()),
            ("--wss-key", self.wss_key.is_some()),
            ("--wss-assertion", self.wss_assertion.is_some()),
            ("--wss-timestamp", self.wss_timestamp),
        ];
        options.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Returns the option whose secret is asked for or on standard input, if there is one.
    pub(crate) fn asks(&self) -> Option<&'static str> {
        let files = [
            ("--wss-password-file -", &self.wss_password_file),
            ("--wss-key -", &self.wss_key),
            ("--wss-cert -", &self.wss_cert),
            ("--wss-assertion -", &self.wss_assertion),
        ];
        let of_input = files.into_iter().find(|(_, file)| file.as_deref().is_some_and(login::is_input));
        let prompts = self.wss_user.is_some() && self.wss_password_file.is_none();
        of_input.map(|(option, _)| option).or(prompts.then_some("--wss-user without --wss-password-file"))
    }

    /// Warns if a password is sent to this URL without encryption.
    pub(crate) fn warn_in_clear(&self, url: &str) {
        if self.wss_user.is_some() && !self.wss_digest {
            login::warn_in_clear(url);
        }
    }

    /// Returns whether anything is added.
    pub(crate) fn is_given(&self) -> bool {
        self.first().is_some()
    }

    /// Reads the keys and the password. A dry run, which sends nothing, asks for no password.
    pub(crate) fn read(&self, peer: &Peer, is_dry: bool) -> anyhow::Result<Option<OutgoingSecurity>> {
        if !self.is_given() {
            if self.wss_no_must_understand {
                bail!("found --wss-no-must-understand, expected an option that adds security, too");
            }
            return Ok(None);
        }
        let mut security = OutgoingSecurity::new().with_must_understand(!self.wss_no_must_understand);
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
        if let Some(of_key) = &self.wss_key {
            let key = self.key(of_key, peer)?;
            if let Some(path) = &self.wss_cert {
                let certificates = certificates(path)?;
                let certificate = certificate_of((&key, of_key), (&certificates, path))?;
                security = security.with_certificate(certificate).with_certificate_form(match self.wss_cert_form {
                    Form::Token => CertificateForm::Token,
                    Form::IssuerSerial => CertificateForm::IssuerSerial,
                    Form::KeyIdentifier => CertificateForm::KeyIdentifier,
                    Form::Thumbprint => CertificateForm::Thumbprint,
                    Form::Path => CertificateForm::Path,
                });
                if matches!(self.wss_cert_form, Form::Token) && certificates.len() > 1 {
                    note!(
                        "note: {} has {} certificates, of which messages have that of the key only; --wss-cert-form path \
                         sends those of its issuers, too",
                        path.display(),
                        certificates.len()
                    );
                }
                security = security.with_issuers(certificates);
            }
            security = security.with_signature(key);
            if let Some(digest) = self.wss_algorithm.and_then(SignatureAlgorithm::digest) {
                security = security.with_digest(digest);
            }
            if self.wss_cert.is_none() && self.wss_assertion.is_none() {
                note!(
                    "{WARNING}warning{WARNING:#}: without --wss-cert a signature doesn't say whose it is, and only \
                     receivers that know the key accept it"
                );
            }
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
        if let Some(offset) = peer.wss_clock {
            security = security.with_clock(move || offset.of(SystemTime::now()));
        }
        Ok(Some(security))
    }

    /// Reads the private key.
    fn key(&self, path: &Path, peer: &Peer) -> anyhow::Result<PrivateKey> {
        let of_key = |error| unusable(path, &error);
        let key = PrivateKey::from_pem(&read(path)?).map_err(of_key)?;
        let Some(algorithm) = self.wss_algorithm else { return Ok(key) };
        match (Algorithms::default().allows_signature(algorithm), peer.wss_legacy) {
            (true, _) => key.with_algorithm(algorithm).map_err(of_key),
            (false, true) => key.with_legacy_algorithm(algorithm).map_err(of_key),
            (false, false) => bail!(
                "found --wss-algorithm with SHA-1, which is only for receivers that have nothing better, expected --wss-legacy, too"
            ),
        }
    }

    /// Returns whether answers confirm the signatures of their requests.
    pub(crate) fn confirms(&self) -> bool {
        self.wss_confirm
    }

    /// Returns the security of a client, if any option is given.
    pub(crate) fn of_client(
        &self,
        answers: &Answers,
        peer: &Peer,
        is_dry: bool,
    ) -> anyhow::Result<Option<ClientSecurity>> {
        self.client(answers, peer, is_dry, std::convert::identity)
    }

    /// Returns the security of the users of a load, if any option is given. Answers are not remembered, because their number has no
    /// limit.
    pub(crate) fn of_users(
        &self,
        answers: &Answers,
        peer: &Peer,
        is_dry: bool,
    ) -> anyhow::Result<Option<ClientSecurity>> {
        self.client(answers, peer, is_dry, unremembered)
    }

    fn client(
        &self,
        answers: &Answers,
        peer: &Peer,
        is_dry: bool,
        kept: fn(Policy) -> Policy,
    ) -> anyhow::Result<Option<ClientSecurity>> {
        let policy = answers.policy(peer)?.map(kept);
        peer.expect_use(self.is_given(), policy.is_some())?;
        if self.wss_confirm && !answers.incoming.has_trust() {
            bail!(
                "found --wss-confirm, expected --wss-trust or --wss-ca, too: answers that confirm a request are signed"
            );
        }
        let requests = self.read(peer, is_dry)?;
        if requests.is_none() && policy.is_none() {
            return Ok(None);
        }
        let mut security = ClientSecurity::new(requests.unwrap_or_default());
        if let Some(policy) = policy {
            security = security.with_answer_policy(policy);
        }
        Ok(Some(if self.wss_confirm { security.with_signature_confirmation() } else { security }))
    }

    /// Returns what requests to a server must have, if any option is given.
    pub(crate) fn of_requests(
        &self,
        requests: &Incoming,
        users: &Users,
        peer: &Peer,
    ) -> anyhow::Result<Option<Policy>> {
        let policy = requests.policy(Some(users), peer)?;
        peer.expect_use(self.is_given(), policy.is_some())?;
        Ok(policy)
    }
}

impl Peer {
    /// Returns an error if there is an option that nothing uses.
    fn expect_use(&self, has_outgoing: bool, has_policy: bool) -> anyhow::Result<()> {
        if self.wss_skew.is_some() && !has_policy {
            bail!("found --wss-skew, expected an option that requires security, too");
        }
        let unused = [("--wss-clock", self.wss_clock.is_some()), ("--wss-legacy", self.wss_legacy)];
        match unused.into_iter().find(|(_, is_given)| *is_given && !has_outgoing && !has_policy) {
            Some((option, _)) => bail!("found {option}, expected an option that adds or requires security, too"),
            None => Ok(()),
        }
    }

    /// Returns a policy that allows for the other side, at a time or now.
    fn allowed(&self, policy: Policy, time: Option<SystemTime>) -> Policy {
        let mut policy = policy;
        if let Some(skew) = self.wss_skew {
            policy = policy.with_clock_skew(skew).with_max_age(skew.max(Policy::DEFAULT_MAX_AGE));
        }
        if self.wss_legacy {
            policy = policy.with_algorithms(Algorithms::default().with_legacy());
        }
        if self.wss_clock.is_none() && time.is_none() {
            return policy;
        }
        let offset = self.wss_clock;
        policy.with_clock(move || {
            let ours = time.unwrap_or_else(SystemTime::now);
            offset.map_or(ours, |offset| offset.of(ours))
        })
    }
}

impl Answers {
    /// Returns whether something of WS-Security is checked, or ignored on purpose.
    pub(crate) fn is_given(&self) -> bool {
        self.incoming.is_given() || matches!(self.wss_answer, Some(AnswerSecurity::Timestamp | AnswerSecurity::Any))
    }

    /// Returns what answers must have, if anything.
    fn policy(&self, peer: &Peer) -> anyhow::Result<Option<Policy>> {
        match (self.wss_answer, self.incoming.is_given()) {
            (None, _) | (Some(AnswerSecurity::Signed), true) => self.incoming.policy(None, peer),
            (Some(AnswerSecurity::Signed), false) => {
                bail!("found --wss-answer signed, expected --wss-trust, --wss-ca or --wss-issuer, too")
            }
            (Some(AnswerSecurity::Timestamp), false) => Ok(Some(peer.allowed(Policy::timestamped(), None))),
            (Some(AnswerSecurity::Any), false) => Ok(Some(peer.allowed(Policy::any(), None))),
            (Some(_), true) => {
                bail!("found --wss-answer and a trust for signatures, expected --wss-answer signed, or no trust")
            }
        }
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
            let trust = issuers.remove(name).map_or_else(|| with_revocation_lists(Trust::new(), &self.wss_crl), Ok)?;
            issuers.insert(name, with_certificates(trust, &[path.into()], Trust::with_certificate)?);
        }
        let policy = AssertionPolicy::new();
        let policy = issuers.into_iter().fold(policy, |policy, (name, trust)| policy.with_issuer(name, trust));
        let policy = self.wss_audience.iter().fold(policy, AssertionPolicy::with_audience);
        Ok(if self.wss_bearer { policy.with_bearer() } else { policy })
    }

    /// Returns what received messages must have, if any option is given.
    fn policy(&self, users: Option<&Users>, peer: &Peer) -> anyhow::Result<Option<Policy>> {
        Ok(self.required(users)?.map(|policy| peer.allowed(policy, None)))
    }

    /// Returns what messages in files must have, at a time, if any option is given. Files may be read again.
    pub(crate) fn policy_at(
        &self,
        users: &Users,
        peer: &Peer,
        time: Option<SystemTime>,
    ) -> anyhow::Result<Option<Policy>> {
        let policy = self.required(Some(users))?.map(unremembered);
        peer.expect_use(false, policy.is_some())?;
        Ok(policy.map(|policy| peer.allowed(policy, time)))
    }

    fn required(&self, users: Option<&Users>) -> anyhow::Result<Option<Policy>> {
        if !self.wss_crl.is_empty() && !self.is_given() {
            bail!("found --wss-crl, expected --wss-trust, --wss-ca or --wss-issuer, too");
        }
        let signed = self.is_given().then(|| self.signed()).transpose()?;
        let Some(path) = users.and_then(|users| users.wss_users.as_ref()) else { return Ok(signed) };
        let passwords = passwords(path)?;
        Ok(Some(match signed {
            Some(policy) => policy.with_passwords(passwords),
            None => Policy::authenticated_by(passwords),
        }))
    }

    /// Returns whose signatures and assertions received messages must have.
    fn signed(&self) -> anyhow::Result<Policy> {
        let trust = with_certificates(Trust::new(), &self.wss_trust, Trust::with_certificate)?;
        let trust = with_certificates(trust, &self.wss_ca, Trust::with_authority)?;
        let trust = with_certificates(trust, &self.wss_intermediate, Trust::with_intermediate)?;
        let trust = with_revocation_lists(trust, &self.wss_crl)?;
        Ok(match (self.has_trust(), self.wss_issuer.is_empty()) {
            (_, true) => Policy::signed_by(trust),
            (false, false) => Policy::asserted_by(self.assertions()?),
            // Those who are trusted to sign may vouch for others.
            (true, false) => {
                let assertions = self.assertions()?.with_sender_vouches(trust.clone());
                Policy::signed_by(trust).with_assertions(assertions)
            }
        })
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
    fn remember(&self, _: [u8; 32], _: Duration) -> BoxFuture<'_, Remembered> {
        Box::pin(ready(Remembered::New))
    }
}

/// Verifies a message, whose package is in memory, by a policy whose passwords are in memory.
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
