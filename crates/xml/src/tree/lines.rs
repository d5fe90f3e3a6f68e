use super::Position;

/// The size of a block in bytes. The number of characters before each block is stored.
const BLOCK: usize = 1 << 10;

/// Where the lines of a text begin. The time to find a position hardly depends on the number of lines, and not on their
/// length. A contract may be a single line of megabytes, with a problem in every tag.
#[derive(Debug, Clone)]
pub struct Lines {
    /// The offset of the beginning of each line.
    starts: Vec<u32>,
    /// How many characters begin before each block of the text.
    blocks: Vec<u32>,
}

impl Lines {
    /// Finds the lines of `text`, which must have less than 4 GiB.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let starts = memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1);
        let mut characters = 0;
        let blocks = bytes.chunks(BLOCK).map(|block| {
            let before = characters;
            characters += count(block);
            before
        });
        Self { starts: std::iter::once(0).chain(starts).collect(), blocks: blocks.collect() }
    }

    /// Returns line and column of a byte offset in `text`, which must be the text of these lines.
    #[must_use]
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.starts.partition_point(|&start| start as usize <= offset).max(1);
        let start = self.starts[line - 1] as usize;
        let column = self.before(text, offset) - self.before(text, start) + 1;
        Position { line: line as u32, column }
    }

    /// Returns the offset of the beginning of a line. Lines count from 1. After the last line, it is the beginning of
    /// the last line.
    #[must_use]
    pub fn start(&self, line: u32) -> usize {
        let index = (line.max(1) as usize).min(self.starts.len()) - 1;
        self.starts[index] as usize
    }

    /// Returns how many characters begin before `offset`.
    fn before(&self, text: &str, offset: usize) -> u32 {
        let bytes = &text.as_bytes()[..offset.min(text.len())];
        let block = (bytes.len() / BLOCK).min(self.blocks.len().saturating_sub(1));
        let known = self.blocks.get(block).copied().unwrap_or(0);
        known + count(&bytes[block * BLOCK..])
    }
}

/// Returns how many characters begin in `bytes`. Continuation bytes are not counted.
fn count(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_however_long_the_line_is() {
        let text = format!("a\n{}x\n\nb", "é".repeat(2_000));
        let lines = Lines::of(&text);
        for (offset, line, column) in [
            (0, 1, 1),
            (1, 1, 2),
            (2, 2, 1),
            (4, 2, 2),
            (2 + 2 * 700, 2, 701),
            (2 + 4_000, 2, 2_001),
            (2 + 4_002, 3, 1),
            (2 + 4_003, 4, 1),
            (2 + 4_004, 4, 2),
        ] {
            assert_eq!(lines.position(&text, offset), Position { line, column }, "{offset}");
        }
        assert_eq!(Lines::of("").position("", 0), Position { line: 1, column: 1 });
        assert_eq!((lines.start(1), lines.start(2), lines.start(4), lines.start(9)), (0, 2, 4_005, 4_005));
        assert_eq!(Lines::of(&"x".repeat(BLOCK)).position(&"x".repeat(BLOCK), BLOCK).column, BLOCK as u32 + 1);
    }
}
