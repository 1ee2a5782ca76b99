//! Lines of outputs: what they count, name and say.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words by which checks say that they failed. Lower case.
const FAILURES: [&str; 21] = [
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
    "no such file or directory",
    "failures!",
    "tests failed",
    "test failed",
    "assertionerror",
    "syntaxerror",
    "fatal error",
];

/// Words by which they say that all is well. Lower case.
const SUCCESSES: [&str; 47] = [
    "finished `",
    "finished dev",
    "finished release",
    "compiled successfully",
    "successfully compiled",
    "compiled with warnings",
    "build folder is ready",
    "successfully built",
    "built successfully",
    "successfully tagged",
    "no errors)",
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
    "no eslint warnings or errors",
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
pub(super) const BACKGROUND: [&str; 8] = [
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
pub(super) const ENDED: [&str; 5] = [
    "process exited with code ",
    "<exit_code>",
    "(exit code ",
    "failed with exit code ",
    "\"exit_code\":",
];

/// Texts of which one is in each report of tests that failed. Lower case.
const MAY_FAIL: [&str; 6] = ["fail", "error", "not ok", "panicked", "✖", "✗"];

/// Texts that say that a check could not be started. Lower case.
const NEVER_RAN: [&str; 5] = [
    "command not found",
    "missing script",
    "to see a list of scripts, run",
    "is not recognized as ",
    "commandnotfoundexception",
];

/// Finds all words that say how a check ended at once.
static WORDS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| finder(FAILURES.iter().chain(&SUCCESSES)));

static OF_CLIENT: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| finder(BACKGROUND.iter().chain(&ENDED)));

static MAY_FAIL_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(MAY_FAIL.iter()));

static NEVER_RAN_FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| finder(NEVER_RAN.iter()));

fn finder<'w>(words: impl Iterator<Item = &'w &'w str>) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

fn is_in(finder: Option<&AhoCorasick>, text: &str) -> bool {
    finder.is_none_or(|finder| finder.is_match(text))
}

/// True if a client may say in it that a command goes on, or how it has ended.
pub(super) fn is_of_client(text: &str) -> bool {
    is_in(OF_CLIENT.as_ref(), text)
}

/// True if an output says that the check could not be started.
pub(super) fn never_ran(text: &str) -> bool {
    is_in(NEVER_RAN_FINDER.as_ref(), text)
}

/// True if an output may hold a report of tests that failed.
pub(super) fn may_fail(text: &str) -> bool {
    is_in(MAY_FAIL_FINDER.as_ref(), text)
}

/// The words that are in a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    pub(super) failed: bool,
    pub(super) passed: bool,
}

impl Words {
    pub(super) fn new(line: &str) -> Self {
        let mut words = Self::default();
        let all = WORDS.iter().flat_map(|finder| finder.find_overlapping_iter(line));
        for found in all {
            match found.pattern().as_usize() {
                at if at < FAILURES.len() => words.failed = true,
                _ => words.passed = true,
            }
        }
        words
    }
}

/// The part of a line behind these words in lower case.
pub(super) fn behind<'l>(line: &'l str, words: &str) -> Option<&'l str> {
    let at = line.to_ascii_lowercase().find(words)? + words.len();
    line.get(at..).filter(|rest| !rest.is_empty())
}

/// A line without the sequences by which a terminal shows colours, as they are or as in JSON.
pub(super) fn without_colours(line: &str) -> Cow<'_, str> {
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
pub(super) fn without_label(line: &str) -> &str {
    let label = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match label {
        Some((name, rest)) if !name.contains([' ', ']']) => rest,
        _ => line,
    }
}

/// The number at the beginning of a text.
pub(super) fn number(text: &str) -> Option<i32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// The exit code in a line that was printed as `words` say.
pub(super) fn printed_code(words: &str, line: &str) -> Option<i32> {
    let (before, after) = words.split_once('$')?;
    let after =
        after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "{}[]?_".contains(c));
    line.strip_prefix(before)?.strip_suffix(after)?.trim().parse().ok()
}

/// True if a line was printed as `words` say, in which variables of the shell stand for anything.
/// Words without a letter of their own fit nothing.
pub(super) fn fits(words: &str, line: &str) -> bool {
    let mut texts = words.split('$');
    let before = texts.next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "{}_".contains(c);
    let texts: Vec<_> = texts.map(|text| text.trim_start_matches(is_name)).collect();
    let Some(mut rest) = line.strip_prefix(before) else { return false };
    let Some((last, between)) = texts.split_last() else { return rest.is_empty() };
    for text in between {
        match rest.split_once(text) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    let has_letter = |text: &str| text.contains(char::is_alphabetic);
    rest.ends_with(last) && (has_letter(before) || texts.iter().any(|text| has_letter(text)))
}

/// True for a line that names a test, or a file of tests, that passed, false for one that failed:
/// with a tick or a cross before its name, or the word behind.
pub(super) fn named_test(line: &str) -> Option<bool> {
    let (_, word) = line.rsplit_once(char::is_whitespace)?;
    match word {
        _ if line.starts_with(['✓', '✔']) => Some(true),
        _ if line.starts_with(['✗', '✘', '×']) => Some(false),
        "PASS" | "PASSED" => Some(true),
        "FAIL" | "FAILED" => Some(false),
        _ => None,
    }
}

/// The number of failures that a summary counts; none if the line is no summary.
pub(super) fn failures(line: &str) -> Option<u64> {
    if !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let lower = line.to_ascii_lowercase();
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
pub(super) fn dotnet_failures(line: &str) -> Option<u64> {
    let (summary, _) = line.split_once(".dll (")?;
    let (_, counts) = summary.split_once("!  - ")?;
    counts.split([':', ',']).nth(1)?.trim().parse().ok()
}
