//! Stores parts that arrive before they are requested: in memory, then in a temporary file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use castile_budget::{Reservation, Share};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

use crate::charges::{begin, charge, charged, grow, refused};
use crate::{Charges, Error, ErrorKind, Limits, PartHead};

/// How many bytes are written to or read from the file at a time.
const BLOCK: usize = 256 << 10;

/// Stores the content of the parts of one message.
///
/// The file has no name, so the system removes it when it is closed, even after a crash. All parts share one file, so a
/// message needs only one descriptor.
#[derive(Debug)]
pub(crate) struct Store {
    limits: Limits,
    charges: Option<Charges>,
    memory: usize,
    stored: u64,
    file: Option<Arc<Temporary>>,
    /// The used length of the file.
    end: u64,
    /// Whether the buffer for reads and writes is charged.
    has_block: bool,
}

/// A temporary file, and the reservation that its bytes are charged to.
#[derive(Debug)]
struct Temporary {
    file: Mutex<File>,
    _disk: Option<Arc<Reservation>>,
}

/// Content that is being stored.
#[derive(Debug, Default)]
pub(crate) struct Storing {
    memory: Vec<u8>,
    charge: Option<Share>,
    start: u64,
    /// Bytes that wait to be written to the file.
    block: Vec<u8>,
}

/// Stored content.
pub(crate) struct Stored {
    memory: Bytes,
    /// The charge for the memory.
    charge: Option<Share>,
    file: Option<Arc<Temporary>>,
    start: u64,
    end: u64,
    /// Never locked. The mutex makes the future `Sync`, and with it futures that hold a reference to this.
    reading: Mutex<Option<BoxFuture<'static, io::Result<Vec<u8>>>>>,
}

impl Store {
    pub(crate) fn new(limits: Limits, charges: Option<Charges>) -> Self {
        Store { limits, charges, memory: 0, stored: 0, file: None, end: 0, has_block: false }
    }

    /// Returns the reservations that the content is charged to.
    pub(crate) fn charges(&self) -> Option<&Charges> {
        self.charges.as_ref()
    }

    /// Begins to store a part. Its head is charged, because it is stored as well.
    pub(crate) fn begin(&self, head: &PartHead) -> Result<Storing, Error> {
        let mut charge = begin(self.charges());
        grow(&mut charge, head.memory())?;
        Ok(Storing { start: self.end, charge, ..Storing::default() })
    }

    /// Appends to the content that was begun last. The data is copied, because a slice would keep its whole chunk in
    /// memory.
    pub(crate) async fn push(&mut self, storing: &mut Storing, data: &[u8]) -> Result<(), Error> {
        self.stored += data.len() as u64;
        if self.stored > self.limits.stored {
            let message = format!("stored parts have more than {} bytes together", self.limits.stored);
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let is_in_file = self.end > storing.start || !storing.block.is_empty();
        let fits = if is_in_file { 0 } else { data.len().min(self.limits.memory - self.memory) };
        let (to_memory, to_file) = data.split_at(fits);
        storing.append(to_memory, self.limits.memory - self.memory)?;
        self.memory += fits;
        if !to_file.is_empty() && !self.has_block {
            charge(self.charges(), BLOCK)?;
            self.has_block = true;
        }
        storing.block.extend_from_slice(to_file);
        if storing.block.len() >= BLOCK { self.write(storing).await } else { Ok(()) }
    }

    pub(crate) async fn end(&mut self, mut storing: Storing) -> Result<Stored, Error> {
        if !storing.block.is_empty() {
            self.write(&mut storing).await?;
        }
        let file = self.file.clone().filter(|_| self.end > storing.start);
        let spare = storing.memory.capacity() - storing.memory.len();
        storing.memory.shrink_to_fit();
        if let Some(charge) = &mut storing.charge {
            charge.shrink(spare);
        }
        let memory = Bytes::from(storing.memory);
        Ok(Stored {
            memory,
            charge: storing.charge,
            file,
            start: storing.start,
            end: self.end,
            reading: Mutex::new(None),
        })
    }

    async fn write(&mut self, storing: &mut Storing) -> Result<(), Error> {
        let block = std::mem::take(&mut storing.block);
        let length = block.len() as u64;
        let (file, end) = (self.file.clone(), self.end);
        let disk = self.charges().map(|charges| charges.disk.clone());
        if let Some(disk) = &disk {
            disk.grow(block.len()).map_err(|exhausted| refused("disk space", exhausted))?;
        }
        let written = run_blocking(move || {
            let file = match file {
                Some(file) => file,
                None => Arc::new(Temporary { file: Mutex::new(tempfile::tempfile()?), _disk: disk }),
            };
            let mut locked = file.file.lock().unwrap_or_else(PoisonError::into_inner);
            locked.seek(SeekFrom::Start(end))?;
            locked.write_all(&block)?;
            drop(locked);
            Ok(file)
        });
        self.file = Some(written.await.map_err(|error| failed("written", error))?);
        self.end += length;
        Ok(())
    }
}

impl Storing {
    /// Appends to the content in memory, which may grow by `most` bytes in total. The capacity of the vector is
    /// charged.
    fn append(&mut self, more: &[u8], most: usize) -> Result<(), Error> {
        let (length, room) = (self.memory.len(), self.memory.capacity());
        if length + more.len() > room {
            let wanted = (2 * room).clamp(length + more.len(), length + most.max(more.len()));
            grow(&mut self.charge, wanted - room)?;
            self.memory.reserve_exact(wanted - length);
        }
        self.memory.extend_from_slice(more);
        Ok(())
    }
}

impl Stored {
    /// Returns the number of remaining bytes.
    pub(crate) fn length(&self) -> u64 {
        self.memory.len() as u64 + (self.end - self.start)
    }

