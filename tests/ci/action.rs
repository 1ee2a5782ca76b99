//! The action's steps, run as GitHub's runner runs them: from a recorded event, on a bare clone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Job, Server, honest, weakened};
use crate::needs::{needs, root};
use crate::support::GATE;

/// A step of a workflow or an action that has ended.
struct Step {
    code: i32,
    output: String,
}

/// The folders and files that the runner gives to steps.
struct Runner<'s> {
    job: Job<'s>,
    temp: PathBuf,
    /// The inputs of the action that the workflow gives.
    inputs: BTreeMap<String, String>,
    event: Value,
}

impl<'s> Runner<'s> {
    fn new(job: Job<'s>, event: Value) -> Self {
        let temp = job.server.path("runner");
        fs::create_dir_all(&temp).unwrap();
        let paths = ["path", "output"].map(|name| temp.join(name));
        let job = job.on_github("pull_request", &event);
        let job = job.set("GITHUB_PATH", &paths[0]).set("GITHUB_OUTPUT", &paths[1]);
        let job = job.set("RUNNER_TEMP", &temp).set("GITHUB_ACTION_PATH", root());
        Self { job, temp, inputs: BTreeMap::new(), event }
    }

    fn input(mut self, name: &str, value: &str) -> Self {
        self.inputs.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Runs all steps of `action.yml`. A step that fails ends the others but for `always()`.
    fn runs(&self) -> Vec<Step> {
        let action = yaml(&root().join("action.yml"));
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
                assert!(other.starts_with("actions/cache@"), "{other}");
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
            ("github", "event.action") => {
                self.event["action"].as_str().unwrap_or_default().to_owned()
            }
            _ => panic!("{name} is no value that the test knows"),
        }
    }

    fn outputs(&self) -> String {
        fs::read_to_string(self.temp.join("output")).unwrap_or_default()
    }

    fn summary(&self) -> String {
        let file = self.job.variables.iter().find(|(name, _)| name == "GITHUB_STEP_SUMMARY");
        fs::read_to_string(&file.unwrap().1).unwrap_or_default()
    }
}

/// A YAML file as JSON.
fn yaml(file: &Path) -> Value {
    let program = "import json, sys, yaml; json.dump(yaml.load(open(sys.argv[1]), \
                   Loader=yaml.BaseLoader), sys.stdout)";
    let output = Command::new("python3").args(["-c", program]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// True if all is there that these tests start.
fn is_ready() -> bool {
    ["pytest", "yaml", "jq"].iter().all(|what| needs(what))
}

fn runner<'s>(server: &'s Server, branch: &str) -> Runner<'s> {
    let mut event = server.request(branch);
    event["pull_request"]["number"] = json!(7);
    Runner::new(server.merge_job(branch, 0), event).input("program", GATE)
}

#[test]
fn an_honest_pull_request_passes_and_a_weakened_one_fails() {
    if !is_ready() {
        return;
    }
    let server = Server::new();
    server.branch("right", honest);
    let runner_of_right = runner(&server, "right").input("junit", "out.xml");
    let steps = runner_of_right.runs();
    let codes: Vec<_> = steps.iter().map(|step| step.code).collect();
    assert_eq!(codes, [0, 0, 0], "{}", steps[1].output);
    assert!(runner_of_right.outputs().contains("verdict=pass"));
    assert!(runner_of_right.summary().starts_with("## ✅ gate: pass"));
    assert!(runner_of_right.job.folder.join("out.xml").is_file());
    let server = Server::new();
    server.branch("wrong", weakened);
    let runner_of_wrong = runner(&server, "wrong");
    let steps = runner_of_wrong.runs();
    assert_eq!(steps[1].code, 1, "{}", steps[1].output);
    let annotation = "::error file=tests/test_cart.py,line=9,";
    assert!(steps[1].output.contains(annotation), "{}", steps[1].output);
    assert!(runner_of_wrong.outputs().contains("verdict=fail"));
    assert!(runner_of_wrong.summary().contains("assert 10000 == 9000"));
}

