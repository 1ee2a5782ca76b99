//! Python: pytest and unittest, ruff and mypy, run by uv or Poetry.

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
            Suite::Unittest(start) => runner.unittest(start),
        };
        found.proposes(Proposal::new(Aim::Tests, suite.name(), &words, why));
    }
    if let Some(why) = project.configures("ruff", &["ruff.toml", ".ruff.toml"], folder) {
        let words = runner.tool(&["ruff", "check"]);
        found.proposes(Proposal::new(Aim::Lint, "ruff", &words, why));
    }
    if let Some(why) = project.configures("mypy", &["mypy.ini", ".mypy.ini"], folder) {
        let words = runner.tool(&["mypy", "."]);
        found.proposes(Proposal::new(Aim::Typecheck, "mypy", &words, why).optional());
    }
    found
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