    /// Returns the remaining content and its charge, if all of it is in memory.
    pub(crate) fn whole(&mut self) -> Option<(Bytes, Option<Share>)> {
        (self.start == self.end).then(|| (std::mem::take(&mut self.memory), self.charge.take()))
    }

    /// Shows the remaining content, which stays here.
    pub(crate) async fn show<E: From<Error>>(&self, mut see: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !self.memory.is_empty() {
            see(&self.memory)?;
        }
        let Some(file) = &self.file else { return Ok(()) };
        let mut at = self.start;
        while at < self.end {
            let block = read_block(file.clone(), at, self.end).await.map_err(|error| failed("read", error))?;
            at += block.len() as u64;
            see(&block)?;
        }
        Ok(())
    }

    /// Returns the next chunk; `None` at the end.
    pub(crate) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        if !self.memory.is_empty() {
            return Poll::Ready(Ok(Some(charged(std::mem::take(&mut self.memory), self.charge.take()))));
        }
        let Some(file) = self.file.as_ref().filter(|_| self.start < self.end) else {
            return Poll::Ready(Ok(None));
        };
        let (start, end) = (self.start, self.end);
        let reading = self.reading.get_mut().unwrap_or_else(PoisonError::into_inner);
        let reading = reading.get_or_insert_with(|| read_block(file.clone(), start, end).boxed());
        let block = ready!(reading.as_mut().poll(cx));
        *self.reading.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        let block = block.map_err(|error| failed("read", error))?;
        self.start += block.len() as u64;
        Poll::Ready(Ok(Some(block.into())))
    }
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("length", &self.length()).finish_non_exhaustive()
    }
}

/// Reads the bytes of a file from `start` on, but no more than a block and not beyond `end`.
async fn read_block(file: Arc<Temporary>, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = (end - start).min(BLOCK as u64) as usize;
    let read = move || {
        let mut block = vec![0; length];
        let mut locked = file.file.lock().unwrap_or_else(PoisonError::into_inner);
        locked.seek(SeekFrom::Start(start))?;
        locked.read_exact(&mut block)?;
        Ok(block)
    };
    run_blocking(read).await
}

/// Runs file operations on tokio's threads for blocking work, or in place outside of a tokio runtime.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    match Handle::try_current() {
        Ok(handle) => handle.spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error))),
        Err(_) => work(),
    }
}

#[cold]
fn failed(verb: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::System, format!("the temporary file for stored parts can't be {verb}")).because(error)
}
