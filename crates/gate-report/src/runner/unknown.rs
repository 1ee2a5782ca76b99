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
use crate::console::Console;
use crate::go::Go;
use crate::go_text::GoText;
use crate::jest::Jest;
use crate::junit;
use crate::libtest::Libtest;
use crate::mocha::{self, Mocha};
use crate::nextest_text::NextestText;
use crate::pytest::Pytest;
use crate::tap::Tap;
use crate::{Format, Reader, Stream, Tally, TestReport, file};

/// Has an unknown command report, as far as it can.
pub(super) fn prepare(request: &Request<'_>) -> Prepared {
    let names_place = request.argv.iter().any(|word| word.contains(PLACEHOLDER));
    let mut prepared = Prepared {
        argv: request.argv.to_vec(),
        env: Vec::new(),
        env_added: Vec::new(),
        reader: Box::new(Combined(Vec::new())),
    };
    prepared.reader = match (request.demanded, names_place) {
        (None, true) => Box::new(JunitFiles { folder: request.folder.to_owned() }),
        (Some(format), true) => reader_at_place(request, format),
        (None, false) => {
            prepared.env_added.push(pytest_variable(request.folder));
            prepared.env_added.extend(mocha::variable(request.folder));
            let mut readers: Vec<Box<dyn Reader>> = vec![
                Box::new(Libtest::optional()),
                Box::new(NextestText::new()),
                pytest_reader(request.folder),
            ];
            readers.extend(Console::readers(Format::Jest));
            readers.extend(Console::readers(Format::Vitest));
            readers.push(Box::new(Mocha::optional(request.folder, request.cwd)));
            readers.push(Box::new(Go::optional()));
            readers.push(Box::new(GoText::new()));
            readers.push(Box::new(Tap::optional()));
            readers.extend(Console::readers(Format::Node));
            readers.extend(Console::readers(Format::Tap));
            Box::new(Combined(readers))
        }
        (Some(format), false) => demanded_reader(request, format, &mut prepared),
    };
    prepared
}

/// A reader of the report that the command writes to the placeholder's path.
fn reader_at_place(request: &Request<'_>, format: Format) -> Box<dyn Reader> {
    let path = report_place(request.folder);
    match format {
        Format::Junit | Format::Pytest => {
            Box::new(JunitFiles { folder: request.folder.to_owned() })
        }
        Format::Jest | Format::Vitest => Box::new(Jest::new(format, path, request.cwd.to_owned())),
        Format::Mocha => Box::new(Mocha::at_place(path, request.cwd)),
        Format::Go => Box::new(ReportLines { path, reader: Box::new(Go::new()) }),
        Format::Tap => Box::new(ReportLines { path, reader: Box::new(Tap::new()) }),
        Format::Libtest => Box::new(ReportLines { path, reader: Box::new(Libtest::new()) }),
        Format::Nextest | Format::Node => unreported(format, own_command_hint(format)),
    }
}

/// A reader of the format that is demanded of a command that names no place.
fn demanded_reader(
    request: &Request<'_>,
    format: Format,
    prepared: &mut Prepared,
) -> Box<dyn Reader> {
    match format {
        Format::Libtest => Box::new(Libtest::optional()),
        Format::Nextest => Box::new(NextestText::new()),
        Format::Go => Box::new(Go::optional()),
        Format::Tap => Box::new(Tap::optional()),
        Format::Pytest => {
            prepared.env_added.push(pytest_variable(request.folder));
            pytest_reader(request.folder)
        }
        Format::Jest | Format::Vitest if !request.shell && is_package_script(request.argv) => {
            let path = request.folder.join(format!("{format}.json"));
            pass_on(&mut prepared.argv, json_options(format, &path));
            Box::new(Jest::new(format, path, request.cwd.to_owned()))
        }
        Format::Jest | Format::Vitest => Box::new(Combined(Console::readers(format))),
        Format::Mocha => {
            prepared.env_added.extend(mocha::variable(request.folder));
            Box::new(Mocha::optional(request.folder, request.cwd))
        }
        Format::Junit => unreported(format, placeholder_hint()),
        Format::Node => unreported(format, own_command_hint(format)),
    }
}

fn json_options(format: Format, path: &Path) -> Vec<String> {
    match format {
        Format::Jest => jest_options(path),
        _ => vitest_options(path, true),
    }
}

