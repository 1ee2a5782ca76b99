//! `gate replay`: decides on past transcripts as the gate would have done.
//!
//! Files are read by a pool of threads ([`Findings`]). This thread compares, counts and
//! prints, in the order in which they were named.

pub(super) mod tune;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use gate_card::fit::stdout_columns;
use gate_card::notes;
use gate_card::text::plain;
use gate_card::{Flow, Lines};
use gate_checks::CheckSite;
use gate_core::Policy;
use gate_core::config::Resolved;
use gate_lens::replay::accuracy::By;
use gate_lens::replay::report::{Bar, Grouping, Layout, Report};
use gate_lens::replay::{
    EarlierReplay, Finding, Findings, Host, Idle, Inputs, Labels, Marks, Passed, ReplayRecord,
    Replayer, Work, find,
};
use gate_transcript::Forced;

use super::arguments::InputArgs;
use super::common::DONE;
use crate::failure::Failure;
use crate::gate::input_digest;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::memory::Memory;
use crate::settings;
use crate::source::Source;

/// The most labels without a matching row that are named one by one.
const MAX_NAMED: usize = 10;

/// Time between two looks at the bar and at signals while no rows come.
const TICK: Duration = Duration::from_millis(100);

/// Exit code of a replay whose labels show false or missed exits.
const WRONG: u8 = 1;

pub(crate) const CODES: &str = "\
Exit codes:
  0    all was read; no false or missed exit, by labels and marks
  1    by --labels, or by what `gate wrong` has marked, there are false or missed exits
  2    usage or configuration error; or a file was not found, and the rest was read
  5    internal error; or a file could not be read, and the rest was
  130  interrupted: the rows so far are whole";

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Transcripts: files, folders, globs; `-` reads a list of them from the
    /// standard input.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The list on the standard input is separated by NUL, as `find -print0`
    /// writes it.
    #[arg(long, short = '0')]
    pub(crate) null: bool,
    /// Show rows of one folder, or of one session, together.
    #[arg(long, value_enum, value_name = "BY", default_value_t = Grouping::File)]
    pub(crate) group: Grouping,
    /// Count verdicts, and those that are right and wrong, by agent, model or folder.
    #[arg(long, value_enum, value_name = "BY")]
    pub(crate) by: Option<By>,
    /// The right answers: JSONL of `{"file", "label"}`, with files named from the labels'
    /// folder. What `gate wrong` has marked is labelled without it.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Say which verdicts are other than in this output of `replay --json`.
    #[arg(long, value_name = "OLD.jsonl")]
    pub(crate) compare: Option<PathBuf>,
    /// Show these rows alone.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub(crate) only: Option<Only>,
    /// Read so many files at once, and a large one on so many cores; all if not given.
    #[arg(long, short, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    #[command(flatten)]
    pub(crate) reading: InputArgs,
    /// Print one JSON object a row.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The rows to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Verdicts that have changed; with --compare.
    Changed,
    /// False and missed exits; with --labels.
    Wrong,
    /// No exit, and something that is almost a signal.
    Near,
    /// Verdicts that let the loop end.
    Exit,
}

