//! Prepares a command so that it reports, and chooses the reader of its report.

mod keep_going;
mod options;
mod unknown;

use std::fs;
use std::path::{Path, PathBuf};

use super::go::Go;
use super::jest::Jest;
use super::libtest::Libtest;
use super::nextest::Nextest;
use super::node::{self, Node};
use super::pytest::{self, Pytest};
use super::{Format, Reader, serves};
use crate::runner::{Invocation, find};

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
    let found = if request.shell { None } else { find(request.argv) };
    let mut prepared = match found.and_then(|found| Some((found, found.runner.format()?))) {
        Some((found, format)) if request.demanded.is_none_or(|wanted| serves(format, wanted)) => {
            known(request, found, format)
        }
        _ => unknown::prepare(request),
    };
    let place = report_place(request.folder).display().to_string();
    for word in &mut prepared.argv {
        *word = word.replace(PLACEHOLDER, &place);
    }
    prepared
}

/// The command with more options for its runner; none if gate does not know the runner.
pub(crate) fn with_options(argv: &[String], words: Vec<String>) -> Option<Vec<String>> {
    let found = find(argv)?;
    let mut argv = argv.to_vec();
    options::insert(&mut argv, found.options, words);
    Some(argv)
}

/// The format in which a test runner reports; none if gate does not know the command as one.
pub(crate) fn runner_format(argv: &[String]) -> Option<Format> {
    find(argv)?.runner.format()
}

/// Replacement of the placeholder: a file or a folder, as the runner likes.
fn report_place(folder: &Path) -> PathBuf {
    folder.join("report")
}

fn known(request: &Request<'_>, found: Invocation, format: Format) -> Prepared {
    let mut command = Command {
        argv: request.argv.to_vec(),
        env: Vec::new(),
        folder: request.folder,
        cwd: request.cwd,
        at: found.options,
    };
    if request.keep_going {
        keep_going::apply(&mut command.argv, found.options, format);
    }
    let reader: Box<dyn Reader> = match format {
        Format::Nextest => command.nextest(),
        Format::Pytest => command.pytest(),
        Format::Jest => command.jest(found),
        Format::Vitest => command.vitest(found),
        Format::Node => command.node(),
        Format::Go => command.go(),
        // There is no runner of the others; this is cargo test.
        Format::Libtest | Format::Junit | Format::Tap => Box::new(Libtest::new()),
    };
    Prepared { argv: command.argv, env: command.env, env_added: Vec::new(), reader }
}

/// The command of a known runner.
struct Command<'a> {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    folder: &'a Path,
    cwd: &'a Path,
    /// First index for options of gate.
    at: usize,
}

impl Command<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The events cannot be turned off by the repository's settings, as the
    /// place of its JUnit file can.
    fn nextest(&mut self) -> Box<dyn Reader> {
        for name in ["--message-format", "--message-format-version", "--no-tests"] {
            options::remove(&mut self.argv, self.at, name);
        }
        let ours = ["--message-format=libtest-json-plus", "--no-tests=fail"];
        options::insert(&mut self.argv, self.at, ours.map(str::to_owned));
        self.env.push(("NEXTEST_EXPERIMENTAL_LIBTEST_JSON".to_owned(), "1".to_owned()));
        Box::new(Nextest::new())
    }

    /// The last `--junitxml` counts: ours.
    fn pytest(&mut self) -> Box<dyn Reader> {
        let path = self.file("pytest.xml");
        options::append(&mut self.argv, self.at, pytest_options(&path));
        Box::new(Pytest::new(path))
    }

    fn jest(&mut self, found: Invocation) -> Box<dyn Reader> {
        let path = self.file("jest.json");
        options::remove(&mut self.argv, self.at, "--outputFile");
        options::remove_switch(&mut self.argv, self.at, "--json");
        options::append(&mut self.argv, self.at, jest_options(&path));
        self.guard(found);
        Box::new(Jest::new(Format::Jest, path, self.cwd.to_owned()))
    }

    fn vitest(&mut self, found: Invocation) -> Box<dyn Reader> {
        let path = self.file("vitest.json");
        options::remove(&mut self.argv, self.at, "--outputFile");
        let readable = options::count(&self.argv, self.at, "--reporter") == 0;
        options::append(&mut self.argv, self.at, vitest_options(&path, readable));
        self.guard(found);
        Box::new(Jest::new(Format::Vitest, path, self.cwd.to_owned()))
    }

    /// `npm exec` takes options for its own that no `--` keeps from it.
    fn guard(&mut self, found: Invocation) {
        let before = &self.argv[..found.program];
        let npm = before.iter().any(|word| word == "npm");
        if npm && !before.iter().any(|word| word == "--") {
            self.argv.insert(found.program, "--".to_owned());
        }
    }

    /// Reporters and their destinations are two lists: ours are the first.
    fn node(&mut self) -> Box<dyn Reader> {
        let (events, reporter) = (self.file("node.jsonl"), self.file("node-events.mjs"));
        let reporters = options::count(&self.argv, self.at, "--test-reporter");
        let places = options::count(&self.argv, self.at, "--test-reporter-destination");
        let mut ours = vec![
            format!("--test-reporter={}", reporter.display()),
            format!("--test-reporter-destination={}", events.display()),
        ];
        if reporters == 0 {
            ours.push("--test-reporter=spec".to_owned());
        }
        if reporters == 0 || (reporters, places) == (1, 0) {
            ours.push("--test-reporter-destination=stdout".to_owned());
        }
        options::insert(&mut self.argv, self.at, ours);
        match fs::write(reporter, node::REPORTER) {
            Ok(()) => Box::new(Node::new(events, self.cwd.to_owned())),
            Err(error) => unknown::unreported(
                Format::Node,
                format!("the reporter for node could not be written: {error}"),
            ),
        }
    }

    fn go(&mut self) -> Box<dyn Reader> {
        options::insert(&mut self.argv, self.at, ["-json".to_owned()]);
        Box::new(Go::new())
    }
}

/// pytest's XML, with the files of the tests in it and without their output;
/// and a cache that begins empty.
fn pytest_options(path: &Path) -> Vec<String> {
    let xml = format!("--junitxml={}", path.display());
    let cache = format!("cache_dir={}", pytest::cache(path).display());
    let ours = [&xml, "-o", "junit_family=xunit1", "-o", "junit_logging=no", "-o", &cache];
    ours.map(str::to_owned).to_vec()
}

fn jest_options(path: &Path) -> Vec<String> {
    vec!["--json".to_owned(), format!("--outputFile={}", path.display())]
}

/// Reporters on the command line replace the configured ones.
fn vitest_options(path: &Path, readable: bool) -> Vec<String> {
    let readable = readable.then(|| "--reporter=default".to_owned());
    let ours = ["--reporter=json".to_owned(), format!("--outputFile.json={}", path.display())];
    readable.into_iter().chain(ours).collect()
}
