//! The outcome of a check: by its exit code, and where that is hidden or unknown, by what it
//! printed.

use std::path::Path;

use gate_checks::report::{self, Request, Stream};

use self::lines::{
    BACKGROUND, ENDED, Words, behind, dotnet_failures, failures, fits, is_of_client, may_fail,
    named_test, never_ran, number, printed_code, without_colours, without_label,
};
use super::command::{Check, CheckKind};

mod lines;

/// The most bytes of a check's output that are read.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

/// The exit code of `timeout` for a command that it stopped, and of clients that do the same.
/// Nothing shows how it would have ended.
pub(super) const TIMED_OUT: i32 = 124;

/// Lines by which clients end an output, up to its exit code.
const FOOTERS: [&str; 4] =
    ["completed with exit code ", "exited with exit code ", "[exited with code ", "<exit code: "];

/// The output in an answer that is a JSON object on one line.
const JSON_OUTPUT: &str = "\"output\":\"";

/// The output of a check.
pub(super) struct Output {
    pub(super) check: Check,
    text: String,
    /// An answer came.
    has_answer: bool,
    /// The name of the run in the background.
    background: Option<String>,
}

impl Output {
    pub(super) fn new(check: Check) -> Self {
        Self { check, text: String::new(), has_answer: false, background: None }
    }

    /// True if a text names this run in the background.
    pub(super) fn is_awaited_in(&self, text: &str) -> bool {
        let is_in = |name: &String| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
                .any(|word| word == name)
        };
        self.background.as_ref().is_some_and(is_in)
    }

    pub(super) fn is_in_background(&self) -> bool {
        self.background.is_some()
    }

    pub(super) fn text(&mut self, text: &str) {
        self.has_answer = true;
        let room = MAX_OUTPUT_BYTES.saturating_sub(self.text.len());
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        self.text.push('\n');
        if is_of_client(text) {
            let mut lines = text.lines().filter(|line| is_of_client(line));
            self.background = lines.find_map(background).or(self.background.take());
        }
    }

    /// True if it says that the program is not there.
    pub(super) fn could_not_start(&self) -> bool {
        never_ran(&self.text)
    }

    /// True if it passed, false if it failed, by its exit code or by its text; none if neither
    /// shows it.
    pub(super) fn passed(&self, code: Option<i32>) -> Option<bool> {
        let check = &self.check;
        let mut signs = Signs::new(check, self.background.is_some());
        self.lines(|line| signs.line(line));
        let is_background = signs.is_background;
        let is_over = !is_background || signs.code.or(signs.footer).is_some();
        // A run in the background has ended later than its call.
        let recorded = if is_background { None } else { code };
        let codes = [signs.code, signs.footer.or(recorded)];
        let by_code = match codes.map(|code| code.filter(|code| *code != TIMED_OUT)).into() {
            (Some(code), _) => Some(code == 0),
            (None, Some(0)) if check.code_shows_pass => Some(true),
            (None, Some(1..)) if check.code_shows_failure => Some(false),
            _ => None,
        };
        match by_code {
            // A runner may be set to end with 0 whatever it finds.
            Some(true) if check.kind == CheckKind::Test && may_fail(&self.text) => {
                Some(self.counted() != Some(false))
            }
            Some(true) => Some(true),
            _ if never_ran(&self.text) => None,
            Some(false) => (!check.is_one_off).then_some(false),
            None if check.is_one_off => None,
            None => self.counted().or_else(|| {
                self.lines(|line| signs.words(line));
                let has_text = signs.has_text && !signs.was_quiet;
                // Nothing was printed, or no error by a check that names its errors.
                let has_failed = codes.iter().flatten().any(|code| *code != 0);
                let is_quiet =
                    (check.is_silent && !has_text) || (check.names_errors && !has_failed);
                signs.passed_by_words().or((is_quiet && self.has_answer && is_over).then_some(true))
            }),
        }
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

    /// True if a report of tests counts no failures.
    fn counted(&self) -> Option<bool> {
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
        let report = reader.finish().filter(|report| report.executed() > 0)?;
        let wrong = report.failed > 0 || !report.errors.is_empty();
        (wrong || report.problems.is_empty()).then_some(!wrong)
    }
}

