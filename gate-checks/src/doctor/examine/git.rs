//! Git, and the repository that the project stands in.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::doctor::finding::{Finding, fine, note, problem};
use crate::site::CheckSite;

/// Looks for git, and for a repository.
pub(super) fn look(site: &CheckSite) -> Vec<Finding> {
    let repository =
        site.project.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok());
    vec![git_program(site, repository.is_some()), is_repository(site, repository)]
}

fn git_program(site: &CheckSite, needed: bool) -> Finding {
    let Ok(git) = which::which_in("git", Some(site.search_path()), "/") else {
        let message = "git is not in PATH: nobody can say what is tracked or ignored";
        let finding =
            if needed { problem("git-missing", message) } else { note("git-missing", message) };
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

fn is_repository(site: &CheckSite, repository: Option<&Path>) -> Finding {
    match repository {
        Some(root) => fine("repository", format!("the repository is {}", root.display())),
        None => {
            let message = format!("{} is in no git repository", site.project.display());
            note("no-repository", message).hint("git init")
        }
    }
}
