//! Writes properties as header blocks (1.0 SOAP Binding §3; submission §3.1).

use castile_databinding::{Any, Encoder};

use super::read::IS_REFERENCE_PARAMETER;
use super::{EndpointReference, Properties, Version};
use crate::blocks;

/// Returns the header blocks of these properties. The properties were read from a message, or the code that finishes the message
/// checks that they can be written.
pub(super) fn blocks(properties: &Properties) -> String {
    let version = properties.version;
    let mut out = Encoder::default();
    block(&mut out, version, "Action", properties.action.as_deref());
    block(&mut out, version, "MessageID", properties.message_id.as_deref());
    for relates_to in &properties.relates_to {
        block(&mut out, version, "RelatesTo", Some(&relates_to.message_id));
    }
    block(&mut out, version, "To", properties.to.as_deref());
    if let Some(EndpointReference { address, .. }) = &properties.reply_to {
        start(&mut out, version, "ReplyTo");
        out.raw("<wsa:Address>");
        out.text(address);
        out.raw("</wsa:Address></wsa:ReplyTo>");
    }
    for parameter in &properties.reference_parameters {
        reference_parameter(version, parameter, &mut out);
    }
    // An action or a URL that XML can't contain can't be sent, so the blocks are omitted.
    out.finish().ok().and_then(|blocks| String::from_utf8(blocks).ok()).unwrap_or_default()
}

fn start(out: &mut Encoder, version: Version, local: &str) {
    out.raw(&format!("<wsa:{local} xmlns:wsa=\"{}\">", version.namespace()));
}

fn block(out: &mut Encoder, version: Version, local: &str, text: Option<&str>) {
    if let Some(text) = text {
        start(out, version, local);
        out.text(text);
        out.raw(&format!("</wsa:{local}>"));
    }
}

/// Writes a reference parameter as a header block, and marks it (1.0 SOAP Binding §3.4). The submission doesn't mark them.
fn reference_parameter(version: Version, parameter: &Any, out: &mut Encoder) {
    let (namespace, xml) = (version.namespace(), &*parameter.xml());
    if version == Version::Submission || blocks::attribute(xml, namespace, IS_REFERENCE_PARAMETER).is_some() {
        return out.raw(xml);
    }
    let attributes = |xml: &str| {
        let prefix = blocks::unused_prefix(xml);
        let declaration = (format!("xmlns:{prefix}"), namespace.to_owned());
        vec![declaration, (format!("{prefix}:{IS_REFERENCE_PARAMETER}"), "true".to_owned())]
    };
    out.amended(|out| out.raw(xml), attributes);
}