/// The signs by which an output shows how a check ended.
struct Signs<'c> {
    check: &'c Check,
    is_background: bool,
    failed: bool,
    succeeded: bool,
    /// The last line that shows how the check ended shows a pass.
    last: bool,
    /// Something was printed.
    has_text: bool,
    /// Nothing was printed before the words that say that it is over.
    was_quiet: bool,
    /// The exit code of a run in the background, or one that the command prints.
    code: Option<i32>,
    /// The exit code that the client writes below the output.
    footer: Option<i32>,
}

impl<'c> Signs<'c> {
    fn new(check: &'c Check, is_background: bool) -> Self {
        Self {
            check,
            is_background,
            failed: false,
            succeeded: false,
            last: false,
            has_text: false,
            was_quiet: false,
            code: None,
            footer: None,
        }
    }

    /// Looks at exit codes, and at the words of the command line.
    fn line(&mut self, line: &str) {
        let shown = line.trim();
        if let Some(code) = footer(shown) {
            self.footer = Some(code);
            return;
        }
        let is_clients = is_of_client(line);
        if is_clients && background(line).is_some() {
            self.is_background = true;
            return;
        }
        if is_clients
            && (self.is_background || line.starts_with('{'))
            && let Some(code) = ENDED.iter().find_map(|words| behind(line, words))
        {
            self.code = number(code).or(self.code);
        }
        self.was_quiet |= !self.has_text && self.check.end_text.as_deref() == Some(shown);
        self.has_text |= !is_remark(shown);
        if let Some(code) = self.printed(shown) {
            self.code = Some(code);
        }
    }

    /// The exit code in the words with which the command line prints it.
    fn printed(&self, shown: &str) -> Option<i32> {
        self.check.code_text.as_deref().and_then(|text| printed_code(text, shown))
    }

    /// Looks at words of success and of failure, and at numbers of failures.
    fn words(&mut self, line: &str) {
        let shown = line.trim();
        if footer(shown).is_some()
            || self.printed(shown).is_some()
            || (is_of_client(line) && background(line).is_some())
        {
            return;
        }
        let is_printed =
            |words: &Option<String>| words.as_deref().is_some_and(|words| fits(words, shown));
        if is_printed(&self.check.failure_text) {
            self.failed = true;
            return;
        }
        if is_printed(&self.check.pass_text) {
            self.succeeded = true;
            return;
        }
        let found = Words::new(line);
        let failures = failures(line).or_else(|| dotnet_failures(line));
        let is_test = self.check.kind == CheckKind::Test;
        let test = if is_test { named_test(shown) } else { None };
        let shows_failure = found.failed
            || failures > Some(0)
            || test == Some(false)
            || line.starts_with("not ok ");
        // A line of TAP is `ok` with its number.
        let shows_pass = found.passed
            || failures == Some(0)
            || is_last_step(shown)
            || test == Some(true)
            || (is_test && matches!(shown, "ok" | "OK" | "pass" | "PASS"))
            || line.strip_prefix("ok ").is_some_and(|rest| number(rest).is_some());
        if shows_failure || shows_pass {
            self.last = !shows_failure;
        }
        self.failed |= shows_failure;
        self.succeeded |= shows_pass;
    }

    /// True if the words show a pass, false if they show a failure; none if they show neither.
    fn passed_by_words(&self) -> Option<bool> {
        match (self.failed, self.succeeded) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            (true, true) => Some(self.last),
            (false, false) => None,
        }
    }
}

/// True for the last of the numbered steps of ninja (`[7/7] …`), or of make by CMake.
fn is_last_step(shown: &str) -> bool {
    let head = shown.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    head.is_some_and(|(step, rest)| match step.split_once('/') {
        Some((at, of)) => at == of && number(at).is_some(),
        None => step == "100%" && rest.starts_with("Built target"),
    })
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

/// True for a line that is no output: it is empty, or a remark of the client.
fn is_remark(shown: &str) -> bool {
    let remarks =
        ["", "(no output)", "(Bash completed with no output)", "Output:", "Script completed"];
    let begins = ["Wall time", "Chunk ID", "Shell cwd was reset to "];
    remarks.contains(&shown) || begins.iter().any(|words| shown.starts_with(words))
}

#[cfg(test)]
mod tests;
