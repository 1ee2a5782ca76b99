//! Captures a job's output: a digest of all of it, its first and last bytes, and its
//! lines for a reader of reports. Memory is bounded, whatever the job writes.

use std::collections::VecDeque;
use std::fmt;

use gate_core::text::clean;
use gate_report::Stream;

/// Most bytes that are stored of the beginning, and of the end.
const MAX_PART_BYTES: usize = 256 * 1024;

/// Longest line for a reader; the rest of a longer line is dropped.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Reads lines, without their ends and without control characters.
pub(crate) type LineReader = Box<dyn FnMut(Stream, &str) + Send>;

/// The output of a job so far.
pub(crate) struct Capture {
    streams: [StreamSoFar; 2],
    excerpt: HeadAndTail,
    /// That of standard error alone.
    errors: HeadAndTail,
    reader: Option<LineReader>,
}

impl Capture {
    /// A capture without output yet, whose lines go to this reader.
    pub(crate) fn new(reader: Option<LineReader>) -> Self {
        let [excerpt, errors] = Default::default();
        Self { streams: Default::default(), excerpt, errors, reader }
    }

    /// Takes output of the job.
    pub(crate) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let so_far = &mut self.streams[stream as usize];
        so_far.bytes += bytes.len() as u64;
        so_far.hasher.update(bytes);
        self.excerpt.push(bytes);
        if stream == Stream::Stderr {
            self.errors.push(bytes);
        }
        if let Some(reader) = &mut self.reader {
            so_far.line.push(bytes, |line| reader(stream, line));
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
        self.streams.iter().map(|so_far| so_far.bytes).sum()
    }

    /// A digest of all bytes: that of the two streams' digests.
    pub(crate) fn digest(&self) -> String {
        // Of each stream by itself: how the two mix depends on chance.
        let mut hasher = blake3::Hasher::new();
        for so_far in &self.streams {
            hasher.update(so_far.hasher.finalize().as_bytes());
        }
        format!("blake3:{}", hasher.finalize().to_hex())
    }

    /// The beginning and the end of the output, readable for people.
    pub(crate) fn text(&self) -> String {
        self.excerpt.text()
    }

    /// The same of standard error alone.
    pub(crate) fn errors(&self) -> String {
        self.errors.text()
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// The output of one stream so far.
#[derive(Default)]
struct StreamSoFar {
    /// Their number.
    bytes: u64,
    hasher: blake3::Hasher,
    line: OpenLine,
}

/// A line that has not ended yet.
#[derive(Default)]
struct OpenLine {
    bytes: Vec<u8>,
}

impl OpenLine {
    fn push(&mut self, bytes: &[u8], mut reader: impl FnMut(&str)) {
        let mut unread = bytes;
        while let Some(end) = memchr::memchr(b'\n', unread) {
            // Most lines come whole, and need no copy.
            if self.bytes.is_empty() {
                read_line(&unread[..end], &mut reader);
            } else {
                self.append(&unread[..end]);
                read_line(&self.bytes, &mut reader);
                self.bytes.clear();
            }
            unread = &unread[end + 1..];
        }
        self.append(unread);
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = MAX_LINE_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn finish(&mut self, mut reader: impl FnMut(&str)) {
        if !self.bytes.is_empty() {
            read_line(&self.bytes, &mut reader);
            self.bytes.clear();
        }
    }
}

fn read_line(bytes: &[u8], reader: &mut impl FnMut(&str)) {
    let line = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    match std::str::from_utf8(line) {
        // Nothing to clean, as in most lines.
        Ok(text) if line.iter().all(|byte| matches!(byte, b' '..=b'~')) => reader(text),
        _ => reader(&clean(&String::from_utf8_lossy(line))),
    }
}

#[derive(Default)]
struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped_bytes: u64,
}

impl HeadAndTail {
    fn push(&mut self, bytes: &[u8]) {
        let head_room = MAX_PART_BYTES - self.head.len();
        let (head, behind) = bytes.split_at(bytes.len().min(head_room));
        self.head.extend_from_slice(head);
        let tail = &behind[behind.len().saturating_sub(MAX_PART_BYTES)..];
        let excess = (self.tail.len() + tail.len()).saturating_sub(MAX_PART_BYTES);
        self.tail.drain(..excess);
        self.tail.extend(tail);
        self.dropped_bytes += (behind.len() - tail.len() + excess) as u64;
    }

    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        match self.dropped_bytes {
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
    let ending = &bytes[bytes.len().saturating_sub(MAX_WORD_BYTES)..];
    let word = ending.iter().rev().take_while(|byte| !byte.is_ascii_whitespace()).count();
    if word == ending.len() { bytes } else { &bytes[..bytes.len() - word] }
}

/// The text without the word that is cut off at its beginning.
fn behind_cut(bytes: &[u8]) -> &[u8] {
    let beginning = &bytes[..bytes.len().min(MAX_WORD_BYTES)];
    let word = beginning.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    if word == beginning.len() { bytes } else { &bytes[word..] }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The lines that a reader is given of these pieces.
    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let read_lines = Arc::clone(&lines);
        let mut capture = Capture::new(Some(Box::new(move |_, line| {
            read_lines.lock().unwrap().push(line.to_owned());
        })));
        pieces.iter().for_each(|piece| capture.push(Stream::Stdout, piece));
        capture.finish();
        std::mem::take(&mut *lines.lock().unwrap())
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
