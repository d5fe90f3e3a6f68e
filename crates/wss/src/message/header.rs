//! Reads the header block `Security`.

use std::ops::Range;
use std::sync::Arc;

use castile_datatypes::DateTime;
use castile_xml::{Memory, Reader, StartTag, Token, excerpt};

use super::confirmed::Confirmed;
use super::envelope::Block;
use super::username::ReceivedUsername;
use crate::assertion::{ReceivedAssertion, SamlVersion};
use crate::certificate::Certificate;
use crate::index::Index;
use crate::key::PublicKey;
use crate::limits::Limits;
use crate::moment::moment;
use crate::signature::{DSIG, Elements, Embedded, KeyHint, Signature};
use crate::uris::{PASSWORD_DIGEST, PASSWORD_TEXT, WSSE, WSSE11, WSU};
use crate::verify::Tokens;
use crate::{Error, ErrorKind};

/// Maximum number of tokens of a message.
const MAX_TOKENS: usize = 8;
/// Maximum number of assertions of a message.
const MAX_ASSERTIONS: usize = 4;
/// Maximum number of references to tokens that are beside them.
const MAX_REFERENCES: usize = 8;

/// The content of a `Security`. What is not known in it is an error, because it may change the meaning of the rest.
#[derive(Default)]
pub(crate) struct SecurityHeader {
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) username: Option<(ReceivedUsername, Range<usize>)>,
    /// The certificates of tokens, with their ids.
    tokens: Vec<(Option<String>, Vec<Certificate>)>,
    pub(crate) assertions: Vec<ReceivedAssertion>,
    /// Where tokens are that are inside references to them, with the ids of the references. Assertions are not among them.
    embedded: Vec<(Option<String>, Range<usize>)>,
    /// References to tokens that are beside them, for signatures of the tokens.
    references: Vec<KeyHint>,
    pub(crate) signatures: Vec<(Signature, Range<usize>)>,
    /// What an answer says about the signatures of its request.
    pub(crate) confirmed: Vec<Confirmed>,
    /// The byte ranges of all its children.
    pub(crate) children: Vec<Range<usize>>,
}

pub(crate) struct Timestamp {
    pub(crate) created: Option<DateTime>,
    pub(crate) expires: Option<DateTime>,
    pub(crate) range: Range<usize>,
}

impl SecurityHeader {
    /// Reads the block of a message.
    pub(crate) fn read(text: &str, block: &Block, limits: Limits) -> Result<Self, Error> {
        let mut reader = Reader::decoded(text, limits.document, &mut Memory::default())?;
        loop {
            match reader.next()? {
                Token::StartTag(tag) if tag.offset == block.range.start => break,
                Token::End => return Err(Error::new(ErrorKind::Malformed, "no <Security> begins here")),
                _ => {}
            }
        }
        let mut elements = Elements::new(&mut reader, limits, "Security").of_message();
        let mut header = SecurityHeader::default();
        while let Some(tag) = elements.next()? {
            header.child(&mut elements, tag, limits)?;
            header.children.push(tag.offset..elements.reader.offset());
        }
        Ok(header)
    }

