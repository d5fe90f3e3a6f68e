use castile_databinding::encoded::Encoding;

use crate::FaultCode;

/// The version of SOAP that a message speaks. Everything in which the versions differ is data behind this, but for the
/// form of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// SOAP 1.1, <http://schemas.xmlsoap.org/soap/envelope/>.
    #[default]
    Soap11,
    /// SOAP 1.2, <http://www.w3.org/2003/05/soap-envelope>.
    Soap12,
}

/// What a header block's `role` can say without naming a node (SOAP 1.2 Part 1 §2.2).
const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// The encodings of data that are known by their names (SOAP 1.2 Part 1 §5.1.1, Part 2 §3, SOAP 1.1 §5).
const ENCODINGS: [&str; 4] = [
    "",
    "http://www.w3.org/2003/05/soap-envelope/encoding/none",
    "http://www.w3.org/2003/05/soap-encoding",
    "http://schemas.xmlsoap.org/soap/encoding/",
];

impl Version {
    /// Both versions.
    pub const ALL: [Version; 2] = [Version::Soap11, Version::Soap12];

    /// The version whose envelopes are in this namespace.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// The namespace of the envelope (SOAP 1.1 §3, SOAP 1.2 Part 1 §5.1).
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// The media type of messages (SOAP 1.1 §6, SOAP 1.2 Part 2 §7.1.4).
    pub const fn media_type(self) -> &'static str {
        match self {
            Version::Soap11 => "text/xml",
            Version::Soap12 => "application/soap+xml",
        }
    }

    /// The status of the HTTP response that carries a fault (SOAP 1.1 §6.2, SOAP 1.2 Part 2 §7.5.2.2).
    pub const fn fault_status(self, code: &FaultCode) -> u16 {
        match (self, code) {
            (Version::Soap12, FaultCode::Sender) => 400,
            _ => 500,
        }
    }

    /// The local name of a fault code (SOAP 1.1 §4.4.1, SOAP 1.2 Part 1 §5.4.6), the nearest one where the version has
    /// none of the kind.
    pub const fn fault_code(self, code: &FaultCode) -> &'static str {
        match (self, code) {
            (_, FaultCode::VersionMismatch) => "VersionMismatch",
            (_, FaultCode::MustUnderstand) => "MustUnderstand",
            (Version::Soap11, FaultCode::Sender | FaultCode::DataEncodingUnknown) => "Client",
            (Version::Soap11, FaultCode::Receiver | FaultCode::Other(_)) => "Server",
            (Version::Soap12, FaultCode::DataEncodingUnknown) => "DataEncodingUnknown",
            (Version::Soap12, FaultCode::Sender) => "Sender",
            (Version::Soap12, FaultCode::Receiver | FaultCode::Other(_)) => "Receiver",
        }
    }

    /// Whether faults have room for more than one name.
    pub(crate) const fn has_subcodes(self) -> bool {
        matches!(self, Version::Soap12)
    }

    /// The fault code of a local name.
    pub(crate) fn fault_code_named(self, local: &str) -> Option<FaultCode> {
        let codes = [
            FaultCode::VersionMismatch,
            FaultCode::MustUnderstand,
            FaultCode::Sender,
            FaultCode::Receiver,
            FaultCode::DataEncodingUnknown,
        ];
        codes.into_iter().find(|code| self.fault_code(code) == local)
    }

    /// The attribute that says whom a header block is for (SOAP 1.1 §4.2.2, SOAP 1.2 Part 1 §5.2.2).
    pub(crate) const fn role_attribute(self) -> &'static str {
        match self {
            Version::Soap11 => "actor",
            Version::Soap12 => "role",
        }
    }

    /// Whether a role is that of the last one to read the message, or of whoever reads it next (SOAP 1.1 §4.2.2,
    /// SOAP 1.2 Part 1 §2.2).
    pub(crate) fn is_role_of_recipient(self, role: &str) -> bool {
        let next = match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/actor/next",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope/role/next",
        };
        role.is_empty() || role == next || (self == Version::Soap12 && role == ULTIMATE_RECEIVER)
    }

    /// Whether `encodingStyle` may say this of a payload: SOAP 1.2 Part 1 §5.4.6 has a fault for encodings that are not
    /// known, and SOAP 1.1 has not.
    pub(crate) fn knows_encoding(self, encoding: &str) -> bool {
        self == Version::Soap11 || ENCODINGS.contains(&encoding)
    }

    /// The encoding that the version brings (SOAP 1.1 §5, SOAP 1.2 Part 2 §3).
    #[doc(hidden)]
    pub const fn encoding(self) -> Encoding {
        match self {
            Version::Soap11 => Encoding::Soap11,
            Version::Soap12 => Encoding::Soap12,
        }
    }

    /// Whether envelope, header and body take only attributes that have a namespace, and no `encodingStyle` (SOAP 1.2
    /// Part 1 §5.1, §5.1.1).
    pub(crate) fn restricts_attributes(self) -> bool {
        self == Version::Soap12
    }

    /// What stands before the payload of a message without a header.
    pub(crate) const fn prologue(self) -> &'static str {
        match self {
            Version::Soap11 => "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>",
            Version::Soap12 => "<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Body>",
        }
    }

    /// What stands behind it.
    pub(crate) const fn epilogue(self) -> &'static str {
        "</soap:Body></soap:Envelope>"
    }
}
