//! Finds errors in checks before any of them runs: in their programs, folders, files and
//! globs. Nothing of the project's is started.

mod installed;
mod masking;
mod program;
mod state;
mod supervisor;

use std::path::Path;
use std::process::{Command, Stdio};

use gate_core::decide::checks::CheckKind;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::policy::{CheckPolicy, Policy};
use gate_platform::RealPath;

use super::finding::{Finding, fine, note, problem};
use super::{Examination, Tree};
use crate::check::GatherOptions;
use crate::gather::gather;
use crate::programs::with_command;
use crate::site::CheckSite;
use crate::worktree::{Globs, no_commit_cause};

/// Findings about the checks of a policy, also those that all is as it should be.
pub fn examine(policy: &Policy, site: &CheckSite) -> Vec<Finding> {
    let mut findings = settings_findings(policy);
    let tree = Tree::read(site);
    match &tree {
        Ok(tree) => findings.extend(glob_findings("tree.ignore", &policy.tree.ignore, tree, site)),
        Err(error) => {
            let message = format!("the work tree cannot be read: {error}");
            findings.push(problem("tree-unreadable", message));
        }
    }
    let tree = tree.as_ref().ok();
    for (name, settings) in &policy.checks {
        let look = Look { name, settings, policy, site, tree };
        findings.extend(look.findings().into_iter().map(|finding| finding.about(name)));
    }
    findings
}

/// Findings about the needs of gate itself: git, a folder for its state, a way to end the processes of
/// checks.
pub fn examine_surroundings(policy: &Policy, site: &CheckSite) -> Vec<Finding> {
    let mut findings = git_findings(site);
    findings.extend(state::folder_findings(site));
    findings.extend(state::oversized_copies(policy, site));
    findings.push(supervisor::try_supervisor(policy, site));
    findings.extend(supervisor::shortcomings());
    findings
}

/// Findings about the settings alone, whatever the project contains.
fn settings_findings(policy: &Policy) -> Vec<Finding> {
    let mut findings = Vec::new();
    if policy.checks.is_empty() {
        let message = "no check is configured: decisions rest on what the agent writes";
        let hint = "write [checks.tests] into gate.toml (`gate init` writes a commented one)";
        findings.push(note("no-checks", message).hint(hint));
    } else if !policy.requires_behaviour() {
        let message = "no required check runs tests: nothing shows that the code works";
        let hint = "name the command that runs your tests in [checks.tests] of gate.toml";
        findings.push(note("tests-unchecked", message).hint(hint));
    }
    let (threshold, most) = (policy.threshold_in_force(), policy.most_indicators());
    if policy.exit_gate.enabled && threshold > most {
        let message = format!("the threshold is {threshold}, and all sources add up to {most}");
        let hint = format!("set `indicator_threshold` in [exit_gate] to {most} or less");
        findings.push(problem("threshold-unreachable", message).hint(hint));
    }
    findings
}

/// A check that is examined, with its surroundings.
pub(super) struct Look<'a> {
    name: &'a str,
    settings: &'a CheckPolicy,
    policy: &'a Policy,
    site: &'a CheckSite,
    tree: Option<&'a Tree>,
}

