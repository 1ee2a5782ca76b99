//! The commands by which the workflows of GitHub run a project's tests.
//!
//! Only a test runner without anything that a shell would have to read is taken from a step: for
//! all else the project itself is looked at.

use saphyr_parser::{Event, Parser, StrInput};

use super::folder::Folder;
use super::proposal::Findings;
use crate::report::{Format, runner_format};

const FOLDER: &str = ".github/workflows";

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 64;

/// Keys of a step or job that may not run, or may fail without failing the workflow.
const OPTIONAL: [&str; 2] = ["if", "continue-on-error"];

/// A command that runs tests in CI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CiCommand {
    pub(super) ecosystem: &'static str,
    pub(super) tool: &'static str,
    pub(super) words: Vec<String>,
    /// The folder that it runs in, relative to the project; `None` for the project's own.
    pub(super) cwd: Option<String>,
    /// The file that names it.
    pub(super) file: String,
}

/// A value of YAML. Aliases are left out.
enum YamlValue {
    Text(String),
    List(Vec<YamlValue>),
    Map(Vec<(String, YamlValue)>),
}

/// The commands that run tests, in the order of the files and of their steps.
pub(super) fn look(folder: &Folder<'_>, findings: &mut Findings) -> Vec<CiCommand> {
    let mut commands = Vec::new();
    for name in folder.names(FOLDER) {
        let file = format!("{FOLDER}/{name}");
        if !name.ends_with(".yml") && !name.ends_with(".yaml") {
            continue;
        }
        let Some(text) = folder.text(&file, findings) else { continue };
        if let Some(workflow) = YamlReader(Parser::new_from_str(&text)).document() {
            workflow.collect_commands(&file, &mut commands);
        }
    }
    commands
        .retain(|command| command.cwd.as_ref().is_none_or(|cwd| folder.path.join(cwd).is_dir()));
    commands
}

impl YamlValue {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Takes the commands of the steps in this value and below.
    fn collect_commands(&self, file: &str, commands: &mut Vec<CiCommand>) {
        match self {
            Self::Text(_) => {}
            Self::List(values) => {
                values.iter().for_each(|value| value.collect_commands(file, commands));
            }
            Self::Map(entries) => {
                let entry = |key: &str| entries.iter().find(|(name, _)| name == key);
                let text = |key: &str| entry(key).and_then(|(_, value)| value.text());
                if OPTIONAL.iter().any(|key| entry(key).is_some()) {
                    return;
                }
                let cwd = text("working-directory").map(str::to_owned);
                let lines = text("run").into_iter().flat_map(str::lines);
                // Behind a `cd` the folder is not known.
                let lines = lines.take_while(|line| !line.trim_start().starts_with("cd "));
                commands.extend(lines.filter_map(|line| CiCommand::new(line, cwd.clone(), file)));
                entries.iter().for_each(|(_, value)| value.collect_commands(file, commands));
            }
        }
    }
}

impl CiCommand {
    /// The command of a line, if it starts a test runner and nothing else.
    fn new(line: &str, cwd: Option<String>, file: &str) -> Option<Self> {
        if line.contains(|c: char| "|&;<>$`(){}*?\\#'\"".contains(c)) {
            return None;
        }
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let (ecosystem, tool) = match runner_format(&words)? {
            Format::Libtest | Format::Nextest => ("rust", "cargo"),
            Format::Pytest => ("python", "pytest"),
            Format::Jest => ("node", "jest"),
            Format::Vitest => ("node", "vitest"),
            Format::Node => ("node", "node"),
            Format::Go => ("go", "go"),
            Format::Junit | Format::Tap => return None,
        };
        Some(Self { ecosystem, tool, words, cwd, file: file.to_owned() })
    }
}

/// Reads the values of a text in YAML.
struct YamlReader<'t>(Parser<'t, StrInput<'t>>);

