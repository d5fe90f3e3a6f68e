/// The version of SOAP encoding that values are written in. Both versions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// SOAP 1.1 §5: `id` and `href`, `soapenc:arrayType`.
    #[default]
    Soap11,
    /// SOAP 1.2 Part 2 §3: `enc:id` and `enc:ref`, `enc:itemType` and `enc:arraySize`.
    Soap12,
}

impl Encoding {
    /// Returns the URI of the encoding, which is also its namespace.
    pub const fn namespace(self) -> &'static str {
        match self {
            Encoding::Soap11 => "http://schemas.xmlsoap.org/soap/encoding/",
            Encoding::Soap12 => "http://www.w3.org/2003/05/soap-encoding",
        }
    }

    /// Returns the attributes for the element of a call, or for another independent element: a declaration of `soapenc`, and
    /// the envelope's `encodingStyle`, with the prefix `soap`.
    pub const fn attributes(self) -> &'static str {
        match self {
            Encoding::Soap11 => {
                " xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" soap:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\""
            }
            Encoding::Soap12 => {
                " xmlns:soapenc=\"http://www.w3.org/2003/05/soap-encoding\" soap:encodingStyle=\"http://www.w3.org/2003/05/soap-encoding\""
            }
        }
    }
}