#[test]
fn a_program_comes_from_a_path_an_archive_by_its_digest_or_a_build() {
    if !is_ready() {
        return;
    }
    let server = Server::new();
    server.branch("right", honest);
    let packed = server.path("packed/exit-gate-1/bin");
    fs::create_dir_all(&packed).unwrap();
    std::os::unix::fs::symlink(GATE, packed.join("gate")).unwrap();
    let archive = server.path("gate.tar.gz");
    let tar = Command::new("tar")
        .args(["-czf", archive.to_str().unwrap(), "-C"])
        .args([server.path("packed").to_str().unwrap(), "exit-gate-1"])
        .status();
    assert!(tar.unwrap().success());
    let digest = Command::new("sha256sum").arg(&archive).output().unwrap();
    let digest = String::from_utf8(digest.stdout).unwrap()[..64].to_owned();
    let event = server.request("right");
    let from = |inputs: &[(&str, &str)]| {
        let job = server.merge_job("right", 0);
        let runner = Runner::new(job, event.clone());
        inputs.iter().fold(runner, |runner, (name, value)| runner.input(name, value)).runs()
    };
    let address = archive.to_str().unwrap();
    let steps = from(&[("archive", address), ("sha256", &digest.to_uppercase())]);
    assert!(steps.iter().all(|step| step.code == 0), "{}", steps[0].output);
    let steps = from(&[("archive", address), ("sha256", &"0".repeat(64))]);
    assert!(
        steps[0].code == 2 && steps[0].output.contains("has the digest"),
        "{}",
        steps[0].output
    );
    let steps = from(&[("archive", address)]);
    assert!(steps[0].code == 2 && steps[0].output.contains("sha256:"), "{}", steps[0].output);
    let steps = from(&[("archive", "http://localhost/gate.tar.gz"), ("sha256", &digest)]);
    assert!(steps[0].code == 2 && steps[0].output.contains("neither https"), "{}", steps[0].output);
    let steps = from(&[("program", "/nowhere/gate")]);
    assert!(steps[0].code == 2 && steps[0].output.contains("no program"), "{}", steps[0].output);
    // The cache has what was built before.
    let built = server.path("home/.cache/exit-gate/bin");
    fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(GATE, built.join("gate")).unwrap();
    let steps = from(&[("install-only", "true")]);
    assert_eq!(steps[0].code, 0, "{}", steps[0].output);
    assert!(steps[0].output.starts_with("gate "), "{}", steps[0].output);
}

#[test]
fn the_label_goes_with_the_next_push() {
    if !is_ready() {
        return;
    }
    let server = Server::new();
    server.branch("wrong", weakened);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]").unwrap();
        sender.send(String::from_utf8_lossy(&request[..length]).into_owned()).unwrap();
    });
    let labelled = |action: &str, address: &str| {
        let mut event = server.request("wrong");
        event["action"] = json!(action);
        event["label"] = json!({ "name": "gate-approved" });
        event["sender"] = json!({ "login": "ada" });
        event["pull_request"]["number"] = json!(7);
        event["pull_request"]["labels"] = json!([{ "name": "gate-approved" }]);
        let job = server.merge_job("wrong", 0);
        let job = job.set("GITHUB_API_URL", address).set("GITHUB_REPOSITORY", "acme/shop");
        Runner::new(job, event).input("program", GATE)
    };
    let steps = labelled("labeled", &address).runs();
    assert_eq!(steps.iter().map(|step| step.code).collect::<Vec<_>>(), [0, 0]);
    let steps = labelled("synchronize", &address).runs();
    assert_eq!(steps.iter().map(|step| step.code).collect::<Vec<_>>(), [0, 1, 0]);
    let request = requests.recv_timeout(Duration::from_secs(10)).expect(&steps[2].output);
    let expected = "DELETE /repos/acme/shop/issues/7/labels/gate-approved ";
    assert!(request.starts_with(expected), "{request}");
    assert!(request.contains("Authorization: Bearer a-token"), "{request}");
    // A token that may not: the label stays, and counts for nothing.
    let steps = labelled("synchronize", "http://127.0.0.1:9").runs();
    assert_eq!(steps[1].code, 1);
    assert!(steps[2].output.contains("the label gate-approved stays"), "{}", steps[2].output);
}