    fn child<'a>(&mut self, elements: &mut Elements<'_, 'a>, tag: StartTag<'a>, limits: Limits) -> Result<(), Error> {
        let twice = |local| Error::new(ErrorKind::Malformed, format!("a second <{local}>")).at(tag.offset);
        let range = |elements: &Elements<'_, 'a>| tag.offset..elements.reader.offset();
        match (elements.reader.namespace(tag.namespace), tag.name.local()) {
            (WSU, "Timestamp") => {
                let (created, expires) = timestamp(elements)?;
                let timestamp = Timestamp { created, expires, range: range(elements) };
                match self.timestamp.replace(timestamp) {
                    None => Ok(()),
                    Some(_) => Err(twice("Timestamp")),
                }
            }
            (WSSE, "UsernameToken") => {
                let token = username_token(elements, tag)?;
                match self.username.replace((token, range(elements))) {
                    None => Ok(()),
                    Some(_) => Err(twice("UsernameToken")),
                }
            }
            (WSSE, "BinarySecurityToken") => {
                if self.tokens.len() == MAX_TOKENS {
                    let message = format!("more than {MAX_TOKENS} tokens, which is the limit");
                    return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                }
                let id = elements.reader.qualified_attribute(WSU, "Id").map(|id| id.value.to_owned());
                self.tokens.push((id, elements.binary_token(tag)?));
                Ok(())
            }
            (DSIG, "Signature") => {
                let (signature, embedded) = Signature::read_in_message(elements.reader, limits)?;
                // Anybody can copy one, which would cause its work again.
                if self.signatures.iter().any(|(known, _)| known.value == signature.value) {
                    let message = "a second <Signature> with the same value";
                    return Err(Error::new(ErrorKind::Malformed, message).at(tag.offset));
                }
                self.signatures.push((signature, range(elements)));
                self.embed(embedded)
            }
            (WSSE, "SecurityTokenReference") => {
                // Without an id it only announces a token.
                if elements.reader.qualified_attribute(WSU, "Id").is_none() {
                    return Ok(elements.reader.skip_element()?);
                }
                if self.references.len() == MAX_REFERENCES {
                    let message = format!("more than {MAX_REFERENCES} references to tokens, which is the limit");
                    return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                }
                elements.token_reference(tag, &mut self.references)?;
                self.embed(std::mem::take(&mut elements.embedded))
            }
            (WSSE11, "SignatureConfirmation") => {
                if self.confirmed.len() == limits.signatures {
                    let limit = limits.signatures;
                    let message = format!("more than {limit} <SignatureConfirmation>, which is the limit");
                    return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                }
                self.confirmed.push(Confirmed::read(elements, tag)?);
                Ok(())
            }
            (namespace, "Assertion") if SamlVersion::of_namespace(namespace).is_some() => {
                let version = SamlVersion::of_namespace(namespace).unwrap_or(SamlVersion::Saml20);
                let received = ReceivedAssertion::read(elements.reader, tag, version, limits)?;
                self.embed(Embedded { assertions: vec![received], ..Embedded::default() })
            }
            (_, local) => {
                let message = format!("<{}> in <Security>, which is not supported", excerpt(local, 60));
                Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset))
            }
        }
    }

    /// Adds tokens, wherever they are in the block.
    fn embed(&mut self, embedded: Embedded) -> Result<(), Error> {
        self.embedded.extend(embedded.tokens);
        self.assertions.extend(embedded.assertions);
        match self.assertions.get(MAX_ASSERTIONS) {
            None => Ok(()),
            Some(received) => {
                let message = format!("more than {MAX_ASSERTIONS} assertions, which is the limit");
                Err(Error::new(ErrorKind::Limit, message).at(received.assertion.range.start))
            }
        }
    }

    /// Returns the byte ranges of the children of the block, and of the tokens in it.
    pub(super) fn ranges(&self) -> impl Iterator<Item = &Range<usize>> {
        let assertions = self.assertions.iter().map(|received| &received.assertion.range);
        self.children.iter().chain(self.embedded.iter().map(|(_, token)| token)).chain(assertions)
    }

    /// Replaces the references to tokens of the message, in the signatures, by the certificates of the tokens, or by the keys that
    /// the assertions name. Returns where the tokens are.
    ///
    /// # Errors
    /// A signature refers to a token that is not there.
    pub(crate) fn resolve_tokens(&mut self, index: &Index) -> Result<Tokens, Error> {
        let SecurityHeader { tokens, assertions, embedded, references, signatures, .. } = self;
        // Many hints may lead to one assertion.
        let keys: Vec<Arc<[PublicKey]>> = assertions.iter().map(|one| one.subject_keys().into()).collect();
        let find = |target: &str, version: Option<SamlVersion>| {
            let is_wanted = |one: &ReceivedAssertion| {
                one.assertion.id == target && version.is_none_or(|version| version == one.assertion.version)
            };
            if let Some(number) = assertions.iter().position(is_wanted) {
                let found = &assertions[number];
                let keys = keys[number].clone();
                return Some((KeyHint::Subject { assertion: number, keys }, found.assertion.range.clone()));
            }
            let (_, certificates) = tokens.iter().find(|(id, _)| version.is_none() && id.as_deref() == Some(target))?;
            Some((KeyHint::Certificates(certificates.clone()), index.element(target)?))
        };
        let mut found = Tokens::default();
        found.by_reference.extend(embedded.iter().filter_map(|(id, range)| Some((id.clone()?, range.clone()))));
        found
            .decided
            .extend(assertions.iter().filter(|one| one.signature.is_some()).map(|one| one.assertion.range.clone()));
        // What nothing refers to may lead to nothing.
        for hint in &*references {
            let KeyHint::Token { reference: Some(reference), target, version } = hint else { continue };
            found.by_reference.extend(find(target, *version).map(|(_, range)| (reference.clone(), range)));
        }
        for (signature, range) in signatures {
            for hint in &mut signature.hints {
                let KeyHint::Token { reference, target, version } = hint else { continue };
                let Some((resolved, element)) = find(target, *version) else {
                    let message = format!("no token of the message has the id \"{}\"", excerpt(target, 60));
                    return Err(Error::new(ErrorKind::Reference, message).at(range.start));
                };
                found.by_reference.extend(reference.take().map(|reference| (reference, element)));
                *hint = resolved;
            }
        }
        Ok(found)
    }
}

