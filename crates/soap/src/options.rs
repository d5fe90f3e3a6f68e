//! The options for reading and writing messages.

use std::fmt;
use std::sync::Arc;

use castile_databinding::schema::Element;
use castile_databinding::{Deviations, ExpandedName};
use castile_xml::Limits;

use crate::addressing;
use crate::description::Operation;
use crate::envelope::HeaderBlock;
use crate::offload::Offloading;

/// The options for reading and writing messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The limits of a message.
    pub limits: Limits,
    /// How messages that deviate from the contract are read. `None`, the default, rejects them.
    pub leniency: Option<Leniency>,
    /// Additional roles of this node. Header blocks with one of these roles are for this node, like those for the `next` and
    /// `ultimateReceiver` roles (SOAP 1.1 §4.2.2, SOAP 1.2 Part 1 §2.2).
    pub roles: Vec<String>,
    /// Header blocks that are understood in addition to those that the operation declares. Senders may mark them `mustUnderstand`.
    pub understood: Vec<ExpandedName>,
    /// The byte offsets of header blocks of this message that were processed before it is read.
    pub(crate) processed: Vec<usize>,
    /// How WS-Addressing header blocks in requests are handled.
    pub addressing: addressing::Policy,
    /// The WS-Addressing request that is sent. Its answer must relate to it.
    pub(crate) call: Option<addressing::Call>,
    /// The repeated element whose occurrences were cut out of the answer before it is read.
    pub(crate) cut_out: Option<&'static Element>,
    /// The limits of packages, which are messages with attachments. The [`limits`](Self::limits) also apply to the envelope.
    pub attachments: castile_mime::Limits,
    /// Whether messages are sent as MTOM.
    pub mtom: Mtom,
    /// Where large messages are read and written. With `None`, the default, the calling task does it. HTTP servers and clients use
    /// workers for messages of more than 256 KiB by default.
    pub offload: Option<Offloading>,
    /// Whether it is noted what of a written message is in canonical form, for those who sign it.
    #[doc(hidden)]
    pub notes_canonical: bool,
    /// Whether references in SOAP encoding that lead from the body to the header are refused. For messages whose body was verified, and
    /// whose header wasn't.
    #[doc(hidden)]
    pub confines_references: bool,
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
            processed: Vec::new(),
            addressing: addressing::Policy::default(),
            call: None,
            cut_out: None,
            attachments: castile_mime::Limits::default(),
            mtom: Mtom::default(),
            offload: None,
            notes_canonical: false,
            confines_references: false,
        }
    }
}

/// The default length in bytes from which binary values in MTOM messages become parts. A part with its header and its reference
/// takes about 350 bytes. Base64 makes a value a third longer.
pub const DEFAULT_THRESHOLD: usize = 1 << 10;

/// Whether messages are sent as MTOM, and the length in bytes from which binary values become parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mtom {
    /// Messages are never sent as MTOM.
    Never,
    /// Answers are MTOM if the request is MTOM or its sender accepts MTOM. All messages are MTOM if the contract declares that
    /// (WS-MTOMPolicy).
    Asked(usize),
    /// All messages are sent as MTOM.
    Always(usize),
}

impl Default for Mtom {
    fn default() -> Self {
        Mtom::Asked(DEFAULT_THRESHOLD)
    }
}

impl Mtom {
    /// Returns the threshold for a message, or `None` if the message is not sent as MTOM.
    pub fn threshold(self, is_asked: bool) -> Option<usize> {
        match self {
            Mtom::Asked(threshold) if is_asked => Some(threshold),
            Mtom::Always(threshold) => Some(threshold),
            Mtom::Asked(_) | Mtom::Never => None,
        }
    }
}

/// Accepts messages that deviate from the contract if no data is lost, and reports the deviations.
///
/// A message is first read strictly, so a valid message costs nothing extra. A message that deviates is read a second time.
/// [`Decoder::lenient`](castile_databinding::Decoder::lenient) lists what is tolerated.
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
pub struct Leniency(Arc<ReportFn>);

type ReportFn = dyn Fn(&Operation, &Deviations) + Send + Sync;

impl Leniency {
    /// Creates a leniency that reports deviations to `report`, with paths, lines and columns. `report` is called once for each
    /// message whose payload deviates, after the message was read and before the handler is called. For a header block, it is
    /// called each time that the block is read. `report` should be quick, because the message waits for it.
    pub fn new(report: impl Fn(&Operation, &Deviations) + Send + Sync + 'static) -> Self {
        Leniency(Arc::new(report))
    }

    pub(crate) fn report(&self, operation: &Operation, deviations: &Deviations) {
        (self.0)(operation, deviations);
    }
}

impl Options {
    /// Sets the WS-Addressing request to which the answer must relate.
    #[doc(hidden)]
    pub fn with_call(self, call: addressing::Call) -> Self {
        Options { call: Some(call), ..self }
    }

    /// Sets the repeated element whose occurrences were cut out of the answer.
    #[doc(hidden)]
    pub fn with_cut_out(self, element: &'static Element) -> Self {
        Options { cut_out: Some(element), ..self }
    }

    /// Returns whether a header block is understood for all operations.
    pub(crate) fn understands(&self, block: &HeaderBlock) -> bool {
        self.processed.contains(&block.bytes.start)
            || self.understood.iter().any(|name| name.is(&block.namespace, &block.local))
    }

    /// Returns where a message of this size is processed, if it is offloaded.
    pub(crate) fn offload_for(&self, size: usize) -> Option<&Offloading> {
        self.offload.as_ref().filter(|offload| offload.takes(size))
    }
}

impl fmt::Debug for Leniency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leniency")
    }
}