pub(super) fn run(invocation: &Invocation, args: &Replay) -> Result<u8, Failure> {
    let folder = &invocation.places.folder;
    let settings = settings::resolve(&invocation.places, &args.reading.settings.selection())?;
    let marks = marks(invocation, &settings.policy).unwrap_or_else(|failure| {
        notes(&[format!("what `gate wrong` has marked is left out: {}", failure.message)]);
        Marks::default()
    });
    understood(args, &marks)?;
    let labels = args.labels.as_ref().map(|file| Labels::read(&folder.join(file))).transpose()?;
    let labels = labels.unwrap_or_default();
    let earlier =
        args.compare.as_ref().map(|file| EarlierReplay::read(&folder.join(file))).transpose()?;
    let Inputs { all, other } = find(folder, &args.paths, args.null, &labels)?;
    let interrupt = Interrupt::listen()?;
    let longest = all.iter().map(|input| input.shown.chars().count()).max();
    let layout = Layout {
        json: args.json,
        grouping: args.group,
        folded: stdout_columns().is_some() && args.only.is_none(),
        checks: !settings.policy.checks.is_empty(),
        labels: args.labels.is_some() || !marks.is_empty(),
        by: args.by,
        compared: args.compare.is_some(),
        file_width: longest.unwrap_or_default(),
        columns: stdout_columns(),
    };
    let mut report = Report::new(layout);
    report.totals.files = all.len();
    report.totals.other = other;
    let work = Work::new(host(invocation), &settings, all);
    let work = Arc::new(Work {
        labels,
        marks,
        format: args.reading.format,
        jobs: args.jobs.map_or(work.jobs, NonZero::get),
        ..work
    });
    let findings = Findings::start(&work)?;
    Printer { args, work: &work, findings, interrupt, earlier, report, began: Instant::now() }
        .print()
}

/// The program, for a replay: a gate without checks and state.
#[derive(Debug)]
struct Program {
    site: CheckSite,
}

impl Host for Program {
    fn replayer(&self, settings: &Resolved) -> Result<Replayer, Failure> {
        gate_checks::validate(&settings.policy)?;
        Replayer::open(settings, self.site.masker())
    }

    fn input_digest(&self, gate: &Replayer, file: &Path, format: Option<Forced>) -> Option<String> {
        input_digest(&gate.patterns, &Source::File(file.to_owned()), format).ok()
    }
}

fn host(invocation: &Invocation) -> Arc<dyn Host> {
    let places = &invocation.places;
    let site =
        CheckSite { environment: places.environment.clone(), ..CheckSite::new(&places.folder) };
    Arc::new(Program { site })
}

/// The time that a store may take to answer. A replay does not need it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The operator's marks in the ledger of the project here; none without a place for state.
fn marks(invocation: &Invocation, policy: &Policy) -> Result<Marks, Failure> {
    let places = &invocation.places;
    if places.state.is_none() && !places.names_database() {
        return Ok(Marks::default());
    }
    let mut memory = Memory::open_within(places, policy.project.id.as_deref(), PATIENCE)?;
    memory.marked_transcripts().map(Marks::new)
}

/// Fails if an option lacks another one that it needs.
fn understood(args: &Replay, marks: &Marks) -> Result<(), Failure> {
    let missing = match args.only {
        Some(Only::Wrong) if args.labels.is_none() && marks.is_empty() => {
            "--only wrong needs --labels FILE, or decisions that `gate wrong` has marked"
        }
        Some(Only::Changed) if args.compare.is_none() => "--only changed needs --compare OLD.jsonl",
        _ => return Ok(()),
    };
    Err(Failure::usage("usage", missing))
}

struct Printer<'a> {
    args: &'a Replay,
    work: &'a Work,
    findings: Findings,
    interrupt: Interrupt,
    earlier: Option<EarlierReplay>,
    report: Report,
    began: Instant,
}

