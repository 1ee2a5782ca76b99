//! Kinds of checks, by name and settings.

use gate_core::decide::policy::CheckPolicy;

use crate::project;
use crate::site::CheckSite;

/// Kind of a configured check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckKind {
    /// The built-in check of uncommitted files.
    CleanGit,
    /// The built-in check of acceptance criteria.
    Criteria,
    /// The built-in check of handoffs.
    Handoff,
    /// A reviewer that is asked.
    Review,
    /// The built-in check of what gets around the others.
    Integrity,
    /// A command, configured or found in the project.
    Command,
    /// A program that answers in gate's own format.
    Plugin,
}

impl CheckKind {
    pub(crate) fn of(name: &str, settings: &CheckPolicy) -> Self {
        match name {
            "clean_git" => Self::CleanGit,
            "review" => Self::Review,
            _ if !settings.command.is_empty() => Self::Command,
            "acceptance_criteria" => Self::Criteria,
            "handoff" => Self::Handoff,
            "integrity" => Self::Integrity,
            "tests" | "build" | "lint" | "typecheck" => Self::Command,
            _ => Self::Plugin,
        }
    }
}

/// The settings with the command that the project shows, where they have none,
/// and where it was found. What the project does not ask for itself is not
/// taken.
pub(crate) fn with_command(
    name: &str,
    settings: &CheckPolicy,
    site: &CheckSite,
) -> Option<(CheckPolicy, Option<String>)> {
    if !settings.command.is_empty() {
        return Some((settings.clone(), None));
    }
    let found = project::detect(&site.project).proposals.into_iter();
    let found = found.filter(|it| !it.optional).find(|it| it.check == name)?;
    let cwd = settings.cwd.clone().or(found.cwd);
    let settings = CheckPolicy { command: found.command, cwd, shell: false, ..settings.clone() };
    Some((settings, Some(found.why)))
}
