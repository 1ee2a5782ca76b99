//! Running the program of a check: from its settings to a job, and from the job's result to a record.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gate_core::config::ByteSize;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{CheckPolicy, Priority};
use gate_core::decide::test_failure::TestFailure;
use gate_core::text::{MAX_NAMES, brief, some_names, whole_lines};
use serde_json::{Map, Value, json};

use super::not_installed::not_installed;
use crate::check::{CheckContext, CheckId};
use crate::control::ControlNames;
use crate::copy::Mapping;
use crate::process::{Capture, Job, JobEnd, JobResult, LineReader, Stream, environment};
use crate::report::{failures_in, headline};
use crate::slots::IN_CHECK;

/// The longest excerpt of a failed program's output, in characters.
pub(super) const MAX_EXCERPT_CHARS: usize = 600;

/// The longest excerpt of a failed program's output, in lines.
const MAX_EXCERPT_LINES: usize = 12;

/// The longest cause of a failure in one line, in characters.
const MAX_CAUSE_CHARS: usize = 160;

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
    /// The failing assertion is looked for in its output.
    pub(super) explains: bool,
    pub(super) copy_report: CopyReport<'a>,
}

/// A value that the lines of a job go into.
#[derive(Default)]
pub(super) struct Collector<T>(Arc<Mutex<T>>);

impl<T: Default + Send + 'static> Collector<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(Mutex::new(value)))
    }

    /// A reader that takes each line of a job into the value.
    pub(super) fn reader(
        &self,
        mut take_line: impl FnMut(&mut T, Stream, &str) + Send + 'static,
    ) -> LineReader {
        let value = Arc::clone(&self.0);
        Box::new(move |stream, line| {
            take_line(&mut value.lock().unwrap_or_else(PoisonError::into_inner), stream, line);
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
    pub(super) hidden: Option<&'a ControlNames>,
}

impl CopyReport<'_> {
    /// The text with the tree's paths in the place of the copy's.
    fn tree_text(&self, text: &str) -> String {
        self.mapping.map_or_else(|| text.to_owned(), |mapping| mapping.to_tree(text))
    }

    /// The first line of the log of a run with gate's own tests; empty without them.
    fn log_note(&self) -> String {
        let names = self.hidden.map(ControlNames::in_reports).unwrap_or_default();
        let tests = match names.len() {
            0 => return String::new(),
            1 => "1 test that has".to_owned(),
            count => format!("{count} tests that have"),
        };
        let list = some_names(&names, MAX_NAMES);
        format!("gate planted {tests} to fail ({list}): leave them out of the numbers below\n\n")
    }

    /// A paragraph that is about none of gate's own tests.
    fn is_shown(&self, paragraph: &str) -> bool {
        self.hidden.is_none_or(|hidden| !hidden.occur_in(paragraph))
    }

    /// A line of totals, whose numbers include gate's own tests.
    fn is_wrong_total(&self, line: &str) -> bool {
        let words = [" failed", " failing", " passed", "FAILED", "Tests: ", "Tests  ", "ℹ "];
        let has_number = line.bytes().any(|byte| byte.is_ascii_digit());
        self.hidden.is_some() && has_number && words.iter().any(|word| line.contains(word))
    }
}

/// A program that was run to its end.
pub(super) struct Launched {
    /// The part that does not depend on the outcome: argv, duration, log.
    pub(super) evidence: Evidence,
    /// `None` if a signal ended the program.
    pub(super) exit_code: Option<i32>,
    /// The part of the output that says why the program failed.
    excerpt: String,
    /// The failing assertion in it in one line, if it is known to hold one.
    assertion: Option<String>,
    /// A further program that this one needs, if the output says that it is not there.
    not_installed: Option<String>,
}

impl Launched {
    /// The outcome and the summary of a command that failed for want of a program. `None` if no
    /// program is missing.
    pub(super) fn missing_program(&self) -> Option<(Outcome, String)> {
        let program = self.not_installed.as_ref()?;
        let has_failed = self.exit_code != Some(0);
        has_failed.then(|| (Outcome::Inconclusive, format!("{program} is not installed")))
    }

    /// The failing assertion in one line, else the exit code: why the program failed.
    pub(super) fn cause(&self) -> String {
        let (outcome, summary) = self.outcome();
        match &self.assertion {
            Some(assertion) if outcome == Outcome::Fail => brief(assertion, MAX_CAUSE_CHARS),
            _ => summary,
        }
    }

    /// The outcome by the exit code, and its summary.
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
        self.missing_program().unwrap_or(by_code)
    }

    /// The record with this outcome; `detail` is a member that is added, by its name.
    pub(super) fn into_evidence(
        self,
        outcome: Outcome,
        summary: &str,
        detail: Option<(&str, Value)>,
    ) -> Evidence {
        let mut evidence = self.evidence;
        if let (Some((name, value)), Some(Value::Object(members))) = (detail, &mut evidence.detail)
        {
            members.insert(name.to_owned(), value);
        }
        evidence.outcome = outcome;
        evidence.summary.insert_str(0, summary);
        let has_excerpt = outcome == Outcome::Fail && !self.excerpt.is_empty();
        evidence.excerpt = has_excerpt.then_some(self.excerpt);
        evidence
    }
}

