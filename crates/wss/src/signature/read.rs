//! Reads a `Signature`. Only white space, comments and instructions may be between its elements.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use castile_xml::c14n::{self, Method};
use castile_xml::{QName, Reader, StartTag, Token, excerpt};

use super::{DSIG, DSIG11, Embedded, KeyHint, Reference, Signature, Transform};
use crate::assertion::{ReceivedAssertion, SamlVersion};
use crate::certificate::{Certificate, CertificateReference};
use crate::key::{Curve, PublicKey};
use crate::limits::Limits;
use crate::name::DistinguishedName;
use crate::uris::{
    BASE64_BINARY, ENVELOPED, EXCLUSIVE, STR_TRANSFORM, SWA_COMPLETE, SWA_CONTENT, THUMBPRINT_SHA1, WSSE, WSU,
    X509_KEY_IDENTIFIER, X509_PATH, X509_V3, XPATH,
};
use crate::{DigestAlgorithm, Error, ErrorKind, SignatureAlgorithm};

/// Numbers in `RSAKeyValue` and elsewhere are written with and without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
);

/// Maximum length of a binary value in a signature or a token, in bytes of base64 with its white space. A path of ten
/// certificates has 20 KiB.
const MAX_BINARY: usize = 128 << 10;
/// Maximum length of the text of a distinguished name, in bytes.
const MAX_NAME: usize = 4 << 10;
/// Maximum number of prefixes in a `PrefixList`. More than are in scope can be in it: those that are declared inside what is signed.
const MAX_PREFIXES: usize = 1_000;

impl Signature {
    /// Reads the signature whose start tag is at `offset`. `reader` is before it.
    pub(crate) fn find(reader: &mut Reader<'_>, offset: usize, limits: Limits) -> Result<Self, Error> {
        loop {
            match reader.next()? {
                Token::StartTag(tag) if tag.offset == offset => return Signature::read(reader, limits),
                Token::End => return Err(Error::new(ErrorKind::Malformed, "no signature begins here").at(offset)),
                _ => {}
            }
        }
    }

    /// Reads the content of a signature, whose start tag was read last.
    pub(crate) fn read(reader: &mut Reader<'_>, limits: Limits) -> Result<Self, Error> {
        Signature::content(&mut Elements::new(reader, limits, "Signature"))
    }

    /// Reads the content of a signature of a message, and the tokens that its references have inside.
    pub(crate) fn read_in_message(reader: &mut Reader<'_>, limits: Limits) -> Result<(Self, Embedded), Error> {
        let mut elements = Elements::new(reader, limits, "Signature").of_message();
        let signature = Signature::content(&mut elements)?;
        Ok((signature, elements.embedded))
    }

    fn content(elements: &mut Elements<'_, '_>) -> Result<Self, Error> {
        let signed_info = elements.required("SignedInfo")?;
        let info = elements.signed_info()?;
        let value = elements.required("SignatureValue").and_then(|tag| elements.base64(tag))?;
        let mut hints = Vec::new();
        let mut has_key_info = false;
        while let Some(tag) = elements.next()? {
            match elements.dsig(tag) {
                Some("KeyInfo") if !has_key_info => {
                    has_key_info = true;
                    elements.key_info(&mut hints)?;
                }
                Some("Object") => elements.reader.skip_element()?,
                _ => return Err(elements.unexpected(tag, "<KeyInfo> or <Object>")),
            }
        }
        let (canonicalization, algorithm, references) = info;
        Ok(Signature { signed_info: signed_info.offset, canonicalization, algorithm, references, value, hints })
    }
}

/// The elements inside an element, one after the other.
pub(crate) struct Elements<'r, 'a> {
    pub(crate) reader: &'r mut Reader<'a>,
    limits: Limits,
    /// The name of the outermost element, for errors.
    within: &'static str,
    /// How many keys and certificates were read.
    keys: usize,
    /// Whether references to tokens may have assertions inside. The signatures of these may not, because that could go on for ever.
    is_of_message: bool,
    pub(crate) embedded: Embedded,
}

impl<'r, 'a> Elements<'r, 'a> {
    /// Reads the content of an element with this local name, whose start tag was read last.
    pub(crate) fn new(reader: &'r mut Reader<'a>, limits: Limits, within: &'static str) -> Self {
        Elements { reader, limits, within, keys: 0, is_of_message: false, embedded: Embedded::default() }
    }