/// Hint for a format whose report only the command can place.
fn placeholder_hint() -> String {
    format!(
        "report = \"junit\" needs {PLACEHOLDER} in the command: the file or the folder that the \
         XML is written to"
    )
}

/// Hint for a format that needs the runner's own command.
fn own_command_hint(format: Format) -> String {
    let command = match format {
        Format::Nextest => "cargo nextest run",
        _ => "node --test",
    };
    format!("report = \"{format}\" needs the command itself: `{command}`")
}

/// A package manager runs a script, which hands its arguments on.
fn is_package_script(argv: &[String]) -> bool {
    let [manager, verb, ..] = argv else { return false };
    matches!(manager.as_str(), "npm" | "pnpm" | "yarn" | "bun")
        && matches!(verb.as_str(), "test" | "t" | "run" | "run-script")
}

/// npm passes on to the script what stands after `--`; the others pass on whatever follows.
fn pass_on(argv: &mut Vec<String>, words: Vec<String>) {
    if argv[0] == "npm" && !argv.iter().any(|word| word == "--") {
        argv.push("--".to_owned());
    }
    argv.extend(words);
}

/// The log that pytest opens before it collects tests: proof that it began.
fn pytest_log(folder: &Path) -> PathBuf {
    folder.join("pytest.log")
}

fn pytest_reader(folder: &Path) -> Box<dyn Reader> {
    Box::new(Pytest::optional(folder.join("pytest.xml"), pytest_log(folder)))
}

/// pytest takes options from here wherever it is started; it splits them as a
/// shell does.
fn pytest_variable(folder: &Path) -> (String, String) {
    // As `--log-file`, pytest would refuse it where the project turns its plugin for logs off.
    let log_file = format!("log_file={}", pytest_log(folder).display());
    let log_options = ["-o".to_owned(), log_file];
    let words = pytest_options(&folder.join("pytest.xml")).into_iter().chain(log_options);
    let quoted: Vec<_> = words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    ("PYTEST_ADDOPTS".to_owned(), quoted.join(" "))
}

/// Several readers of one output: what they saw is put together.
struct Combined(Vec<Box<dyn Reader>>);

impl Reader for Combined {
    fn line(&mut self, stream: Stream, line: &str) {
        self.0.iter_mut().for_each(|reader| reader.line(stream, line));
    }

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut reports = self.0.into_iter().filter_map(|reader| reader.finish());
        let first_report = reports.next()?;
        let mut tally = Tally::new(first_report.format);
        tally.absorb(&first_report);
        reports.for_each(|report| tally.absorb(&report));
        Some(tally.finish())
    }
}

/// JUnit XML that the command left in the private folder.
struct JunitFiles {
    folder: PathBuf,
}

impl Reader for JunitFiles {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(Format::Junit);
        let place = report_place(&self.folder);
        let place = if place.is_dir() || place.is_file() { place } else { self.folder };
        let files = file::report_files(&place, "xml", &mut tally);
        if files.is_empty() {
            tally.add_problem(format!("no XML report was written to {PLACEHOLDER}"));
        }
        for path in files {
            if let Some(text) = file::read_text(&path, &mut tally) {
                junit::parse(&text, &junit::ANY_DIALECT, &mut tally);
            }
        }
        Some(tally.finish())
    }
}

/// A report of lines that the command left in a file.
struct ReportLines {
    path: PathBuf,
    reader: Box<dyn Reader>,
}

impl Reader for ReportLines {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(mut self: Box<Self>) -> Option<TestReport> {
        let mut file_tally = Tally::new(Format::Tap);
        let text = file::read_text(&self.path, &mut file_tally);
        text.iter().flat_map(|text| text.lines()).for_each(|line| {
            self.reader.line(Stream::Stdout, line);
        });
        let mut report = self.reader.finish()?;
        report.problems.extend(file_tally.finish().problems);
        Some(report)
    }
}

/// A report that there cannot be, and why.
pub(super) fn unreported(format: Format, reason: String) -> Box<dyn Reader> {
    Box::new(Unreported { format, reason })
}

struct Unreported {
    format: Format,
    reason: String,
}

impl Reader for Unreported {
    fn line(&mut self, _stream: Stream, _line: &str) {}

    fn finish(self: Box<Self>) -> Option<TestReport> {
        let mut tally = Tally::new(self.format);
        tally.add_problem(self.reason);
        Some(tally.finish())
    }
}