impl<'t> YamlReader<'t> {
    fn next_event(&mut self) -> Option<Event<'t>> {
        Some(self.0.next()?.ok()?.0)
    }

    /// The first document; `None` if the text is no YAML.
    fn document(&mut self) -> Option<YamlValue> {
        loop {
            match self.next_event()? {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                event => return self.value(event, 0),
            }
        }
    }

    fn value(&mut self, event: Event<'t>, depth: usize) -> Option<YamlValue> {
        if depth > MAX_DEPTH {
            return None;
        }
        match event {
            Event::Scalar(text, ..) => Some(YamlValue::Text(text.into_owned())),
            Event::SequenceStart(..) => {
                let mut values = Vec::new();
                loop {
                    match self.next_event()? {
                        Event::SequenceEnd => return Some(YamlValue::List(values)),
                        event => values.push(self.value(event, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    let key = match self.next_event()? {
                        Event::MappingEnd => return Some(YamlValue::Map(entries)),
                        event => self.value(event, depth + 1)?,
                    };
                    let event = self.next_event()?;
                    let value = self.value(event, depth + 1)?;
                    entries.push((key.text().unwrap_or_default().to_owned(), value));
                }
            }
            _ => Some(YamlValue::Text(String::new())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::project::detect_with;
    use crate::project::tests::{folder, lines};

    const PYTEST: (&str, &str) = ("tests/test_a.py", "import pytest\n");

    /// The proposals for a project with these files, if these programs are missing.
    #[track_caller]
    fn check_without(missing: &[&str], files: &[(&str, &str)], expected: &[&str]) {
        let folder = folder(files);
        let detected = detect_with(folder.path(), true, &|program| !missing.contains(&program));
        assert_eq!(lines(&detected), expected, "{:?}", detected.notes);
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        check_without(&[], files, expected);
    }

    fn workflow(steps: &str) -> String {
        format!("on: [push]\njobs:\n  check:\n    runs-on: ubuntu-latest\n    steps:\n{steps}")
    }

    #[test]
    fn the_command_of_a_workflows_tests_comes_before_a_guess() {
        let steps = "    - uses: actions/checkout@v4
    - run: |
        cargo clippy --all-targets -- -D warnings
        cargo test --all-features --locked
";
        let files = [("Cargo.toml", "[package]\n"), (".github/workflows/ci.yml", &workflow(steps))];
        let expected = [
            "tests: cargo test --all-features --locked",
            "build: cargo build",
            "lint?: cargo clippy --all-targets -- -D warnings",
        ];
        check(&files, &expected);
        check_without(&["cargo-nextest"], &files, &expected);
    }

    #[test]
    fn tests_that_a_step_runs_without_naming_their_runner_stay() {
        let ci = workflow("    - run: npm test\n    - run: cargo test --locked\n");
        let package = r#"{"scripts":{"test":"node --test"}}"#;
        let files = [
            ("Cargo.toml", "[package]\n"),
            ("package.json", package),
            (".github/workflows/ci.yml", ci.as_str()),
        ];
        let expected = [
            "tests: cargo test --locked",
            "tests-node: node --test",
            "build: cargo build",
            "lint?: cargo clippy --all-targets -- -D warnings",
        ];
        check(&files, &expected);
    }

    #[test]
    fn a_command_of_python_runs_in_the_environment_that_is_here() {
        let ci = workflow("    - run: python -m pytest -x\n");
        let ci = (".github/workflows/ci.yml", ci.as_str());
        check(&[PYTEST, ci], &["tests: python3 -m pytest -x"]);
        check(&[PYTEST, ("uv.lock", ""), ci], &["tests: uv run pytest -x"]);
        let files = [PYTEST, ("!.venv/bin/python", ""), ci];
        check(&files, &["tests: .venv/bin/python -m pytest -x"]);
        let uv = workflow("    - run: uv run pytest -q\n");
        let files = [PYTEST, (".github/workflows/ci.yml", uv.as_str())];
        check_without(&["uv"], &files, &["tests: python3 -m pytest"]);
    }

    #[test]
    fn a_step_in_another_folder_runs_there() {
        let steps = "    - run: npx vitest run --coverage\n      working-directory: web\n\
                     \x20   - run: go test -race ./...\n      working-directory: api\n";
        let ci = workflow(steps);
        let package = r#"{"scripts":{"test":"vitest run"}}"#;
        let files = [
            ("web/package.json", package),
            ("api/go.mod", ""),
            (".github/workflows/ci.yml", ci.as_str()),
        ];
        let expected = [
            "tests: (web) npx vitest run --coverage",
            "tests-api: (api) go test -race ./...",
            "build: (api) go build -o /dev/null ./...",
            "lint: (api) go vet ./...",
        ];
        check(&files, &expected);
    }

    #[test]
    fn what_may_not_run_or_only_a_shell_reads_leaves_the_guess() {
        for text in [
            &workflow("    - run: pytest -k nightly\n      if: github.ref == 'x'\n"),
            &workflow("    - run: pytest -k slow\n      continue-on-error: true\n"),
            &workflow("    - run: pytest ${{ matrix.arguments }}\n"),
            &workflow("    - run: |\n        cd deep\n        pytest -q\n"),
            &workflow("    - run: tox -e py\n"),
            "on: [push\n",
            "",
            "on: push\njobs: *a\n",
        ] {
            check(&[PYTEST, (".github/workflows/a.yml", text)], &["tests: python3 -m pytest"]);
        }
    }

    #[test]
    fn a_check_without_a_command_never_takes_one_from_a_file_of_ci() {
        let ci = workflow("    - run: pytest -k nothing\n");
        let folder = folder(&[PYTEST]);
        fs::create_dir_all(folder.path().join(".github/workflows")).unwrap();
        fs::write(folder.path().join(".github/workflows/ci.yml"), ci).unwrap();
        let detected = crate::project::detect(folder.path());
        assert!(!detected.proposals[0].command.contains(&"-k".to_owned()), "{detected:?}");
    }
}
