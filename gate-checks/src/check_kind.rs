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
    /// A reviewer: a model, or a person's script.
    Review,
    /// The built-in check of what gets around the others.
    Integrity,
    /// The check of a phase in which only tests are written. Settings cannot configure it.
    TestsFirst,
    /// A command, configured or found in the project.
    Command,
    /// A program that answers in gate's own format.
    Plugin,
}

/// The names of the built-in checks.
const BUILT_IN: [(&str, CheckKind); 9] = [
    ("acceptance_criteria", CheckKind::Criteria),
    ("build", CheckKind::Command),
    ("clean_git", CheckKind::CleanGit),
    ("handoff", CheckKind::Handoff),
    ("integrity", CheckKind::Integrity),
    ("lint", CheckKind::Command),
    ("review", CheckKind::Review),
    ("tests", CheckKind::Command),
    ("typecheck", CheckKind::Command),
];

impl CheckKind {
    /// The kind of the check of this name. A `command` turns a built-in check into a command,
    /// except for `clean_git`, which takes none, and `review`, whose command is the reviewer.
    pub(crate) fn for_check(name: &str, settings: &CheckPolicy) -> Self {
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
        match built_in {
            _ if !settings.tests.is_empty() => Self::TestsFirst,
            Some(kind @ (Self::CleanGit | Self::Review)) => kind,
            _ if !settings.command.is_empty() => Self::Command,
            kind => kind.unwrap_or(Self::Plugin),
        }
    }
}

/// The settings, with a command found in the project if they have none, and the evidence for that
/// command. A proposal that is only mentioned is not taken.
pub(crate) fn with_command(
    name: &str,
    settings: &CheckPolicy,
    site: &CheckSite,
) -> Option<(CheckPolicy, Option<String>)> {
    if !settings.command.is_empty() {
        return Some((settings.clone(), None));
    }
    let found = project::detect(&site.project).proposals.into_iter();
    let found =
        found.filter(|proposal| !proposal.optional).find(|proposal| proposal.check == name)?;
    let cwd = settings.cwd.clone().or(found.cwd);
    let settings = CheckPolicy { command: found.command, cwd, shell: false, ..settings.clone() };
    Some((settings, Some(found.why)))
}

#[cfg(test)]
mod tests {
    use gate_core::decide::release::runs_the_work;

    use super::{BUILT_IN, CheckKind};

    /// The documents that list the built-in checks.
    const DOCUMENTS: [(&str, &str); 3] = [
        (
            "docs/book/src/concepts/evidence.md",
            include_str!("../../docs/book/src/concepts/evidence.md"),
        ),
        (
            "docs/book/src/howto/own-check.md",
            include_str!("../../docs/book/src/howto/own-check.md"),
        ),
        (
            "gate-core/src/config/default.toml",
            include_str!("../../gate-core/src/config/default.toml"),
        ),
    ];

    #[test]
    fn the_documents_name_every_built_in_check() {
        for (check, _) in BUILT_IN {
            for (document, text) in DOCUMENTS {
                assert!(text.contains(check), "{document} does not name the check `{check}`");
            }
        }
    }

    #[test]
    fn only_built_in_commands_run_the_work() {
        for (check, kind) in BUILT_IN {
            let message = format!(
                "`{check}`: `runs_the_work` in gate-core/src/decide/release.rs lists the built-in \
                 checks that only read files"
            );
            assert_eq!(runs_the_work(check), kind == CheckKind::Command, "{message}");
        }
    }
}
