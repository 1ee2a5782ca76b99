//! The outcome of a check: by its exit code, and where that is hidden or unknown, by what it
//! printed.

use std::path::Path;

use gate_report::{self as report, Request, Stream, TestReport};

use self::lines::{
    BACKGROUND, ENDED, behind, chose_nothing, count_behind, is_of_client, may_fail, never_ran,
    number, without_colours, without_label,
};
use super::command::Check;

mod lines;

/// The most bytes of a check's output that are read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// The exit code of `timeout` for a command that it stopped, and of clients that do the same.
/// Nothing shows how it would have ended.
pub(crate) const TIMED_OUT: i32 = 124;

/// Lines by which clients end an output, up to its exit code.
const FOOTERS: [&str; 4] =
    ["completed with exit code ", "exited with exit code ", "[exited with code ", "<exit code: "];

/// The output in an answer that is a JSON object on one line.
const JSON_OUTPUT: &str = "\"output\":\"";

/// The end of a check, as far as a transcript shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckEnd {
    Passed,
    Failed,
    /// A pipe, the format or the background hides it.
    Hidden,
    /// No test ran: the program is not there, or the run chose no test.
    RanNothing,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckResult {
    pub end: CheckEnd,
    /// The number of tests that it reports; `None` without a report.
    pub tests: Option<u64>,
}

/// The output of a check.
pub(crate) struct Output {
    pub check: Check,
    text: String,
    /// The name of the run in the background.
    background: Option<String>,
}

impl Output {
    pub(crate) fn new(check: Check) -> Self {
        Self { check, text: String::new(), background: None }
    }

    /// A text names this run in the background.
    pub(crate) fn is_awaited_in(&self, text: &str) -> bool {
        let is_in = |name: &String| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
                .any(|word| word == name)
        };
        self.background.as_ref().is_some_and(is_in)
    }

    pub(crate) fn is_in_background(&self) -> bool {
        self.background.is_some()
    }

    pub(crate) fn text(&mut self, text: &str) {
        let room = MAX_OUTPUT_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        self.text.push('\n');
        if is_of_client(text) {
            let mut lines = text.lines().filter(|line| is_of_client(line));
            self.background = lines.find_map(background).or(self.background.take());
        }
    }

    /// The result by the exit code, or where that is hidden by the text.
    pub(crate) fn result(&self, code: Option<i32>) -> CheckResult {
        let report = self.report();
        let tests = report.as_ref().map(TestReport::executed).filter(|tests| *tests > 0);
        CheckResult { end: self.end(code, report.as_ref()), tests }
    }

    fn end(&self, code: Option<i32>, report: Option<&TestReport>) -> CheckEnd {
        let check = &self.check;
        let mut codes = Codes { is_background: self.background.is_some(), ..Codes::default() };
        self.lines(|line| codes.line(line));
        // A run in the background has ended later than its call.
        let recorded = if codes.is_background { None } else { code };
        let recorded = codes.footer.or(recorded).filter(|code| *code != TIMED_OUT);
        let by_code = match (codes.ended.filter(|code| *code != TIMED_OUT), recorded) {
            (Some(code), _) => Some(code == 0),
            (None, Some(0)) if check.code_shows_pass => Some(true),
            (None, Some(1..)) if check.code_shows_failure => Some(false),
            _ => None,
        };
        let has_tests = report.is_some_and(|report| report.executed() > 0);
        let is_error = report.is_some_and(|report| !report.errors.is_empty());
        let has_failed = by_code == Some(false) || recorded.is_some_and(|code| code != 0);
        let ran_nothing = chose_nothing(&self.text, has_tests)
            || (!has_tests && has_failed && never_ran(&self.text))
            // A whole report, not the end of one.
            || (!has_tests && !is_error && by_code == Some(true) && report.is_some());
        let counted = report.and_then(counted);
        match by_code {
            _ if ran_nothing => CheckEnd::RanNothing,
            // A runner may be set to end with 0 whatever it finds.
            Some(true) if may_fail(&self.text) && counted == Some(false) => CheckEnd::Failed,
            Some(true) => CheckEnd::Passed,
            _ if !has_tests && never_ran(&self.text) => CheckEnd::Hidden,
            Some(false) => CheckEnd::Failed,
            None => match counted {
                Some(true) => CheckEnd::Passed,
                Some(false) => CheckEnd::Failed,
                None => CheckEnd::Hidden,
            },
        }
    }

    /// The number of tests in a summary without a failure, in whatever a command shows: a log, a file.
    pub(crate) fn shown_passes(&self) -> Option<u64> {
        let (mut passed, mut failed) = (None, None);
        self.lines(|line| {
            for count in line.split([',', ';', '/']) {
                passed = count_behind(count, "passed").or(passed);
                failed = count_behind(count, "failed").or(failed);
            }
        });
        match (passed, failed) {
            (Some(passed), Some(0)) if passed > 0 => return Some(passed),
            (Some(_), Some(_)) => return None,
            _ => {}
        }
        let report = self.report()?;
        counted(&report).filter(|passed| *passed).map(|_| report.executed())
    }

    /// The tests that it reports all passed, or one failed; `None` if it reports no
    /// tests, or not all.
    pub(crate) fn reported(&self) -> Option<bool> {
        self.report().as_ref().and_then(counted)
    }

    /// Takes each line, and those of an output in an answer that is JSON.
    fn lines(&self, mut take: impl FnMut(&str)) {
        for line in self.text.lines() {
            take(&without_colours(line));
            if let Some((_, output)) = line.split_once(JSON_OUTPUT) {
                output.split("\\n").for_each(|line| take(&without_colours(line)));
            }
        }
    }

    /// The report of tests in it.
    fn report(&self) -> Option<TestReport> {
        let nowhere = Path::new("");
        let prepared = report::prepare(&Request {
            argv: &[],
            shell: true,
            demanded: None,
            folder: nowhere,
            cwd: nowhere,
            keep_going: false,
        });
        let mut reader = prepared.reader;
        self.lines(|line| reader.line(Stream::Stdout, without_label(line)));
        reader.finish()
    }
}