impl Printer<'_> {
    fn print(mut self) -> Result<u8, Failure> {
        let mut out = Lines::new(self.args.json);
        let bar = Bar::new(self.work.inputs.iter().map(|input| input.size).sum());
        let flow = self.rows(&mut out, &bar);
        bar.clear();
        if flow?.is_break() {
            return Ok(DONE);
        }
        self.report.totals.gone = self.earlier.as_ref().map_or(0, EarlierReplay::gone);
        self.report.totals.elapsed = self.began.elapsed();
        self.report.totals.interrupted = self.interrupt.code().is_some();
        let idle = self.idle();
        self.report.totals.idle = idle.len();
        let lines = self.report.end()?;
        if print(&mut out, &lines)?.is_break() || out.flush()?.is_break() {
            return Ok(DONE);
        }
        self.remark(&idle);
        Ok(self.code())
    }

    /// The labels that judge nothing; none after an interrupt, for then they are not known.
    fn idle(&self) -> Vec<Idle> {
        if self.interrupt.code().is_some() {
            return Vec::new();
        }
        let read = self.work.inputs.iter().filter_map(|input| input.id).collect();
        self.work.labels.idle(&read)
    }

    /// Reports on stderr the labels that judge nothing, and that there are no transcripts.
    fn remark(&self, idle: &[Idle]) {
        let labels = self.args.labels.as_deref().unwrap_or(Path::new("")).display();
        let named = idle.iter().take(MAX_NAMED);
        let mut remarks: Vec<_> = named
            .map(|label| {
                plain(&format!("{labels}: line {}: judges nothing: {}", label.line, label.why))
            })
            .collect();
        if idle.len() > MAX_NAMED {
            remarks.push(format!("{labels}: {} more that judge nothing", idle.len() - MAX_NAMED));
        }
        if self.report.totals.is_empty() && self.interrupt.code().is_none() {
            remarks.push("no transcripts found".to_owned());
        }
        notes(&remarks);
    }

    /// Prints all rows, until the reader of the output leaves or a signal arrives.
    fn rows(&mut self, out: &mut Lines, bar: &Bar) -> Result<Flow, Failure> {
        let head = self.report.head();
        if print(out, &head)?.is_break() {
            return Ok(Flow::Break(()));
        }
        loop {
            // Before the rows are taken: what had come when the signal arrived is still printed.
            let is_interrupted = self.interrupt.code().is_some();
            let mut lines = Vec::new();
            for finding in self.findings.next(TICK) {
                lines.extend(self.row(finding)?);
            }
            let ended = self.findings.ended;
            self.report.totals.read = ended;
            let flow = match lines.is_empty() {
                true => Flow::Continue(()),
                false => bar.hidden(|| match print(out, &lines)? {
                    Flow::Continue(()) => out.flush(),
                    gone => Ok(gone),
                })?,
            };
            bar.show(self.work.read.load(Ordering::Relaxed), ended, self.work.inputs.len());
            if self.findings.is_done() || flow.is_break() || is_interrupted {
                return Ok(flow);
            }
        }
    }

    fn row(&mut self, finding: Finding) -> Result<Vec<String>, Failure> {
        let mut row = match finding {
            Finding::Row(row) => row.record,
            Finding::Passed(passed) => {
                let totals = &mut self.report.totals;
                match passed {
                    Passed::Binary => totals.binary += 1,
                    Passed::UnknownJson => totals.unknown += 1,
                }
                return Ok(Vec::new());
            }
        };
        row.changed = self.earlier.as_mut().and_then(|earlier| earlier.compare(&row));
        self.report.row(&row, self.is_shown(&row))
    }

    fn is_shown(&self, row: &ReplayRecord) -> bool {
        match self.args.only {
            None => true,
            Some(Only::Changed) => row.changed.is_some(),
            Some(Only::Wrong) => row.judged.is_some_and(|judged| judged.is_wrong()),
            Some(Only::Exit) => row.verdict.is_some_and(|verdict| verdict.lets_end()),
            Some(Only::Near) => {
                let exits = row.verdict.is_none_or(|verdict| verdict.lets_end());
                let near = row.signal.as_ref().is_some_and(|signal| !signal.near_misses.is_empty());
                !exits && near
            }
        }
    }

    fn code(&self) -> u8 {
        let totals = &self.report.totals;
        match (self.interrupt.code(), totals.code) {
            (Some(code), _) => code,
            (None, DONE) if totals.wrong() > 0 => WRONG,
            (None, code) => code,
        }
    }
}

fn print(out: &mut Lines, lines: &[String]) -> Result<Flow, Failure> {
    for line in lines {
        if out.line(line)?.is_break() {
            return Ok(Flow::Break(()));
        }
    }
    Ok(Flow::Continue(()))
}
