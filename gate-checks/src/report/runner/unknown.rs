//! Commands that start no runner that we know: `make test`, `npm test`, a
//! script.
//!
//! They are run as they are. What they write is recognised by its content;
//! pytest somewhere inside is reached by a variable of its own. Where the
//! settings demand a format, the command can name the report's place.

use std::path::{Path, PathBuf};

use super::{
    PLACEHOLDER, Prepared, Request, jest_options, pytest_options, report_place, vitest_options,
};
use crate::report::console::Console;
use crate::report::go::Go;
use crate::report::go_text::GoText;
use crate::report::jest::Jest;
use crate::report::junit;
use crate::report::libtest::Libtest;
use crate::report::nextest_text::NextestText;
use crate::report::pytest::Pytest;
use crate::report::tap::Tap;
use crate::report::{Format, Reader, Stream, Tally, TestReport, file};

/// Has an unknown command report, as far as it can.
pub(super) fn prepare(request: &Request<'_>) -> Prepared {
    let named = request.argv.iter().any(|word| word.contains(PLACEHOLDER));
    let mut prepared = Prepared {
        argv: request.argv.to_vec(),
        env: Vec::new(),
        env_added: Vec::new(),
        reader: Box::new(Any(Vec::new())),
    };
    prepared.reader = match (request.demanded, named) {
        (None, true) => Box::new(Files { folder: request.folder.to_owned() }),
        (Some(format), true) => at_place(request, format),
        (None, false) => {
            prepared.env_added.push(pytest_variable(request.folder));
            let mut readers: Vec<Box<dyn Reader>> = vec![
                Box::new(Libtest::perhaps()),
                Box::new(NextestText::new()),
                pytest(request.folder),
            ];
            readers.extend(Console::readers(Format::Jest));
            readers.extend(Console::readers(Format::Vitest));
            readers.push(Box::new(Go::perhaps()));
            readers.push(Box::new(GoText::new()));
            readers.push(Box::new(Tap::perhaps()));
            readers.extend(Console::readers(Format::Node));
            readers.extend(Console::readers(Format::Tap));
            Box::new(Any(readers))
        }
        (Some(format), false) => demanded(request, format, &mut prepared),
    };
    prepared
}

/// A reader of the report that the command writes to the placeholder's path.
fn at_place(request: &Request<'_>, format: Format) -> Box<dyn Reader> {
    let path = report_place(request.folder);
    match format {
        Format::Junit | Format::Pytest => Box::new(Files { folder: request.folder.to_owned() }),
        Format::Jest | Format::Vitest => Box::new(Jest::new(format, path, request.cwd.to_owned())),
        Format::Go => Box::new(Lines { path, reader: Box::new(Go::new()) }),
        Format::Tap => Box::new(Lines { path, reader: Box::new(Tap::new()) }),
        Format::Libtest => Box::new(Lines { path, reader: Box::new(Libtest::new()) }),
        Format::Nextest | Format::Node => unreported(format, itself(format)),
    }
}

/// A format that is demanded of a command that names no place.
fn demanded(request: &Request<'_>, format: Format, prepared: &mut Prepared) -> Box<dyn Reader> {
    match format {
        Format::Libtest => Box::new(Libtest::perhaps()),
        Format::Nextest => Box::new(NextestText::new()),
        Format::Go => Box::new(Go::perhaps()),
        Format::Tap => Box::new(Tap::perhaps()),
        Format::Pytest => {
            prepared.env_added.push(pytest_variable(request.folder));
            pytest(request.folder)
        }
        Format::Jest | Format::Vitest if !request.shell && is_script(request.argv) => {
            let path = request.folder.join(format!("{format}.json"));
            hand_over(&mut prepared.argv, json_options(format, &path));
            Box::new(Jest::new(format, path, request.cwd.to_owned()))
        }
        Format::Jest | Format::Vitest => Box::new(Any(Console::readers(format))),
        Format::Junit => unreported(format, place()),
        Format::Node => unreported(format, itself(format)),
    }
}

