//! `gate handoff`: what one agent leaves to the next.

mod args;
mod card;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;
use gate_fleet::handoff::{self, Format, LONGEST};

pub(crate) use self::args::{Convert, Handoff, HandoffFormat, HandoffInput, New, Verify};
use self::card::{ConvertedHandoff, HandoffReport};
use super::common::DONE;
use super::schema;
use crate::context::Here;
use crate::failure::Failure;
use crate::handoff::{beginning, changed, contradictions, draft};
use crate::memory::RecordSelector;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::{self, Selection};

/// Exit code of a handoff that does not hold.
const INVALID: u8 = 1;

pub(super) fn run(here: &Here, args: &Handoff) -> Result<u8, Failure> {
    match args {
        Handoff::New(args) => new(here, args),
        Handoff::Check(args) => {
            let (read, file) = read(here, &args.text)?;
            answer(
                &HandoffReport::new(file, read.all_problems()),
                args.json,
                "it says all that it has to",
            )
        }
        Handoff::Convert(args) => convert(here, args),
        Handoff::Verify(args) => verify(here, args),
        Handoff::Schema => {
            print(schema::Name::Handoff.text())?;
            Ok(DONE)
        }
    }
}

fn new(here: &Here, args: &New) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &Selection::default())?.policy;
    let wanted = RecordSelector { run: None, task: args.task.as_deref() };
    let record = here.memory(&policy)?.latest(&wanted)?;
    let site = here.site()?;
    let since = args.since.as_deref().map(|name| {
        let commit = WorkTree::open(&site).and_then(|tree| tree.commit(name));
        commit.map_err(|error| unreadable(&error))?.ok_or_else(|| {
            Failure::usage("unknown-commit", format!("--since {name}: no such commit"))
        })
    });
    let changed = match since.transpose()? {
        Some(since) => changed(&site, Some(&since)),
        None => {
            let began = beginning(&site, record.as_ref())?.filter(|began| !began.is_from_history());
            let since = began.as_ref().map(Baseline::commit);
            // If the commit is gone, the uncommitted changes can still be listed.
            changed(&site, since).or_else(|_| changed(&site, None))
        }
    };
    let changed = changed.map_err(|error| unreadable(&error))?;
    let known = record.as_ref().map(|record| (record, &policy));
    let drafted = draft(args.objective.as_deref(), known, changed);
    let form = if args.json { HandoffFormat::Json } else { args.format };
    print(&secrets::masked(&drafted.to_text(form.into())))?;
    Ok(DONE)
}

fn convert(here: &Here, args: &Convert) -> Result<u8, Failure> {
    let text = text(here, &args.text.file)?;
    let from = args.text.format(&text);
    let other = if from == Format::Markdown { HandoffFormat::Json } else { HandoffFormat::Md };
    let to = args.to.unwrap_or(other);
    let read = handoff::read(&text, from);
    // What was lost in reading is not passed on as if it were the whole.
    let converted = match &read.handoff {
        Some(handoff) if read.problems.is_empty() => Some(handoff.to_text(to.into())),
        _ => None,
    };
    let problems = read.all_problems().into_iter().chain(read.beside).collect();
    let examined = HandoffReport::new(display_name(&args.text.file), problems);
    if args.json {
        print(&render::json(&ConvertedHandoff::new(&examined, to.name(), converted.as_deref()))?)?;
    } else {
        render::notes(&examined.lines());
        print(&converted.unwrap_or_default())?;
    }
    Ok(code(&examined))
}

fn verify(here: &Here, args: &Verify) -> Result<u8, Failure> {
    let (read, file) = read(here, &args.text)?;
    let mut problems = read.all_problems();
    if let Some(handoff) = &read.handoff {
        let policy = settings::resolve(&here.places, &Selection::default())?.policy;
        let own =
            (args.text.file != Path::new("-")).then(|| here.places.folder.join(&args.text.file));
        let site = CheckSite {
            ignore: policy.tree_ignore.clone(),
            callers_files: args
                .transcript
                .iter()
                .map(|file| here.places.folder.join(file))
                .collect(),
            ..here.site()?
        };
        problems.extend(contradictions(
            handoff,
            own.as_deref(),
            &mut here.memory(&policy)?,
            &site,
        )?);
    }
    let words = "gate has seen what it claims to have been run";
    answer(&HandoffReport::new(file, problems), args.json, words)
}

fn answer(examined: &HandoffReport, json: bool, words: &str) -> Result<u8, Failure> {
    print(&if json { render::json(examined)? } else { card::handoff_card(examined, words) })?;
    Ok(code(examined))
}

fn code(examined: &HandoffReport) -> u8 {
    if examined.ok { DONE } else { INVALID }
}

fn read(here: &Here, args: &HandoffInput) -> Result<(handoff::Read, String), Failure> {
    let text = text(here, &args.file)?;
    Ok((handoff::read(&text, args.format(&text)), display_name(&args.file)))
}

impl HandoffInput {
    fn format(&self, text: &str) -> Format {
        self.format.map_or_else(|| Format::detect(text), Format::from)
    }
}

/// A file's text, up to one byte more than a handoff may have: reading it refuses that.
fn text(here: &Here, file: &Path) -> Result<String, Failure> {
    let longest = LONGEST as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(longest).read_to_end(&mut bytes)
    } else {
        File::open(here.places.folder.join(file))
            .and_then(|file| file.take(longest).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::file("input-unreadable", "read", file, &error))?;
    if bytes.len() > LONGEST {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{}:{line}: UTF-8 is expected", display_name(file));
        let failure = Failure::usage("input-unreadable", message);
        Failure { file: Some(display_name(file)), line: Some(line), ..failure }
    })
}

fn display_name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}

fn unreadable(error: &dyn std::fmt::Display) -> Failure {
    Failure::internal("tree-unreadable", format!("the work tree cannot be read: {error}"))
}

impl Handoff {
    pub(super) fn json(&self) -> bool {
        match self {
            Self::New(args) => args.json || args.format != HandoffFormat::Md,
            Self::Check(args) => args.json,
            Self::Convert(args) => args.json,
            Self::Verify(args) => args.json,
            Self::Schema => false,
        }
    }
}
