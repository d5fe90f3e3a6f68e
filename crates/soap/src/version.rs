use castile_databinding::encoded::Encoding;

use crate::fault_code::FaultCode;

/// The version of SOAP of a message. All differences between the versions are data in this type, except the structure of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// SOAP 1.1, <http://schemas.xmlsoap.org/soap/envelope/>.
    #[default]
    Soap11,
    /// SOAP 1.2, <http://www.w3.org/2003/05/soap-envelope>.
    Soap12,
}

/// The role of the ultimate receiver (SOAP 1.2 Part 1 §2.2).
const ULTIMATE_RECEIVER: &str = "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver";

/// The known encodings (SOAP 1.2 Part 1 §5.1.1, Part 2 §3, SOAP 1.1 §5).
const ENCODINGS: [&str; 4] = [
    "",
    "http://www.w3.org/2003/05/soap-envelope/encoding/none",
    "http://www.w3.org/2003/05/soap-encoding",
    "http://schemas.xmlsoap.org/soap/encoding/",
];

impl Version {
    /// Both versions.
    pub const ALL: [Version; 2] = [Version::Soap11, Version::Soap12];

    /// Returns the version whose envelopes are in this namespace.
    #[doc(hidden)]
    pub fn of_namespace(namespace: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// Returns the namespace of the envelope (SOAP 1.1 §3, SOAP 1.2 Part 1 §5.1).
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope",
        }
    }

    /// Returns the media type of messages (SOAP 1.1 §6, SOAP 1.2 Part 2 §7.1.4).
    pub const fn media_type(self) -> &'static str {
        match self {
            Version::Soap11 => "text/xml",
            Version::Soap12 => "application/soap+xml",
        }
    }

    /// Returns the HTTP status of a response with a fault (SOAP 1.1 §6.2, SOAP 1.2 Part 2 §7.5.2.2).
    pub const fn fault_status(self, code: &FaultCode) -> u16 {
        match (self, code) {
            (Version::Soap12, FaultCode::Sender) => 400,
            _ => 500,
        }
    }

    /// Returns the local name of a fault code (SOAP 1.1 §4.4.1, SOAP 1.2 Part 1 §5.4.6). If the version doesn't define the code,
    /// returns the closest one.
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

    /// Returns whether faults of this version have subcodes.
    pub(crate) const fn has_subcodes(self) -> bool {
        matches!(self, Version::Soap12)
    }

    /// Returns the fault code with a local name.
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

    /// Returns the attribute with the role of a header block (SOAP 1.1 §4.2.2, SOAP 1.2 Part 1 §5.2.2).
    #[doc(hidden)]
    pub const fn role_attribute(self) -> &'static str {
        match self {
            Version::Soap11 => "actor",
            Version::Soap12 => "role",
        }
    }

    /// Returns whether a role is that of the ultimate receiver or of the next node (SOAP 1.1 §4.2.2, SOAP 1.2 Part 1 §2.2).
    #[doc(hidden)]
    pub fn is_role_of_recipient(self, role: &str) -> bool {
        let next = match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/actor/next",
            Version::Soap12 => "http://www.w3.org/2003/05/soap-envelope/role/next",
        };
        role.is_empty() || role == next || (self == Version::Soap12 && role == ULTIMATE_RECEIVER)
    }

    /// Returns whether a payload may have this `encodingStyle`. SOAP 1.2 Part 1 §5.4.6 has a fault for unknown encodings; SOAP 1.1
    /// has none.
    pub(crate) fn knows_encoding(self, encoding: &str) -> bool {
        self == Version::Soap11 || ENCODINGS.contains(&encoding)
    }

    /// Returns the encoding that the version defines (SOAP 1.1 §5, SOAP 1.2 Part 2 §3).
    #[doc(hidden)]
    pub const fn encoding(self) -> Encoding {
        match self {
            Version::Soap11 => Encoding::Soap11,
            Version::Soap12 => Encoding::Soap12,
        }
    }

    /// Returns whether envelope, header and body allow only attributes with a namespace, and no `encodingStyle` (SOAP 1.2 Part 1
    /// §5.1, §5.1.1).
    pub(crate) fn restricts_attributes(self) -> bool {
        self == Version::Soap12
    }

    /// Returns the text before the payload of a message without a header.
    pub(crate) const fn prologue(self) -> &'static str {
        match self {
            Version::Soap11 => "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>",
            Version::Soap12 => "<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Body>",
        }
    }

    /// Returns the text after the payload.
    pub(crate) const fn epilogue(self) -> &'static str {
        "</soap:Body></soap:Envelope>"
    }
}
