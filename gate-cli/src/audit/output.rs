//! The outcome of a check: by its exit code, and where that is hidden or unknown, by what it
//! printed.

use std::borrow::Cow;
use std::path::Path;

use gate_checks::report::{self, Reader, Request, Stream};

use super::command::{Check, CheckKind};

/// The most bytes of a check's output that are read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// Words by which checks say that they failed. Lower case.
const FAILURES: [&str; 22] = [
    "error[e",
    ": error ts",
    " - error ts",
    "error: could not compile",
    "error: aborting due to",
    "build failed",
    "build error",
    "failed to compile",
    "compilation failed",
    "compilation error",
    "elifecycle",
    "npm err!",
    "npm error",
    "command failed",
    "command not found",
    "no such file or directory",
    "failures!",
    "tests failed",
    "test failed",
    "assertionerror",
    "syntaxerror",
    "fatal error",
];

/// Words by which they say that all is well. Lower case.
const SUCCESSES: [&str; 41] = [
    "finished `",
    "finished dev",
    "finished release",
    "compiled successfully",
    "successfully compiled",
    "compiled with warnings",
    "✓ compiled",
    "built in ",
    "build succeeded",
    "test succeeded",
    "are correctly formatted",
    "found no warnings",
    "build success",
    "build complete",
    "build completed",
    "[build] complete!",
    "prerendered as static",
    "no issues found",
    "found no issues",
    "no offenses",
    "no problems",
    "no fixes applied",
    "no errors found",
    "no warnings or errors",
    "all checks passed",
    "all matched files use",
    "all files formatted",
    "would be left unchanged",
    "all done!",
    "syntax ok",
    "no syntax errors",
    "passed successfully",
    "success: no",
    "all tests passed",
    "100% tests passed",
    "tests passed",
    "configuration is valid",
    "validated successfully",
    " is valid",
    "no lint issues",
    "no vulnerabilities found",
];

/// Nouns of what a summary counts, and words for those that failed. Lower case.
const COUNTED: [&str; 8] =
    ["test", "example", "spec", "scenario", "assertion", "run", "doctest", "check"];
const FAILED: [&str; 12] = [
    "failed",
    "fail",
    "failure",
    "failures",
    "failing",
    "errors",
    "error",
    "offense",
    "offenses",
    "problems",
    "issues",
    "vulnerabilities",
];
const PASSED: [&str; 4] = ["passed", "pass", "passing", "ok"];

/// Texts of clients that say that a command goes on by itself, up to its name.
const BACKGROUND: [&str; 8] = [
    "running in background with id: ",
    "running in the background with id: ",
    "moved to the background (id: ",
    "with shellid: ",
    "process running with session id ",
    "script running with cell id ",
    "\"session_id\":",
    "session_id=",
];

/// Texts that say how a command in the background has ended, up to its exit code.
const ENDED: [&str; 5] = [
    "process exited with code ",
    "<exit_code>",
    "(exit code ",
    "failed with exit code ",
    "\"exit_code\":",
];

/// Lines by which clients end an output, up to its exit code.
const FOOTERS: [&str; 4] =
    ["completed with exit code ", "exited with exit code ", "[exited with code ", "<exit code: "];

/// The output in an answer that is a JSON object on one line.
const JSON_OUTPUT: &str = "\"output\":\"";

/// Reads the output of a check.
pub(super) struct Output {
    pub(super) check: Check,
    reader: Box<dyn Reader>,
    bytes: usize,
    failed: bool,
    succeeded: bool,
    /// The last line that said how the check ended says that it passed.
    last: bool,
    /// Something was printed.
    has_text: bool,
    /// An answer came.
    has_answer: bool,
    /// The name of the run in the background.
    background: Option<String>,
    /// The exit code of a run in the background, or one that the command prints.
    code: Option<i32>,
    /// The exit code that the client writes below the output.
    footer: Option<i32>,
}

