//! Signs an invoice, and reads what is signed of those that arrive.

use castile::datatypes::Decimal;
use castile::document;
use castile::wss::Trust;
use castile::wss::document::{DocumentSigner, DocumentVerifier, VerifiedDocument};
use castile::{Document, Xml};
use castile_recipes::certificates;

#[derive(Clone, Debug, Xml, Document)]
#[xml(namespace = "urn:example:invoices")]
struct Invoice {
    #[xml(attribute, name = "Id")]
    id: String,
    buyer: String,
    total: Decimal,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (key, certificate) = certificates::own("Tea Ltd")?;
    let invoice = Invoice { id: "invoice-17".into(), buyer: "Ann".into(), total: "12.75".parse()? };

    // The signature is put at the end of the invoice, and is of the element with this id. `sign` signs a whole document.
    let signer = DocumentSigner::new(key).with_certificates(vec![certificate.clone()]);
    let signed = signer.sign_element(document::to_string(&invoice)?.as_bytes(), "invoice-17").await?;
    let signed = String::from_utf8(signed)?;

    // The buyer trusts this certificate. The one in the signature only says which it is.
    let verifier = DocumentVerifier::new(Trust::new().with_certificate(certificate));
    let verified = verifier.verify(signed.as_bytes())?;
    println!("{:?}", read(&verified)?);

    let changed = signed.replace("12.75", "92.75");
    if let Err(error) = verifier.verify(changed.as_bytes()) {
        println!("{:?}: {}", error.kind(), error.message());
    }

    // Somebody put another invoice before the signed one. The signature is as right as it was, of what it was made for: whoever
    // looks for the first invoice reads what nobody signed.
    let (declaration, signed) = signed.split_once('\n').unwrap_or(("", &signed));
    let other = document::to_string(&Invoice { id: "other".into(), total: "92.75".parse()?, ..invoice })?;
    let other = other.split_once('\n').map_or(other.as_str(), |(_, other)| other);
    let verified = verifier.verify(format!("{declaration}<invoices>{other}{signed}</invoices>").as_bytes())?;
    println!("{:?}, the whole document: {}", read(&verified)?, verified.covers_document());
    Ok(())
}

/// Reads the invoice that is signed, and nothing else: what was signed is a document of its own, without the signature in it.
fn read(verified: &VerifiedDocument) -> Result<Invoice, Box<dyn std::error::Error>> {
    let references = verified.signatures().iter().flat_map(|signature| &signature.references);
    let signed = references.filter_map(|reference| verified.extract(reference).transpose());
    match &signed.collect::<Result<Vec<_>, _>>()?[..] {
        [invoice] => Ok(document::from_str(invoice)?),
        _ => Err("expected one invoice".into()),
    }
}
