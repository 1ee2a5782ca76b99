//! Reads transcripts.

use std::path::{Path, PathBuf};
use std::process::Command;

use gate_core::Policy;
use gate_core::mask::Masker;
use gate_transcript::Reader;
use gate_transcript::iterations::{Part, Splitter};
use rayon::prelude::*;

use super::claim::ClaimFinder;
use super::lookup::Lookup;
use super::support::Run;
use super::tally::{AuditItem, AuditRecord, Audited};
use super::turns::Turns;
use crate::read::read_file;
use gate_core::Failure;

/// The longest claim that is shown, in characters.
const MAX_CLAIM_CHARS: usize = 160;

/// The longest command that is shown, in characters.
const MAX_COMMAND_CHARS: usize = 120;

/// A transcript that is to be read.
pub struct Transcript {
    /// Its place.
    pub path: PathBuf,
    /// Its name in the record.
    pub shown: String,
    /// Its size in bytes.
    pub size: u64,
}

/// The parts of the program that an audit needs.
#[derive(Clone, Copy, Debug)]
pub struct AuditTools<'t> {
    /// Masks secrets in claims and commands.
    pub masker: &'t Masker,
    /// Git in a folder, which starts nothing that the settings of a repository name; `None` without git.
    pub git: fn(&Path) -> Option<Command>,
}

/// Reads all files, on all cores; the long ones first, so that none is left to the end. `unread`
/// are reasons why others could not be found.
///
/// # Errors
///
/// A pattern of the settings that does not compile.
pub fn read_all(
    files: Vec<Transcript>,
    mut unread: Vec<String>,
    policy: &Policy,
    tools: AuditTools<'_>,
) -> Result<AuditRecord, Failure> {
    let claims = ClaimFinder::new(policy)?;
    let mut order: Vec<_> = files.into_iter().enumerate().collect();
    order.sort_by_key(|(_, file)| std::cmp::Reverse(file.size));
    let read = order.par_iter().with_max_len(1).map(|(at, file)| (*at, read(file, &claims, tools)));
    let mut read: Vec<_> = read.collect();
    read.sort_by_key(|(at, _)| *at);
    let mut audited = Vec::new();
    for (_, result) in read {
        match result {
            Ok(file) => audited.push(file),
            Err(failure) => unread.push(failure.message),
        }
    }
    Ok(AuditRecord::new(audited, unread))
}

/// Reads a transcript, and looks up what is there now.
///
/// # Errors
///
/// A file that cannot be read.
fn read(
    file: &Transcript,
    claims: &ClaimFinder<'_>,
    tools: AuditTools<'_>,
) -> Result<Audited, Failure> {
    let mut audited = Audited::default();
    let mut open: Option<OpenPart<'_>> = None;
    let mut splitter = Splitter::default();
    let mut take = |part: Part<'_>| match part {
        Part::Begin(line) => {
            let (reader, turns) = (Reader::whole(None), Turns::new(claims));
            if let Some(ended) = open.replace(OpenPart { first_line: line, reader, turns }) {
                audited.add(file, ended, tools);
            }
        }
        Part::Bytes(bytes) => {
            if let Some(part) = &mut open {
                part.reader.push(bytes, &mut part.turns);
            }
        }
    };
    let bytes = read_file(&file.path, &mut |bytes| splitter.push(bytes, &mut take))?;
    splitter.finish(&mut take);
    if let Some(last) = open {
        audited.add(file, last, tools);
    }
    audited.bytes = bytes;
    Ok(audited)
}

/// A part of a file that is being read.
struct OpenPart<'c> {
    /// The number of its first line in the file, from 1.
    first_line: u64,
    reader: Reader,
    turns: Turns<'c>,
}

impl Audited {
    /// Ends a part of a file, and takes its turns.
    fn add(&mut self, file: &Transcript, part: OpenPart<'_>, tools: AuditTools<'_>) {
        let OpenPart { first_line, mut reader, mut turns } = part;
        reader.finish(&mut turns);
        turns.end();
        self.turns += turns.turns;
        self.tokens += turns.usage.tokens.unwrap_or_default();
        self.cost_micro_usd += turns.usage.cost_micro_usd.unwrap_or_default();
        let agent = reader.format().map_or("unknown", |format| format.name()).to_owned();
        let client = reader.format().and_then(|format| format.client());
        let model = turns.model.take();
        let project = Path::new(&file.shown).parent().and_then(Path::file_name);
        let project = project.map_or(".".into(), |name| name.to_string_lossy()).into_owned();
        for turn in turns.found {
            self.ways.push(turn.way);
            let Some(claimed) = turn.claim else { continue };
            let (claim, standing) = (claimed.claim, claimed.standing);
            let shown = |run: &Run| brief(&run.command, MAX_COMMAND_CHARS, tools);
            let line = |run: &Run| run.line + first_line - 1;
            self.items.push(AuditItem {
                file: file.shown.clone(),
                line: claim.line + first_line - 1,
                quoted: claim.quote.is_some(),
                claim: match claim.quote {
                    Some(quote) => brief(&quote, MAX_CLAIM_CHARS, tools),
                    None => "an explicit signal".to_owned(),
                },
                standing: standing.support,
                command_line: standing.run.as_ref().map(line),
                command: standing.run.as_ref().map(shown),
                later_part_line: standing.later_part.as_ref().map(line),
                later_part: standing.later_part.as_ref().map(shown),
                agent: agent.clone(),
                client: client.map(str::to_owned),
                model: model.clone(),
                project: project.clone(),
                way: turn.way,
                looked_up: Lookup::all(&claim.message, &claimed.files, tools.git),
            });
        }
    }
}

/// A text without secrets, on one line.
fn brief(text: &str, max_chars: usize, tools: AuditTools<'_>) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    gate_core::text::brief(&tools.masker.text(&words.join(" ")), max_chars)
}
