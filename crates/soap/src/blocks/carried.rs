//! The header of a request or a response: blocks that came, read when somebody asks for one, or blocks to be sent.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use castile_budget::Reservation;
use castile_xml::Reader;

use super::{AnyHeader, Header, Headers, Read, WriteHeader};
use crate::charge::{Charge, hold};
use crate::{Envelope, Error, ErrorKind, Operation, Options, Root, Version, message};

/// The size of a message up to which its header blocks may refer to what stands behind them. Who asks for such a block has all of
/// the message read once more, where connections are driven.
const MOST_REFERRED_TO: usize = 256 << 10;

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

/// The header of a message that came.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    text: Text,
    envelope: Envelope,
    options: Options,
    /// The operation of the message, for those who are told of deviations.
    operation: Option<&'static Operation>,
    reservation: Option<Arc<Reservation>>,
}

/// What is kept of a message to read its header, in UTF-8.
#[derive(Clone, Debug)]
enum Text {
    /// Up to the end of the last block.
    Beginning(Box<str>),
    /// All of it, as it came.
    Whole(Bytes),
    /// All of it, as it was decoded, and what that is charged to.
    Decoded { text: Arc<str>, _held: Option<Arc<Reservation>> },
}

impl Text {
    /// Blocks in SOAP encoding may refer to what stands behind the header. Without such a reference the rest is not kept: it may
    /// be large. In a large message a reference leads nowhere.
    fn of(text: &str, end: usize, message: &Bytes, charge: Charge<'_>) -> Self {
        // Blocks end where a character does.
        let beginning = text.get(..end).unwrap_or(text);
        // `href`, or `ref` of SOAP 1.2.
        let may_refer = text.len() <= MOST_REFERRED_TO && beginning.contains("ref");
        if may_refer && text.as_bytes().as_ptr_range() == message.as_ptr_range() {
            return Text::Whole(message.clone());
        }
        match may_refer.then(|| hold(charge, text.len())) {
            Some(Ok(held)) => Text::Decoded { text: text.into(), _held: held.map(Arc::new) },
            // Where memory lacks, a reference leads nowhere.
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

    /// The blocks to be sent.
    pub(crate) fn own(&self) -> Vec<&dyn WriteHeader> {
        match self {
            Blocks::Own(blocks) => blocks.iter().map(|Own(block)| &**block).collect(),
            Blocks::Nothing | Blocks::Received(_) => Vec::new(),
        }
    }

    /// The header of a message that came, whose envelope was read off `text`. That is `message`, or what was decoded from it.
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

    /// The block for us that `T` is. `version` is that of a message that is not written yet.
    pub(crate) fn typed<T: Header>(&self, version: Version) -> Result<Option<T>, Error> {
        self.read(version, |received| received.typed())
    }

    /// The blocks that `wanted` says by their names.
    pub(crate) fn all(&self, version: Version, wanted: impl Fn(&str, &str) -> bool) -> Result<Vec<AnyHeader>, Error> {
        self.read(version, |received| {
            received.read(|header| header.all(|block| wanted(&block.namespace, &block.local)))
        })
    }

    fn read<T: Default>(&self, version: Version, read: impl FnOnce(&Received) -> Result<T, Error>) -> Result<T, Error> {
        match self {
            Blocks::Nothing => Ok(T::default()),
            Blocks::Received(received) => read(received),
            // They are read as who receives them does.
            Blocks::Own(_) => {
                let blocks = self.own();
                let root = Root::of_body("<soap:Body>", &[]);
                let message = message::write_with(version, Headers::new(&blocks), &root, &(), Vec::new())?;
                let message = Bytes::from(message);
                let options = Options::default();
                let mut reader = Reader::new(&message, options.limits)?;
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
                message::tell(&self.options, operation, deviations, header.text);
            }
            Ok(Some(block))
        })
    }

    /// Reads strictly, and leniently what deviates where that is allowed.
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
                    "a reference to what stands behind the header, which is followed in messages of up to {MOST_REFERRED_TO} bytes"
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