impl Output {
    pub(super) fn new(check: Check) -> Self {
        let nowhere = Path::new("");
        let reader = report::prepare(&Request {
            argv: &[],
            shell: true,
            demanded: None,
            folder: nowhere,
            cwd: nowhere,
            keep_going: false,
        });
        Self {
            check,
            reader: reader.reader,
            bytes: 0,
            failed: false,
            succeeded: false,
            last: false,
            has_text: false,
            has_answer: false,
            background: None,
            code: None,
            footer: None,
        }
    }

    /// True if a text names this run in the background.
    pub(super) fn is_awaited_in(&self, text: &str) -> bool {
        let is_in = |name: &String| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
                .any(|word| word == name)
        };
        self.background.as_ref().is_some_and(is_in)
    }

    pub(super) fn text(&mut self, text: &str) {
        self.has_answer = true;
        for line in text.lines() {
            self.bytes += line.len();
            if self.bytes > MAX_OUTPUT_BYTES {
                return;
            }
            self.line(line);
            if let Some((_, output)) = line.split_once(JSON_OUTPUT) {
                output.split("\\n").for_each(|line| self.line(line));
            }
        }
    }

    fn line(&mut self, line: &str) {
        let line = &*without_colours(line);
        let lower = line.to_lowercase();
        let shown = line.trim();
        if shown.starts_with(['<', '[']) && shown.ends_with(['>', ']']) {
            let code = FOOTERS.iter().find_map(|words| behind(&lower, words, line));
            if let Some(code) = code.and_then(number) {
                self.footer = Some(code);
                return;
            }
        }
        if let Some(name) = BACKGROUND.iter().find_map(|words| behind(&lower, words, line)) {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
            let name = &name[..end.unwrap_or(name.len())];
            if name != "null" {
                self.background = Some(name.to_owned());
                return;
            }
        }
        if (self.background.is_some() || line.starts_with('{'))
            && let Some(code) = ENDED.iter().find_map(|words| behind(&lower, words, line))
        {
            self.code = number(code).or(self.code);
        }
        let is_clients =
            ["(no output)", "(Bash completed with no output)", "Output:", "Script completed"];
        self.has_text |= !shown.is_empty()
            && !is_clients.contains(&shown)
            && !shown.starts_with("Wall time")
            && !shown.starts_with("Chunk ID")
            && !shown.starts_with("Shell cwd was reset to ");
        if self.check.says_failed.as_deref() == Some(shown) {
            self.failed = true;
        } else if self.check.says_passed.as_deref() == Some(shown) {
            self.succeeded = true;
        } else if let Some(code) =
            self.check.says_code.as_deref().and_then(|says| printed_code(says, shown))
        {
            self.code = Some(code);
        } else {
            self.words(&lower);
        }
        self.reader.line(Stream::Stdout, without_label(line));
    }

    /// Looks for words of success and of failure, and for numbers of failures.
    fn words(&mut self, lower: &str) {
        let failures = failures(lower).or_else(|| dotnet_failures(lower));
        let says_failed = FAILURES.iter().any(|words| lower.contains(words))
            || failures > Some(0)
            || lower.starts_with("not ok ");
        // A line of TAP is `ok` with its number.
        let says_passed = SUCCESSES.iter().any(|words| lower.contains(words))
            || failures == Some(0)
            || (self.check.kind == CheckKind::Test && matches!(lower.trim(), "ok" | "pass"))
            || lower.strip_prefix("ok ").is_some_and(|rest| number(rest).is_some());
        if says_failed || says_passed {
            self.last = !says_failed;
        }
        self.failed |= says_failed;
        self.succeeded |= says_passed;
    }

    /// True if it passed, false if it failed, by its exit code or by what it says; none if neither
    /// shows it.
    pub(super) fn passed(self, code: Option<i32>) -> Option<bool> {
        let check = &self.check;
        let is_background = self.background.is_some();
        let is_over = !is_background || self.code.or(self.footer).is_some();
        // A run in the background has ended later than its call.
        let of_client = self.footer.or(code.filter(|_| !is_background));
        let by_code = match (self.code, of_client) {
            (Some(code), _) => Some(code == 0),
            (None, Some(0)) if check.code_shows_pass => Some(true),
            (None, Some(1..)) if check.code_shows_failure => Some(false),
            _ => None,
        };
        let is_quiet = check.is_silent && self.has_answer && !self.has_text && is_over;
        let said = match (self.failed, self.succeeded) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            (true, true) => Some(self.last),
            (false, false) => is_quiet.then_some(true),
        };
        let is_test = check.kind == CheckKind::Test;
        let report = self.reader.finish().filter(|report| report.executed() > 0);
        let counted = report.and_then(|report| {
            let wrong = report.failed > 0 || !report.errors.is_empty();
            (wrong || report.problems.is_empty()).then_some(!wrong)
        });
        match by_code {
            // A runner may be told to end with 0 whatever it finds.
            Some(true) if is_test => Some(counted != Some(false)),
            Some(passed) => Some(passed),
            None => counted.or(said),
        }
    }
}

