//! A receiver that trusts only a root accepts a certificate below another one, if it gets that with the message.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_wss::message::{CertificateForm, OutgoingSecurity, Policy};
use castile_wss::{Certificate, ErrorKind, Trust};
use futures_util::FutureExt;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

const ORDER: &str =
    "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order/></s:Body></s:Envelope>";

fn params(name: &str, is_ca: IsCa) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = is_ca;
    params
}

#[test]
fn the_certificates_of_issuers_are_sent_on_request() {
    let unlimited = || IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(params("root", unlimited()), KeyPair::generate().unwrap()).unwrap();
    let office = params("office", unlimited());
    let office = CertifiedIssuer::signed_by(office, KeyPair::generate().unwrap(), &root).unwrap();
    let key = KeyPair::generate().unwrap();
    let ann = params("ann", IsCa::ExplicitNoCa).signed_by(&key, &office).unwrap();
    let stranger = params("stranger", IsCa::ExplicitNoCa).self_signed(&KeyPair::generate().unwrap()).unwrap();
    let trust = Trust::new().with_authority(Certificate::from_pem(root.pem().as_bytes()).unwrap());
    for file in [
        [ann.pem(), office.pem(), root.pem(), stranger.pem()].concat(),
        [root.pem(), stranger.pem(), office.pem(), ann.pem()].concat(),
        [office.pem(), ann.pem()].concat(),
    ] {
        for (form, expected) in [(CertificateForm::Token, Some(ErrorKind::Untrusted)), (CertificateForm::Path, None)] {
            let security = OutgoingSecurity::from_pem(key.serialize_pem().as_bytes(), file.as_bytes()).unwrap();
            let security = security.with_timestamp().with_certificate_form(form);
            let message = security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap();
            let verified = Policy::signed_by(trust.clone()).verify(&message).now_or_never().unwrap();
            assert_eq!(verified.err().map(|error| error.kind()), expected, "{form:?}");
        }
    }
}
