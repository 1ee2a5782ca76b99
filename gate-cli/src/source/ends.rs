//! Reading a large file from both ends: what `gate check` and the hooks need of a
//! transcript stands at its beginning and at its end.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use gate_core::Scanner;
use gate_transcript::{MAX_RECORD, TAIL_BYTES};
use memchr::{memchr, memrchr};

use gate_lens::read::{block_for, read_blocks};

/// The end that suffices if the last word is known already, in bytes.
const BRIEF_TAIL_BYTES: u64 = 48 << 10;

/// The beginning that shows the format, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// A first guess at the length of a line, in bytes.
const LINE_BYTES: u64 = 16 << 10;

/// Bytes of an end that are read at once: pages that are touched for the first time cost
/// more than another read into the same ones.
const END_BLOCK: usize = 64 << 10;

/// Bytes of a beginning, and of a long line, that are read at once.
const BLOCK: usize = 256 << 10;

/// A scanner, and the digest of what it was given of both ends.
pub(crate) struct HashingScanner<'s, 'p> {
    pub(crate) inner: Scanner<'p>,
    /// None if nobody needs the digest.
    pub(crate) hasher: Option<&'s mut blake3::Hasher>,
}

impl HashingScanner<'_, '_> {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.hash(bytes);
        self.inner.push(bytes);
    }

    /// Adds to the digest alone.
    pub(crate) fn hash(&mut self, bytes: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
    }
}

/// A transcript of which the beginning is read.
pub(crate) enum Beginning {
    /// All that is needed is read; its length in bytes.
    All(u64),
    /// The middle can be left out.
    Head(LongFile),
}

/// A large file that is read from both ends.
pub(crate) struct LongFile {
    file: File,
    /// In bytes.
    length: u64,
    /// The byte up to which it is read.
    read: u64,
    /// The byte at which its end begins.
    tail: u64,
}

impl LongFile {
    pub(super) fn open(path: &Path, length: u64) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, length, read: 0, tail: 0 })
    }

    /// Reads the beginning, or all of a file whose format has to be read whole.
    pub(super) fn begin(mut self, scanner: &mut HashingScanner<'_, '_>) -> io::Result<Beginning> {
        self.head(scanner)?;
        match line_start(&mut self.file, self.length - TAIL_BYTES as u64)? {
            Some(tail) if scanner.inner.can_skip() => {
                self.tail = tail;
                Ok(Beginning::Head(self))
            }
            _ => self.rest(scanner).map(Beginning::All),
        }
    }

    /// Reads the end, and what is new since an earlier reading came up to `known`; returns the
    /// length in bytes.
    pub(super) fn new_and_end(
        mut self,
        known: Option<u64>,
        scanner: &mut HashingScanner<'_, '_>,
    ) -> io::Result<u64> {
        let known = known.filter(|known| *known < self.tail);
        let known = known.map(|known| line_start(&mut self.file, known)).transpose()?.flatten();
        let begin = known.unwrap_or(self.tail).max(self.read);
        if begin > self.read {
            scanner.inner.skip(begin - self.read);
        }
        self.read = begin.max(self.tail);
        if begin < self.tail {
            self.file.seek(SeekFrom::Start(begin))?;
            let new = self.tail - begin;
            let block = block_for(new);
            // Ledgers have digests without this part.
            read_blocks(&mut (&self.file).take(new), block, &mut |bytes| {
                scanner.inner.push(bytes);
            })?;
        }
        self.rest(scanner)
    }

    /// Reads a short end alone; returns the length in bytes.
    pub(super) fn end(mut self, scanner: &mut HashingScanner<'_, '_>) -> io::Result<u64> {
        self.read = line_start(&mut self.file, self.length - BRIEF_TAIL_BYTES)?.unwrap_or(0);
        if self.read > 0 {
            scanner.inner.begin_at(self.read);
        }
        self.rest(scanner)
    }

    /// Reads the first lines, as many as are needed to find the format. Only whole lines can be
    /// skipped.
    fn head(&mut self, scanner: &mut HashingScanner<'_, '_>) -> io::Result<()> {
        let mut head = vec![0; BLOCK];
        let mut read = 0;
        for length in [HEAD_BYTES + LINE_BYTES as usize, BLOCK] {
            self.file.read_exact(&mut head[read..length])?;
            read = length;
            if let Some(at) = memchr(b'\n', &head[HEAD_BYTES - 1..read]) {
                read = HEAD_BYTES + at;
                break;
            }
        }
        scanner.push(&head[..read]);
        self.read = read as u64;
        Ok(())
    }

    /// Reads everything that is not read yet; returns the length in bytes.
    fn rest(mut self, scanner: &mut HashingScanner<'_, '_>) -> io::Result<u64> {
        self.file.seek(SeekFrom::Start(self.read))?;
        let read = read_blocks(&mut self.file, END_BLOCK, &mut |bytes| scanner.push(bytes))?;
        Ok(self.read + read)
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
