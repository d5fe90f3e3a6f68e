/// The limits of a reader. The defaults are suitable for messages from unknown senders.
///
/// Exceeding a limit is an error of [`ErrorKind::Limit`](crate::ErrorKind::Limit) that names the limit. Data beyond the
/// limit is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a whole body, in bytes. 4 GiB by default, because attachments are streamed and stored data has its
    /// own limits.
    pub body_size: u64,
    /// The decoded size of the root part, in bytes. 16 MiB by default.
    pub root_size: usize,
    /// The number of parts, including the root. 100 by default.
    pub parts: u32,
    /// The number of lines in the head of a part. 50 by default.
    pub head_lines: usize,
    /// The size of the head of a part, in bytes. 8 KiB by default.
    pub head_size: usize,
    /// The size of the text before the first boundary, and of the text after the last, in bytes. 8 KiB by default.
    pub preamble_size: usize,
    /// How many bytes of waiting parts are stored in memory, for all parts of a message together. The rest goes to a
    /// temporary file. 256 KiB by default.
    pub memory: usize,
    /// How many bytes of waiting parts are stored at all, for all parts of a message together. 256 MiB by default.
    pub stored: u64,
    /// How many bytes all `xop:Include` elements of a message may refer to together, and how many bytes of unused parts
    /// are read and discarded. 64 MiB by default.
    pub included: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body_size: 4 << 30,
            root_size: 16 << 20,
            parts: 100,
            head_lines: 50,
            head_size: 8 << 10,
            preamble_size: 8 << 10,
            memory: 256 << 10,
            stored: 256 << 20,
            included: 64 << 20,
        }
    }
}
