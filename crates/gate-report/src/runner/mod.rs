//! Prepares a command so that it reports, and chooses the reader of its report.

mod keep_going;
mod options;
mod unknown;

use std::fs;
use std::path::{Path, PathBuf};

use super::go::Go;
use super::jest::Jest;
use super::libtest::Libtest;
use super::mocha::{self, Mocha};
use super::nextest::Nextest;
use super::node::{self, Node};
use super::pytest::{self, Pytest};
use super::{Format, Reader, serves};
use crate::runners::{Invocation, find};

/// Replaced in arguments by the path of the report.
pub(super) const PLACEHOLDER: &str = "{report}";

/// A command that is about to be run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The program and its arguments; with `shell`, the script.
    pub argv: &'a [String],
    /// A shell runs the command.
    pub shell: bool,
    /// The format that the settings demand.
    pub demanded: Option<Format>,
    /// A fresh, empty folder outside of the work tree: reports go there, and
    /// it has to be there until the reader has finished.
    pub folder: &'a Path,
    /// Working folder of the command: reported names of files are relative to it.
    pub cwd: &'a Path,
    /// A known runner goes on after a test failed, whatever the command and the project's
    /// settings say.
    pub keep_going: bool,
}

/// A command that reports.
pub struct Prepared {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Variables to which a text is added, after a space if they are set already.
    pub env_added: Vec<(String, String)>,
    /// Reader of the command's output.
    pub reader: Box<dyn Reader>,
}

/// Recognises the runner, and has it report.
///
/// A runner whose report is missing in the end counts as incomplete; an unknown command that
/// reported nothing is judged by its exit code.
pub fn prepare(request: &Request<'_>) -> Prepared {
    let invocation = if request.shell { None } else { find(request.argv) };
    let mut prepared = if let Some(invocation) = invocation
        && let Some(format) = invocation.runner.format()
        && request.demanded.is_none_or(|demanded| serves(format, demanded))
    {
        prepare_known(request, invocation, format)
    } else {
        unknown::prepare(request)
    };
    let place = report_place(request.folder).display().to_string();
    for word in &mut prepared.argv {
        *word = word.replace(PLACEHOLDER, &place);
    }
    prepared
}

/// The command with more options for its runner; `None` if gate does not know the runner.
pub fn with_options(argv: &[String], words: Vec<String>) -> Option<Vec<String>> {
    let invocation = find(argv)?;
    let mut extended = argv.to_vec();
    options::insert(&mut extended, invocation.options_start, words);
    Some(extended)
}

/// The format in which a test runner reports; `None` if gate knows no runner in the command.
pub fn runner_format(argv: &[String]) -> Option<Format> {
    find(argv)?.runner.format()
}

/// Replacement of the placeholder: a file or a folder, as the runner likes.
fn report_place(folder: &Path) -> PathBuf {
    folder.join("report")
}

fn prepare_known(request: &Request<'_>, invocation: Invocation, format: Format) -> Prepared {
    let mut command = RunnerCommand {
        argv: request.argv.to_vec(),
        env: Vec::new(),
        folder: request.folder,
        cwd: request.cwd,
        options_start: invocation.options_start,
    };
    if request.keep_going {
        keep_going::apply(&mut command.argv, invocation.options_start, format);
    }
    let reader: Box<dyn Reader> = match format {
        Format::Nextest => command.nextest(),
        Format::Pytest => command.pytest(),
        Format::Jest => command.jest(invocation),
        Format::Vitest => command.vitest(invocation),
        Format::Mocha => command.mocha(invocation),
        Format::Node => command.node(),
        Format::Go => command.go(),
        // No known runner writes JUnit or TAP: this is `cargo test`.
        Format::Libtest | Format::Junit | Format::Tap => Box::new(Libtest::new()),
    };
    Prepared { argv: command.argv, env: command.env, env_added: Vec::new(), reader }
}

/// The command of a known runner.
struct RunnerCommand<'a> {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    folder: &'a Path,
    cwd: &'a Path,
    /// The first index at which an option of gate may stand.
    options_start: usize,
}