/// A report counts no failures; `None` if it counts nothing, or not all.
fn counted(report: &TestReport) -> Option<bool> {
    let has_failures = report.failed > 0 || !report.errors.is_empty();
    let is_whole = has_failures || report.problems.is_empty();
    (report.executed() > 0 && is_whole).then_some(!has_failures)
}

/// Exit codes that clients write into an output.
#[derive(Default)]
struct Codes {
    is_background: bool,
    /// The exit code of a run in the background.
    ended: Option<i32>,
    /// The exit code that the client writes below the output.
    footer: Option<i32>,
}

impl Codes {
    fn line(&mut self, line: &str) {
        if let Some(code) = footer(line.trim()) {
            self.footer = Some(code);
        } else if is_of_client(line) {
            if background(line).is_some() {
                self.is_background = true;
            } else if (self.is_background || line.starts_with('{'))
                && let Some(code) = ENDED.iter().find_map(|words| behind(line, words))
            {
                self.ended = number(code).or(self.ended);
            }
        }
    }
}

/// The exit code in a line that a client has written below the output.
fn footer(shown: &str) -> Option<i32> {
    let is_marked = shown.starts_with(['<', '[']) && shown.ends_with(['>', ']']);
    let code = is_marked.then(|| FOOTERS.iter().find_map(|words| behind(shown, words))).flatten();
    code.and_then(number)
}

/// The name of a run in the background, from the client's line about it.
fn background(line: &str) -> Option<String> {
    let name = BACKGROUND.iter().find_map(|words| behind(line, words))?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    let name = &name[..end.unwrap_or(name.len())];
    (name != "null").then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
