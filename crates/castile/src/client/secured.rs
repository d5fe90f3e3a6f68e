//! Security of requests and answers.

use castile_soap::{Error, MessageSecurity, Received, Written};

/// Adds security to a request that was written. Returns the values of its signatures.
pub(super) async fn secure(
    security: &dyn MessageSecurity,
    written: &mut Written,
    is_sifted: bool,
) -> Result<Vec<Vec<u8>>, Error> {
    if is_sifted {
        return Err(Error::of_security(
            "items of an answer are read before its security is checked, which is not supported",
        ));
    }
    let secured = security.secure(written).await?;
    written.message = secured.message.into();
    // It holds the message as it was.
    written.canonical = None;
    Ok(secured.signatures)
}

/// Checks the security of the answer to a request with these signatures. The empty answer to a message without a response has none.
pub(super) async fn verify(
    security: &dyn MessageSecurity,
    received: &mut Received,
    signatures: &[Vec<u8>],
    has_response: bool,
) -> Result<(), Error> {
    if !has_response && received.message.is_empty() {
        return Ok(());
    }
    security.verify(received, signatures).await
}
