//! Reading a large file from both ends: what `gate check` and the hooks need of a
//! transcript stands at its beginning and at its end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use gate_core::Scanner;
use gate_transcript::{MAX_RECORD, TAIL_BYTES};
use memchr::{memchr, memrchr};

use super::{block_for, feed};

/// The end that suffices if the last word is known already, in bytes.
const BRIEF_TAIL_BYTES: u64 = 48 << 10;

/// The beginning that tells the format, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// A first guess at the length of a line, in bytes.
const LINE_BYTES: u64 = 16 << 10;

/// Bytes of an end that are read at once: pages that are touched for the first time cost
/// more than another read into the same ones.
const END_BLOCK: usize = 64 << 10;

/// Bytes of a beginning, and of a long line, that are read at once.
const BLOCK: usize = 256 << 10;

/// The ends of a file to read, and who sees them.
pub(crate) struct Ends<'r> {
    /// Up to which byte an earlier reading of the session came, if there was one: all
    /// that is new is read.
    pub(crate) read_before: &'r mut dyn FnMut(&Scanner<'_>) -> Option<u64>,
    /// The caller knows the last word, so that a short end suffices.
    pub(crate) brief: bool,
    /// Sees the beginning and the end as they are read.
    pub(crate) see: &'r mut dyn FnMut(&[u8]),
}

impl Ends<'_> {
    /// Shows bytes and pushes them.
    fn push(&mut self, scanner: &mut Scanner<'_>, bytes: &[u8]) {
        (self.see)(bytes);
        scanner.push(bytes);
    }

    /// Reads the ends of a file of this length in bytes, or all of one whose format has to be
    /// read whole; returns its length.
    pub(super) fn scan(
        &mut self,
        file: &mut File,
        length: u64,
        scanner: &mut Scanner<'_>,
    ) -> io::Result<u64> {
        if self.brief {
            return self.brief_tail(file, length, scanner);
        }
        let head = self.head(file, scanner)?;
        let tail = line_start(file, length - TAIL_BYTES as u64)?;
        let Some(tail) = tail else {
            return self.rest(file, head, scanner);
        };
        if !scanner.can_skip() {
            return self.rest(file, head, scanner);
        }
        let known = (self.read_before)(scanner).filter(|known| *known < tail);
        let known = known.map(|known| line_start(file, known)).transpose()?.flatten();
        let begin = known.unwrap_or(tail).max(head);
        if begin > head {
            scanner.skip(begin - head);
        }
        if begin < tail {
            file.seek(SeekFrom::Start(begin))?;
            let new = tail - begin;
            feed(&mut file.take(new), block_for(new), &mut |bytes| scanner.push(bytes))?;
        }
        self.rest(file, begin.max(tail), scanner)
    }

    /// Pushes the end alone.
    fn brief_tail(
        &mut self,
        file: &mut File,
        length: u64,
        scanner: &mut Scanner<'_>,
    ) -> io::Result<u64> {
        let begin = line_start(file, length - BRIEF_TAIL_BYTES)?.unwrap_or(0);
        if begin > 0 {
            scanner.begin_at(begin);
        }
        self.rest(file, begin, scanner)
    }

    /// Pushes the first lines, as many as tell the format; returns where they end. Only
    /// between lines can something be skipped.
    fn head(&mut self, file: &mut File, scanner: &mut Scanner<'_>) -> io::Result<u64> {
        let mut head = vec![0; BLOCK];
        let mut read = 0;
        for length in [HEAD_BYTES + LINE_BYTES as usize, BLOCK] {
            file.read_exact(&mut head[read..length])?;
            read = length;
            if let Some(at) = memchr(b'\n', &head[HEAD_BYTES - 1..read]) {
                read = HEAD_BYTES + at;
                break;
            }
        }
        self.push(scanner, &head[..read]);
        Ok(read as u64)
    }

    /// Pushes what follows a byte; returns where it ends.
    fn rest(&mut self, file: &mut File, from: u64, scanner: &mut Scanner<'_>) -> io::Result<u64> {
        file.seek(SeekFrom::Start(from))?;
        let read = feed(file, END_BLOCK, &mut |bytes| self.push(scanner, bytes))?;
        Ok(from + read)
    }
}

/// The beginning of the line that holds a byte; `None` if the line is longer than a
/// record may be.
fn line_start(file: &mut File, mut end: u64) -> io::Result<Option<u64>> {
    let stop = end.saturating_sub(MAX_RECORD as u64);
    let mut block = vec![0; BLOCK];
    let mut step = LINE_BYTES;
    while end > stop {
        let begin = end.saturating_sub(step);
        let part = &mut block[..(end - begin) as usize];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(part)?;
        if let Some(at) = memrchr(b'\n', part) {
            return Ok(Some(begin + at as u64 + 1));
        }
        (end, step) = (begin, BLOCK as u64);
    }
    Ok(None)
}
