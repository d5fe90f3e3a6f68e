//! The header blocks that accompany some faults (SOAP 1.2 Part 1 §5.4.7, §5.4.8).

use castile_databinding::Encoder;
use castile_databinding::datatypes::QName;

use crate::blocks::BODY;
use crate::error::{Error, ErrorKind};
use crate::version::Version;

/// Returns the header blocks for the fault with which a message is rejected.
pub(crate) fn of_refusal(version: Version, error: &Error) -> String {
    let mut out = Encoder::default();
    match (error.kind(), version) {
        (ErrorKind::VersionMismatch, _) => write_upgrade(&mut out),
        (ErrorKind::MustUnderstand, Version::Soap12) => {
            error.not_understood().iter().for_each(|name| write_not_understood(name, &mut out));
        }
        // SOAP 1.1 has no block for `MustUnderstand` faults.
        _ => {}
    }
    // Names that were read from a message can always be written.
    out.finish().ok().and_then(|blocks| String::from_utf8(blocks).ok()).unwrap_or_default()
}

/// Writes everything before the payload of a message. `header` writes the header, if there is one.
pub(crate) fn write_prologue(version: Version, header: Option<impl FnOnce(&mut Encoder)>, out: &mut Encoder) {
    let prologue = version.prologue();
    let Some(write) = header else { return out.raw(prologue) };
    out.raw(prologue.strip_suffix(BODY).unwrap_or(prologue));
    out.raw("<soap:Header>");
    write(out);
    out.raw("</soap:Header>");
    out.raw(BODY);
}

/// Writes `Upgrade`, which lists the supported versions in order of preference.
fn write_upgrade(out: &mut Encoder) {
    out.raw("<upgrade:Upgrade");
    out.attribute("xmlns:upgrade", &Version::Soap12.namespace().to_owned());
    out.raw(">");
    for version in Version::ALL.into_iter().rev() {
        out.raw("<upgrade:SupportedEnvelope");
        out.attribute("xmlns:supported", &version.namespace().to_owned());
        out.raw(" qname=\"supported:Envelope\"/>");
    }
    out.raw("</upgrade:Upgrade>");
}

/// Writes `NotUnderstood` with the name of a header block.
fn write_not_understood(name: &QName, out: &mut Encoder) {
    out.raw("<soap:NotUnderstood");
    out.attribute("qname", name);
    out.raw("/>");
}
