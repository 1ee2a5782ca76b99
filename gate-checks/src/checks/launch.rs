//! Running the program of a check: from its settings to a job, and from what
//! came of the job to a record.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gate_core::config::ByteSize;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Priority};
use gate_core::text::{MAX_NAMES, some_names};
use serde_json::{Map, Value, json};

use super::not_installed::not_installed;
use crate::check::{CheckContext, CheckId};
use crate::control::{self, Names};
use crate::copy::Mapping;
use crate::process::{Capture, Job, JobEnd, JobResult, LineReader, Stream, environment};
use crate::slots::IN_CHECK;

/// The most that is kept of what a failed program printed, in characters.
pub(super) const EXCERPT: usize = 600;

/// The same, in lines.
const EXCERPT_LINES: usize = 12;

/// The member of a record's detail with the limit of memory that ended the run, in bytes.
pub(super) const OVER_MEMORY: &str = "over_memory_limit";

/// A program that a check runs.
pub(super) struct Launch<'a> {
    pub(super) id: &'a CheckId,
    pub(super) settings: &'a CheckPolicy,
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
    /// Variables beside those of the settings.
    pub(super) variables: Vec<(String, String)>,
    /// The file that is its standard input.
    pub(super) stdin: Option<PathBuf>,
    /// Receives each line of its output.
    pub(super) reader: Option<LineReader>,
    pub(super) copy_report: CopyReport<'a>,
}

/// A value that the lines of a job go into.
#[derive(Default)]
pub(super) struct Collected<T>(Arc<Mutex<T>>);

impl<T: Default + Send + 'static> Collected<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// Takes each line of a job into the value.
    pub(super) fn reader(
        &self,
        mut take: impl FnMut(&mut T, Stream, &str) + Send + 'static,
    ) -> LineReader {
        let value = Arc::clone(&self.0);
        Box::new(move |stream, line| {
            take(&mut value.lock().unwrap_or_else(PoisonError::into_inner), stream, line);
        })
    }

    /// The value, after the job has ended.
    pub(super) fn take(&self) -> T {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reports a run in a copy of the tree as if it had run in the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyReport<'a> {
    /// Maps the copy's paths to the tree's.
    pub(super) mapping: Option<&'a Mapping>,
    /// The names of gate's own tests in the run, which are no part of the excerpt.
    pub(super) hidden: Option<&'a Names>,
}

impl CopyReport<'_> {
    fn text(&self, text: &str) -> String {
        self.mapping.map_or_else(|| text.to_owned(), |mapping| mapping.to_real(text))
    }

    /// The first line of the log of a run with gate's own tests; empty without them.
    fn log_note(&self) -> String {
        let names = self.hidden.map(Names::in_reports).unwrap_or_default();
        let tests = match names.len() {
            0 => return String::new(),
            1 => "1 test that has".to_owned(),
            number => format!("{number} tests that have"),
        };
        let names = some_names(&names, MAX_NAMES);
        format!("gate planted {tests} to fail ({names}): leave them out of the numbers below\n\n")
    }

    fn shows(&self, paragraph: &str) -> bool {
        self.hidden.is_none_or(|hidden| !control::is_about(paragraph, hidden))
    }

    /// True for a line whose numbers include a control.
    fn counts(&self, line: &str) -> bool {
        let words = [" failed", " failing", " passed", "FAILED", "Tests: ", "Tests  ", "ℹ "];
        let has_number = line.bytes().any(|byte| byte.is_ascii_digit());
        self.hidden.is_some() && has_number && words.iter().any(|word| line.contains(word))
    }
}

/// A program that was run to its end.
pub(super) struct Launched {
    /// The part that does not depend on the outcome: argv, duration, log.
    pub(super) evidence: Evidence,
    /// Its exit code; none if a signal ended it.
    pub(super) exit_code: Option<i32>,
    /// The part of its output that says why it failed.
    excerpt: String,
    /// A program that it needs, if the output says that it is not there.
    missing: Option<String>,
}

impl Launched {
    /// The outcome of a command that failed for want of a program; none if no program is missing.
    pub(super) fn not_installed(&self) -> Option<(Outcome, String)> {
        let program = self.missing.as_ref()?;
        let has_failed = self.exit_code != Some(0);
        has_failed.then(|| (Outcome::Inconclusive, format!("{program} is not installed")))
    }

