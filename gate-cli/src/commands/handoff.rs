//! `gate handoff`: the message that one agent leaves to the next.

mod args;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use gate_checks::CheckSite;
use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;
use gate_fleet::handoff::{
    self, ConvertedHandoff, Format, HandoffReport, Judged, LONGEST, Problem, draft_of_decision,
};

pub(crate) use self::args::{Convert, Handoff, HandoffInput, New, Verify};
use super::common::DONE;
use super::schema;
use crate::failure::Failure;
use crate::handoff::{beginning, changed, contradictions};
use crate::invocation::Invocation;
use crate::memory::RecordSelector;
use crate::render::text::plain;
use crate::render::{self, print};
use crate::secrets;
use crate::settings::{self, Selection};

/// Exit code of a handoff that does not hold.
const INVALID: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Handoff) -> Result<u8, Failure> {
    match args {
        Handoff::New(args) => new(invocation, args),
        Handoff::Check(args) => {
            let handoff = parse(invocation, &args.text)?;
            let praise = "it says all that it has to";
            answer(&args.text, &handoff.all_problems(), args.json, praise)
        }
        Handoff::Convert(args) => convert(invocation, args),
        Handoff::Verify(args) => verify(invocation, args),
        Handoff::Schema => {
            print(schema::Name::Handoff.text())?;
            Ok(DONE)
        }
    }
}

fn new(invocation: &Invocation, args: &New) -> Result<u8, Failure> {
    let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
    let selector = RecordSelector { run: None, task: args.task.as_deref() };
    let record = invocation.memory(&policy)?.latest(&selector)?;
    let site = invocation.site()?;
    let changed_files = match args.since.as_deref() {
        Some(name) => {
            let commit = WorkTree::open(&site)?.commit(name)?.ok_or_else(|| {
                Failure::usage("unknown-commit", format!("--since {name}: no such commit"))
            })?;
            changed(&site, Some(&commit))?
        }
        None => {
            let baseline =
                beginning(&site, record.as_ref())?.filter(|baseline| !baseline.is_from_history());
            let commit = baseline.as_ref().map(Baseline::commit);
            // If the commit is gone, the uncommitted changes can still be listed.
            changed(&site, commit).or_else(|_| changed(&site, None))?
        }
    };
    let judged =
        record.as_ref().map(|record| Judged { decision: &record.decision, policy: &policy });
    let draft = draft_of_decision(args.objective.as_deref(), judged, changed_files);
    let format = if args.json { Format::Json } else { args.format };
    print(&secrets::masked(&draft.to_text(format)))?;
    Ok(DONE)
}

fn convert(invocation: &Invocation, args: &Convert) -> Result<u8, Failure> {
    let text = read_text(invocation, &args.text.file)?;
    let source_format = args.text.format(&text);
    let is_markdown = source_format == Format::Markdown;
    let format = args.to.unwrap_or(if is_markdown { Format::Json } else { Format::Markdown });
    let parsed = handoff::read(&text, source_format);
    // A handoff that was read in part is not passed on as if it were the whole.
    let converted = match &parsed.handoff {
        Some(handoff) if parsed.problems.is_empty() => Some(handoff.to_text(format)),
        _ => None,
    };
    let problems: Vec<_> = parsed.all_problems().into_iter().chain(parsed.lost_members).collect();
    let report = HandoffReport::new(&problems);
    if args.json {
        print(&render::json(&ConvertedHandoff { report, format, text: converted.as_deref() })?)?;
    } else {
        let file = display_name(&args.text.file);
        let lines = problems.iter().map(|problem| plain(&problem.to_string()));
        render::notes(&lines.map(|line| format!("{file}: {line}")).collect::<Vec<_>>());
        print(&converted.unwrap_or_default())?;
    }
    Ok(exit_code(&problems))
}

fn verify(invocation: &Invocation, args: &Verify) -> Result<u8, Failure> {
    let parsed = parse(invocation, &args.text)?;
    let mut problems = parsed.all_problems();
    if let Some(handoff) = &parsed.handoff {
        let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
        let folder = &invocation.places.folder;
        let is_file = args.text.file != Path::new("-");
        let file = if is_file { Some(folder.join(&args.text.file)) } else { None };
        let site = CheckSite {
            ignore: policy.tree.ignore.clone(),
            callers_files: args.transcript.iter().map(|file| folder.join(file)).collect(),
            ..invocation.site()?
        };
        let mut memory = invocation.memory(&policy)?;
        problems.extend(contradictions(handoff, file.as_deref(), &mut memory, &site)?);
    }
    answer(&args.text, &problems, args.json, "gate has seen what it claims to have been run")
}

/// Prints the result. `praise` is its meaning if nothing is wrong.
fn answer(
    input: &HandoffInput,
    problems: &[Problem],
    json: bool,
    praise: &str,
) -> Result<u8, Failure> {
    let report = HandoffReport::new(problems);
    print(&if json {
        render::json(&report)?
    } else {
        report.card(&display_name(&input.file), praise)
    })?;
    Ok(exit_code(problems))
}

fn exit_code(problems: &[Problem]) -> u8 {
    if problems.is_empty() { DONE } else { INVALID }
}

fn parse(invocation: &Invocation, input: &HandoffInput) -> Result<handoff::ParsedHandoff, Failure> {
    let text = read_text(invocation, &input.file)?;
    Ok(handoff::read(&text, input.format(&text)))
}

impl HandoffInput {
    fn format(&self, text: &str) -> Format {
        self.format.unwrap_or_else(|| Format::detect(text))
    }
}

/// A file's text, up to one byte more than a handoff may have: enough for the parser to refuse it.
fn read_text(invocation: &Invocation, file: &Path) -> Result<String, Failure> {
    let most_bytes = LONGEST as u64 + 1;
    let mut bytes = Vec::new();
    let outcome = if file == Path::new("-") {
        io::stdin().lock().take(most_bytes).read_to_end(&mut bytes)
    } else {
        File::open(invocation.places.folder.join(file))
            .and_then(|file| file.take(most_bytes).read_to_end(&mut bytes))
    };
    outcome.map_err(|error| Failure::file("input-unreadable", "read", file, &error))?;
    handoff::text_of(bytes, &display_name(file))
}

fn display_name(file: &Path) -> String {
    if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() }
}
