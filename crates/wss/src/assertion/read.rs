//! Reads an assertion. The order of its parts is that of the schemas; what is not known may change the meaning of the rest, and is
//! an error.

use std::ops::Range;
use std::sync::Arc;

use castile_datatypes::DateTime;
use castile_xml::{Reader, StartTag, excerpt};

use super::{Assertion, AssertionAttribute, AttributeValue, Authentication, ConfirmationMethod, SamlVersion, Subject};
use crate::key::PublicKey;
use crate::limits::Limits;
use crate::moment::moment;
use crate::signature::{DSIG, Elements, KeyHint, Signature};
use crate::{Error, ErrorKind};

/// Maximum number of audiences, confirmations, statements, attributes and values of an assertion together.
const MAX_ITEMS: usize = 1_024;

/// Maximum number of ways to confirm the subject of an assertion, in all its statements together. In SAML 1.1 each has the keys of all.
const MAX_CONFIRMATIONS: usize = 8;

/// An assertion in a message, with what a policy has to check of it.
pub(crate) struct ReceivedAssertion {
    pub(crate) assertion: Assertion,
    /// Its own signature, with the byte range.
    pub(crate) signature: Option<(Signature, Range<usize>)>,
    /// Whether it may be used once only.
    pub(crate) is_for_one_use: bool,
    /// The name of a condition that is not known.
    pub(crate) unknown_condition: Option<String>,
    pub(crate) confirmations: Vec<SubjectConfirmation>,
}

/// A way to confirm the subject of an assertion.
#[derive(PartialEq)]
pub(crate) struct SubjectConfirmation {
    /// The method, or its URI, if it is not known.
    pub(crate) method: Result<ConfirmationMethod, String>,
    /// What describes the key of the subject.
    pub(crate) hints: Arc<[KeyHint]>,
    pub(crate) not_before: Option<DateTime>,
    pub(crate) not_on_or_after: Option<DateTime>,
    /// Where the assertion may be presented.
    pub(crate) recipient: Option<String>,
    /// The name of a restriction that is never checked.
    pub(crate) unchecked: Option<String>,
}

/// The parts of an assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Issuer,
    Signature,
    Subject,
    Conditions,
    Advice,
    Statement,
}

/// The order of the parts (SAML Core 1.1 §2.3.2, 2.0 §2.3.3).
const ORDER_11: [Part; 4] = [Part::Conditions, Part::Advice, Part::Statement, Part::Signature];
const ORDER_20: [Part; 6] =
    [Part::Issuer, Part::Signature, Part::Subject, Part::Conditions, Part::Advice, Part::Statement];

/// An assertion that is being read.
struct AssertionReader<'r, 'a> {
    elements: Elements<'r, 'a>,
    limits: Limits,
    version: SamlVersion,
    /// How many items were read.
    items: usize,
    /// How many ways to confirm the subject were read.
    methods: usize,
    issuer: Option<String>,
    signature: Option<(Signature, Range<usize>)>,
    subject: Option<(Subject, Vec<SubjectConfirmation>)>,
    not_before: Option<DateTime>,
    not_on_or_after: Option<DateTime>,
    audiences: Vec<Vec<String>>,
    is_for_one_use: bool,
    unknown_condition: Option<String>,
    authentications: Vec<Authentication>,
    attributes: Vec<AssertionAttribute>,
}

