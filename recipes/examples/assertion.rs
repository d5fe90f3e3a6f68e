//! Accepts a SAML assertion of a token service from the one whose key it names, and reads who that is.

use std::time::{Duration, SystemTime};

use castile::datatypes::{Base64Binary, DateTime};
use castile::wss::document::{DocumentSigner, Place};
use castile::wss::message::{
    AssertionPolicy, ClientSecurity, OutgoingSecurity, Policy, SecurityLayer, VerifiedMessage,
};
use castile::wss::{Certificate, Error, PrivateKey, Trust};
use castile::{ClientOptions, Fault, Request, Xml, service};
use castile_recipes::certificates;

#[derive(Clone, Debug, Xml)]
#[xml(namespace = "urn:example:claims")]
struct Claim {
    number: u64,
}

#[service(namespace = "urn:example:claims")]
trait Claims {
    /// Approves a claim, and gives the name of who did it.
    async fn approve(&self, request: Request<Claim>) -> Result<String, Fault>;
}

struct Office;

impl Claims for Office {
    async fn approve(&self, request: Request<Claim>) -> Result<String, Fault> {
        let verified = request.extensions().get::<VerifiedMessage>();
        let Some(assertion) = verified.and_then(VerifiedMessage::assertion) else {
            return Err(Fault::receiver("the service has no policy"));
        };
        let name = assertion.subject.name.clone().unwrap_or_default();
        match assertion.values("role").any(|role| role == "approver") {
            true => Ok(name),
            false => Err(Fault::sender(format!("{name} is no approver"))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A token service of our own, in place of one that checks logins.
    let (key, sts) = certificates::own("token service")?;
    let signer = DocumentSigner::new(key)
        .with_certificates(vec![sts.clone()])
        .with_id_attribute("ID")
        .with_place(Place::After { namespace: None, local: "Issuer".into() });

    // The office trusts the token service. It has no list of those whom that vouches for, or of their keys.
    let issuers = AssertionPolicy::new()
        .with_issuer("https://sts.example", Trust::new().with_certificate(sts))
        .with_audience("urn:example:claims");
    let security = SecurityLayer::new(Policy::asserted_by(issuers))
        .on_refusal(|error| println!("the office refuses: {}", error.message()));
    let office = ClaimsServer::new(Office).layer(security);

    let client = |assertion: &[u8], key: PrivateKey| {
        let requests = OutgoingSecurity::new()
            .with_timestamp()
            .with_assertion(assertion)
            .with_signature(key)
            .with_key_of_subject();
        let options = ClientOptions::default().with_security(ClientSecurity::new(requests));
        ClaimsClient::with_transport("http://claims.example/", office.clone())
            .map(|client| client.with_options(options))
    };
    let claim = Claim { number: 3 };

    let (key, certificate) = certificates::own("Ann")?;
    let assertion = issued(&signer, "Ann", "approver", &certificate).await?;
    println!("approved by {}", client(&assertion, key)?.approve(&claim).await?.result);

    // Who found the assertion on its way doesn't have the key that it names.
    let (key, _) = certificates::own("Mallory")?;
    if let Err(error) = client(&assertion, key)?.approve(&claim).await {
        println!("{error}");
    }

    let (key, certificate) = certificates::own("Bob")?;
    let assertion = issued(&signer, "Bob", "guest", &certificate).await?;
    if let Err(error) = client(&assertion, key)?.approve(&claim).await {
        println!("{error}");
    }
    Ok(())
}

/// Returns what the token service says about the owner of a certificate.
async fn issued(signer: &DocumentSigner, name: &str, role: &str, certificate: &Certificate) -> Result<Vec<u8>, Error> {
    let (now, end) = (DateTime::now(), DateTime::from(SystemTime::now() + Duration::from_secs(600)));
    let certificate = Base64Binary::from(certificate.der());
    let assertion = format!(
        r#"<Assertion xmlns="urn:oasis:names:tc:SAML:2.0:assertion" ID="_{name}" Version="2.0" IssueInstant="{now}">
          <Issuer>https://sts.example</Issuer>
          <Subject>
            <NameID>{name}</NameID>
            <SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:holder-of-key">
              <SubjectConfirmationData>
                <KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#">
                  <X509Data><X509Certificate>{certificate}</X509Certificate></X509Data>
                </KeyInfo>
              </SubjectConfirmationData>
            </SubjectConfirmation>
          </Subject>
          <Conditions NotOnOrAfter="{end}">
            <AudienceRestriction><Audience>urn:example:claims</Audience></AudienceRestriction>
          </Conditions>
          <AttributeStatement>
            <Attribute Name="role"><AttributeValue>{role}</AttributeValue></Attribute>
          </AttributeStatement>
        </Assertion>"#
    );
    signer.sign_element(assertion.as_bytes(), &format!("_{name}")).await
}
