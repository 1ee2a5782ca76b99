//! Python: pytest and unittest, ruff and mypy, run by uv, Poetry or a virtual environment.

mod runner;
mod suite;

use toml::Table;

use super::folder::Folder;
use super::proposal::{Aim, Found, Proposal};
use runner::Runner;
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
