//! Reads archives. Each one is first compared with the record about it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use gate_core::ledger::{LONGEST_LINE, Sealed};

use super::{Archive, BadArchive, signature_file};

/// The archives of a ledger, read from their beginning on.
pub(crate) struct Archives {
    readers: Vec<Reader>,
}

impl Archives {
    /// The archives that the records of a ledger name. Their files are first looked for in `state`.
    pub(crate) fn new(named: Vec<Archive>, state: Option<&Path>) -> Self {
        let reader = |archive: Archive| Reader {
            path: archive.path(state),
            archive,
            lines: None,
            next: None,
        };
        Self { readers: named.into_iter().map(reader).collect() }
    }

    /// The archives themselves.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Archive> {
        self.readers.iter().map(|reader| &reader.archive)
    }

    /// The first archived record from number `from` on and before number `before`. Each call has
    /// higher numbers than the one before.
    ///
    /// # Errors
    ///
    /// An archive that is missing or that was changed.
    pub(crate) fn next(&mut self, from: u64, before: u64) -> Result<Option<Sealed>, BadArchive> {
        let (mut first, mut of) = (before, None);
        for (at, reader) in self.readers.iter_mut().enumerate() {
            let (start, end) = (reader.archive.first, reader.archive.last);
            if start < before
                && end >= from
                && let Some(seq) = reader.advance(from)?
                && seq < first
            {
                (first, of) = (seq, Some(at));
            }
        }
        Ok(of.and_then(|at| self.readers.get_mut(at)?.next.take()))
    }
}

/// An archive that is being read.
struct Reader {
    archive: Archive,
    path: PathBuf,
    lines: Option<BufReader<GzDecoder<BufReader<File>>>>,
    /// The record that was read last and is not returned yet.
    next: Option<Sealed>,
}

impl Reader {
    /// Reads up to the first record from a number on, and returns its number.
    fn advance(&mut self, from: u64) -> Result<Option<u64>, BadArchive> {
        if self.lines.is_none() {
            let file = self.checked_file()?;
            self.lines = Some(BufReader::new(GzDecoder::new(BufReader::new(file))));
        }
        while self.next.as_ref().is_none_or(|next| next.record.seq < from) {
            self.next = self.line()?;
            if self.next.is_none() {
                return Ok(None);
            }
        }
        Ok(self.next.as_ref().map(|next| next.record.seq))
    }

    /// The file, if it is the one that was signed.
    fn checked_file(&self) -> Result<File, BadArchive> {
        let mut file = File::open(&self.path).map_err(|error| self.unreadable(&error))?;
        let digest = digest(&file).map_err(|error| self.unreadable(&error))?;
        file.rewind().map_err(|error| self.unreadable(&error))?;
        if digest != self.archive.digest.to_string() {
            return Err(self.bad("is not the archive that was written: it has another digest"));
        }
        if !self.archive.is_signed() {
            return Err(self.bad("has no valid signature in the ledger's record"));
        }
        let beside = signature_file(&self.path, &self.archive.key);
        let text =
            std::fs::read(&beside).map_err(|error| unreadable(&self.archive, &beside, &error))?;
        match serde_json::from_slice::<Archive>(&text) {
            Ok(beside) if beside.signature == self.archive.signature => Ok(file),
            _ => Err(self.archive.bad(&beside, "is not the signature in the ledger's record")),
        }
    }

    fn line(&mut self) -> Result<Option<Sealed>, BadArchive> {
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let mut line = Vec::new();
        let read = lines.take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| self.unreadable(&error))? == 0 {
            return Ok(None);
        }
        line.pop_if(|last| *last == b'\n');
        let sealed = Sealed::from_line(&line);
        sealed.map(Some).map_err(|error| self.bad(format!("has a line that is no record: {error}")))
    }

    fn bad(&self, what: impl Into<String>) -> BadArchive {
        self.archive.bad(&self.path, what)
    }

    fn unreadable(&self, error: &io::Error) -> BadArchive {
        unreadable(&self.archive, &self.path, error)
    }
}

/// The digest of a file, in hexadecimal digits.
pub(super) fn digest(file: &File) -> io::Result<String> {
    let (mut file, mut hasher) = (BufReader::new(file), blake3::Hasher::new());
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update(bytes);
        let read = bytes.len();
        file.consume(read);
    }
}

fn unreadable(archive: &Archive, file: &Path, error: &io::Error) -> BadArchive {
    let what = match error.kind() {
        ErrorKind::NotFound => format!(
            "is missing: bring it back, or put a copy of it into the folder `{}` of the state \
             folder; the machine {} wrote it",
            super::FOLDER,
            archive.host
        ),
        _ => format!("cannot be read: {error}"),
    };
    archive.bad(file, what)
}
