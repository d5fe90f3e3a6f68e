//! Signs requests as a bank asks for it, and accepts only answers that this bank signed.

use castile::datatypes::Decimal;
use castile::soap::ErrorKind;
use castile::wss::message::{
    CertificateForm, ClientSecurity, OutgoingSecurity, Part, Policy, SecurityLayer, VerifiedMessage,
};
use castile::wss::{Signer, Trust};
use castile::{CallError, ClientOptions, service};
use castile_recipes::certificates;

#[service(namespace = "urn:example:payments")]
trait Payments {
    /// Orders a payment, and gives its number.
    async fn pay(&self, iban: String, amount: Decimal) -> u64;
}

struct Bank;

impl Payments for Bank {
    async fn pay(&self, _: String, _: Decimal) -> u64 {
        17
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Yours come from files: `std::fs::read("own.key")?`.
    let (key, certificate) = certificates::own_pem("Tea Ltd")?;
    let (bank_key, bank_certificate) = certificates::own_pem("bank")?;

    // A double of the bank: it knows the certificates of its customers, and signs its answers.
    let policy = Policy::signed_by(Trust::from_pem(certificate.as_bytes())?);
    let security = SecurityLayer::new(policy)
        .on_refusal(|error| println!("the bank refuses: {}", error.message()))
        .with_reply_security(signing(&bank_key, &bank_certificate)?)
        .with_signature_confirmation();
    let bank = PaymentsServer::new(Bank).layer(security);

    // An answer needs a signature with the bank's one certificate, and has to confirm the signature of its request: it can't be
    // the answer to another one.
    let answers = Policy::signed_by(Trust::from_pem(bank_certificate.as_bytes())?);
    let client = |requests: OutgoingSecurity| {
        let security = ClientSecurity::new(requests).with_answer_policy(answers.clone()).with_signature_confirmation();
        let options = ClientOptions::default().with_security(security);
        PaymentsClient::with_transport("http://bank.example/payments", bank.clone())
            .map(|client| client.with_options(options))
    };
    let payment = payments::PayRequest { iban: "DE02120300000000202051".into(), amount: "12.50".parse()? };
    let paid = client(signing(&key, &certificate)?)?.pay(&payment).send().await?;
    let bank_name = match paid.extensions().get().and_then(VerifiedMessage::signer) {
        Some(Signer::Certificate(certificate)) => certificate.subject(),
        other => format!("{other:?}"),
    };
    println!("payment {}, says {bank_name}", paid.get_ref().result);

    // A certificate that was renewed, and that the bank doesn't know yet. A bank that refuses a request signs nothing: the fault may
    // be of anybody, and often doesn't say why. `castile sec explain` does, if you give it the request.
    let (key, certificate) = certificates::own_pem("Tea Ltd")?;
    match client(signing(&key, &certificate)?)?.pay(&payment).await {
        Err(CallError::Protocol { error, .. }) if error.kind() == ErrorKind::UnsecuredFault => println!("{error}"),
        other => println!("{other:?}"),
    }
    Ok(())
}

/// Signs the body and the time stamp. The certificate is not sent: its issuer and its serial number name it.
fn signing(key: &str, certificate: &str) -> Result<OutgoingSecurity, castile::wss::Error> {
    Ok(OutgoingSecurity::from_pem(key.as_bytes(), certificate.as_bytes())?
        .with_timestamp()
        .with_certificate_form(CertificateForm::IssuerSerial)
        .with_signed([Part::Body, Part::Timestamp]))
}
