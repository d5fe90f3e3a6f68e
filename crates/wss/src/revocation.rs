//! Certificates that are no longer valid.

use std::fmt;
use std::sync::Arc;

use rustls_pki_types::CertificateRevocationListDer;
use rustls_pki_types::pem::PemObject;
use webpki::{CertRevocationList, OwnedCertRevocationList};

use crate::{Error, ErrorKind};

/// A list of the certificates that an authority has revoked (RFC 5280 §5). Clones share it.
#[derive(Clone)]
pub struct RevocationList(Arc<CertRevocationList<'static>>);

impl RevocationList {
    /// Reads a list in DER.
    ///
    /// # Errors
    /// [`ErrorKind::Key`] if it is not one, or has a critical extension that is not supported.
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let list = OwnedCertRevocationList::from_der(der);
        let list = list.map_err(|error| {
            Error::new(ErrorKind::Key, format!("a list of revoked certificates that can't be read: {error:?}"))
        });
        Ok(RevocationList(Arc::new(list?.into())))
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
            true => Err(Error::new(ErrorKind::Key, "no list of revoked certificates in PEM was found")),
            false => Ok(lists),
        }
    }

    pub(crate) fn list(&self) -> &CertRevocationList<'static> {
        &self.0
    }
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RevocationList").finish_non_exhaustive()
    }
}
