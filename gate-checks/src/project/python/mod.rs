//! Python: pytest and unittest, ruff and mypy, run by uv, Poetry or a virtual environment.

mod suite;

use toml::Table;

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};
use suite::Suite;

/// Proposes for a folder with Python tests, or with settings of Python's tools.
pub(super) fn look(folder: &Folder<'_>) -> Found {
    let mut found = Found::default();
    let project = Project::read(folder, &mut found);
    let runner = Runner::detect(folder);
    if let Some((suite, why)) = suite::detect(folder, &project, &mut found) {
        let words = match suite {
            Suite::Pytest => runner.pytest(),
            Suite::Unittest(start) => {
                runner.python(&[&["-m", "unittest", "discover"], start].concat())
            }
        };
        found.proposes(Proposal::new(Aim::Tests, suite.name(), &refs(&words), why));
    }
    if let Some(why) = project.configures("ruff", &["ruff.toml", ".ruff.toml"], folder) {
        let words = runner.tool(&["ruff", "check"]);
        found.proposes(Proposal::new(Aim::Lint, "ruff", &refs(&words), why));
    }
    if let Some(why) = project.configures("mypy", &["mypy.ini", ".mypy.ini"], folder) {
        let words = runner.tool(&["mypy", "."]);
        found.proposes(Proposal::new(Aim::Typecheck, "mypy", &refs(&words), why).optional());
    }
    found
}

/// A command of CI, whose environment is another one, as it is run here.
pub(super) fn here(folder: &Folder<'_>, words: &[String]) -> Vec<String> {
    let runner = Runner::detect(folder);
    match refs(words).as_slice() {
        ["python" | "python3", "-m", "pytest", rest @ ..] => {
            runner.pytest().into_iter().chain(rest.iter().map(|&word| word.to_owned())).collect()
        }
        ["python" | "python3", rest @ ..] => runner.python(rest),
        words if RUN_BY.contains(&words.first().copied().unwrap_or_default()) => {
            words.iter().map(|&word| word.to_owned()).collect()
        }
        words => runner.tool(words),
    }
}

/// Programs that run others in an environment that they know.
const RUN_BY: [&str; 7] = ["uv", "poetry", "pdm", "pipenv", "hatch", "tox", "nox"];

fn refs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The pyproject.toml.
#[derive(Debug, Default)]
struct Project(Table);

impl Project {
    fn read(folder: &Folder<'_>, found: &mut Found) -> Self {
        let text = folder.text("pyproject.toml", found).unwrap_or_default();
        Self(text.parse().unwrap_or_else(|error: toml::de::Error| {
            found.notes(format!("pyproject.toml is no valid TOML: {}", error.message()));
            Table::new()
        }))
    }

    /// True with `[tool.NAME]`.
    fn has_tool(&self, name: &str) -> bool {
        self.0.get("tool").is_some_and(|tools| tools.get(name).is_some())
    }

    /// The file with a tool's settings.
    fn configures(&self, tool: &str, files: &[&str], folder: &Folder<'_>) -> Option<String> {
        if self.has_tool(tool) {
            return Some(format!("[tool.{tool}] in pyproject.toml"));
        }
        folder.first(files).map(str::to_owned)
    }
}

/// Lock files and how programs are run where they are.
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
enum Runner {
    /// By the tool that wrote the lock file.
    Tool([&'static str; 2]),
    /// From the programs of a virtual environment: these are there.
    Environment { folder: String, programs: Vec<String> },
    /// From PATH; this is Python's name.
    Path(&'static str),
}

impl Runner {
    fn detect(folder: &Folder<'_>) -> Self {
        if let Some((_, words)) = LOCKS.iter().find(|(lock, _)| folder.has(lock)) {
            return Self::Tool(*words);
        }
        let programs = ENVIRONMENTS.iter().map(|name| format!("{name}/bin"));
        if let Some(found) = programs.into_iter().find(|bin| folder.runs(&format!("{bin}/python")))
        {
            let programs = folder.names(&found);
            return Self::Environment { folder: found, programs };
        }
        let only_old = !folder.finds("python3") && folder.finds("python");
        Self::Path(if only_old { "python" } else { "python3" })
    }

    /// Without a tool as a module, which also makes the project's own modules known.
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
            Self::Tool(before) => before.iter().chain(words).map(|&word| word.to_owned()).collect(),
            Self::Environment { folder, programs } => {
                let program =
                    words.first().filter(|word| programs.iter().any(|program| program == *word));
                let first = program.map(|program| format!("{folder}/{program}"));
                let rest = if first.is_some() { &words[1..] } else { words };
                first.into_iter().chain(owned(rest)).collect()
            }
            Self::Path(_) => owned(words).collect(),
        }
    }
}

fn owned(words: &[&str]) -> impl Iterator<Item = String> {
    words.iter().map(|&word| word.to_owned())
}
