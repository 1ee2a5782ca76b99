//! Failures in the output of a command that is run as it stands: a criterion's, a script's. Nothing is
//! asked of it, so a known runner is known by its text alone.

use std::path::Path;

use gate_core::decide::test_failure::TestFailure;
use gate_core::text::{clean, whole_lines};

use crate::console::Console;
use crate::failure::{begins_backtrace, is_frame, project_frame, shaped};
use crate::go::Go;
use crate::go_text::GoText;
use crate::libtest::Libtest;
use crate::nextest_text::NextestText;
use crate::tap::Tap;
use crate::{Format, Reader, Stream};

/// Most lines before a stack's first frame that belong to its error.
const MAX_ERROR_LINES: usize = 30;

/// Most frames of a Python traceback that are kept: the last ones.
const MAX_PYTHON_FRAMES: usize = 2;

/// The longest quoted text of a comparison or a traced shell, in characters.
const MAX_QUOTED_CHARS: usize = 1_200;

const TRACEBACK: &str = "Traceback (most recent call last):";

/// The failures that a failed command's output tells of: those of a test runner, else the error that
/// ended it. `errors` is its standard error alone: in the whole output, how the lines of the two streams
/// mix depends on chance. `cwd` is the folder that it ran in. Empty if no line is known to be one.
pub fn failures_in(output: &str, errors: &str, cwd: &Path) -> Vec<TestFailure> {
    let failures = runners_failures(output, cwd);
    if !failures.is_empty() {
        return failures;
    }
    let [error_lines, lines] = [errors, output].map(|text| text.lines().collect::<Vec<_>>());
    let ended_by_error = ending_error(&error_lines, cwd).or_else(|| ending_error(&lines, cwd));
    let failure = ended_by_error.or_else(|| quoted(difference(&lines).or_else(|| traced(&lines))?));
    failure.into_iter().collect()
}

/// The line of a failure that says most: its place with the assertion and its values.
pub fn headline(failure: &TestFailure) -> String {
    let assertion = assertion(&failure.message);
    match failure.place() {
        Some(place) if !assertion.contains(&place) => format!("{place}: {assertion}"),
        _ => assertion,
    }
}

fn runners_failures(output: &str, cwd: &Path) -> Vec<TestFailure> {
    let mut readers: Vec<Box<dyn Reader>> = vec![
        Box::new(Libtest::optional()),
        Box::new(NextestText::new()),
        Box::new(Go::optional()),
        Box::new(GoText::new()),
        Box::new(Tap::optional()),
    ];
    for format in [Format::Pytest, Format::Jest, Format::Vitest, Format::Node, Format::Tap] {
        readers.extend(Console::readers(format));
    }
    let failures = readers.into_iter().find_map(|mut reader| {
        output.lines().for_each(|line| reader.line(Stream::Stdout, line));
        let mut report = reader.finish()?;
        report.explain(cwd);
        (!report.failures.is_empty()).then_some(report.failures)
    });
    failures.unwrap_or_default()
}

/// The error that ended a program.
fn ending_error(lines: &[&str], cwd: &Path) -> Option<TestFailure> {
    let text = python_error(lines, cwd)
        .or_else(|| rust_panic(lines))
        .or_else(|| go_panic(lines))
        .or_else(|| stack_error(lines))?;
    shaped(&error(text), cwd)
}

fn error(message: String) -> TestFailure {
    TestFailure { message, ..TestFailure::default() }
}

/// A text whose marks mean something, so that no line is left out by its form.
fn quoted(lines: &[&str]) -> Option<TestFailure> {
    let text: Vec<_> = lines.iter().map(|line| clean(line)).collect();
    Some(error(whole_lines(text.join("\n").trim_end(), MAX_QUOTED_CHARS)))
}

/// The last traceback, whose error is what ended the program, with its last frames in the project.
fn python_error(lines: &[&str], cwd: &Path) -> Option<String> {
    let start = lines.iter().rposition(|line| line.trim() == TRACEBACK)?;
    let indent = lines[start].len() - lines[start].trim_start().len();
    let block = &lines[start + 1..];
    // The error's own line stands as far left as the heading; a message may have more lines.
    let stands_left = |line: &&str| line.len() - line.trim_start().len() <= indent;
    let error_at = block.iter().position(|line| !line.trim().is_empty() && stands_left(line))?;
    let message = block[error_at..].iter().take_while(|line| !line.trim().is_empty());
    let message: Vec<_> = message.take(MAX_ERROR_LINES).copied().collect();
    let frames: Vec<_> = (0..error_at).filter(|at| project_frame(block[*at], cwd)).collect();
    let kept = frames.len().saturating_sub(MAX_PYTHON_FRAMES);
    let first_frame = frames.get(kept).map_or(error_at, |at| *at);
    Some([&block[first_frame..error_at], &message].concat().join("\n"))
}