impl<'a> Launch<'a> {
    /// A program without further variables and with an empty standard input.
    pub(super) fn new(id: &'a CheckId, settings: &'a CheckPolicy, argv: Vec<String>) -> Self {
        let (variables, copy_report) = (Vec::new(), CopyReport::default());
        Self {
            id,
            settings,
            argv,
            variables,
            stdin: None,
            reader: None,
            explains: true,
            copy_report,
        }
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    ///
    /// The record of a program that gave no answer: it could not be started, was ended, or got away.
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
        let tree_argv = self.tree_argv();
        let cwd = self.explains.then(|| job.folder.clone());
        let ended = job.run(Capture::new(self.reader), &cx.cancel).await;
        record(self.id, tree_argv, &ended, cx, self.copy_report, cwd.as_deref())
    }

    fn environment(&self, cx: &CheckContext) -> Vec<(String, String)> {
        let mut variables = environment(&cx.site.environment, &self.settings.env);
        variables.retain(|(name, _)| self.variables.iter().all(|(set_name, _)| set_name != name));
        variables.extend(self.variables.iter().cloned());
        variables.push((IN_CHECK.to_owned(), "1".to_owned()));
        variables
    }

    fn inconclusive(&self, summary: &str) -> Box<Evidence> {
        let summary = self.copy_report.tree_text(summary);
        let mut evidence = self.id.record(Outcome::Inconclusive, summary);
        evidence.argv = self.tree_argv();
        Box::new(evidence)
    }

    /// The program and its arguments, with the tree's paths.
    fn tree_argv(&self) -> Vec<String> {
        self.argv.iter().map(|word| self.copy_report.tree_text(word)).collect()
    }
}

/// The words before a line for bash.
pub(super) const BASH: [&str; 4] = ["bash", "-euo", "pipefail", "-c"];

/// The settings' command as a program with arguments.
pub(super) fn argv(command: &[String], shell: bool) -> Vec<String> {
    if shell {
        return BASH.map(str::to_owned).into_iter().chain(command.iter().cloned()).collect();
    }
    command.to_vec()
}

