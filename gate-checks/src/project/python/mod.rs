//! Python: pytest and unittest, ruff and mypy, run by uv, Poetry or a virtual environment.

mod suite;

use toml::Table;

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal};
use suite::{Detected, Suite};

/// Proposes for a folder with Python tests, or with settings of Python's tools.
pub(super) fn look(folder: &Folder<'_>) -> Findings {
    let mut findings = Findings::default();
    let project = PyProject::read(folder, &mut findings);
    let runner = PythonRunner::detect(folder);
    if let Some(Detected { suite, evidence }) = suite::detect(folder, &project, &mut findings) {
        let words = match suite {
            Suite::Pytest => runner.pytest(),
            Suite::Unittest(start) => {
                runner.python(&[&["-m", "unittest", "discover"], start].concat())
            }
        };
        findings.propose(Proposal::new(Aim::Tests, suite.name(), &refs(&words), evidence));
    }
    if let Some(evidence) = project.settings_of("ruff", &["ruff.toml", ".ruff.toml"], folder) {
        let words = runner.tool(&["ruff", "check"]);
        findings.propose(Proposal::new(Aim::Lint, "ruff", &refs(&words), evidence));
    }
    if let Some(evidence) = project.settings_of("mypy", &["mypy.ini", ".mypy.ini"], folder) {
        let words = runner.tool(&["mypy", "."]);
        findings.propose(Proposal::new(Aim::Typecheck, "mypy", &refs(&words), evidence).optional());
    }
    findings
}

/// A command of CI, as it is run in the environment of this folder.
pub(super) fn local_command(folder: &Folder<'_>, words: &[String]) -> Vec<String> {
    let runner = PythonRunner::detect(folder);
    match refs(words).as_slice() {
        ["python" | "python3", "-m", "pytest", arguments @ ..] => {
            runner.pytest().into_iter().chain(owned(arguments)).collect()
        }
        ["python" | "python3", arguments @ ..] => runner.python(arguments),
        words if LAUNCHERS.contains(&words.first().copied().unwrap_or_default()) => {
            owned(words).collect()
        }
        words => runner.tool(words),
    }
}

/// Programs that run others in an environment that they know.
const LAUNCHERS: [&str; 7] = ["uv", "poetry", "pdm", "pipenv", "hatch", "tox", "nox"];

fn refs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The pyproject.toml.
#[derive(Debug, Default)]
struct PyProject(Table);

impl PyProject {
    fn read(folder: &Folder<'_>, findings: &mut Findings) -> Self {
        let text = folder.text("pyproject.toml", findings).unwrap_or_default();
        Self(text.parse().unwrap_or_else(|error: toml::de::Error| {
            findings.note(format!("pyproject.toml is no valid TOML: {}", error.message()));
            Table::new()
        }))
    }

    /// The file has a table `[tool.NAME]`.
    fn has_tool(&self, name: &str) -> bool {
        self.0.get("tool").is_some_and(|tools| tools.get(name).is_some())
    }

    /// The file with a tool's settings, if there are any.
    fn settings_of(&self, tool: &str, files: &[&str], folder: &Folder<'_>) -> Option<String> {
        if self.has_tool(tool) {
            return Some(format!("[tool.{tool}] in pyproject.toml"));
        }
        folder.first_file(files).map(str::to_owned)
    }
}

/// Lock files, and how programs are run beside them.
const LOCKS: [(&str, [&str; 2]); 4] = [
    ("uv.lock", ["uv", "run"]),
    ("poetry.lock", ["poetry", "run"]),
    ("pdm.lock", ["pdm", "run"]),
    ("Pipfile.lock", ["pipenv", "run"]),
];

/// Usual folders of virtual environments.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// The way in which a project's Python programs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PythonRunner {
    /// By the tool that wrote the lock file.
    Tool([&'static str; 2]),
    /// By the programs of a virtual environment.
    Environment { folder: String, programs: Vec<String> },
    /// From PATH, where Python has this name.
    Path(&'static str),
}

impl PythonRunner {
    fn detect(folder: &Folder<'_>) -> Self {
        if let Some((_, words)) = LOCKS.iter().find(|(lock, _)| folder.has_file(lock)) {
            return Self::Tool(*words);
        }
        let mut folders = ENVIRONMENTS.iter().map(|name| format!("{name}/bin"));
        if let Some(bin) = folders.find(|bin| folder.has_executable(&format!("{bin}/python"))) {
            let programs = folder.names(&bin);
            return Self::Environment { folder: bin, programs };
        }
        let has_only_python = !folder.has_program("python3") && folder.has_program("python");
        Self::Path(if has_only_python { "python" } else { "python3" })
    }

    /// pytest: without a launcher it is started as a module, which also adds the folder to the paths
    /// that Python imports from.
    fn pytest(&self) -> Vec<String> {
        match self {
            Self::Tool(_) => self.tool(&["pytest"]),
            _ => self.python(&["-m", "pytest"]),
        }
    }

    /// Python with these arguments.
    fn python(&self, arguments: &[&str]) -> Vec<String> {
        let python = match self {
            Self::Tool(words) => {
                words.iter().copied().chain(["python"]).map(str::to_owned).collect()
            }
            Self::Environment { folder, .. } => vec![format!("{folder}/python")],
            Self::Path(python) => vec![(*python).to_owned()],
        };
        python.into_iter().chain(owned(arguments)).collect()
    }

    /// A program that is written in Python.
    fn tool(&self, words: &[&str]) -> Vec<String> {
        match self {
            Self::Tool(launcher) => {
                launcher.iter().chain(words).map(|&word| word.to_owned()).collect()
            }
            Self::Environment { folder, programs } => {
                let [program, arguments @ ..] = words else { return Vec::new() };
                // What the environment lacks may still be in PATH.
                let is_installed = programs.iter().any(|installed| installed == program);
                let path = if is_installed {
                    format!("{folder}/{program}")
                } else {
                    (*program).to_owned()
                };
                [path].into_iter().chain(owned(arguments)).collect()
            }
            Self::Path(_) => owned(words).collect(),
        }
    }
}

fn owned(words: &[&str]) -> impl Iterator<Item = String> {
    words.iter().map(|&word| word.to_owned())
}
