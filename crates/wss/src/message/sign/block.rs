//! Writes the header block, and inserts it into a message.

use std::fmt::Write;
use std::ops::Range;
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_datatypes::DateTime;

use super::{CertificateForm, Ids, OutgoingSecurity, SignedPart};
use crate::assertion::SentAssertion;
use crate::certificate::Certificate;
use crate::crypto;
use crate::message::confirmed::Confirmed;
use crate::message::envelope::{Envelope, end_of_name};
use crate::message::part::Part;
use crate::signature::escaped;
use crate::uris::{BASE64_BINARY, THUMBPRINT_SHA1, WSSE, WSU, X509_KEY_IDENTIFIER, X509_PATH, X509_V3};
use crate::{DigestAlgorithm, Error, ErrorKind};

/// The header block that is added.
pub(super) struct SecurityBlock {
    start: String,
    pub(super) content: String,
    /// The id of the time stamp, if it is to be signed, and where it ends. The content begins with it.
    timestamp: Option<(String, usize)>,
    /// The content of the signature's `KeyInfo`.
    pub(super) key_info: String,
    /// What else of the block is signed.
    pub(super) references: Vec<SignedPart>,
    /// The qualified name of a header of the envelope.
    header: String,
}

/// A change of a text: what is inserted at an offset, instead of what is in the range.
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

impl OutgoingSecurity {
    /// Writes what is in the header block before the signature.
    pub(super) fn block(
        &self,
        envelope: &Envelope<'_>,
        assertion: Option<&SentAssertion>,
        ids: &mut Ids<'_>,
    ) -> Result<SecurityBlock, Error> {
        let now = (self.clock)();
        // A time stamp takes less, and so does a token.
        let mut content =
            String::with_capacity(512 + self.certificate.as_ref().map_or(0, |one| 512 + 2 * one.der().len()));
        let mut references = Vec::new();
        let mut timestamp = None;
        if let Some(lifetime) = self.lifetime {
            // Two equal messages of one millisecond would have equal signatures, and be taken for one that is sent again.
            let mut random = [0; 8];
            crypto::fill(&mut random)?;
            let id = ids.fresh(&format!("time-{:016x}", u64::from_be_bytes(random)));
            let expires = now.checked_add(lifetime).unwrap_or(now);
            let _ = write!(
                content,
                "<wsu:Timestamp xmlns:wsu=\"{WSU}\" wsu:Id=\"{id}\"><wsu:Created>{}</wsu:Created><wsu:Expires>{}</wsu:Expires></wsu:Timestamp>",
                in_milliseconds(now),
                in_milliseconds(expires)
            );
            timestamp = self.signed.contains(&Part::Timestamp).then_some((id, content.len()));
        }
        if let Some(assertion) = assertion {
            content.push_str(&assertion.text);
            if self.key.is_some() && self.signed.contains(&Part::Assertion) {
                let reference = ids.fresh("reference");
                content.push_str(&assertion.reference(Some(&reference)));
                let is_signed = !assertion.index.signatures.is_empty();
                references.push(SignedPart::Token { reference, token: assertion.id.clone(), is_signed });
            }
        }
        let mut key_info = String::new();
        match (&self.key, &self.certificate, assertion) {
            (Some(_), _, Some(assertion)) if self.has_key_of_subject => key_info = assertion.reference(None),
            (Some(_), _, None) if self.has_key_of_subject => {
                let message = "a signature with the key of an assertion's subject, and no assertion";
                return Err(Error::new(ErrorKind::Key, message));
            }
            (Some(key), Some(certificate), _) => {
                let certificate = Certificate::of_key(&**key, std::slice::from_ref(certificate))?;
                key_info = self.token_reference(certificate, ids, &mut content)?;
            }
            _ => {}
        }
        if let Some(username) = &self.username {
            let id = ids.fresh("user");
            let mut nonce = [0; 16];
            crypto::fill(&mut nonce)?;
            content.push_str(&username.write(&id, in_milliseconds(now), &nonce)?);
            references.extend(self.signed.contains(&Part::Username).then_some(SignedPart::Element(id)));
        }
        let header = match envelope.prefix.as_str() {
            "" => "Header".to_owned(),
            prefix => format!("{prefix}:Header"),
        };
        let namespace = envelope.version.namespace();
        let mut start = format!("<wsse:Security xmlns:wsse=\"{WSSE}\" xmlns:wsu=\"{WSU}\"");
        if self.must_understand || self.role.is_some() {
            let _ = write!(start, " xmlns:env=\"{namespace}\"");
        }
        if self.must_understand {
            start.push_str(" env:mustUnderstand=\"1\"");
        }
        if let Some(role) = &self.role {
            let _ = write!(start, " env:{}=\"{}\"", envelope.version.role_attribute(), escaped(role));
        }
        if assertion.is_some() {
            // A default namespace around the assertion would be that of elements in it that have none.
            start.push_str(" xmlns=\"\"");
        }
        start.push('>');
        Ok(SecurityBlock { start, content, timestamp, key_info, references, header })
    }

