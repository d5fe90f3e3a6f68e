//! The header of a request or a response: received blocks, which are read on demand, or blocks to be sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_xml::CachedReader;

use super::{AnyHeader, Header, Headers, Read, WriteHeader};
use crate::charge::{Charge, reserve};
use crate::description::{Operation, Root};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorKind};
use crate::options::Options;
use crate::version::Version;
use crate::{payload, writer};

/// The largest message whose header blocks may refer to elements after the header. To read such a block, the whole message is
/// parsed again on the thread that drives the connection.
const MAX_REFERENCED_SIZE: usize = 256 << 10;

/// The header blocks of a request or a response.
#[derive(Clone, Debug, Default)]
pub(crate) enum Blocks {
    #[default]
    Nothing,
    Received(Box<Received>),
    Own(Vec<Own>),
}

/// A block to be sent.
#[derive(Clone)]
pub(crate) struct Own(Arc<dyn WriteHeader>);

/// The header of a received message.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    text: Text,
    envelope: Envelope,
    options: Options,
    /// The operation that is reported together with deviations.
    operation: Option<&'static Operation>,
    reservation: Option<Arc<Reservation>>,
}

/// The retained part of a message, in UTF-8, from which its header is read.
#[derive(Clone, Debug)]
enum Text {
    /// The message up to the end of the last header block.
    Beginning(Box<str>),
    /// The whole message as received.
    Whole(Bytes),
    /// The whole decoded message, and the reservation to which it is charged.
    Decoded { text: Arc<str>, _held: Option<Arc<Reservation>> },
}

impl Text {
    /// Blocks in SOAP encoding may refer to elements after the header. The rest of the message, which may be large, is retained
    /// only if there may be such a reference. In a large message such references are not resolved.
    fn of(text: &str, end: usize, message: &Bytes, charge: Charge<'_>) -> Self {
        // A block ends at a character boundary.
        let beginning = text.get(..end).unwrap_or(text);
        // The attribute is `href`, or `ref` in SOAP 1.2.
        let may_refer = text.len() <= MAX_REFERENCED_SIZE && beginning.contains("ref");
        if may_refer && text.as_bytes().as_ptr_range() == message.as_ptr_range() {
            return Text::Whole(message.clone());
        }
        match may_refer.then(|| reserve(charge, text.len())) {
            Some(Ok(held)) => Text::Decoded { text: text.into(), _held: held.map(Arc::new) },
            // Without memory for the whole text, references are not resolved.
            Some(Err(_)) | None => Text::Beginning(beginning.into()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Text::Beginning(text) => text,
            Text::Whole(message) => str::from_utf8(message).unwrap_or_default(),
            Text::Decoded { text, .. } => text,
        }
    }
}

impl Blocks {
    pub(crate) fn push(&mut self, block: impl WriteHeader + 'static) {
        if !matches!(self, Blocks::Own(_)) {
            *self = Blocks::Own(Vec::new());
        }
        if let Blocks::Own(blocks) = self {
            blocks.push(Own(Arc::new(block)));
        }
    }

    /// Returns the blocks to be sent.
    pub(crate) fn own(&self) -> Vec<&dyn WriteHeader> {
        match self {
            Blocks::Own(blocks) => blocks.iter().map(|Own(block)| &**block).collect(),
            Blocks::Nothing | Blocks::Received(_) => Vec::new(),
        }
    }

    /// Creates the header of a received message. `text` is the text from which the envelope was read: `message`, or its decoded
    /// form.
    pub(crate) fn received(
        envelope: Envelope,
        text: &str,
        message: &Bytes,
        options: &Options,
        operation: Option<&'static Operation>,
        reservation: Option<&Arc<Reservation>>,
    ) -> Self {
        let Some(last) = envelope.header.last() else { return Blocks::Nothing };
        let text = Text::of(text, last.bytes.end, message, reservation);
        let (options, reservation) = (options.clone(), reservation.cloned());
        Blocks::Received(Box::new(Received { text, envelope, options, operation, reservation }))
    }

    /// Reads the block `T` for this node. `version` is the version of a message that is not written yet.
    pub(crate) fn typed<T: Header>(&self, version: Version) -> Result<Option<T>, Error> {
        self.read(version, |received| received.typed())
    }

    /// Returns the blocks whose names `wanted` accepts.
    pub(crate) fn all(&self, version: Version, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<AnyHeader>, Error> {
        self.read(version, |received| {
            received.read(|header| header.all(|block| wanted(&block.namespace, &block.local)))
        })
    }

    fn read<T: Default>(&self, version: Version, read: impl FnOnce(&Received) -> Result<T, Error>) -> Result<T, Error> {
        match self {
            Blocks::Nothing => Ok(T::default()),
            Blocks::Received(received) => read(received),
            // Write the blocks into a message, and read them as its receiver would.
            Blocks::Own(_) => {
                let blocks = self.own();
                let root = Root::of_body("<soap:Body>", &[]);
                let message = writer::write_with(version, Headers::new(&blocks), &root, &(), Vec::new())?;
                let message = Bytes::from(message);
                let options = Options::default();
                let mut reader = CachedReader::new(&message, options.limits)?;
                let (envelope, _) = Envelope::read(&mut reader)?;
                Blocks::received(envelope, reader.input(), &message, &options, None, None).read(version, read)
            }
        }
    }
}

impl Received {
    fn typed<T: Header>(&self) -> Result<Option<T>, Error> {
        self.read(|header| {
            let Some((block, deviations)) = header.typed()? else { return Ok(None) };
            if let Some(operation) = self.operation {
                payload::report_deviations(&self.options, operation, deviations, header.text);
            }
            Ok(Some(block))
        })
    }

    /// Reads strictly first. If that fails with a deviation and leniency is configured, reads again leniently.
    fn read<T>(&self, read: impl Fn(Read<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let Received { text, envelope, options, reservation, .. } = self;
        let (text, limits, charge) = (text.as_str(), options.limits, reservation.as_ref());
        let header = |is_lenient| Read { envelope, text, limits, charge, is_lenient };
        let value = match read(header(false)) {
            Err(error) if options.leniency.is_some() && error.is_deviation() => read(header(true)),
            value => value,
        };
        let value = value.map_err(|error| match self.text {
            Text::Beginning(_) if error.kind() == ErrorKind::Document && error.is_at(text.len()) => {
                let message = format!(
                    "a reference to an element after the header, which is only supported in messages of up to \
                     {MAX_REFERENCED_SIZE} bytes"
                );
                Error::at(text.len(), ErrorKind::Document, message)
            }
            _ => error,
        });
        value.map_err(|error| error.in_header().locate(text.as_bytes(), limits))
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header block")
    }
}
