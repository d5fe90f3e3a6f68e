//! The codes of faults, in both versions of SOAP.

use castile_databinding::datatypes::QName;

/// The code of a fault (SOAP 1.1 §4.4.1, SOAP 1.2 Part 1 §5.4.6). The variants have the names of SOAP 1.2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultCode {
    /// The version of the envelope is unknown.
    VersionMismatch,
    /// A header block that must be understood is not.
    MustUnderstand,
    /// The encoding of the payload is unknown. SOAP 1.1 has no such code and writes `Client`.
    DataEncodingUnknown,
    /// The message is invalid, and fails again if it is resent unchanged. `Client` in SOAP 1.1.
    Sender,
    /// The message is valid but can't be processed. It may succeed later. `Server` in SOAP 1.1.
    Receiver,
    /// A code that SOAP doesn't define. SOAP 1.2 doesn't allow it, so it is written as a subcode of `Receiver`.
    Other(Box<QName>),
}