    /// Writes the reference to the certificate, and the token, if it is in the message.
    fn token_reference(
        &self,
        certificate: &Certificate,
        ids: &mut Ids<'_>,
        content: &mut String,
    ) -> Result<String, Error> {
        let reference = match self.form {
            CertificateForm::Token => write_token(X509_V3, certificate.der(), ids, content),
            CertificateForm::Path => write_token(X509_PATH, &certificate.path(&self.issuers)?, ids, content),
            CertificateForm::IssuerSerial => format!(
                "<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>{}</ds:X509IssuerName><ds:X509SerialNumber>{}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>",
                escaped(&certificate.issuer()),
                certificate.serial_number()
            ),
            CertificateForm::KeyIdentifier => {
                let identifier = certificate.key_identifier().ok_or_else(|| {
                    Error::new(
                        ErrorKind::Key,
                        "the certificate has no SubjectKeyIdentifier, by which it is to be named",
                    )
                })?;
                format!(
                    "<wsse:KeyIdentifier EncodingType=\"{BASE64_BINARY}\" ValueType=\"{X509_KEY_IDENTIFIER}\">{}</wsse:KeyIdentifier>",
                    STANDARD.encode(identifier)
                )
            }
            CertificateForm::Thumbprint => {
                let mut digest = crypto::digest(DigestAlgorithm::Sha1)?;
                digest.update(certificate.der());
                format!(
                    "<wsse:KeyIdentifier EncodingType=\"{BASE64_BINARY}\" ValueType=\"{THUMBPRINT_SHA1}\">{}</wsse:KeyIdentifier>",
                    STANDARD.encode(digest.finish())
                )
            }
        };
        Ok(format!("<wsse:SecurityTokenReference>{reference}</wsse:SecurityTokenReference>"))
    }
}

/// Writes a token, and returns the reference to it.
fn write_token(kind: &str, token: &[u8], ids: &mut Ids<'_>, content: &mut String) -> String {
    let id = ids.fresh("token");
    let _ = write!(
        content,
        "<wsse:BinarySecurityToken EncodingType=\"{BASE64_BINARY}\" ValueType=\"{kind}\" wsu:Id=\"{id}\">"
    );
    STANDARD.encode_string(token, content);
    content.push_str("</wsse:BinarySecurityToken>");
    format!("<wsse:Reference URI=\"#{id}\" ValueType=\"{kind}\"/>")
}

impl SecurityBlock {
    /// Returns the time stamp with its id, if it is to be signed. It is written in canonical form.
    pub(super) fn signed_timestamp(&self) -> Option<(&str, &str)> {
        let (id, end) = self.timestamp.as_ref()?;
        Some((id, &self.content[..*end]))
    }

    /// Adds what confirms the signature values of a request. A request without signatures is confirmed, too.
    pub(super) fn confirm(&mut self, values: Option<&[Vec<u8>]>, ids: &mut Ids<'_>) {
        let Some(values) = values else { return };
        let all = values.iter().map(|value| Some(value.as_slice()));
        for value in all.chain(values.is_empty().then_some(None)) {
            let id = ids.fresh("confirmed");
            Confirmed::write(value, &id, &mut self.content);
            self.references.push(SignedPart::Element(id));
        }
    }

    /// Inserts the block and the other changes into a message. Returns the offset of the signature, too.
    pub(super) fn insert(
        &self,
        text: &str,
        envelope: &Envelope<'_>,
        edits: &[Edit],
        signature: &str,
    ) -> (String, usize) {
        let SecurityBlock { start, content, header, .. } = self;
        let block = |before: &[&str], after: &[&str]| {
            let before = [before, &[start, content]].concat();
            let length = before.iter().map(|piece| piece.len()).sum::<usize>();
            (length, [&before[..], &[signature, "</wsse:Security>"], after].concat().concat())
        };
        let (range, (signature_in_edit, inserted)) = match &envelope.header {
            None => {
                let at = envelope.body.start;
                (at..at, block(&["<", header, ">"], &["</", header, ">"]))
            }
            Some(range) if text[range.clone()].ends_with("/>") => {
                let name = &text[range.start + 1..range.start + end_of_name(&text[range.clone()])];
                (range.end - 2..range.end, block(&[">"], &["</", name, ">"]))
            }
            Some(range) => {
                let at = text[..range.end].rfind("</").unwrap_or(range.end);
                (at..at, block(&[], &[]))
            }
        };
        let before = edits.iter().filter(|edit| edit.range.start <= range.start);
        let before = before.map(|edit| edit.text.len() - edit.range.len()).sum::<usize>();
        let at = range.start + before + signature_in_edit;
        let place = Edit { range, text: inserted };
        (edited(text, edits.iter().chain([&place])), at)
    }
}

/// Returns a text with changes.
pub(super) fn edited<'e>(text: &str, edits: impl Iterator<Item = &'e Edit>) -> String {
    let mut edits: Vec<&Edit> = edits.collect();
    edits.sort_by_key(|edit| edit.range.start);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let (mut out, mut copied) = (String::with_capacity(text.len() + added), 0);
    for edit in edits {
        out.push_str(&text[copied..edit.range.start]);
        out.push_str(&edit.text);
        copied = edit.range.end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Many receivers read no more than milliseconds.
fn in_milliseconds(time: SystemTime) -> DateTime {
    let moment = DateTime::from(time);
    DateTime { nanosecond: moment.nanosecond / 1_000_000 * 1_000_000, ..moment }
}
