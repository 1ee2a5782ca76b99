//! Reads a large file on all processors.
//!
//! What is far from its end is sifted block by block, each by the next thread
//! that is free, and taken in order by one of them; see `gate_core::read`.
//! Whatever is unusual, such as a line of many megabytes, is read from one end to
//! the other instead.

mod turns;

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::thread;

use gate_core::Scanner;
use gate_core::read::{Far, MAX_RECORD, NEAR};
use memchr::{memchr, memchr_iter, memrchr};

use turns::{Begun, Block, Next, Task, Turns};

/// Files below this size, in bytes, are read by one thread.
const LARGE: u64 = 4 << 20;

/// Files below this size, in bytes, are read as a whole, whatever is needed.
const LONG: u64 = 1 << 20;

/// How much of the end of a long file is read where its last word is known, in
/// bytes.
const BRIEF: u64 = 48 << 10;

/// How much is sifted at once, in bytes.
const BLOCK: u64 = 256 << 10;

/// How much is read at once where no lines are sifted, in bytes: what is touched first
/// has to be made, and a small piece is touched again.
const PIECE: usize = 64 << 10;

/// How much is read behind a block for the end of its last line, in bytes; more
/// where the line goes on.
const BEHIND: u64 = 4 << 10;

/// Bytes are copied fastest to where they lie as they do in the file, to so many
/// bytes.
const ALIGNED: usize = 64;

/// Reads the file into the scanner, on at most so many processors. Says how long
/// it is.
pub(super) fn scan(
    mut file: &File,
    scanner: &mut Scanner<'_>,
    processors: Option<usize>,
) -> io::Result<u64> {
    let length = file.metadata()?.len();
    if length < LARGE {
        return super::feed(&mut file, length, &mut |bytes| scanner.push(bytes));
    }
    let mut push = |scanner: &mut Scanner<'_>, bytes: &[u8]| scanner.push(bytes);
    let head = head(file, scanner, &mut push)?;
    let sifted = match (line_at(file, length - NEAR as u64)?, scanner.far()) {
        (Some(border), Some(far)) if border > head => {
            Lines { file, begin: head, end: border }.sift(far, scanner, processors)?
        }
        _ => head,
    };
    rest(file, sifted, scanner, &mut push)
}

