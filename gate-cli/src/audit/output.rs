//! The outcome of a check: by its exit code, and where that is hidden or unknown, by what it
//! printed.

use std::path::Path;

use gate_checks::report::{self, Reader, Request, Stream};

use self::lines::{
    BACKGROUND, ENDED, Words, behind, dotnet_failures, failures, number, printed_code,
    without_colours, without_label,
};
use super::command::{Check, CheckKind};

mod lines;

/// The most bytes of a check's output that are read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

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
    /// Nothing was printed before the words that say that it is over.
    was_quiet: bool,
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
            was_quiet: false,
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
        let found = Words::new(line);
        let shown = line.trim();
        if shown.starts_with(['<', '[']) && shown.ends_with(['>', ']']) {
            let code = FOOTERS.iter().find_map(|words| behind(line, words));
            if let Some(code) = code.and_then(number) {
                self.footer = Some(code);
                return;
            }
        }
        let of_client = |all: &[&str]| {
            found.of_client.then(|| all.iter().find_map(|words| behind(line, words))).flatten()
        };
        if let Some(name) = of_client(&BACKGROUND) {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
            let name = &name[..end.unwrap_or(name.len())];
            if name != "null" {
                self.background = Some(name.to_owned());
                return;
            }
        }
        if (self.background.is_some() || line.starts_with('{'))
            && let Some(code) = of_client(&ENDED)
        {
            self.code = number(code).or(self.code);
        }
        let is_clients =
            ["(no output)", "(Bash completed with no output)", "Output:", "Script completed"];
        self.was_quiet |= !self.has_text && self.check.says_over.as_deref() == Some(shown);
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
            self.words(line, found);
        }
        self.reader.line(Stream::Stdout, without_label(line));
    }

    /// Looks at words of success and of failure, and at numbers of failures.
    fn words(&mut self, line: &str, found: Words) {
        let failures = failures(line).or_else(|| dotnet_failures(line));
        let says_failed = found.failed || failures > Some(0) || line.starts_with("not ok ");
        // A line of TAP is `ok` with its number.
        let is_test = self.check.kind == CheckKind::Test;
        let says_passed = found.passed
            || failures == Some(0)
            || (is_test && matches!(line.trim(), "ok" | "OK" | "pass" | "PASS"))
            || line.strip_prefix("ok ").is_some_and(|rest| number(rest).is_some());
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
        let recorded = if is_background { None } else { code };
        let of_client = self.footer.or(recorded);
        let by_code = match (self.code, of_client) {
            (Some(code), _) => Some(code == 0),
            (None, Some(0)) if check.code_shows_pass => Some(true),
            (None, Some(1..)) if check.code_shows_failure => Some(false),
            _ => None,
        };
        let is_quiet =
            check.is_silent && self.has_answer && (self.was_quiet || !self.has_text) && is_over;
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

#[cfg(test)]
mod tests;
