//! Captures a job's output: a digest of all of it, its first and last bytes, and its
//! lines for a reader of reports. Memory is bounded, whatever the job writes.

use std::collections::VecDeque;
use std::fmt;

use gate_core::text::clean;

/// Most bytes that are stored of the beginning, and of the end.
const MAX_PART_BYTES: usize = 256 * 1024;

/// Longest line for a reader; the rest of a longer line is dropped.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// An output stream of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Its standard output.
    Stdout,
    /// Its standard error.
    Stderr,
}

/// Reads lines, without their ends and without control characters.
pub(crate) type LineReader = Box<dyn FnMut(Stream, &str) + Send>;

/// The output of a job so far.
pub(crate) struct Capture {
    streams: [Written; 2],
    kept: HeadAndTail,
    reader: Option<LineReader>,
}

impl Capture {
    /// Without output; lines will go to this reader.
    pub(crate) fn new(reader: Option<LineReader>) -> Self {
        Self { streams: Default::default(), kept: HeadAndTail::default(), reader }
    }

    /// Takes output of the job.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let written = &mut self.streams[stream as usize];
        written.bytes += bytes.len() as u64;
        written.hasher.update(bytes);
        self.kept.push(bytes);
        if let Some(reader) = &mut self.reader {
            written.line.push(bytes, |line| reader(stream, line));
        }
    }

    /// Ends the output: a last line without its end goes to the reader.
    pub(crate) fn finish(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.streams[stream as usize].line.finish(|line| reader(stream, line));
        }
    }

    /// Number of bytes in all.
    pub(crate) fn bytes(&self) -> u64 {
        self.streams.iter().map(|written| written.bytes).sum()
    }

    /// A digest of all bytes: that of the two streams' digests.
    pub(crate) fn digest(&self) -> String {
        let mut both = blake3::Hasher::new();
        for written in &self.streams {
            both.update(written.hasher.finalize().as_bytes());
        }
        format!("blake3:{}", both.finalize().to_hex())
    }

    /// The beginning and the end of the output, readable for people.
    pub(crate) fn text(&self) -> String {
        self.kept.text()
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Written {
    bytes: u64,
    hasher: blake3::Hasher,
    line: Line,
}

/// A line that has not ended yet.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
}

impl Line {
    fn push(&mut self, bytes: &[u8], mut give: impl FnMut(&str)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if self.bytes.is_empty() {
                give_line(&rest[..end], &mut give);
            } else {
                self.append(&rest[..end]);
                give_line(&self.bytes, &mut give);
                self.bytes.clear();
            }
            rest = &rest[end + 1..];
        }
        self.append(rest);
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn finish(&mut self, mut give: impl FnMut(&str)) {
        if !self.bytes.is_empty() {
            give_line(&self.bytes, &mut give);
            self.bytes.clear();
        }
    }
}

fn give_line(bytes: &[u8], give: &mut impl FnMut(&str)) {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) => give(text),
        _ => give(&clean(&String::from_utf8_lossy(bytes))),
    }
}

#[derive(Default)]
struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl HeadAndTail {
    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(MAX_PART_BYTES - self.head.len()));
        self.head.extend_from_slice(head);
        let last = &rest[rest.len().saturating_sub(MAX_PART_BYTES)..];
        let excess = (self.tail.len() + last.len()).saturating_sub(MAX_PART_BYTES);
        self.tail.drain(..excess);
        self.tail.extend(last);
        self.dropped += (rest.len() - last.len() + excess) as u64;
    }

    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        match self.dropped {
            0 => readable(&[self.head.as_slice(), &tail].concat()),
            dropped => format!(
                "{}\n[… {dropped} bytes are left out here …]\n{}",
                readable(before_cut(&self.head)),
                readable(behind_cut(&tail))
            ),
        }
    }
}

fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Longest word that is dropped at a cut.
const MAX_WORD_BYTES: usize = 4 * 1024;

/// The text without the word that is cut off at its end: masking does not recognise half
/// a secret.
fn before_cut(bytes: &[u8]) -> &[u8] {
    let near = &bytes[bytes.len().saturating_sub(MAX_WORD_BYTES)..];
    let word = near.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
    if word == near.len() { bytes } else { &bytes[..bytes.len() - word] }
}

/// The text without the word that is cut off at its beginning.
fn behind_cut(bytes: &[u8]) -> &[u8] {
    let near = &bytes[..bytes.len().min(MAX_WORD_BYTES)];
    let word = near.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    if word == near.len() { bytes } else { &bytes[word..] }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The lines that a reader is given of these pieces.
    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        let mut capture = Capture::new(Some(Box::new(move |_, line| {
            into.lock().unwrap().push(line.to_owned());
        })));
        pieces.iter().for_each(|piece| capture.push(Stream::Stdout, piece));
        capture.finish();
        std::mem::take(&mut *seen.lock().unwrap())
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let whole = b"one\r\ntwo \x1b[31mred\x1b[0m\n\xff bad\nlast";
        let expected = lines(&[whole]);
        assert_eq!(expected, ["one", "two red", "\u{fffd} bad", "last"]);
        for cut in 0..whole.len() {
            assert_eq!(lines(&[&whole[..cut], &whole[cut..]]), expected, "{cut}");
        }
    }

    #[test]
    fn a_line_without_end_does_not_grow_without_end() {
        let piece = vec![b'x'; MAX_LINE_BYTES];
        let lines = lines(&[&piece, &piece, b"\nnext\n"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (MAX_LINE_BYTES, "next"));
    }

    #[test]
    fn the_streams_have_lines_of_their_own() {
        let mut capture = Capture::new(None);
        capture.push(Stream::Stdout, b"a");
        capture.push(Stream::Stderr, b"b");
        let mut swapped = Capture::new(None);
        swapped.push(Stream::Stderr, b"a");
        swapped.push(Stream::Stdout, b"b");
        assert_eq!(capture.bytes(), 2);
        assert_ne!(capture.digest(), swapped.digest());
    }

    #[test]
    fn beginning_and_end_are_kept_of_a_flood() {
        let mut capture = Capture::new(None);
        capture.push(Stream::Stdout, b"first\n");
        let flood = vec![b'x'; 3 * MAX_PART_BYTES];
        (0..4).for_each(|_| capture.push(Stream::Stderr, &flood));
        capture.push(Stream::Stdout, b"\nlast\n");
        let text = capture.text();
        assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"));
        assert!(text.len() < 2 * MAX_PART_BYTES + 100);
        let dropped = 12 + 12 * MAX_PART_BYTES - 2 * MAX_PART_BYTES;
        assert!(text.contains(&format!("{dropped} bytes are left out")), "{dropped}");
    }

    #[test]
    fn what_is_short_is_kept_whole() {
        let mut capture = Capture::new(None);
        capture.push(Stream::Stdout, b"a\x1b]0;title\x07b\n\tc\n");
        assert_eq!(capture.text(), "ab\n\tc\n");
    }
}
