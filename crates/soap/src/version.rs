/// The version of SOAP that a message speaks. Everything in which the versions differ is data behind this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// SOAP 1.1, <http://schemas.xmlsoap.org/soap/envelope/>.
    #[default]
    Soap11,
}

impl Version {
    /// The namespace of the envelope (SOAP 1.1 §3).
    pub const fn namespace(self) -> &'static str {
        match self {
            Version::Soap11 => "http://schemas.xmlsoap.org/soap/envelope/",
        }
    }

    /// The media type of a message (SOAP 1.1 §6).
    pub const fn media_type(self) -> &'static str {
        match self {
            Version::Soap11 => "text/xml",
        }
    }
}