    /// Accepts assertions inside references to tokens.
    pub(crate) fn of_message(self) -> Self {
        Elements { is_of_message: true, ..self }
    }

    /// Counts a key or a certificate that describes the key of a signature.
    fn count_key(&mut self, tag: StartTag<'_>) -> Result<(), Error> {
        self.keys += 1;
        match self.keys > self.limits.keys {
            false => Ok(()),
            true => {
                let message = format!("more than {} keys and certificates, which is the limit", self.limits.keys);
                Err(Error::new(ErrorKind::Limit, message).at(tag.offset))
            }
        }
    }

    /// Returns the start tag of the next element, or `None` after the end tag of the one around.
    pub(crate) fn next(&mut self) -> Result<Option<StartTag<'a>>, Error> {
        loop {
            let offset = self.reader.offset();
            match self.reader.next()? {
                Token::StartTag(tag) => return Ok(Some(tag)),
                Token::EndTag(_) | Token::End => return Ok(None),
                Token::Text(text) if !text.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {
                    // The text may be a password that is in the wrong place.
                    let message = format!("text in <{}>, where an element was expected", self.within);
                    return Err(Error::new(ErrorKind::Malformed, message).at(offset));
                }
                Token::Text(_) | Token::Comment(_) | Token::Instruction { .. } => {}
            }
        }
    }

    /// Returns whether an element has this name.
    pub(crate) fn is(&self, tag: StartTag<'_>, namespace: &str, local: &str) -> bool {
        self.reader.namespace(tag.namespace) == namespace && tag.name.local() == local
    }

    /// Returns the local name of an element in the namespace of XML Signature.
    fn dsig(&self, tag: StartTag<'a>) -> Option<&'a str> {
        (self.reader.namespace(tag.namespace) == DSIG).then(|| tag.name.local())
    }

    fn required(&mut self, local: &str) -> Result<StartTag<'a>, Error> {
        match self.next()? {
            Some(tag) if self.dsig(tag) == Some(local) => Ok(tag),
            Some(tag) => Err(self.unexpected(tag, &format!("<{local}>"))),
            None => {
                let message = format!("the end of an element in <{}>, where <{local}> was expected", self.within);
                Err(Error::new(ErrorKind::Malformed, message).at(self.reader.offset()))
            }
        }
    }

    /// Reads to the end of an element that has no more elements.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        match self.next()? {
            None => Ok(()),
            Some(tag) => Err(self.unexpected(tag, "no further element")),
        }
    }

    #[cold]
    pub(crate) fn unexpected(&self, tag: StartTag<'_>, expected: &str) -> Error {
        let message = format!("{} in <{}>, where {expected} was expected", self.shown(tag.name), self.within);
        Error::new(ErrorKind::Malformed, message).at(tag.offset)
    }

    fn shown(&self, name: QName<'_>) -> String {
        format!("<{}>", excerpt(name.as_str(), 60))
    }

    /// Returns the text of an element. Comments in it don't split it.
    pub(crate) fn text(&mut self) -> Result<String, Error> {
        let mut all = String::new();
        loop {
            match self.reader.next()? {
                Token::Text(text) => all.push_str(&text),
                Token::EndTag(_) | Token::End => return Ok(all),
                Token::StartTag(tag) => return Err(self.unexpected(tag, "text")),
                Token::Comment(_) | Token::Instruction { .. } => {}
            }
        }
    }

    /// Returns the text of an element, or `None` if it has elements.
    pub(crate) fn text_alone(&mut self) -> Result<Option<String>, Error> {
        let mut all = Some(String::new());
        loop {
            match self.reader.next()? {
                Token::Text(text) => {
                    if let Some(all) = &mut all {
                        all.push_str(&text);
                    }
                }
                Token::EndTag(_) | Token::End => return Ok(all),
                Token::StartTag(_) => {
                    all = None;
                    self.reader.skip_element()?;
                }
                Token::Comment(_) | Token::Instruction { .. } => {}
            }
        }
    }

    /// Reads a distinguished name. Returns `None` if it is not one, or too long.
    fn distinguished_name(&mut self) -> Result<Option<DistinguishedName>, Error> {
        let text = self.text()?;
        Ok(Some(text).filter(|text| text.len() <= MAX_NAME).and_then(|text| DistinguishedName::parse(&text)))
    }

    pub(crate) fn base64(&mut self, tag: StartTag<'_>) -> Result<Vec<u8>, Error> {
        let text = self.text()?;
        if text.len() > MAX_BINARY {
            let message = format!("{} has more than {MAX_BINARY} bytes, which is the limit", self.shown(tag.name));
            return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
        }
        decoded(text).ok_or_else(|| {
            let message = format!("{} is not base64", self.shown(tag.name));
            Error::new(ErrorKind::Malformed, message).at(tag.offset)
        })
    }

    /// Returns the value of an attribute in base64, if there is one.
    pub(crate) fn base64_attribute(&self, tag: StartTag<'_>, local: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(text) = self.optional_attribute(local) else { return Ok(None) };
        decoded(text).map(Some).ok_or_else(|| {
            let message = format!("the attribute {local} of {} is not base64", self.shown(tag.name));
            Error::new(ErrorKind::Malformed, message).at(tag.offset)
        })
    }

    pub(crate) fn attribute(&self, tag: StartTag<'_>, local: &str) -> Result<String, Error> {
        self.optional_attribute(local).ok_or_else(|| {
            let message = format!("{} without the attribute {local}", self.shown(tag.name));
            Error::new(ErrorKind::Malformed, message).at(tag.offset)
        })
    }

    pub(crate) fn optional_attribute(&self, local: &str) -> Option<String> {
        let mut attributes = self.reader.attributes();
        let found = attributes.find(|attribute| attribute.namespace.is_empty() && attribute.name.local() == local);
        Some(found?.value.to_owned())
    }

    /// Reads the content of `SignedInfo` (§4.4).
    fn signed_info(&mut self) -> Result<(Method, SignatureAlgorithm, Vec<Reference>), Error> {
        let tag = self.required("CanonicalizationMethod")?;
        let uri = self.attribute(tag, "Algorithm")?;
        let canonicalization = self
            .canonicalization(&uri)?
            .ok_or_else(|| unsupported("the canonicalization algorithm", &uri).at(tag.offset))?;
        let tag = self.required("SignatureMethod")?;
        let algorithm = self.signature_method(tag)?;
        let mut references = Vec::new();
        while let Some(tag) = self.next()? {
            if self.dsig(tag) != Some("Reference") {
                return Err(self.unexpected(tag, "<Reference>"));
            }
            if references.len() == self.limits.references {
                let message = format!("more than {} references, which is the limit", self.limits.references);
                return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
            }
            references.push(self.reference(tag)?);
        }
        match references.is_empty() {
            true => Err(Error::new(ErrorKind::Malformed, "a signature without <Reference>").at(tag.offset)),
            false => Ok((canonicalization, algorithm, references)),
        }
    }

    /// Reads the parameters of a canonicalization algorithm, if `uri` identifies one.
    fn canonicalization(&mut self, uri: &str) -> Result<Option<Method>, Error> {
        let Some(algorithm) = c14n::Algorithm::from_uri(uri) else { return Ok(None) };
        let mut method = Method::new(algorithm);
        let mut has_list = false;
        while let Some(tag) = self.next()? {
            let is_list =
                self.reader.namespace(tag.namespace) == EXCLUSIVE && tag.name.local() == "InclusiveNamespaces";
            if !is_list || has_list || algorithm.version != c14n::Version::Exclusive10 {
                return Err(self.unexpected(tag, "at most one <InclusiveNamespaces> of exclusive canonicalization"));
            }
            has_list = true;
            let list = self.optional_attribute("PrefixList").unwrap_or_default();
            if list.split_ascii_whitespace().count() > MAX_PREFIXES {
                let message = format!("a PrefixList of more than {MAX_PREFIXES} prefixes, which is the limit");
                return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
            }
            method = method.with_inclusive_namespaces(&list);
            self.end()?;
        }
        Ok(Some(method))
    }

    fn signature_method(&mut self, tag: StartTag<'a>) -> Result<SignatureAlgorithm, Error> {
        let uri = self.attribute(tag, "Algorithm")?;
        let algorithm = SignatureAlgorithm::from_uri(&uri)
            .ok_or_else(|| unsupported("the signature algorithm", &uri).at(tag.offset))?;
        if let Some(parameter) = self.next()? {
            // A shortened code is easier to guess (CVE-2009-0217), and nobody needs it.
            return Err(match self.dsig(parameter) {
                Some("HMACOutputLength") => {
                    Error::new(ErrorKind::Unsupported, "HMACOutputLength, which shortens a code, is not supported")
                        .at(parameter.offset)
                }
                _ => self.unexpected(parameter, "no parameter"),
            });
        }
        Ok(algorithm)
    }

    fn reference(&mut self, tag: StartTag<'a>) -> Result<Reference, Error> {
        let uri = self.optional_attribute("URI");
        let kind = self.optional_attribute("Type");
        if kind.as_deref() == Some("http://www.w3.org/2000/09/xmldsig#Manifest") {
            let message =
                "a reference to a Manifest, whose references would have to be verified, too, is not supported";
            return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
        }
        let mut transforms = Vec::new();
        let mut child = self.next()?;
        if let Some(list) = child
            && self.dsig(list) == Some("Transforms")
        {
            while let Some(transform) = self.next()? {
                if self.dsig(transform) != Some("Transform") {
                    return Err(self.unexpected(transform, "<Transform>"));
                }
                if transforms.len() == self.limits.transforms {
                    let message =
                        format!("more than {} transforms of a reference, which is the limit", self.limits.transforms);
                    return Err(Error::new(ErrorKind::Limit, message).at(transform.offset));
                }
                let uri = self.attribute(transform, "Algorithm")?;
                if uri == ENVELOPED {
                    self.end()?;
                    transforms.push(Transform::Enveloped);
                } else if uri == XPATH {
                    self.xpath(transform)?;
                    transforms.push(Transform::WithoutSignatures);
                } else if uri == STR_TRANSFORM {
                    transforms.push(Transform::Token(self.transformation_parameters(transform)?));
                } else if uri == SWA_CONTENT {
                    self.end()?;
                    transforms.push(Transform::Attachment);
                } else if uri == SWA_COMPLETE {
                    let message = "the transform Attachment-Complete-Signature-Transform, which signs the head of an attachment, is not supported, only the one that signs its content";
                    return Err(Error::new(ErrorKind::Unsupported, message).at(transform.offset));
                } else if let Some(method) = self.canonicalization(&uri)? {
                    transforms.push(Transform::Canonical(method));
                } else {
                    return Err(unsupported("the transform", &uri).at(transform.offset));
                }
            }
            child = self.next()?;
        }
        let algorithm = match child {
            Some(method) if self.dsig(method) == Some("DigestMethod") => {
                let uri = self.attribute(method, "Algorithm")?;
                self.end()?;
                DigestAlgorithm::from_uri(&uri)
                    .ok_or_else(|| unsupported("the digest algorithm", &uri).at(method.offset))?
            }
            Some(other) => return Err(self.unexpected(other, "<DigestMethod>")),
            None => return Err(Error::new(ErrorKind::Malformed, "a <Reference> without <DigestMethod>").at(tag.offset)),
        };
        let digest = self.required("DigestValue").and_then(|tag| self.base64(tag))?;
        self.end()?;
        Ok(Reference { offset: tag.offset, uri, transforms, algorithm, digest })
    }

    /// Reads the only XPath expression that is supported, which leaves out all signatures. Many samples have it in place of the
    /// transform for enveloped signatures.
    fn xpath(&mut self, transform: StartTag<'a>) -> Result<(), Error> {
        let refused = || unsupported("the transform", XPATH).at(transform.offset);
        let Some(tag) = self.next()? else { return Err(refused()) };
        let is_xpath = self.dsig(tag) == Some("XPath");
        let Token::Text(text) = self.reader.next()? else { return Err(refused()) };
        let expression = text.trim().strip_prefix("not(ancestor-or-self::");
        let prefix = expression.and_then(|rest| rest.strip_suffix(":Signature)")).unwrap_or_default().to_owned();
        // While its declaration is in scope.
        if !is_xpath || prefix.is_empty() || self.reader.resolve(&prefix) != Some(DSIG) {
            return Err(refused());
        }
        self.end()?;
        self.end()
    }

    /// Reads the `TransformationParameters` of an STR-Transform (WS-Security §8.3).
    fn transformation_parameters(&mut self, transform: StartTag<'a>) -> Result<Method, Error> {
        let missing = || {
            let message = "an STR-Transform without <TransformationParameters> and a <CanonicalizationMethod> in it";
            Error::new(ErrorKind::Malformed, message).at(transform.offset)
        };
        let parameters = self.next()?.ok_or_else(missing)?;
        if self.reader.namespace(parameters.namespace) != WSSE || parameters.name.local() != "TransformationParameters"
        {
            return Err(self.unexpected(parameters, "<TransformationParameters>"));
        }
        let method = self.required("CanonicalizationMethod")?;
        let uri = self.attribute(method, "Algorithm")?;
        let canonicalization = self
            .canonicalization(&uri)?
            .ok_or_else(|| unsupported("the canonicalization algorithm", &uri).at(method.offset))?;
        self.end()?;
        self.end()?;
        Ok(canonicalization)
    }

    /// Reads the content of `KeyInfo` (§4.5).
    pub(crate) fn key_info(&mut self, hints: &mut Vec<KeyHint>) -> Result<(), Error> {
        while let Some(tag) = self.next()? {
            self.count_key(tag)?;
            match (self.reader.namespace(tag.namespace), tag.name.local()) {
                (DSIG, "KeyName") => hints.push(KeyHint::Name(self.text()?)),
                (DSIG, "KeyValue") => {
                    let hint = self.key_value()?;
                    hints.push(hint);
                }
                (DSIG11, "DEREncodedKeyValue") => {
                    let der = self.base64(tag)?;
                    hints.push(PublicKey::from_der(&der).map_or_else(|_| self.not_supported(tag), KeyHint::Key));
                }
                (DSIG, "X509Data") => self.x509_data(hints)?,
                (WSSE, "SecurityTokenReference") => self.token_reference(tag, hints)?,
                _ => {
                    hints.push(self.not_supported(tag));
                    self.reader.skip_element()?;
                }
            }
        }
        Ok(())
    }

    /// Reads the content of a `SecurityTokenReference` (WS-Security §7).
    pub(crate) fn token_reference(&mut self, reference: StartTag<'a>, hints: &mut Vec<KeyHint>) -> Result<(), Error> {
        let id = self.reader.qualified_attribute(WSU, "Id").map(|attribute| attribute.value.to_owned());
        let before = hints.len();
        while let Some(tag) = self.next()? {
            match (self.reader.namespace(tag.namespace), tag.name.local()) {
                (WSSE, "Reference") => {
                    let uri = self.attribute(tag, "URI")?;
                    self.end()?;
                    let Some(target) = uri.strip_prefix('#') else {
                        return Err(unsupported("the token outside the message", &uri).at(tag.offset));
                    };
                    let target = target.to_owned();
                    hints.push(KeyHint::Token { reference: id.clone(), target, version: None });
                }
                (WSSE, "KeyIdentifier") => {
                    let kind = self.attribute(tag, "ValueType")?;
                    let hint = match kind.as_str() {
                        X509_KEY_IDENTIFIER => {
                            KeyHint::Reference(CertificateReference::KeyIdentifier(self.base64(tag)?))
                        }
                        THUMBPRINT_SHA1 => {
                            let digest = self.base64(tag)?;
                            KeyHint::Reference(CertificateReference::Digest(DigestAlgorithm::Sha1, digest))
                        }
                        // Not in the profile, but in WSS4J (`X509KeyIdentifier`).
                        X509_V3 => KeyHint::Certificates(self.binary_token(tag)?),
                        kind => match SamlVersion::of_key_identifier(kind) {
                            None => {
                                self.reader.skip_element()?;
                                let kind = excerpt(kind, 100);
                                KeyHint::Unsupported(format!("{} of the type \"{kind}\"", self.shown(tag.name)))
                            }
                            version => {
                                let target = self.text()?.trim().to_owned();
                                KeyHint::Token { reference: id.clone(), target, version }
                            }
                        },
                    };
                    hints.push(hint);
                }
                (WSSE, "Embedded") => {
                    while let Some(token) = self.next()? {
                        self.count_key(token)?;
                        let hint = self.embedded_token(token, id.as_ref())?;
                        hints.push(hint);
                    }
                }
                (DSIG, "X509Data") => self.x509_data(hints)?,
                (DSIG, "KeyName") => hints.push(KeyHint::Name(self.text()?)),
                _ => {
                    self.reader.skip_element()?;
                    hints.push(self.not_supported(tag));
                }
            }
        }
        match hints.len() - before {
            1 => Ok(()),
            count => {
                let message = format!("a <SecurityTokenReference> to {count} tokens, where one was expected");
                Err(Error::new(ErrorKind::Malformed, message).at(reference.offset))
            }
        }
    }

    /// Reads a token that is inside a reference with this id (§7.4).
    fn embedded_token(&mut self, token: StartTag<'a>, reference: Option<&String>) -> Result<KeyHint, Error> {
        let namespace = self.reader.namespace(token.namespace);
        match (token.name.local(), SamlVersion::of_namespace(namespace).filter(|_| self.is_of_message)) {
            ("BinarySecurityToken", _) if namespace == WSSE => {
                let certificates = self.binary_token(token)?;
                self.embedded.tokens.push((reference.cloned(), token.offset..self.reader.offset()));
                Ok(KeyHint::Certificates(certificates))
            }
            ("Assertion", Some(version)) => {
                let received = ReceivedAssertion::read(self.reader, token, version, self.limits)?;
                let target = received.assertion.id.clone();
                self.embedded.assertions.push(received);
                Ok(KeyHint::Token { reference: reference.cloned(), target, version: Some(version) })
            }
            _ => {
                self.reader.skip_element()?;
                Ok(self.not_supported(token))
            }
        }
    }

    /// Reads the certificates of a `BinarySecurityToken` (X.509 Token Profile §3.1), or of an element with its attributes.
    pub(crate) fn binary_token(&mut self, tag: StartTag<'a>) -> Result<Vec<Certificate>, Error> {
        let kind = self.attribute(tag, "ValueType")?;
        if let Some(encoding) = self.optional_attribute("EncodingType").filter(|encoding| encoding != BASE64_BINARY) {
            return Err(unsupported("the encoding of a token", &encoding).at(tag.offset));
        }
        let token = self.base64(tag)?;
        let certificates = match kind.as_str() {
            X509_V3 => Certificate::from_der(&token).map(|certificate| vec![certificate]),
            X509_PATH => Certificate::from_path(&token, self.limits.keys),
            _ => Err(unsupported("the token", &kind)),
        };
        certificates.map_err(|error| error.at(tag.offset))
    }

    fn not_supported(&self, tag: StartTag<'_>) -> KeyHint {
        KeyHint::Unsupported(self.shown(tag.name))
    }

    /// Reads the content of `KeyValue` (§4.5.2).
    fn key_value(&mut self) -> Result<KeyHint, Error> {
        let Some(tag) = self.next()? else {
            return Err(Error::new(ErrorKind::Malformed, "an empty <KeyValue>").at(self.reader.offset()));
        };
        let hint = match (self.reader.namespace(tag.namespace), tag.name.local()) {
            (DSIG, "RSAKeyValue") => {
                let modulus = self.required("Modulus").and_then(|tag| self.base64(tag))?;
                let exponent = self.required("Exponent").and_then(|tag| self.base64(tag))?;
                self.end()?;
                KeyHint::Key(PublicKey::rsa(&modulus, &exponent))
            }
            (DSIG, "DSAKeyValue") => self.dsa_key_value(tag)?,
            (DSIG11, "ECKeyValue") => self.ec_key_value(tag)?,
            _ => {
                self.reader.skip_element()?;
                self.not_supported(tag)
            }
        };
        self.end()?;
        Ok(hint)
    }

    /// Reads the content of `DSAKeyValue` (§4.5.2.1). What the key was made from says nothing.
    fn dsa_key_value(&mut self, value: StartTag<'a>) -> Result<KeyHint, Error> {
        let [mut modulus, mut divisor, mut generator, mut key] = [const { None }; 4];
        while let Some(tag) = self.next()? {
            let number = match (self.reader.namespace(tag.namespace), tag.name.local()) {
                (DSIG, "P") => &mut modulus,
                (DSIG, "Q") => &mut divisor,
                (DSIG, "G") => &mut generator,
                (DSIG, "Y") => &mut key,
                _ => {
                    self.reader.skip_element()?;
                    continue;
                }
            };
            *number = Some(self.base64(tag)?);
        }
        let key = match (modulus, divisor, generator, key) {
            (Some(modulus), Some(divisor), Some(generator), Some(key)) => {
                PublicKey::dsa(&modulus, &divisor, &generator, &key).ok()
            }
            _ => None,
        };
        Ok(key.map_or_else(|| self.not_supported(value), KeyHint::Key))
    }

    /// Reads the content of `ECKeyValue` (§4.5.2.3) with a named curve.
    fn ec_key_value(&mut self, value: StartTag<'a>) -> Result<KeyHint, Error> {
        let (mut curve, mut point) = (None, None);
        while let Some(tag) = self.next()? {
            match (self.reader.namespace(tag.namespace), tag.name.local()) {
                (DSIG11, "NamedCurve") => {
                    let uri = self.attribute(tag, "URI")?;
                    self.end()?;
                    curve = uri.strip_prefix("urn:oid:").and_then(Curve::from_oid);
                }
                (DSIG11, "PublicKey") => point = Some(self.base64(tag)?),
                _ => self.reader.skip_element()?,
            }
        }
        let key = curve.zip(point).and_then(|(curve, point)| PublicKey::ec(curve, &point).ok());
        Ok(key.map_or_else(|| self.not_supported(value), KeyHint::Key))
    }

    /// Reads the content of `X509Data` (§4.5.4). All of it describes one key.
    fn x509_data(&mut self, hints: &mut Vec<KeyHint>) -> Result<(), Error> {
        let mut certificates = Vec::new();
        let mut references = Vec::new();
        while let Some(tag) = self.next()? {
            self.count_key(tag)?;
            match (self.reader.namespace(tag.namespace), tag.name.local()) {
                (DSIG, "X509Certificate") => {
                    let der = self.base64(tag)?;
                    certificates.push(Certificate::from_der(&der).map_err(|error| error.at(tag.offset))?);
                }
                (DSIG, "X509IssuerSerial") => {
                    self.required("X509IssuerName")?;
                    let issuer = self.distinguished_name()?;
                    self.required("X509SerialNumber")?;
                    let serial = self.text()?;
                    self.end()?;
                    let serial = serial.trim().trim_start_matches('0');
                    let serial = if serial.is_empty() { "0" } else { serial }.to_owned();
                    match issuer {
                        Some(issuer) => references.push(CertificateReference::IssuerSerial { issuer, serial }),
                        None => hints.push(self.not_supported(tag)),
                    }
                }
                (DSIG, "X509SubjectName") => match self.distinguished_name()? {
                    Some(subject) => references.push(CertificateReference::Subject(subject)),
                    None => hints.push(self.not_supported(tag)),
                },
                (DSIG, "X509SKI") => references.push(CertificateReference::KeyIdentifier(self.base64(tag)?)),
                (DSIG11, "X509Digest") => {
                    let uri = self.attribute(tag, "Algorithm")?;
                    let digest = self.base64(tag)?;
                    match DigestAlgorithm::from_uri(&uri) {
                        Some(algorithm) => references.push(CertificateReference::Digest(algorithm, digest)),
                        None => hints.push(self.not_supported(tag)),
                    }
                }
                // Revocation lists of a signer say nothing that is trusted.
                _ => self.reader.skip_element()?,
            }
        }
        match certificates.is_empty() {
            true => hints.extend(references.into_iter().map(KeyHint::Reference)),
            false => hints.push(KeyHint::Certificates(certificates)),
        }
        Ok(())
    }
}

#[cold]
fn unsupported(what: &str, uri: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} \"{}\" is not supported", excerpt(uri, 100)))
}

/// Decodes base64, which may be in lines.
fn decoded(mut text: String) -> Option<Vec<u8>> {
    text.retain(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
    BASE64.decode(&text).ok()
}
