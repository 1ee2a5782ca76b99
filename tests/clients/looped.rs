//! `gate run` with real clients, each before a model of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::Value;

use super::client::{CheckSite, Client};
use super::model::{Model, Reply};
use super::network::Alone;
use crate::needs::client_program;
use crate::support::{GATE, Ran};

/// Runs a loop in this project and in a network of its own, with these clients and the scripts of their
/// models. Returns its end.
pub(super) fn looped(project: &Ran, words: &str, clients: &[(&'static Client, &[Reply])]) -> Value {
    thread::scope(|scope| scope.spawn(|| looped_here(project, words, clients)).join()).unwrap()
}

fn looped_here(project: &Ran, words: &str, clients: &[(&'static Client, &[Reply])]) -> Value {
    let alone = Alone::enter();
    let (home, work) = (project.home(), project.path(""));
    let mut environment = BTreeMap::new();
    let mut folders = Vec::new();
    let mut models = Vec::new();
    for (client, script) in clients {
        let model = Model::start(script, client.shell);
        let program = client_program(client.name, client.program).unwrap();
        folders.extend(program.parent().map(Path::to_owned));
        let site = CheckSite {
            program,
            home: &home,
            work: &work,
            model: &model.url(),
            hook: None,
            prompt: "",
            alone: alone.is_some(),
        };
        let command = (client.start)(&site);
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        models.push(model);
    }
    let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let mut command = Command::new(GATE);
    command.args(words.split(' ')).current_dir(&work).env_clear().envs(environment);
    command.env("PATH", std::env::join_paths(folders).unwrap()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{shown}"))
}
