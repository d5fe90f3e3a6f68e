use std::fmt;
use std::sync::Arc;

use castile_databinding::schema::Element;
use castile_databinding::{Deviations, ExpandedName};
use castile_xml::Limits;

use crate::{Mtom, Offloading, Operation, addressing};

/// How messages are read and written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// What a message may take.
    pub limits: Limits,
    /// Whether messages may deviate from the contract. `None`, the default, refuses those that do.
    pub leniency: Option<Leniency>,
    /// The roles that are ours beside those of the next and of the last reader: header blocks for them are for us
    /// (SOAP 1.1 §4.2.2, SOAP 1.2 Part 1 §2.2).
    pub roles: Vec<String>,
    /// The header blocks that are understood beside those that the operation declares, so that they may say `mustUnderstand`.
    pub understood: Vec<ExpandedName>,
    /// What is made of the blocks of WS-Addressing in requests.
    pub addressing: addressing::Policy,
    /// The request that is sent with WS-Addressing, to which its answer must relate.
    pub(crate) call: Option<addressing::Call>,
    /// An element of answers whose occurrences were taken out before they are read.
    pub(crate) cut: Option<&'static Element>,
    /// What packages may take: messages with attachments. The envelope is bounded by [`limits`](Self::limits) as well.
    pub attachments: castile_mime::Limits,
    /// Whether messages that are sent are MTOM.
    pub mtom: Mtom,
    /// Where large messages are read and written. `None`, the default here, is where they are asked for; servers and clients over HTTP
    /// have workers for those of more than 256 KiB by default.
    pub offload: Option<Offloading>,
}

impl Default for Options {
    fn default() -> Self {
        Options::from(Limits::default())
    }
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
        Options {
            limits,
            leniency: None,
            roles: Vec::new(),
            understood: Vec::new(),
            addressing: addressing::Policy::default(),
            call: None,
            cut: None,
            attachments: castile_mime::Limits::default(),
            mtom: Mtom::default(),
            offload: None,
        }
    }
}

/// Takes messages that deviate from the contract where that loses nothing, and is told what was tolerated.
///
/// A message is read strictly first, so those that are right cost nothing more; one that deviates is read again.
/// [`Decoder::lenient`](castile_databinding::Decoder::lenient) says what is tolerated.
///
/// ```
/// use castile_soap::{Leniency, Options};
///
/// let mut options = Options::default();
/// options.leniency = Some(Leniency::new(|operation, deviations| {
///     for deviation in deviations {
///         eprintln!("{}: {deviation}", operation.name);
///     }
/// }));
/// ```
#[derive(Clone)]
pub struct Leniency(Arc<Tell>);

type Tell = dyn Fn(&Operation, &Deviations) + Send + Sync;

impl Leniency {
    /// Leniency of which `tell` is told, with paths, lines and columns: once for each message whose payload deviates, when it
    /// was read and before a handler has it, and of a header block each time when somebody asks for it. It should be quick,
    /// as the message waits for it.
    pub fn new(tell: impl Fn(&Operation, &Deviations) + Send + Sync + 'static) -> Self {
        Leniency(Arc::new(tell))
    }

    pub(crate) fn tell(&self, operation: &Operation, deviations: &Deviations) {
        (self.0)(operation, deviations);
    }
}

impl Options {
    /// These options for a request that is sent with WS-Addressing, and for its answer.
    #[doc(hidden)]
    pub fn of_call(self, call: addressing::Call) -> Self {
        Options { call: Some(call), ..self }
    }

    /// These options for an answer from which the occurrences of an element were taken out.
    #[doc(hidden)]
    pub fn of_cut(self, cut: &'static Element) -> Self {
        Options { cut: Some(cut), ..self }
    }

    /// Whether header blocks of this name are understood, whatever an operation declares.
    pub(crate) fn understands(&self, namespace: &str, local: &str) -> bool {
        self.understood.iter().any(|name| name.is(namespace, local))
    }

    /// Where work on so many bytes is done, if that is elsewhere.
    pub(crate) fn elsewhere(&self, size: usize) -> Option<&Offloading> {
        self.offload.as_ref().filter(|offload| offload.takes(size))
    }
}

impl fmt::Debug for Leniency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leniency")
    }
}