impl Look<'_> {
    fn findings(&self) -> Vec<Finding> {
        let kind = CheckKind::for_check(self.name, self.settings);
        let mut findings = (Examination::for_kind(kind).findings)(self);
        if let Some(tree) = self.tree {
            for (key, globs) in [("paths", &self.settings.paths), ("ignore", &self.settings.ignore)]
            {
                findings.extend(glob_findings(key, globs, tree, self.site));
            }
        }
        findings
    }

    /// Runs the check alone, which reads files and starts nothing, for the errors that it finds. A
    /// handoff that is not there yet is no fault of the settings.
    pub(super) fn files(&self, purpose: &str) -> Finding {
        let mut policy = self.policy.clone();
        policy.checks.retain(|check, _| check == self.name);
        policy.checks.values_mut().for_each(|check| check.needs.clear());
        let options = GatherOptions { fresh: true, ..GatherOptions::default() };
        let gathered = match gather(&policy, self.site.clone(), &options) {
            Ok(gathered) => gathered,
            Err(error) => return problem("checks-unavailable", error.to_string()),
        };
        let Some(evidence) = gathered.evidence.into_iter().next() else {
            return problem(&format!("{purpose}-unknown"), "it left no record");
        };
        match evidence.outcome {
            Outcome::Pass | Outcome::Fail => {
                fine(&format!("{purpose}-found"), format!("built-in: {}", evidence.summary))
            }
            _ => problem(&format!("{purpose}-unknown"), evidence.summary).hint("put `files` right"),
        }
    }

    pub(super) fn plugin(&self) -> Finding {
        program::plugin_finding(self.name, self.site)
    }

    pub(super) fn clean_git(&self) -> Finding {
        let is_in_repository = self.tree.is_some_and(|tree| tree.snapshot.index.is_some());
        if is_in_repository {
            return fine("built-in", "built-in: looks for what is not committed");
        }
        problem("no-repository", no_commit_cause(self.site))
    }

    pub(super) fn integrity(&self) -> Finding {
        match self.tree.map(|tree| tree.snapshot.head.is_some()) {
            Some(true) => fine("built-in", "built-in: looks for what gets around the checks"),
            _ => {
                let cause = no_commit_cause(self.site);
                problem("no-baseline", format!("there is nothing to compare with: {cause}"))
            }
        }
    }

    pub(super) fn review(&self) -> Vec<Finding> {
        if self.settings.command.is_empty() {
            let hint = "write `command`: the program of the reviewer";
            return vec![problem("command-missing", "it has no command").hint(hint)];
        }
        self.command_findings(self.settings, None)
    }

    pub(super) fn command(&self) -> Vec<Finding> {
        match with_command(self.name, self.settings, self.site) {
            Some((settings, found_in)) => self.command_findings(&settings, found_in.as_deref()),
            None => {
                let message = "it has no command, and the project shows none";
                let hint = format!("write `command` into [checks.{}]", self.name);
                vec![problem("command-missing", message).hint(hint)]
            }
        }
    }

    fn command_findings(&self, settings: &CheckPolicy, found_in: Option<&str>) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(file) = found_in {
            let command = settings.command.join(" ");
            findings.push(fine("command-found", format!("`{command}`, found in {file}")));
        }
        let project = &self.site.project;
        let cwd = settings.cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd));
        if cwd.is_dir() {
            findings.extend(program::program_findings(settings, self.site, &cwd, self.tree));
        } else {
            let message = format!("its working folder {} is not there", cwd.display());
            findings.push(problem("folder-missing", message).hint("put `cwd` right"));
        }
        findings.extend(masking::masks(settings));
        findings
    }
}

/// Findings about git and the repository.
fn git_findings(site: &CheckSite) -> Vec<Finding> {
    let repository =
        site.project.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    vec![git_finding(site, repository.is_some()), repository_finding(site, repository)]
}

fn git_finding(site: &CheckSite, is_needed: bool) -> Finding {
    let Ok(git) = which::which_in("git", Some(site.search_path()), "/") else {
        let message = "git is not in PATH: nobody can say what is tracked or ignored";
        let finding =
            if is_needed { problem("git-missing", message) } else { note("git-missing", message) };
        return finding.hint("install git");
    };
    let mut command = Command::new(&git);
    command.arg("--version").current_dir("/").stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            fine("git-found", format!("{version} ({})", git.display()))
        }
        _ => problem("git-broken", format!("{} --version fails", git.display()))
            .hint("put git, or PATH, right"),
    }
}

fn repository_finding(site: &CheckSite, repository: Option<&Path>) -> Finding {
    match repository {
        Some(root) => fine("repository", format!("the repository is {}", root.display())),
        None => {
            let message = format!("{} is in no git repository", site.project.display());
            note("no-repository", message).hint("git init")
        }
    }
}

/// Findings about the globs of a key.
fn glob_findings(key: &str, globs: &[String], tree: &Tree, site: &CheckSite) -> Vec<Finding> {
    globs.iter().filter_map(|glob| glob_finding(key, glob, tree, site)).collect()
}

fn glob_finding(key: &str, glob: &str, tree: &Tree, site: &CheckSite) -> Option<Finding> {
    let globs = match Globs::new(&[glob.to_owned()]) {
        Ok(globs) => globs,
        Err(error) => {
            let hint = format!("put `{key}` right");
            return Some(problem("glob-invalid", error.to_string()).hint(hint));
        }
    };
    let project = site.project.real_path().unwrap_or_else(|_| site.project.clone());
    let project_path = project.strip_prefix(tree.tree.root()).ok()?;
    let mut files =
        tree.snapshot.files().filter_map(|file| file.path().strip_prefix(project_path).ok());
    if files.any(|file| globs.matches(file.as_os_str().as_encoded_bytes())) {
        return None;
    }
    Some(note("glob-matches-nothing", format!("`{glob}` in `{key}` matches no file")))
}