/// Reads the content of a `Timestamp` (§10).
fn timestamp(elements: &mut Elements<'_, '_>) -> Result<(Option<DateTime>, Option<DateTime>), Error> {
    let (mut created, mut expires) = (None, None);
    while let Some(tag) = elements.next()? {
        let slot = match (elements.reader.namespace(tag.namespace), tag.name.local()) {
            (WSU, "Created") => &mut created,
            (WSU, "Expires") => &mut expires,
            _ => return Err(elements.unexpected(tag, "<Created> or <Expires>")),
        };
        let text = elements.text()?;
        if slot.replace(moment(&text).map_err(|error| error.at(tag.offset))?).is_some() {
            return Err(elements.unexpected(tag, "one of them"));
        }
    }
    Ok((created, expires))
}

/// Reads the content of a `UsernameToken` (Username Token Profile §3.1).
fn username_token<'a>(elements: &mut Elements<'_, 'a>, token: StartTag<'a>) -> Result<ReceivedUsername, Error> {
    let mut found = ReceivedUsername::default();
    let mut name = None;
    while let Some(tag) = elements.next()? {
        let is_second = match (elements.reader.namespace(tag.namespace), tag.name.local()) {
            (WSSE, "Username") => name.replace(elements.text()?).is_some(),
            (WSSE, "Password") => {
                let kind = elements.optional_attribute("Type");
                found.is_digest = match kind.as_deref() {
                    None | Some(PASSWORD_TEXT) => false,
                    Some(PASSWORD_DIGEST) => true,
                    Some(_) => {
                        let message = "a type of password that is not supported";
                        return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
                    }
                };
                found.password.replace(zeroize::Zeroizing::new(elements.text()?)).is_some()
            }
            (WSSE, "Nonce") => found.nonce.replace(elements.base64(tag)?).is_some(),
            (WSU, "Created") => {
                let text = elements.text()?;
                // The text may be a password that is in the wrong place.
                let created = moment(&text).map_err(|_| {
                    let message = "<Created> of a <UsernameToken> is not a date and time with a zone";
                    Error::new(ErrorKind::Malformed, message).at(tag.offset)
                })?;
                found.created.replace((text, created)).is_some()
            }
            _ => {
                let message = format!("<{}> in <UsernameToken>, which is not supported", excerpt(tag.name.local(), 60));
                return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
            }
        };
        if is_second {
            return Err(elements.unexpected(tag, "one of them"));
        }
    }
    found.username =
        name.ok_or_else(|| Error::new(ErrorKind::Malformed, "a <UsernameToken> without <Username>").at(token.offset))?;
    Ok(found)
}