    /// The outcome by the exit code.
    pub(super) fn outcome(&self) -> (Outcome, String) {
        let by_code = match self.exit_code {
            Some(0) => (Outcome::Pass, "exit code 0".to_owned()),
            // A shell's exit codes for a program that it cannot find or run.
            Some(code @ (126 | 127)) => {
                (Outcome::Inconclusive, format!("exit code {code}: its command could not be run"))
            }
            Some(code) => (Outcome::Fail, format!("exit code {code}")),
            None => (Outcome::Fail, "a signal ended it".to_owned()),
        };
        self.not_installed().unwrap_or(by_code)
    }

    /// The record with this outcome; `detail` goes under a name of its own.
    pub(super) fn came_to(
        self,
        outcome: Outcome,
        summary: &str,
        detail: Option<(&str, Value)>,
    ) -> Evidence {
        let mut evidence = self.evidence;
        if let (Some((name, value)), Some(Value::Object(all))) = (detail, &mut evidence.detail) {
            all.insert(name.to_owned(), value);
        }
        evidence.outcome = outcome;
        evidence.summary.insert_str(0, summary);
        let failed = outcome == Outcome::Fail && !self.excerpt.is_empty();
        evidence.excerpt = failed.then_some(self.excerpt);
        evidence
    }
}

