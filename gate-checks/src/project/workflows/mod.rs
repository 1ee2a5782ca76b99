//! Commands that check the project where its CI runs them.
//!
//! A step is a text below a key that CI services use for scripts. It is read by its words: a
//! command with variables or pipes says that a tool runs there, but not with which arguments.

mod command;
mod script;
mod yaml;

use super::folder::Folder;
use super::proposal::{Aim, Found};
pub use command::aim_of_tool;
use command::classify;
use script::commands;
use yaml::Node;

/// Files of CI services.
const FILES: [&str; 7] = [
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".woodpecker.yml",
    ".drone.yml",
];

/// Folders of them.
const FOLDERS: [&str; 4] =
    [".github/workflows", ".forgejo/workflows", ".gitea/workflows", ".woodpecker"];

/// Keys whose text, or list of texts, is a script.
const SCRIPTS: [&str; 6] = ["run", "script", "bash", "command", "commands", "pwsh"];

/// Events by which a workflow judges changes; others release, deploy or clean up.
const EVENTS: [&str; 4] = ["push", "pull_request", "pull_request_target", "merge_group"];

/// A command that CI runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CiCommand {
    pub(super) ecosystem: &'static str,
    pub(super) aim: Aim,
    pub(super) tool: &'static str,
    pub(super) words: Vec<String>,
    /// The folder that it runs in, relative to the project; none is the project's own.
    pub(super) cwd: Option<String>,
    /// The words alone do not say what runs: a script's name, a variable, a list of environments.
    pub(super) is_vague: bool,
    /// The file that names it.
    pub(super) file: String,
}

/// A script, and the folder that it runs in.
struct Step {
    script: String,
    cwd: Option<String>,
}

/// All commands that check something, in the order of the files and of their steps.
pub(super) fn look(folder: &Folder<'_>, found: &mut Found) -> Vec<CiCommand> {
    let mut all = Vec::new();
    for file in files(folder) {
        let Some(text) = folder.text(&file, found) else { continue };
        match yaml::read(&text) {
            Ok(node) if judges_changes(&node) => {
                let mut steps = Vec::new();
                collect(&node, &mut steps);
                all.extend(steps.iter().flat_map(|step| checks(step, &file)));
            }
            Ok(_) => {}
            Err(error) => found.notes(format!("{file} was passed over: {error}")),
        }
    }
    all.retain(|command| command.cwd.as_ref().is_none_or(|cwd| folder.path.join(cwd).is_dir()));
    all
}

/// The files, with those first that are named after tests.
fn files(folder: &Folder<'_>) -> Vec<String> {
    let in_folders = FOLDERS.iter().flat_map(|name| {
        let names = folder.names(name).into_iter();
        names.filter(|file| is_yaml(file)).map(move |file| format!("{name}/{file}"))
    });
    let mut files: Vec<_> = FILES.iter().map(|&name| name.to_owned()).chain(in_folders).collect();
    files.sort_by_key(|file| {
        let name = file.rsplit('/').next().unwrap_or(file);
        !["test", "ci", "check"].iter().any(|word| name.contains(word))
    });
    files
}

fn is_yaml(name: &str) -> bool {
    name.ends_with(".yml") || name.ends_with(".yaml")
}

/// False for a workflow of GitHub's kind that no change starts.
fn judges_changes(file: &Node) -> bool {
    let Some(events) = file.get("on") else { return true };
    EVENTS.iter().any(|event| match events {
        Node::Text(text) => text == event,
        Node::List(items) => items.iter().any(|item| item.text() == Some(event)),
        Node::Map(_) => events.get(event).is_some(),
    })
}

/// True for a step or job that may fail without failing the workflow.
fn may_fail(node: &Node) -> bool {
    let settings = ["continue-on-error", "allow_failure"];
    settings.iter().filter_map(|key| node.get(key)).any(|value| value.text() != Some("false"))
}

/// The steps of a node and of all below. A step with a condition may never run, and one that may
/// fail requires nothing.
fn collect(node: &Node, steps: &mut Vec<Step>) {
    match node {
        Node::Text(_) => {}
        Node::List(items) => items.iter().for_each(|item| collect(item, steps)),
        Node::Map(_) if may_fail(node) => {}
        Node::Map(entries) => {
            let is_conditional = node.get("if").is_some() && node.get("run").is_some();
            let cwd = node.get("working-directory").or_else(|| node.get("working_directory"));
            let cwd = cwd.and_then(Node::text).map(str::to_owned);
            for (key, value) in entries {
                match value {
                    _ if is_conditional => {}
                    Node::Text(script) if SCRIPTS.contains(&key.as_str()) => {
                        steps.push(Step { script: script.clone(), cwd: cwd.clone() });
                    }
                    Node::List(items) if SCRIPTS.contains(&key.as_str()) => {
                        let lines: Vec<_> = items.iter().filter_map(Node::text).collect();
                        steps.push(Step { script: lines.join("\n"), cwd: cwd.clone() });
                    }
                    other => collect(other, steps),
                }
            }
        }
    }
}

fn checks(step: &Step, file: &str) -> Vec<CiCommand> {
    let known = commands(&step.script, step.cwd.as_deref()).into_iter().filter_map(|command| {
        let kind = classify(&command.words)?;
        Some(CiCommand {
            ecosystem: kind.ecosystem,
            aim: kind.aim,
            tool: kind.tool,
            is_vague: kind.is_vague || command.is_vague,
            words: command.words,
            cwd: command.cwd,
            file: file.to_owned(),
        })
    });
    known.collect()
}

#[cfg(test)]
mod tests;
