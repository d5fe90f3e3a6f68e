//! Certificates for the recipes. In your own programs they come from your authority.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use castile::wss::{Certificate, PrivateKey};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// Writes `authority.pem` and, issued by it, `server.pem` with `server.key` for localhost and `client.pem` with `client.key`.
///
/// # Errors
/// A file can't be written.
pub fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut params = CertificateParams::new([])?;
    params.distinguished_name.push(DnType::CommonName, "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("authority.pem"), authority.pem())?;
    for (file, name) in [("server", "localhost"), ("client", "ada")] {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new([name.to_owned()])?.signed_by(&key, &authority)?;
        std::fs::write(folder.join(file).with_extension("pem"), certificate.pem())?;
        std::fs::write(folder.join(file).with_extension("key"), key.serialize_pem())?;
    }
    Ok(())
}

/// Returns a new key, and a certificate with which its owner names itself.
///
/// # Errors
/// The system has no random numbers.
pub fn own(name: &str) -> Result<(PrivateKey, Certificate), Box<dyn Error>> {
    let (key, certificate) = own_pem(name)?;
    Ok((PrivateKey::from_pem(key.as_bytes())?, Certificate::from_pem(certificate.as_bytes())?))
}

/// Returns a new key, and a certificate with which its owner names itself, each as PEM.
///
/// # Errors
/// The system has no random numbers.
pub fn own_pem(name: &str) -> Result<(String, String), Box<dyn Error>> {
    static SERIAL_NUMBER: AtomicU64 = AtomicU64::new(1);
    let mut params = CertificateParams::new([])?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.serial_number = Some(SERIAL_NUMBER.fetch_add(1, Ordering::Relaxed).into());
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?.pem();
    Ok((key.serialize_pem(), certificate))
}