/// Reads the beginning of the file and its end, from the byte on that an earlier
/// reading of the session has come to; the whole of a file that is not large, or
/// of a format that has to be read whole. Says how long it is.
pub(super) fn scan_end(
    mut file: &File,
    scanner: &mut Scanner<'_>,
    end: super::End<'_>,
    push: &mut dyn FnMut(&mut Scanner<'_>, &[u8]),
) -> io::Result<u64> {
    let super::End { processors, read_before, .. } = end;
    let length = file.metadata()?.len();
    if length < LONG {
        return super::feed(&mut file, length, &mut |bytes| push(scanner, bytes));
    }
    let head = head(file, scanner, push)?;
    let (Some(border), Some(_)) = (line_at(file, length - NEAR as u64)?, scanner.far()) else {
        return rest(file, head, scanner, push);
    };
    let known = read_before(scanner).filter(|known| *known < border);
    let known = known.map(|known| line_at(file, known)).transpose()?.flatten();
    let begin = known.unwrap_or(border).max(head);
    if begin > head {
        scanner.skip(begin - head);
    }
    let sifted = match scanner.far() {
        Some(far) if begin < border => {
            Lines { file, begin, end: border }.sift(far, scanner, processors)?
        }
        _ => {
            scanner.near();
            begin
        }
    };
    rest(file, sifted, scanner, push)
}

/// Pushes the end of a long file alone, as much as suffices where its last word is
/// known. Says how long it is.
pub(super) fn scan_brief(
    mut file: &File,
    scanner: &mut Scanner<'_>,
    push: &mut dyn FnMut(&mut Scanner<'_>, &[u8]),
) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let begin = if length < LONG { None } else { line_at(file, length - BRIEF)? };
    match begin {
        None => super::feed(&mut file, length, &mut |bytes| push(scanner, bytes)),
        Some(begin) => {
            scanner.begin_behind(begin);
            rest(file, begin, scanner, push)
        }
    }
}

/// Pushes the first lines, as far as the format is told by them, and says where
/// they end.
fn head(
    file: &File,
    scanner: &mut Scanner<'_>,
    push: &mut dyn FnMut(&mut Scanner<'_>, &[u8]),
) -> io::Result<u64> {
    let mut head = vec![0; BLOCK as usize];
    let mut known = 0;
    for length in [HEAD + LINE as usize, BLOCK as usize] {
        file.read_exact_at(&mut head[known..length], known as u64)?;
        known = length;
        if let Some(at) = memchr(b'\n', &head[HEAD - 1..known]) {
            known = HEAD + at;
            break;
        }
    }
    push(scanner, &head[..known]);
    Ok(known as u64)
}

/// How much is needed to tell the format, in bytes.
const HEAD: usize = 64 << 10;

/// How long most lines are, in bytes.
const LINE: u64 = 16 << 10;

/// Where the line begins in which a byte stands, unless it is very long.
fn line_at(file: &File, mut end: u64) -> io::Result<Option<u64>> {
    let stop = end.saturating_sub(MAX_RECORD as u64);
    let mut block = vec![0; BLOCK as usize];
    let mut step = LINE;
    while end > stop {
        let begin = end.saturating_sub(step);
        let part = &mut block[..(end - begin) as usize];
        file.read_exact_at(part, begin)?;
        if let Some(at) = memrchr(b'\n', part) {
            return Ok(Some(begin + at as u64 + 1));
        }
        (end, step) = (begin, BLOCK);
    }
    Ok(None)
}

/// Pushes what follows a byte, and says where it ends.
fn rest(
    file: &File,
    mut at: u64,
    scanner: &mut Scanner<'_>,
    push: &mut dyn FnMut(&mut Scanner<'_>, &[u8]),
) -> io::Result<u64> {
    let mut block = vec![0; PIECE];
    loop {
        match file.read_at(&mut block, at) {
            Ok(0) => return Ok(at),
            Ok(length) => {
                push(scanner, &block[..length]);
                at += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whole lines of a file.
#[derive(Clone, Copy)]
struct Lines<'f> {
    file: &'f File,
    begin: u64,
    end: u64,
}

impl Lines<'_> {
    /// Sifts the lines into the scanner. Says how far it came: before a line that
    /// is too long, it stops.
    fn sift(
        self,
        far: Far,
        scanner: &mut Scanner<'_>,
        processors: Option<usize>,
    ) -> io::Result<u64> {
        // To ask takes longer than to read a small file.
        let all = || thread::available_parallelism().map_or(1, NonZero::get);
        let threads = (processors.unwrap_or_else(all) as u64).min(self.blocks());
        if threads < 2 {
            return self.sift_alone(scanner);
        }
        let turns = Turns::new(far, self.blocks(), threads);
        let came = thread::scope(|scope| {
            // Ended at once where the taking ends early.
            let _over = turns.over();
            for _ in 1..threads {
                let begun = turns.begin();
                scope.spawn(move || self.sift_others(&begun));
            }
            self.take_all(&turns, scanner)
        })?;
        if came == self.end {
            scanner.near();
        }
        Ok(came)
    }

    fn sift_alone(self, scanner: &mut Scanner<'_>) -> io::Result<u64> {
        let (mut bytes, mut came) = (Vec::new(), self.begin);
        for block in 0..self.blocks() {
            let Some((begin, lines)) = self.read(block, &mut bytes)? else {
                return Ok(came);
            };
            came = came.max(begin + lines.len() as u64);
            scanner.sift(&bytes[lines]);
        }
        scanner.near();
        Ok(self.end)
    }

    fn blocks(&self) -> u64 {
        (self.end - self.begin).div_ceil(BLOCK)
    }

    /// Sifts blocks beside the thread that takes them.
    fn sift_others(self, begun: &Begun<'_>) {
        let mut bytes = Vec::new();
        while let Some(task) = begun.wait_for_task() {
            self.sift_one(task, &mut bytes, begun);
        }
    }

    fn sift_one(self, task: Task, bytes: &mut Vec<u8>, turns: &Turns) {
        let Task { block, far, mut sifted } = task;
        let said = self.read(block, bytes).map(|read| {
            read.map(|(begin, lines)| {
                far.sift(&bytes[lines.clone()], &mut sifted);
                Block { begin, end: begin + lines.len() as u64, sifted }
            })
        });
        turns.say(block, said);
    }

    /// Takes all blocks in order. While the next one is not ready, sifts one too.
    fn take_all(self, turns: &Turns, scanner: &mut Scanner<'_>) -> io::Result<u64> {
        let (mut came, mut bytes) = (self.begin, Vec::new());
        loop {
            let block = match turns.next() {
                Next::Ready(said) => match said? {
                    Some(block) => block,
                    None => return Ok(came),
                },
                Next::Task(task) => {
                    self.sift_one(task, &mut bytes, turns);
                    continue;
                }
                Next::End => return Ok(self.end),
                Next::Lost => return Err(io::Error::other("a thread of gate has ended early")),
            };
            if let Some(taken) = scanner.take(&block.sifted) {
                self.take_again(&block, taken, scanner)?;
            }
            came = came.max(block.end);
            let is_large = block.end - block.begin > 2 * BLOCK;
            turns.taken((!is_large).then_some(block.sifted), scanner.far());
        }
    }

    /// Takes the block's lines once more, without the first ones.
    fn take_again(self, block: &Block, taken: u64, scanner: &mut Scanner<'_>) -> io::Result<()> {
        let mut bytes = vec![0; (block.end - block.begin) as usize];
        self.file.read_exact_at(&mut bytes, block.begin)?;
        let breaks = memchr_iter(b'\n', &bytes).take(taken as usize);
        let from = breaks.last().map_or(0, |at| at + 1);
        scanner.sift(&bytes[from..]);
        Ok(())
    }

    /// Reads the lines that begin in a block: says where the first of them
    /// begins, and where they are in the bytes; nothing where one is too long.
    fn read(self, block: u64, bytes: &mut Vec<u8>) -> io::Result<Option<(u64, Range<usize>)>> {
        let begin = self.begin + block * BLOCK;
        let end = self.end.min(begin + BLOCK);
        // With the byte before, which may end a line.
        let from = if block == 0 { begin } else { begin - 1 };
        let last = (end - 1 - from) as usize;
        if bytes.is_empty() {
            bytes.resize((BLOCK + LINE) as usize, 0);
        }
        let shift = (from as usize).wrapping_sub(bytes.as_ptr().addr()) % ALIGNED;
        let (mut known, mut behind) = (0, BEHIND);
        loop {
            let to = self.end.min(end + behind);
            let length = (to - from) as usize;
            if bytes.len() < shift + length {
                bytes.resize(shift + length, 0);
            }
            let read = &mut bytes[shift..shift + length];
            self.file.read_exact_at(&mut read[known..], from + known as u64)?;
            known = length;
            let first = match memchr(b'\n', &read[..=last]) {
                _ if block == 0 => 0,
                Some(at) if at < last => at + 1,
                _ => return Ok(Some((end, 0..0))),
            };
            if let Some(at) = memchr(b'\n', &read[last..]) {
                return Ok(Some((from + first as u64, shift + first..shift + last + at + 1)));
            }
            if known > MAX_RECORD || to == self.end {
                return Ok(None);
            }
            behind += BLOCK.min(4 * behind);
        }
    }
}
