use crate::FaultCode;

/// The version of SOAP that a message speaks. Everything in which the versions differ is data behind this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// SOAP 1.1, <http://schemas.xmlsoap.org/soap/envelope/>.
    #[default]
    Soap11,
}

impl Version {
    /// The version whose envelopes are in this namespace.
    pub(crate) fn of_namespace(namespace: &str) -> Option<Version> {
        [Version::Soap11].into_iter().find(|version| version.namespace() == namespace)
    }

    /// The namespace of the envelope (SOAP 1.1 §3).
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
        }
    }

    /// The actor that means whoever reads the message next (SOAP 1.1 §4.2.2).
    pub(crate) const fn next_actor(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/actor/next",
        }
    }

    /// The local name of a fault code (SOAP 1.1 §4.4.1).
    pub fn fault_code(self, code: &FaultCode) -> &str {
        match (self, code) {
            (_, FaultCode::VersionMismatch) => "VersionMismatch",
            (_, FaultCode::MustUnderstand) => "MustUnderstand",
            (Version::Soap11, FaultCode::Sender) => "Client",
            (Version::Soap11, FaultCode::Receiver) => "Server",
            (_, FaultCode::Other(name)) => name,
        }
    }

    /// What stands before the payload of a message.
    pub(crate) const fn prologue(self) -> &'static str {
        match self {
            Version::Soap11 => "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>",
        }
    }

    /// What stands behind it.
    pub(crate) const fn epilogue(self) -> &'static str {
        "</soap:Body></soap:Envelope>"
    }
}
