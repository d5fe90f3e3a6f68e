//! Certificates that are no longer valid.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rustls_pki_types::CertificateRevocationListDer;
use rustls_pki_types::pem::PemObject;
use webpki::{CertRevocationList, OwnedCertRevocationList};
use x509_cert::der::asn1::AnyRef;
use x509_cert::der::{self, Decode, Tag, Tagged};

use crate::pem::{Expected, absent};
use crate::{Error, ErrorKind};

/// Maximum number of orders in which lists are tried, if issuers have several.
const MAX_LIST_ORDERS: usize = 8;

/// A list of the certificates that an authority has revoked (RFC 5280 §5). Clones share it.
#[derive(Clone)]
pub struct RevocationList(Arc<CertRevocationList<'static>>);

impl RevocationList {
    /// Reads a list in DER.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one, is of version 1, or has a critical extension that is not supported.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let list = OwnedCertRevocationList::from_der(der);
        let list = list.map_err(|error| {
            let message = match has_version(der) {
                Ok(false) => {
                    "a list of revoked certificates of version 1, where version 2 was expected, which has a number and extensions: the settings `crlnumber` and `crl_extensions` of `openssl ca`".to_owned()
                }
                _ => format!("a list of revoked certificates that can't be read: {error:?}"),
            };
            Error::new(ErrorKind::Key, message)
        });
        Ok(RevocationList(Arc::new(list?.into())))
    }

    /// Reads the first list in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or it can't be read. If the file has another form, the error names the command that converts
    /// it.
    pub fn from_pem(pem: &[u8]) -> Result<Self, Error> {
        match CertificateRevocationListDer::from_pem_slice(pem) {
            Ok(der) => RevocationList::from_der(&der),
            Err(_) => Err(absent(pem, Expected::RevocationList)),
        }
    }

    /// Reads all lists in a text with PEM sections.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if there is none, or one of them can't be read.
    pub fn from_pem_bundle(pem: &[u8]) -> Result<Vec<Self>, Error> {
        let mut lists = Vec::new();
        for der in CertificateRevocationListDer::pem_slice_iter(pem) {
            let der =
                der.map_err(|_| Error::new(ErrorKind::Key, "a list of revoked certificates in PEM that can't be read"));
            lists.push(RevocationList::from_der(&der?)?);
        }
        match lists.is_empty() {
            true => Err(absent(pem, Expected::RevocationList)),
            false => Ok(lists),
        }
    }

    pub(crate) fn list(&self) -> &CertRevocationList<'static> {
        &self.0
    }
}

/// Returns whether a list says which version it has. One of version 1 begins with an algorithm instead (RFC 5280 §5.1).
fn has_version(list: &[u8]) -> Result<bool, der::Error> {
    let (content, _) = AnyRef::from_der_partial(list)?;
    let (content, _) = AnyRef::from_der_partial(content.value())?;
    Ok(AnyRef::from_der_partial(content.value())?.0.tag() == Tag::Integer)
}

/// Returns the lists in each order that may make a difference: only the first list of an issuer that fits is used for a certificate. An
/// authority may have several keys, each with its list, and lists that are out of date. Those that are needed change their places first.
pub(crate) fn orders(
    lists: &[RevocationList],
    is_needed: impl Fn(&CertRevocationList<'_>) -> bool,
) -> impl Iterator<Item = Vec<&CertRevocationList<'static>>> {
    let mut by_issuer: BTreeMap<(bool, &[u8]), Vec<&CertRevocationList<'static>>> = BTreeMap::new();
    for list in lists.iter().map(RevocationList::list) {
        by_issuer.entry((!is_needed(list), list.issuer())).or_default().push(list);
    }
    let count = by_issuer.values().fold(1_usize, |count, lists| count.saturating_mul(lists.len()));
    (0..count.min(MAX_LIST_ORDERS)).map(move |mut number| {
        let mut order = Vec::with_capacity(lists.len());
        for lists in by_issuer.values() {
            let (last, first) = lists.split_at(number % lists.len());
            order.extend([first, last].concat());
            number /= lists.len();
        }
        order
    })
}

/// Returns whether another order of the lists may lead to a path. Who sends certificates that make the search long gets no second one.
pub(crate) fn may_be_of_order(error: &webpki::Error) -> bool {
    use webpki::Error::{
        CertRevoked, MaximumNameConstraintComparisonsExceeded, MaximumPathBuildCallsExceeded,
        MaximumSignatureChecksExceeded, UnknownIssuer,
    };
    !matches!(
        error,
        CertRevoked
            | UnknownIssuer
            | MaximumNameConstraintComparisonsExceeded
            | MaximumPathBuildCallsExceeded
            | MaximumSignatureChecksExceeded
    )
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RevocationList").finish_non_exhaustive()
    }
}
