//! Lists the programs that the checks of a policy would start, for the operator's approval.

use gate_core::decide::checks::{CheckKind, Cost};
use gate_core::decide::policy::{CheckPolicy, Policy};

use crate::checks::{Verify, written_commands};
use crate::project;
use crate::site::CheckSite;

/// A program that a check would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The check's name.
    pub check: String,
    /// The program and its arguments, from the settings or the project; empty if the
    /// project shows no command for the check.
    pub argv: Vec<String>,
    /// A shell reads the words.
    pub shell: bool,
    /// The working folder, if it is not the project's.
    pub cwd: Option<String>,
    /// Source of a command that is not configured.
    pub found: Option<String>,
}

/// A check that starts a program. Any other check only reads files.
pub fn starts_program(name: &str, settings: &CheckPolicy) -> bool {
    match CheckKind::for_check(name, settings) {
        CheckKind::Criteria => {
            settings.criteria.iter().any(|criterion| !criterion.verify.is_empty())
        }
        _ => Cost::for_check(name, settings) != Cost::Look,
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
    let proposal = project::detect(&site.project)
        .proposals
        .into_iter()
        .find(|proposal| !proposal.optional && proposal.check == name)?;
    let cwd = settings.cwd.clone().or(proposal.cwd);
    let settings = CheckPolicy { command: proposal.command, cwd, shell: false, ..settings.clone() };
    Some((settings, Some(proposal.evidence)))
}

/// The programs that the checks of a policy would start, in order of names. They are not looked up in
/// PATH, and none of them is started.
pub fn programs(policy: &Policy, site: &CheckSite) -> Vec<Program> {
    let mut programs = Vec::new();
    for (name, settings) in &policy.checks {
        match CheckKind::for_check(name, settings) {
            CheckKind::Criteria => programs.extend(criteria_programs(name, settings, site)),
            CheckKind::TestsFirst => programs.extend(
                settings.tests.iter().map(|(name, settings)| program(name, settings, site)),
            ),
            _ if starts_program(name, settings) => programs.push(program(name, settings, site)),
            _ => {}
        }
    }
    programs
}

/// The commands of criteria: those of the settings, and those of the files as they are now.
fn criteria_programs(name: &str, settings: &CheckPolicy, site: &CheckSite) -> Vec<Program> {
    let configured =
        settings.criteria.iter().map(|criterion| (Verify::Argv(criterion.verify.clone()), None));
    let in_files =
        written_commands(settings, site).into_iter().map(|(file, verify)| (verify, Some(file)));
    let mut programs = Vec::new();
    for (verify, found) in configured.chain(in_files) {
        let (argv, shell) = match verify {
            Verify::Argv(argv) => (argv, false),
            Verify::Line(line) => (vec![line], true),
        };
        if !argv.is_empty() {
            let (check, cwd) = (name.to_owned(), settings.cwd.clone());
            programs.push(Program { check, argv, shell, cwd, found });
        }
    }
    programs
}

fn program(name: &str, settings: &CheckPolicy, site: &CheckSite) -> Program {
    let configured = Program {
        check: name.to_owned(),
        argv: settings.command.clone(),
        shell: settings.shell,
        cwd: settings.cwd.clone(),
        found: None,
    };
    match CheckKind::for_check(name, settings) {
        CheckKind::Plugin => Program { argv: vec![format!("gate-check-{name}")], ..configured },
        CheckKind::Command if settings.command.is_empty() => {
            let Some((settings, found)) = with_command(name, settings, site) else {
                return configured;
            };
            let (argv, cwd) = (settings.command, settings.cwd);
            Program { argv, shell: false, cwd, found, ..configured }
        }
        _ => configured,
    }
}

#[cfg(test)]
mod tests {
    use gate_core::config::{Layer, Origin, resolve};

    use super::*;

    #[test]
    fn every_check_that_starts_something_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"a\"\n").unwrap();
        let text = "[checks.tests]\n[checks.own]\nshell = true\ncommand = [\"a && b\"]\n\
                    [checks.plug]\n[checks.clean_git]\n[checks.acceptance_criteria]\nfiles = [\"a.md\"]\n\
                    [checks.handoff]\n[checks.review]\ncommand = [\"look\"]\n";
        let layer = Layer::parse(Origin::Project("gate.toml".into()), text).unwrap();
        let policy = resolve(&[layer], None).unwrap().policy;
        let programs = programs(&policy, &CheckSite::new(folder.path()));
        let shown: Vec<_> = programs
            .iter()
            .map(|program| (program.check.as_str(), program.argv.join(" ")))
            .collect();
        let plain = |check, argv: &str| (check, argv.to_owned());
        assert_eq!(
            shown,
            [
                plain("own", "a && b"),
                plain("plug", "gate-check-plug"),
                plain("review", "look"),
                plain("tests", "cargo test"),
            ]
        );
        assert!(programs[0].shell && programs[3].found.is_some());
    }
}
