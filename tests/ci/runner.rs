//! Runs the steps of the action as GitHub's runner does.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::Job;
use crate::needs::root;

/// A step of a workflow or an action that has ended.
pub(super) struct Step {
    /// The first word of its name.
    pub(super) name: String,
    pub(super) code: i32,
    pub(super) output: String,
}

/// The folders and files that the runner gives to steps.
pub(super) struct Runner<'s> {
    pub(super) job: Job<'s>,
    temp: PathBuf,
    /// The inputs of the action that the workflow gives.
    inputs: BTreeMap<String, String>,
    pub(super) event: Value,
}

impl<'s> Runner<'s> {
    pub(super) fn new(job: Job<'s>, event: Value) -> Self {
        let temp = job.server.path("runner");
        fs::create_dir_all(&temp).unwrap();
        let paths = ["path", "output"].map(|name| temp.join(name));
        let job = job.on_github("pull_request", &event);
        let job = job.set("GITHUB_PATH", &paths[0]).set("GITHUB_OUTPUT", &paths[1]);
        let job = job.set("RUNNER_TEMP", &temp).set("GITHUB_ACTION_PATH", root());
        Self { job, temp, inputs: BTreeMap::new(), event }
    }

    /// The same job for another event.
    pub(super) fn named(mut self, event: &str) -> Self {
        self.job = self.job.set("GITHUB_EVENT_NAME", event);
        self
    }

    pub(super) fn set(mut self, name: &str, value: &str) -> Self {
        self.job = self.job.set(name, value);
        self
    }

    /// The clone's folder.
    pub(super) fn folder(&self) -> String {
        self.job.folder.to_str().unwrap().to_owned()
    }

    /// The same job with the event as it is now.
    pub(super) fn again(mut self, name: &str) -> Self {
        self.job = self.job.on_github(name, &self.event);
        self
    }

    pub(super) fn input(mut self, name: &str, value: &str) -> Self {
        self.inputs.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Runs all steps, and returns the one whose name begins so.
    #[track_caller]
    pub(super) fn run_to(&self, name: &str) -> Step {
        let found = self.runs().into_iter().find(|step| step.name == name);
        found.unwrap_or_else(|| panic!("no step {name} has run"))
    }

    /// Runs all steps of `action.yml`. A step that fails ends the others but for `always()`.
    pub(super) fn runs(&self) -> Vec<Step> {
        let action = yaml(&fs::read_to_string(root().join("action.yml")).unwrap());
        let inputs = action["inputs"].as_object().unwrap();
        let defaults = inputs.iter().filter_map(|(name, input)| {
            Some((name.clone(), input.get("default")?.as_str()?.to_owned()))
        });
        let mut values: BTreeMap<_, _> = defaults.collect();
        values.extend(self.inputs.clone());
        let mut ended = Vec::new();
        let mut has_failed = false;
        for step in action["runs"]["steps"].as_array().unwrap() {
            let condition = step["if"].as_str().unwrap_or_default();
            if !self.holds(condition, &values) || has_failed && !condition.contains("always()") {
                continue;
            }
            if let Some(other) = step["uses"].as_str() {
                // Its service is not here; what it would have found is.
                assert!(other.starts_with("actions/cache/"), "{other}");
                continue;
            }
            assert_eq!(step["shell"], "bash", "{step}");
            let step = self.step(step, &values);
            has_failed |= step.code != 0;
            ended.push(step);
        }
        ended
    }

    fn step(&self, step: &Value, inputs: &BTreeMap<String, String>) -> Step {
        let folder = step["working-directory"].as_str().unwrap_or(".");
        let folder = self.job.folder.join(self.replaced(folder, inputs));
        let paths = fs::read_to_string(self.temp.join("path")).unwrap_or_default();
        let mut path: Vec<_> = paths.lines().map(PathBuf::from).collect();
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let variables = step["env"].as_object().into_iter().flatten();
        let variables: Vec<_> = variables
            .map(|(name, value)| (name.clone(), self.replaced(value.as_str().unwrap(), inputs)))
            .collect();
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()])
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.job.server.path("home"))
            .envs(self.job.variables.iter().map(|(name, value)| (name, value)))
            .envs(variables)
            .output()
            .unwrap();
        let texts = [output.stdout, output.stderr].concat();
        Step {
            name: step["name"].as_str().unwrap().split(' ').next().unwrap().to_owned(),
            code: output.status.code().unwrap(),
            output: String::from_utf8_lossy(&texts).into_owned(),
        }
    }

    /// The terms of conditions that this action uses.
    fn holds(&self, condition: &str, inputs: &BTreeMap<String, String>) -> bool {
        condition.split("&&").map(str::trim).filter(|term| !term.is_empty()).all(|term| {
            if term == "always()" {
                return true;
            }
            let (name, equal, text) = match (term.split_once(" == "), term.split_once(" != ")) {
                (Some((name, text)), _) => (name, true, text),
                (None, Some((name, text))) => (name, false, text),
                (None, None) => panic!("{term} is no term that the test knows"),
            };
            (self.value(name, inputs) == text.trim_matches('\'')) == equal
        })
    }

    fn replaced(&self, text: &str, inputs: &BTreeMap<String, String>) -> String {
        let Some((before, rest)) = text.split_once("${{ ") else { return text.to_owned() };
        let (name, after) = rest.split_once(" }}").unwrap();
        format!("{before}{}{}", self.value(name, inputs), self.replaced(after, inputs))
    }

    fn value(&self, name: &str, inputs: &BTreeMap<String, String>) -> String {
        match name.split_once('.').unwrap() {
            ("inputs", name) => inputs.get(name).cloned().unwrap_or_default(),
            ("github", "token") => "a-token".to_owned(),
            ("steps", "built.outputs.cache-hit") => "true".to_owned(),
            ("github", "event.action") => {
                self.event["action"].as_str().unwrap_or_default().to_owned()
            }
            _ => panic!("{name} is no value that the test knows"),
        }
    }

    pub(super) fn outputs(&self) -> String {
        fs::read_to_string(self.temp.join("output")).unwrap_or_default()
    }

    pub(super) fn summary(&self) -> String {
        let file = self.job.variables.iter().find(|(name, _)| name == "GITHUB_STEP_SUMMARY");
        fs::read_to_string(&file.unwrap().1).unwrap_or_default()
    }
}

/// A YAML text as JSON.
pub(super) fn yaml(text: &str) -> Value {
    let program = "import json, sys, yaml; json.dump(yaml.load(sys.argv[1], \
                   Loader=yaml.BaseLoader), sys.stdout)";
    let output = Command::new("python3").args(["-c", program, text]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