/// The record of a job that has ended. Its secrets are masked before anything is kept of its output.
fn record(
    id: &CheckId,
    argv: Vec<String>,
    ended: &JobResult,
    cx: &CheckContext,
    copy_report: CopyReport<'_>,
    cwd: Option<&Path>,
) -> Result<Launched, Box<Evidence>> {
    let shown = |text: String| cx.masker.output(&argv, &copy_report.tree_text(&text));
    let (output, errors) = (shown(ended.capture.text()), shown(ended.capture.errors()));
    let log = cx.logs.keep(id, &format!("{}{output}", copy_report.log_note()));
    let mut excerpt = excerpt_of(&output, copy_report);
    let not_installed = not_installed(&output);
    let mut evidence = id
        .record(Outcome::Inconclusive, "")
        .with_duration(ended.duration)
        .with_detail(detail(ended, cx.site.supervisor.is_some()));
    evidence.log = log.map(|log| log.display().to_string());
    evidence.argv = argv;
    if let JobEnd::Exited(code) = ended.end {
        evidence.exit_code = Some(code);
    }
    let summary = match &ended.end {
        JobEnd::Exited(_) | JobEnd::Signalled(_) => {
            let exit_code = evidence.exit_code;
            let failures = match cwd {
                Some(cwd) if exit_code != Some(0) => failures_in(&output, &errors, cwd),
                _ => Vec::new(),
            };
            if !failures.is_empty() {
                excerpt = whole_lines(&messages(&failures), MAX_EXCERPT_CHARS);
            }
            let assertion = failures.first().map(headline);
            let evidence = evidence.with_summary(left_behind(ended));
            return Ok(Launched { evidence, exit_code, excerpt, assertion, not_installed });
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

/// The lines that say why a program failed, as far as there is room for them. A compiler's first
/// error often causes the later ones, so the excerpt begins with it; without one it is the end of the
/// output. Paragraphs about a control are left out.
fn excerpt_of(output: &str, copy_report: CopyReport<'_>) -> String {
    let lines: Vec<_> = output
        .split("\n\n")
        .filter(|paragraph| copy_report.is_shown(paragraph))
        .flat_map(str::lines)
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !copy_report.is_wrong_total(line))
        .collect();
    match lines.iter().position(|line| is_compiler_error(line)) {
        Some(first_error) => fitting_lines(lines[first_error..].iter().copied()).join("\n"),
        None => {
            let mut last_lines = fitting_lines(lines.iter().rev().copied());
            last_lines.reverse();
            last_lines.join("\n")
        }
    }
}

/// The failures' own messages, each below its test and its place.
pub(super) fn messages(failures: &[TestFailure]) -> String {
    let messages = failures.iter().map(|failure| match &failure.test {
        Some(test) => format!("{test}\n{}", failure.message),
        None => failure.message.clone(),
    });
    messages.collect::<Vec<_>>().join("\n")
}

/// As many of these lines as an excerpt has room for.
fn fitting_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let (mut fitting_lines, mut room) = (Vec::new(), MAX_EXCERPT_CHARS);
    for line in lines.take(MAX_EXCERPT_LINES) {
        let length = line.chars().count() + 1;
        if length > room {
            break;
        }
        room -= length;
        fitting_lines.push(line);
    }
    fitting_lines
}

/// A compiler's error: `error[E0308]: …`, `a.c:3:5: error: …`, `a.ts(3,5): error TS2322: …`.
fn is_compiler_error(line: &str) -> bool {
    let starts_with_error =
        ["error: ", "error[", "error TS"].iter().any(|start| line.starts_with(start));
    let is_total = line.starts_with("error: could not compile ");
    let has_error_after_place =
        [": error: ", ": error TS", ": fatal error: "].iter().any(|error| line.contains(error));
    (starts_with_error && !is_total) || has_error_after_place
}

/// The reason that a program was not started, with a remedy if one is known.
fn not_started(argv: &[String], error: &str) -> String {
    let program = argv.first().map_or("", String::as_str);
    let operators = ["&&", "||", "|", ";", ">"];
    let is_script =
        program.contains(' ') || argv.iter().any(|word| operators.contains(&word.as_str()));
    if is_script {
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
    if ended.leftovers.is_empty() {
        return String::new();
    }
    format!("; what it left running was ended ({})", ended.leftovers.join(", "))
}

fn detail(ended: &JobResult, is_supervised: bool) -> Value {
    let mut detail = Map::new();
    if !is_supervised {
        // A reader learns that a process may have got away.
        detail.insert("supervised".to_owned(), json!(false));
    }
    let (bytes, digest) = (ended.capture.bytes(), ended.capture.digest());
    detail.insert("output".to_owned(), json!({ "bytes": bytes, "digest": digest }));
    if let JobEnd::Signalled(signal) = ended.end {
        detail.insert("signal".to_owned(), json!(signal));
    }
    if let JobEnd::OverMemory(limit) = ended.end {
        detail.insert(OVER_MEMORY.to_owned(), json!(limit));
    }
    if !ended.leftovers.is_empty() {
        detail.insert("left_running".to_owned(), json!(ended.leftovers));
    }
    if ended.is_output_open {
        detail.insert("output_held".to_owned(), json!(true));
    }
    Value::Object(detail)
}