/// The part of a line behind these words, which are found in the line in lower case.
fn behind<'l>(lower: &str, words: &str, line: &'l str) -> Option<&'l str> {
    let at = lower.find(words)? + words.len();
    line.get(at..).filter(|rest| !rest.is_empty())
}

/// A line without the sequences by which a terminal shows colours, as they are or as in JSON.
fn without_colours(line: &str) -> Cow<'_, str> {
    let marks = ["\u{1b}[", "\\u001b["];
    if !marks.iter().any(|mark| line.contains(mark)) {
        return Cow::Borrowed(line);
    }
    let mut plain = String::new();
    let mut rest = line;
    while let Some((at, mark)) =
        marks.iter().filter_map(|mark| rest.find(mark).map(|at| (at, mark))).min()
    {
        plain.push_str(&rest[..at]);
        rest = rest[at + mark.len()..]
            .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'));
        rest = rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A line without the name of its task, which runners of several tasks write before it.
fn without_label(line: &str) -> &str {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match label {
        Some((name, rest)) if !name.contains([' ', ']']) => rest,
        _ => line,
    }
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The exit code in a line that was printed as `words` say.
fn printed_code(words: &str, line: &str) -> Option<i32> {
    let (before, after) = words.split_once('$')?;
    let after =
        after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "{}[]?_".contains(c));
    line.strip_prefix(before)?.strip_suffix(after)?.trim().parse().ok()
}

/// The number of failures that a summary counts; none if the line is no summary.
fn failures(lower: &str) -> Option<u64> {
    let words: Vec<_> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > 40 {
        return None;
    }
    let mut counted = None;
    let mut failed = None;
    // Warnings are problems too.
    let has_errors = words
        .windows(2)
        .any(|pair| pair[0].parse::<u64>().is_ok() && matches!(pair[1], "error" | "errors"));
    for pair in words.windows(2) {
        let (one, two) = (pair[0], pair[1]);
        if let Ok(number) = one.parse::<u64>() {
            if has_errors && matches!(two, "problem" | "problems") {
                counted = counted.or(Some(0));
            } else if FAILED.contains(&two) {
                failed = Some(failed.unwrap_or(0) + number);
            } else if PASSED.contains(&two) && number > 0 {
                counted = Some(number);
            } else if COUNTED.iter().any(|noun| {
                two.strip_prefix(noun).is_some_and(|rest| rest.is_empty() || rest == "s")
            }) && number > 0
            {
                counted = counted.or(Some(0));
            }
        } else if let Ok(number) = two.parse::<u64>()
            && FAILED.contains(&one)
        {
            failed = failed.or(Some(number));
        }
    }
    match (failed, counted) {
        (Some(failed), _) if failed > 0 => Some(failed),
        (Some(_), _) => Some(0),
        (None, Some(passed)) if passed > 0 => Some(0),
        _ => None,
    }
}

/// The failures in a summary of dotnet, which is in the language of the machine: they come first.
fn dotnet_failures(lower: &str) -> Option<u64> {
    let (summary, _) = lower.split_once(".dll (")?;
    let (_, counts) = summary.split_once("!  - ")?;
    counts.split([':', ',']).nth(1)?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