/// The first panic: later ones follow from it.
fn rust_panic(lines: &[&str]) -> Option<String> {
    let is_panic = |line: &&str| line.starts_with("thread '") && line.contains("panicked at ");
    let start = lines.iter().position(is_panic)?;
    let end = lines[start + 1..].iter().position(|line| {
        line.starts_with("note: ") || line.starts_with("thread '") || begins_backtrace(line.trim())
    });
    Some(lines[start..end.map_or(lines.len(), |end| start + 1 + end)].join("\n"))
}

fn go_panic(lines: &[&str]) -> Option<String> {
    let start = lines.iter().position(|line| line.starts_with("panic: "))?;
    let has_stack = lines[start..].iter().any(|line| begins_backtrace(line.trim()));
    has_stack.then(|| lines[start..].join("\n"))
}

/// The error above the first stack of JavaScript or Java.
fn stack_error(lines: &[&str]) -> Option<String> {
    let first_frame = lines.iter().position(|line| is_frame(line))?;
    let earliest = first_frame.saturating_sub(MAX_ERROR_LINES);
    let names_error = |line: &&str| {
        let mut words = line.split([' ', ':']).filter(|word| !word.is_empty());
        words.next().is_some_and(|word| word.contains("Error") || word.contains("Exception"))
            || line.starts_with("Exception in thread ")
    };
    let start = lines[earliest..first_frame].iter().rposition(names_error)? + earliest;
    let frames = lines[first_frame..].iter().take_while(|line| is_frame(line)).count();
    Some(lines[start..first_frame + frames].join("\n"))
}

/// The beginning of what `diff` or `git diff` printed.
fn difference<'a, 'l>(lines: &'l [&'a str]) -> Option<&'l [&'a str]> {
    let begins = |at: usize| {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let is_unified = lines[at].starts_with("--- ") && next.starts_with("+++ ");
        let is_normal = is_range(lines[at]) && (next.starts_with("< ") || next.starts_with("> "));
        is_unified || is_normal
    };
    let start = (0..lines.len()).find(|at| begins(*at))?;
    Some(&lines[start..])
}

/// `3c3`, `1,2d0`: a range of lines in the normal form of `diff`.
fn is_range(line: &str) -> bool {
    let Some(at) = line.find(['a', 'c', 'd']) else { return false };
    let is_numbers = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    };
    is_numbers(&line[..at]) && is_numbers(&line[at + 1..])
}

/// The last command that `bash -x` traced, with its output.
fn traced<'a, 'l>(lines: &'l [&'a str]) -> Option<&'l [&'a str]> {
    let is_trace = |line: &&&str| {
        let command = line.trim_start_matches('+');
        command.len() < line.len() && command.starts_with(' ') && command.trim() != ""
    };
    let is_traced = lines.iter().find(|line| !line.is_empty()).is_some_and(|line| is_trace(&line));
    let start = lines.iter().rposition(|line| is_trace(&line))?;
    is_traced.then(|| &lines[start..])
}

/// The assertion in a message, in one line.
fn assertion(message: &str) -> String {
    let lines: Vec<_> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text_behind =
        |prefix: &str| lines.iter().find_map(|line| line.strip_prefix(prefix)).map(str::trim);
    let pair = |first: &str, second: &str| {
        let line = |prefix: &str| lines.iter().find(|line| line.starts_with(prefix));
        Some(format!("{}, {}", line(first)?, line(second)?))
    };
    if let Some(error) = text_behind("E ") {
        return error.to_owned();
    }
    if lines.first().is_some_and(|line| line.starts_with("panicked")) {
        let values = pair("left:", "right:").map(|values| format!(": {values}"));
        return format!("{}{}", lines.get(1).unwrap_or(&lines[0]), values.unwrap_or_default());
    }
    if let Some(values) = pair("Expected:", "Received:") {
        return values;
    }
    let changed = |marks: [char; 2], heading: &str| {
        lines.iter().find(|line| line.starts_with(marks) && !line.starts_with(heading))
    };
    if lines.first().is_some_and(|line| line.starts_with("--- ") || is_range(line))
        && let Some((old, new)) = changed(['-', '<'], "---").zip(changed(['+', '>'], "+++"))
    {
        return format!("{old}, {new}");
    }
    let is_error = |line: &&&str| {
        let name = line.split([':', ' ', '(']).next().unwrap_or_default();
        name.ends_with("Error") || name.ends_with("Exception") || name == "error"
    };
    let error_at = lines.iter().rposition(|line| is_error(&line)).unwrap_or_default();
    // A block of YAML begins below its key.
    let is_key = |line: &&str| matches!(*line, "error: |-" | "error: |" | "error: >-");
    let mut lines = lines.iter().skip(error_at).skip_while(|line| is_key(line));
    let line = lines.next().copied().unwrap_or_default();
    match lines.next() {
        // The values stand below.
        Some(values) if line.ends_with(':') => format!("{line} {values}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