impl RunnerCommand<'_> {
    /// The events cannot be turned off by the repository's settings, as the
    /// place of its JUnit file can.
    fn nextest(&mut self) -> Box<dyn Reader> {
        for name in ["--message-format", "--message-format-version", "--no-tests"] {
            options::remove_option(&mut self.argv, self.options_start, name);
        }
        let reporting = ["--message-format=libtest-json-plus", "--no-tests=fail"];
        options::insert(&mut self.argv, self.options_start, reporting.map(str::to_owned));
        self.env.push(("NEXTEST_EXPERIMENTAL_LIBTEST_JSON".to_owned(), "1".to_owned()));
        Box::new(Nextest::new())
    }

    /// pytest takes the last of several `--junitxml`: gate's.
    fn pytest(&mut self) -> Box<dyn Reader> {
        let path = self.folder.join("pytest.xml");
        options::append(&mut self.argv, self.options_start, pytest_options(&path));
        Box::new(Pytest::new(path))
    }

    fn jest(&mut self, invocation: Invocation) -> Box<dyn Reader> {
        let path = self.folder.join("jest.json");
        options::remove_option(&mut self.argv, self.options_start, "--outputFile");
        options::remove_switch(&mut self.argv, self.options_start, "--json");
        options::append(&mut self.argv, self.options_start, jest_options(&path));
        self.keep_options_from_npm(invocation);
        Box::new(Jest::new(Format::Jest, path, self.cwd.to_owned()))
    }

    fn vitest(&mut self, invocation: Invocation) -> Box<dyn Reader> {
        let path = self.folder.join("vitest.json");
        options::remove_option(&mut self.argv, self.options_start, "--outputFile");
        let shows_progress = options::count(&self.argv, self.options_start, "--reporter") == 0;
        options::append(&mut self.argv, self.options_start, vitest_options(&path, shows_progress));
        self.keep_options_from_npm(invocation);
        Box::new(Jest::new(Format::Vitest, path, self.cwd.to_owned()))
    }

    /// mocha takes the last of several reporters, and has one alone.
    fn mocha(&mut self, invocation: Invocation) -> Box<dyn Reader> {
        for name in ["--reporter", "-R", "--reporter-option", "--reporter-options", "-O"] {
            options::remove_option(&mut self.argv, self.options_start, name);
        }
        let reporter = match mocha::write_reporter(self.folder) {
            Ok(path) => format!("--reporter={}", path.display()),
            Err(error) => {
                let problem = format!("the reporter for mocha could not be written: {error}");
                return unknown::unreported(Format::Mocha, problem);
            }
        };
        options::append(&mut self.argv, self.options_start, [reporter]);
        self.keep_options_from_npm(invocation);
        Box::new(Mocha::new(self.folder, self.cwd))
    }

    /// `npm exec` takes the options of what it starts for its own, unless a `--` stands before them.
    fn keep_options_from_npm(&mut self, invocation: Invocation) {
        let launcher = &self.argv[..invocation.program_index];
        let is_npm = launcher.iter().any(|word| word == "npm");
        if is_npm && !launcher.iter().any(|word| word == "--") {
            self.argv.insert(invocation.program_index, "--".to_owned());
        }
    }

    /// Node pairs reporters with destinations by their order: gate's are the first of either.
    fn node(&mut self) -> Box<dyn Reader> {
        let events = self.folder.join("node.jsonl");
        let reporter = self.folder.join("node-events.mjs");
        let reporters = options::count(&self.argv, self.options_start, "--test-reporter");
        let destinations =
            options::count(&self.argv, self.options_start, "--test-reporter-destination");
        let mut reporting = vec![
            format!("--test-reporter={}", reporter.display()),
            format!("--test-reporter-destination={}", events.display()),
        ];
        if reporters == 0 {
            reporting.push("--test-reporter=spec".to_owned());
        }
        // A single reporter writes to the standard output by itself; beside gate's it has to say so.
        if reporters == 0 || (reporters == 1 && destinations == 0) {
            reporting.push("--test-reporter-destination=stdout".to_owned());
        }
        options::insert(&mut self.argv, self.options_start, reporting);
        match fs::write(reporter, node::REPORTER) {
            Ok(()) => Box::new(Node::new(events, self.cwd.to_owned())),
            Err(error) => unknown::unreported(
                Format::Node,
                format!("the reporter for node could not be written: {error}"),
            ),
        }
    }

    fn go(&mut self) -> Box<dyn Reader> {
        options::insert(&mut self.argv, self.options_start, ["-json".to_owned()]);
        Box::new(Go::new())
    }
}

/// pytest's XML, with the files of the tests in it and without their output;
/// and a cache that begins empty.
fn pytest_options(path: &Path) -> Vec<String> {
    let xml = format!("--junitxml={}", path.display());
    let cache = format!("cache_dir={}", pytest::cache_folder(path).display());
    let options = [&xml, "-o", "junit_family=xunit1", "-o", "junit_logging=no", "-o", &cache];
    options.map(str::to_owned).to_vec()
}

fn jest_options(path: &Path) -> Vec<String> {
    vec!["--json".to_owned(), format!("--outputFile={}", path.display())]
}

/// Reporters on the command line replace the configured ones, so the one for people is named too.
fn vitest_options(path: &Path, shows_progress: bool) -> Vec<String> {
    let progress = shows_progress.then(|| "--reporter=default".to_owned());
    let json = ["--reporter=json".to_owned(), format!("--outputFile.json={}", path.display())];
    progress.into_iter().chain(json).collect()
}