impl ReceivedAssertion {
    /// Reads the assertion whose start tag was read last.
    pub(crate) fn read<'a>(
        reader: &mut Reader<'a>,
        tag: StartTag<'a>,
        version: SamlVersion,
        limits: Limits,
    ) -> Result<Self, Error> {
        let elements = Elements::new(reader, limits, "Assertion");
        let is_known = match version {
            SamlVersion::Saml11 => {
                elements.attribute(tag, "MajorVersion")? == "1" && elements.attribute(tag, "MinorVersion")? == "1"
            }
            SamlVersion::Saml20 => elements.attribute(tag, "Version")? == "2.0",
        };
        if !is_known {
            let message = "an assertion of a version other than SAML 1.1 and 2.0";
            return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
        }
        let id = elements.attribute(tag, version.id_attribute())?;
        let issued = moment(&elements.attribute(tag, "IssueInstant")?).map_err(|error| error.at(tag.offset))?;
        let issuer = match version {
            SamlVersion::Saml11 => Some(elements.attribute(tag, "Issuer")?),
            SamlVersion::Saml20 => None,
        };
        let mut reading = AssertionReader {
            elements,
            limits,
            version,
            items: 0,
            methods: 0,
            issuer,
            signature: None,
            subject: None,
            not_before: None,
            not_on_or_after: None,
            audiences: Vec::new(),
            is_for_one_use: false,
            unknown_condition: None,
            authentications: Vec::new(),
            attributes: Vec::new(),
        };
        reading.parts()?;
        let range = tag.offset..reading.elements.reader.offset();
        let missing = |part: &str| {
            Error::new(ErrorKind::Malformed, format!("an assertion without <{part}>, which is required")).at(tag.offset)
        };
        let issuer = reading.issuer.ok_or_else(|| missing("Issuer"))?;
        let (subject, confirmations) = reading.subject.ok_or_else(|| missing("Subject"))?;
        Ok(ReceivedAssertion {
            assertion: Assertion {
                version,
                id,
                issuer,
                issued,
                not_before: reading.not_before,
                not_on_or_after: reading.not_on_or_after,
                audiences: reading.audiences,
                subject,
                confirmation_methods: confirmations
                    .iter()
                    .filter_map(|one| one.method.as_ref().ok().copied())
                    .collect(),
                authentications: reading.authentications,
                attributes: reading.attributes,
                range,
            },
            signature: reading.signature,
            is_for_one_use: reading.is_for_one_use,
            unknown_condition: reading.unknown_condition,
            confirmations,
        })
    }

    /// Returns the keys that holder-of-key names, whether somebody vouches for the assertion or not.
    pub(crate) fn subject_keys(&self) -> Vec<PublicKey> {
        let is_holder = |one: &&SubjectConfirmation| one.method == Ok(ConfirmationMethod::HolderOfKey);
        let mut keys: Vec<PublicKey> = Vec::new();
        for key in self.confirmations.iter().filter(is_holder).flat_map(SubjectConfirmation::keys) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}

impl SubjectConfirmation {
    /// Returns the keys that it names. A description of a certificate, such as its serial number, names none: anybody can make
    /// a certificate that fits it.
    pub(crate) fn keys(&self) -> impl Iterator<Item = PublicKey> {
        self.hints.iter().filter_map(KeyHint::key)
    }
}

