/// What a reader accepts at most. The defaults suit messages from strangers.
///
/// What passes a limit ends in an error of [`ErrorKind::Limit`](crate::ErrorKind::Limit) that names the limit; nothing
/// is kept of what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a whole body, in bytes. 4 GiB by default: attachments stream, and what is kept has limits of its own.
    pub body_size: u64,
    /// The size of the root part, decoded, in bytes. 16 MiB by default.
    pub root_size: usize,
    /// How many parts a body may have, the root included. 100 by default.
    pub parts: u32,
    /// How many lines the head of a part may have. 50 by default.
    pub head_lines: usize,
    /// The size of the head of a part, in bytes. 8 KiB by default.
    pub head_size: usize,
    /// The size of what may stand before the first boundary, in bytes, and of what may stand behind the last. 8 KiB by
    /// default.
    pub preamble_size: usize,
    /// How much of the parts that must wait is kept in memory, in bytes, all parts of a message together. More goes to
    /// a temporary file. 256 KiB by default.
    pub memory: usize,
    /// How much of the parts that must wait is kept at all, in bytes, all parts of a message together. 256 MiB by
    /// default.
    pub stored: u64,
    /// How much content all `xop:Include` elements of a message stand for together, in bytes, and how much of parts that
    /// nobody takes is read and passed over. 64 MiB by default.
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