fn json_options(format: Format, path: &Path) -> Vec<String> {
    match format {
        Format::Jest => jest_options(path),
        _ => vitest_options(path, true),
    }
}

/// Hint for a format whose report only the command can place.
fn place() -> String {
    format!(
        "report = \"junit\" needs {PLACEHOLDER} in the command: the file or the folder that the \
         XML is written to"
    )
}

/// Hint for a format that needs the runner's own command.
fn itself(format: Format) -> String {
    let command = match format {
        Format::Nextest => "cargo nextest run",
        _ => "node --test",
    };
    format!("report = \"{format}\" needs the command itself: `{command}`")
}

/// True if a package manager runs a script that hands its arguments on.
fn is_script(argv: &[String]) -> bool {
    let [manager, verb, ..] = argv else { return false };
    matches!(manager.as_str(), "npm" | "pnpm" | "yarn" | "bun")
        && matches!(verb.as_str(), "test" | "t" | "run" | "run-script")
}

/// npm hands on what stands after `--`, yarn and the others whatever follows.
fn hand_over(argv: &mut Vec<String>, words: Vec<String>) {
    if argv[0] == "npm" && !argv.iter().any(|word| word == "--") {
        argv.push("--".to_owned());
    }
    argv.extend(words);
}

/// The log that pytest opens before it collects tests: proof that it began.
fn pytest_trace(folder: &Path) -> PathBuf {
    folder.join("pytest.log")
}

fn pytest(folder: &Path) -> Box<dyn Reader> {
    Box::new(Pytest::perhaps(folder.join("pytest.xml"), pytest_trace(folder)))
}

/// pytest takes options from here wherever it is started; it splits them as a
/// shell does.
fn pytest_variable(folder: &Path) -> (String, String) {
    // As an option it would be refused if the project turns logs off.
    let trace = format!("log_file={}", pytest_trace(folder).display());
    let trace = ["-o".to_owned(), trace];
    let words = pytest_options(&folder.join("pytest.xml")).into_iter().chain(trace);
    let quoted: Vec<_> = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    ("PYTEST_ADDOPTS".to_owned(), quoted.join(" "))
}

/// Several readers of one output: what they saw is put together.
struct Any(Vec<Box<dyn Reader>>);

impl Reader for Any {
    fn line(&mut self, stream: Stream, line: &str) {
        self.0.iter_mut().for_each(|reader| reader.line(stream, line));
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut reports = self.0.into_iter().filter_map(|reader| reader.finish());
        let first = reports.next()?;
        let mut tally = Tally::new(first.format);
        tally.absorb(&first);
        reports.for_each(|report| tally.absorb(&report));
        Some(tally.finish())
    }
}

/// JUnit XML that the command left in the private folder.
struct Files {
    folder: PathBuf,
}

impl Reader for Files {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(Format::Junit);
        let place = report_place(&self.folder);
        let place = if place.is_dir() || place.is_file() { place } else { self.folder };
        let files = file::found(&place, "xml", &mut tally);
        if files.is_empty() {
            tally.problem(format!("no XML report was written to {PLACEHOLDER}"));
        }
        for path in files {
            if let Some(text) = file::text(&path, &mut tally) {
                junit::parse(&text, &junit::ANY, &mut tally);
            }
        }
        Some(tally.finish())
    }
}

/// A report of lines that the command left in a file.
struct Lines {
    path: PathBuf,
    reader: Box<dyn Reader>,
}

impl Reader for Lines {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let mut broken = Tally::new(Format::Tap);
        let text = file::text(&self.path, &mut broken);
        text.iter().flat_map(|text| text.lines()).for_each(|line| {
            self.reader.line(Stream::Stdout, line);
        });
        let mut report = self.reader.finish()?;
        report.problems.extend(broken.finish().problems);
        Some(report)
    }
}

/// A report that there cannot be, and why.
pub(super) fn unreported(format: Format, why: String) -> Box<dyn Reader> {
    Box::new(Unreported { format, why })
}

struct Unreported {
    format: Format,
    why: String,
}

impl Reader for Unreported {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(self.format);
        tally.problem(self.why);
        Some(tally.finish())
    }
}