impl<'a> AssertionReader<'_, 'a> {
    fn parts(&mut self) -> Result<(), Error> {
        let order: &[Part] = match self.version {
            SamlVersion::Saml11 => &ORDER_11,
            SamlVersion::Saml20 => &ORDER_20,
        };
        let mut last = None;
        while let Some(tag) = self.elements.next()? {
            let part = self.part(tag)?;
            let place = order.iter().position(|known| *known == part);
            if place < last || (place == last && part != Part::Statement) {
                return Err(self.elements.unexpected(tag, "the order of the schema, and each part once"));
            }
            last = place;
            match part {
                Part::Issuer => self.issuer = Some(self.elements.text()?),
                Part::Signature => {
                    let signature = Signature::read(self.elements.reader, self.limits)?;
                    self.signature = Some((signature, tag.offset..self.elements.reader.offset()));
                }
                Part::Subject => self.subject = Some(self.subject(tag)?),
                Part::Conditions => self.conditions(tag)?,
                // What is in it may be ignored (1.1 §2.3.2.2, 2.0 §2.6.1), and is never trusted.
                Part::Advice => self.elements.reader.skip_element()?,
                Part::Statement => self.statement(tag)?,
            }
        }
        Ok(())
    }

    fn part(&self, tag: StartTag<'a>) -> Result<Part, Error> {
        if self.elements.is(tag, DSIG, "Signature") {
            return Ok(Part::Signature);
        }
        match (self.saml(tag), self.version) {
            (Some("Conditions"), _) => Ok(Part::Conditions),
            (Some("Advice"), _) => Ok(Part::Advice),
            (Some("Issuer"), SamlVersion::Saml20) => Ok(Part::Issuer),
            (Some("Subject"), SamlVersion::Saml20) => Ok(Part::Subject),
            (Some("Statement" | "AttributeStatement"), _)
            | (Some("AuthnStatement" | "AuthzDecisionStatement"), SamlVersion::Saml20)
            | (Some("AuthenticationStatement" | "AuthorizationDecisionStatement"), SamlVersion::Saml11) => {
                Ok(Part::Statement)
            }
            _ => Err(self.unsupported(tag)),
        }
    }

    /// Returns the local name of an element in the namespace of the assertion.
    fn saml(&self, tag: StartTag<'a>) -> Option<&'a str> {
        (self.elements.reader.namespace(tag.namespace) == self.version.namespace()).then(|| tag.name.local())
    }

    #[cold]
    fn unsupported(&self, tag: StartTag<'_>) -> Error {
        let message = format!("<{}> in an assertion, which is not supported", excerpt(tag.name.local(), 60));
        Error::new(ErrorKind::Unsupported, message).at(tag.offset)
    }

    /// Counts something that is stored.
    fn count(&mut self, tag: StartTag<'_>) -> Result<(), Error> {
        self.items += 1;
        match self.items > MAX_ITEMS {
            false => Ok(()),
            true => {
                let message = format!(
                    "more than {MAX_ITEMS} audiences, confirmations, statements, attributes and values in an assertion, which is the limit"
                );
                Err(Error::new(ErrorKind::Limit, message).at(tag.offset))
            }
        }
    }

    /// Counts a way to confirm the subject.
    fn count_method(&mut self, tag: StartTag<'_>) -> Result<(), Error> {
        self.count(tag)?;
        self.methods += 1;
        match self.methods > MAX_CONFIRMATIONS {
            false => Ok(()),
            true => {
                let message = format!(
                    "more than {MAX_CONFIRMATIONS} confirmations of a subject in an assertion, which is the limit"
                );
                Err(Error::new(ErrorKind::Limit, message).at(tag.offset))
            }
        }
    }

    /// Returns the value of an attribute that is a moment.
    fn time(&self, tag: StartTag<'_>, local: &str) -> Result<Option<DateTime>, Error> {
        let text = self.elements.optional_attribute(local);
        text.map(|text| moment(&text)).transpose().map_err(|error| error.at(tag.offset))
    }

    /// Reads the content of `Subject` (1.1 §2.4.2.1, 2.0 §2.4.1).
    fn subject(&mut self, subject: StartTag<'a>) -> Result<(Subject, Vec<SubjectConfirmation>), Error> {
        let mut name = None;
        let mut confirmations = Vec::new();
        while let Some(tag) = self.elements.next()? {
            match (self.saml(tag), self.version) {
                (Some("NameID"), SamlVersion::Saml20) | (Some("NameIdentifier"), SamlVersion::Saml11)
                    if name.is_none() && confirmations.is_empty() =>
                {
                    name = Some(self.name(tag)?);
                }
                (Some("SubjectConfirmation"), SamlVersion::Saml20) => {
                    self.count_method(tag)?;
                    confirmations.push(self.confirmation_20(tag)?);
                }
                (Some("SubjectConfirmation"), SamlVersion::Saml11) if confirmations.is_empty() => {
                    confirmations = self.confirmation_11(tag)?;
                }
                (Some("NameID" | "NameIdentifier" | "SubjectConfirmation"), _) => {
                    return Err(self.elements.unexpected(tag, "one name, and how it is confirmed after it"));
                }
                // An encrypted name, among others.
                _ => return Err(self.unsupported(tag)),
            }
        }
        match name.is_none() && confirmations.is_empty() {
            true => Err(Error::new(ErrorKind::Malformed, "an empty <Subject>").at(subject.offset)),
            false => Ok((name.unwrap_or_default(), confirmations)),
        }
    }

    fn name(&mut self, tag: StartTag<'a>) -> Result<Subject, Error> {
        let format = self.elements.optional_attribute("Format");
        let name_qualifier = self.elements.optional_attribute("NameQualifier");
        let sp_name_qualifier = self.elements.optional_attribute("SPNameQualifier");
        let name = self.elements.text()?;
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Malformed, "a subject with an empty name").at(tag.offset));
        }
        Ok(Subject { name: Some(name), format, name_qualifier, sp_name_qualifier })
    }

    /// Reads a `SubjectConfirmation` of SAML 2.0 (§2.4.1.1).
    fn confirmation_20(&mut self, confirmation: StartTag<'a>) -> Result<SubjectConfirmation, Error> {
        let mut found = self.new_confirmation(self.elements.attribute(confirmation, "Method")?);
        let mut has_data = false;
        while let Some(tag) = self.elements.next()? {
            match self.saml(tag) {
                // Who confirms the subject. The method says how that is checked.
                Some("NameID") if !has_data => drop(self.name(tag)?),
                Some("SubjectConfirmationData") if !has_data => {
                    has_data = true;
                    found.not_before = self.time(tag, "NotBefore")?;
                    found.not_on_or_after = self.time(tag, "NotOnOrAfter")?;
                    found.recipient = self.elements.optional_attribute("Recipient");
                    let mut restrictions = ["InResponseTo", "Address"].into_iter();
                    let unchecked = restrictions.find(|name| self.elements.optional_attribute(name).is_some());
                    found.unchecked = unchecked.map(str::to_owned);
                    self.confirmation_data(&mut found)?;
                }
                _ => return Err(self.unsupported(tag)),
            }
        }
        Ok(found)
    }

    fn confirmation_data(&mut self, confirmation: &mut SubjectConfirmation) -> Result<(), Error> {
        let mut hints = Vec::new();
        while let Some(tag) = self.elements.next()? {
            if self.elements.is(tag, DSIG, "KeyInfo") {
                self.elements.key_info(&mut hints)?;
            } else {
                confirmation.unchecked.get_or_insert_with(|| excerpt(tag.name.local(), 60));
                self.elements.reader.skip_element()?;
            }
        }
        confirmation.hints = hints.into();
        Ok(())
    }

    /// Reads a `SubjectConfirmation` of SAML 1.1 (§2.4.2.3). Its methods share the key.
    fn confirmation_11(&mut self, confirmation: StartTag<'a>) -> Result<Vec<SubjectConfirmation>, Error> {
        let (mut found, mut hints, mut unchecked) = (Vec::new(), None, None);
        while let Some(tag) = self.elements.next()? {
            match self.saml(tag) {
                Some("ConfirmationMethod") if hints.is_none() && unchecked.is_none() => {
                    self.count_method(tag)?;
                    let uri = self.elements.text()?;
                    found.push(self.new_confirmation(uri.trim().to_owned()));
                }
                Some("SubjectConfirmationData") if hints.is_none() && unchecked.is_none() => {
                    unchecked = Some("SubjectConfirmationData".to_owned());
                    self.elements.reader.skip_element()?;
                }
                None if hints.is_none() && self.elements.is(tag, DSIG, "KeyInfo") => {
                    self.elements.key_info(hints.insert(Vec::new()))?;
                }
                _ => return Err(self.unsupported(tag)),
            }
        }
        if found.is_empty() {
            let message = "a <SubjectConfirmation> without <ConfirmationMethod>";
            return Err(Error::new(ErrorKind::Malformed, message).at(confirmation.offset));
        }
        let hints: Arc<[KeyHint]> = hints.unwrap_or_default().into();
        for one in &mut found {
            one.hints = hints.clone();
            one.unchecked.clone_from(&unchecked);
        }
        Ok(found)
    }

    fn new_confirmation(&self, uri: String) -> SubjectConfirmation {
        SubjectConfirmation {
            method: ConfirmationMethod::from_uri(self.version, &uri).ok_or(uri),
            hints: Arc::default(),
            not_before: None,
            not_on_or_after: None,
            recipient: None,
            unchecked: None,
        }
    }

    /// Reads `Conditions` (1.1 §2.3.2.1, 2.0 §2.5).
    fn conditions(&mut self, tag: StartTag<'a>) -> Result<(), Error> {
        self.not_before = self.time(tag, "NotBefore")?;
        self.not_on_or_after = self.time(tag, "NotOnOrAfter")?;
        while let Some(tag) = self.elements.next()? {
            match (self.saml(tag), self.version) {
                (Some("AudienceRestriction"), SamlVersion::Saml20)
                | (Some("AudienceRestrictionCondition"), SamlVersion::Saml11) => self.audiences(tag)?,
                (Some("OneTimeUse"), SamlVersion::Saml20) | (Some("DoNotCacheCondition"), SamlVersion::Saml11) => {
                    self.is_for_one_use = true;
                    self.elements.end()?;
                }
                // It restricts those who issue other assertions on the basis of this one.
                (Some("ProxyRestriction"), SamlVersion::Saml20) => self.elements.reader.skip_element()?,
                _ => {
                    self.unknown_condition.get_or_insert_with(|| excerpt(tag.name.local(), 60));
                    self.elements.reader.skip_element()?;
                }
            }
        }
        Ok(())
    }

    fn audiences(&mut self, restriction: StartTag<'a>) -> Result<(), Error> {
        self.count(restriction)?;
        let mut audiences = Vec::new();
        while let Some(tag) = self.elements.next()? {
            if self.saml(tag) != Some("Audience") {
                return Err(self.unsupported(tag));
            }
            self.count(tag)?;
            audiences.push(self.elements.text()?.trim().to_owned());
        }
        self.audiences.push(audiences);
        Ok(())
    }

    /// Reads a statement (1.1 §2.4, 2.0 §2.7). The decisions of others are not shown.
    fn statement(&mut self, tag: StartTag<'a>) -> Result<(), Error> {
        self.count(tag)?;
        match tag.name.local() {
            "AttributeStatement" => self.attributes(),
            "AuthnStatement" => {
                let instant = self.elements.attribute(tag, "AuthnInstant")?;
                self.authentication(tag, &instant, None)
            }
            "AuthenticationStatement" => {
                let instant = self.elements.attribute(tag, "AuthenticationInstant")?;
                let method = self.elements.attribute(tag, "AuthenticationMethod")?;
                self.authentication(tag, &instant, Some(method))
            }
            "AuthorizationDecisionStatement" => {
                while let Some(tag) = self.elements.next()? {
                    match self.saml(tag) {
                        Some("Subject") => self.subject_of_statement(tag)?,
                        _ => self.elements.reader.skip_element()?,
                    }
                }
                Ok(())
            }
            _ => Ok(self.elements.reader.skip_element()?),
        }
    }

    /// Reads the subject of a statement of SAML 1.1. All statements must be about the same.
    fn subject_of_statement(&mut self, tag: StartTag<'a>) -> Result<(), Error> {
        if self.version != SamlVersion::Saml11 {
            return Err(self.unsupported(tag));
        }
        let subject = self.subject(tag)?;
        match &self.subject {
            Some(first) if *first != subject => {
                let message = "an assertion about several subjects, which is not supported";
                Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset))
            }
            Some(_) => Ok(()),
            None => {
                self.subject = Some(subject);
                Ok(())
            }
        }
    }

    fn authentication(&mut self, tag: StartTag<'a>, instant: &str, method: Option<String>) -> Result<(), Error> {
        let instant = moment(instant).map_err(|error| error.at(tag.offset))?;
        let mut context = method;
        while let Some(tag) = self.elements.next()? {
            match self.saml(tag) {
                Some("Subject") => self.subject_of_statement(tag)?,
                Some("AuthnContext") => {
                    while let Some(tag) = self.elements.next()? {
                        match self.saml(tag) {
                            Some("AuthnContextClassRef") => context = Some(self.elements.text()?.trim().to_owned()),
                            _ => self.elements.reader.skip_element()?,
                        }
                    }
                }
                // Where it was, and who else can be asked.
                _ => self.elements.reader.skip_element()?,
            }
        }
        self.authentications.push(Authentication { instant, context });
        Ok(())
    }

    /// Reads the content of `AttributeStatement`.
    fn attributes(&mut self) -> Result<(), Error> {
        while let Some(tag) = self.elements.next()? {
            match self.saml(tag) {
                Some("Subject") => self.subject_of_statement(tag)?,
                Some("Attribute") => self.attribute(tag)?,
                // An encrypted attribute, among others.
                _ => return Err(self.unsupported(tag)),
            }
        }
        Ok(())
    }

    fn attribute(&mut self, tag: StartTag<'a>) -> Result<(), Error> {
        self.count(tag)?;
        let (name, namespace) = match self.version {
            SamlVersion::Saml11 => ("AttributeName", "AttributeNamespace"),
            SamlVersion::Saml20 => ("Name", "NameFormat"),
        };
        let name = self.elements.attribute(tag, name)?;
        let namespace = self.elements.optional_attribute(namespace);
        let mut values = Vec::new();
        while let Some(tag) = self.elements.next()? {
            if self.saml(tag) != Some("AttributeValue") {
                return Err(self.unsupported(tag));
            }
            self.count(tag)?;
            let text = self.elements.text_alone()?;
            values.push(AttributeValue { text, range: tag.offset..self.elements.reader.offset() });
        }
        self.attributes.push(AssertionAttribute { name, namespace, values });
        Ok(())
    }
}