impl<'a> Launch<'a> {
    /// A program with no variables of its own and an empty standard input.
    pub(super) fn new(id: &'a CheckId, settings: &'a CheckPolicy, argv: Vec<String>) -> Self {
        let (variables, copy_report) = (Vec::new(), CopyReport::default());
        Self { id, settings, argv, variables, stdin: None, reader: None, copy_report }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// The record of a program that gave no answer: it could not be started,
    /// was ended, or got away.
    pub(super) async fn run(self, cx: &CheckContext) -> Result<Launched, Box<Evidence>> {
        let folder = cx.site.folder_of(self.settings);
        if !folder.is_dir() {
            let summary = format!("its working folder {} is not there", folder.display());
            return Err(self.inconclusive(&summary));
        }
        let job = Job {
            argv: self.argv.clone(),
            folder,
            environment: self.environment(cx),
            stdin: self.stdin.clone(),
            supervisor: cx.site.supervisor.clone(),
            memory: self.settings.memory_bytes,
            is_low_priority: self.settings.priority == Priority::Low,
            confinement: cx.private.as_ref().and_then(|private| private.confinement.clone()),
        };
        let (id, argv, copy_report) = (self.id, self.argv, self.copy_report);
        let argv = argv.iter().map(|word| copy_report.text(word)).collect();
        let ended = job.run(Capture::new(self.reader), &cx.cancel).await;
        record(id, argv, &ended, (cx, copy_report))
    }

    fn environment(&self, cx: &CheckContext) -> Vec<(String, String)> {
        let mut all = environment(&cx.site.environment, &self.settings.env);
        all.retain(|(name, _)| self.variables.iter().all(|(new, _)| new != name));
        all.extend(self.variables.iter().cloned());
        all.push((IN_CHECK.to_owned(), "1".to_owned()));
        all
    }

    fn inconclusive(&self, summary: &str) -> Box<Evidence> {
        let mut evidence = self.id.record(Outcome::Inconclusive, self.copy_report.text(summary));
        evidence.argv = self.argv.iter().map(|word| self.copy_report.text(word)).collect();
        Box::new(evidence)
    }
}

/// The settings' command as a program with arguments.
pub(super) fn argv(command: &[String], shell: bool) -> Vec<String> {
    if shell {
        let bash = ["bash", "-euo", "pipefail", "-c"].map(str::to_owned);
        return bash.into_iter().chain(command.iter().cloned()).collect();
    }
    command.to_vec()
}

fn record(
    id: &CheckId,
    argv: Vec<String>,
    ended: &JobResult,
    (cx, copy_report): (&CheckContext, CopyReport<'_>),
) -> Result<Launched, Box<Evidence>> {
    let text = cx.masker.output(&argv, &copy_report.text(&ended.capture.text()));
    let log = cx.logs.keep(id, &format!("{}{text}", copy_report.log_note()));
    let excerpt = excerpt_of(&text, copy_report);
    let missing = not_installed(&text);
    let mut evidence = id
        .record(Outcome::Inconclusive, "")
        .with_duration(ended.duration)
        .with_detail(detail(ended, cx.site.supervisor.is_some()));
    evidence.log = log.map(|log| log.display().to_string());
    evidence.argv = argv;
    if let JobEnd::Exited(code) = ended.how {
        evidence.exit_code = Some(code);
    }
    let summary = match &ended.how {
        JobEnd::Exited(_) | JobEnd::Signalled(_) => {
            let exit_code = evidence.exit_code;
            let evidence = evidence.with_summary(left_behind(ended));
            return Ok(Launched { evidence, exit_code, excerpt, missing });
        }
        JobEnd::NotStarted(error) => not_started(&evidence.argv, error),
        JobEnd::OverMemory(limit) => format!(
            "it used more than {} of memory (the limit of `memory` in its settings)",
            ByteSize(*limit)
        ),
        JobEnd::Stopped => "gate was interrupted".to_owned(),
        JobEnd::Lost => "its supervisor was killed while it ran".to_owned(),
    };
    Err(Box::new(evidence.with_summary(summary)))
}

/// The lines that say why a program failed, as far as there is room for them: the first
/// error with what follows, else the end. Paragraphs about a control are left out.
fn excerpt_of(text: &str, copy_report: CopyReport<'_>) -> String {
    let paragraphs = text.split("\n\n").filter(|paragraph| copy_report.shows(paragraph));
    let lines = paragraphs.flat_map(str::lines).map(str::trim_end);
    let lines: Vec<_> =
        lines.filter(|line| !line.is_empty() && !copy_report.counts(line)).collect();
    match lines.iter().position(|line| is_error(line)) {
        Some(first) => fitting(lines[first..].iter().copied()).join("\n"),
        None => {
            let mut last = fitting(lines.iter().rev().copied());
            last.reverse();
            last.join("\n")
        }
    }
}

/// As many of these lines as there is room for.
fn fitting<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let (mut fitting, mut room) = (Vec::new(), EXCERPT);
    for line in lines.take(EXCERPT_LINES) {
        let length = line.chars().count() + 1;
        if length > room {
            break;
        }
        room -= length;
        fitting.push(line);
    }
    fitting
}

/// True for a compiler's error: `error[E0308]: …`, `a.c:3:5: error: …`,
/// `a.ts(3,5): error TS2322: …`.
fn is_error(line: &str) -> bool {
    let begins = ["error: ", "error[", "error TS"].iter().any(|begin| line.starts_with(begin));
    let is_sum = line.starts_with("error: could not compile ");
    let placed = [": error: ", ": error TS", ": fatal error: "];
    (begins && !is_sum) || placed.iter().any(|error| line.contains(error))
}

/// The reason that a program was not started, with a remedy if one is known.
fn not_started(argv: &[String], error: &str) -> String {
    let program = argv.first().map_or("", String::as_str);
    let operators = ["&&", "||", "|", ";", ">"];
    let script =
        program.contains(' ') || argv.iter().any(|word| operators.contains(&word.as_str()));
    if script {
        let advice = "a script needs `shell = true`, a command one entry a word";
        return format!("{program} could not be started: {error}; {advice}");
    }
    if error.contains("(os error 2)") && !program.contains('/') {
        return format!("{program} is not installed");
    }
    format!("{program} could not be started: {error}")
}

/// The processes that the run left behind, as the end of a summary.
fn left_behind(ended: &JobResult) -> String {
    if ended.left.is_empty() {
        return String::new();
    }
    format!("; what it left running was ended ({})", ended.left.join(", "))
}

fn detail(ended: &JobResult, supervised: bool) -> Value {
    let mut detail = Map::new();
    if !supervised {
        // A reader learns that a process may have got away.
        detail.insert("supervised".to_owned(), json!(false));
    }
    let (bytes, digest) = (ended.capture.bytes(), ended.capture.digest());
    detail.insert("output".to_owned(), json!({ "bytes": bytes, "digest": digest }));
    if let JobEnd::Signalled(signal) = ended.how {
        detail.insert("signal".to_owned(), json!(signal));
    }
    if let JobEnd::OverMemory(limit) = ended.how {
        detail.insert(OVER_MEMORY.to_owned(), json!(limit));
    }
    if !ended.left.is_empty() {
        detail.insert("left_running".to_owned(), json!(ended.left));
    }
    if ended.is_output_open {
        detail.insert("output_held".to_owned(), json!(true));
    }
    Value::Object(detail)
}
