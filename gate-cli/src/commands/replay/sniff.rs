//! Recognises transcripts in a folder by their first bytes: only they become rows.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use gate_transcript::{Event, ProblemKind, Reader, Sink};

/// Bytes that are read: as many as a reader needs to find the format.
const HEAD: u64 = 64 << 10;

/// Bytes that are read first, to find binary files and formats that the first record shows.
const GLANCE: usize = 8 << 10;

/// Why a file in a folder is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// The file is no text.
    Binary,
    /// The file is JSON of no known format.
    UnknownJson,
}

/// Why this file is no transcript. One that cannot be read may be one.
pub(super) fn look(path: &Path) -> Option<Passed> {
    let mut head = Vec::new();
    let mut file = File::open(path).ok()?.take(GLANCE as u64);
    file.read_to_end(&mut head).ok()?;
    if head.contains(&0) {
        return Some(Passed::Binary);
    }
    let text = head.trim_ascii_start();
    let may_be_json = text.starts_with(b"{") || text.starts_with(b"[");
    if !may_be_json || !is_unknown(&head) {
        return None;
    }
    file.set_limit(HEAD - head.len() as u64);
    file.read_to_end(&mut head).ok()?;
    is_unknown(&head).then_some(Passed::UnknownJson)
}

fn is_unknown(head: &[u8]) -> bool {
    let mut unknown = Unknown(false);
    let mut reader = Reader::new(None);
    reader.push(head, &mut unknown);
    reader.finish(&mut unknown);
    unknown.0
}

struct Unknown(bool);

impl Sink for Unknown {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Problem(problem) = event {
            self.0 |= problem.kind == ProblemKind::UnknownJson;
        }
    }
}
