//! The label that approves, from job to job, before an API that keeps statuses and labels.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::runner::Runner;
use super::{Server, weakened};
use crate::ci::action::is_ready;
use crate::support::GATE;

/// The requests that an API was asked, each as method, path and body.
type Requests = Arc<Mutex<Vec<String>>>;

/// An API that answers for statuses, pull requests and labels of one repository.
struct Api {
    address: String,
    requests: Requests,
}

impl Api {
    /// `head` is the commit of pull request 7.
    fn new(head: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Requests::default();
        let (kept, head) = (Arc::clone(&requests), head.to_owned());
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &kept, &head);
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, requests: &Requests, head: &str) {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    reader.read_line(&mut request).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let request = request.trim_end().trim_end_matches(" HTTP/1.1");
    let mut kept = requests.lock().unwrap();
    let text = match request.split('/').next_back().unwrap() {
        "status" => {
            let notes = kept.iter().filter_map(|one| one.split_once("\n").map(|(_, body)| body));
            let statuses = notes.filter_map(|note| serde_json::from_str::<Value>(note).ok());
            let statuses: Vec<_> = statuses
                .map(|mut status| {
                    status["creator"] = json!({ "login": "github-actions[bot]" });
                    status
                })
                .collect();
            json!({ "statuses": statuses })
        }
        "7" => json!({ "head": { "sha": head } }),
        "pulls" => json!([{ "head": { "sha": head } }]),
        _ => json!([]),
    };
    kept.push(format!("{request}\n{}", String::from_utf8_lossy(&body)));
    let text = text.to_string();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    reader.get_mut().write_all(answer.as_bytes()).unwrap();
}

/// A job of the action for an event of the pull request, with the label on it.
fn job<'s>(server: &'s Server, api: &str, name: &str, event: Value) -> Runner<'s> {
    let job = server.merge_job("work", 0);
    let job = job.set("GITHUB_API_URL", api).set("GITHUB_REPOSITORY", "acme/shop");
    Runner::new(job, event).named(name).input("program", GATE)
}

fn request(server: &Server, action: &str, label: &str) -> Value {
    let mut event = server.request("work");
    event["action"] = json!(action);
    event["label"] = json!({ "name": label });
    event["sender"] = json!({ "login": "ada" });
    event["pull_request"]["number"] = json!(7);
    event["pull_request"]["labels"] = json!([{ "name": "gate-approved" }]);
    event
}

/// The code of the step that judges.
#[track_caller]
fn judged(runner: &Runner<'_>, code: i32) {
    let step = runner.run_to("Judge");
    assert_eq!(step.code, code, "{}", step.output);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn an_approval_holds_for_its_commit_in_all_later_jobs() {
    if !is_ready() {
        return;
    }
    let server = Server::new();
    let head = server.branch("work", weakened);
    let api = Api::new(&head);
    let pull_request = |action: &str, label: &str| {
        job(&server, &api.address, "pull_request", request(&server, action, label))
    };
    judged(&pull_request("opened", ""), 1);
    judged(&pull_request("labeled", "gate-approved"), 0);
    let note = format!("POST /repos/acme/shop/statuses/{head}\n");
    assert!(
        api.requests().iter().any(|request| request.starts_with(&note)),
        "{:?}",
        api.requests()
    );
    judged(&pull_request("labeled", "docs"), 0);
    judged(&pull_request("reopened", ""), 0);
    let queue = "refs/heads/gh-readonly-queue/main/pr-7-0123456789abcdef";
    let merge = server.merge_ref("work");
    let group = json!({
        "base_sha": server.commit_of("desk", "main"), "base_ref": "refs/heads/main",
        "head_sha": merge, "head_ref": queue,
    });
    let event = json!({ "action": "checks_requested", "merge_group": group });
    let runner = job(&server, &api.address, "merge_group", event);
    let merge = server.commit_of(&runner.folder(), "HEAD");
    let mut runner = runner;
    runner.event["merge_group"]["head_sha"] = json!(merge);
    judged(&runner.again("merge_group"), 0);
    let event = json!({
        "before": server.commit_of("desk", "main"), "forced": false,
        "repository": { "default_branch": "main" },
    });
    let runner = job(&server, &api.address, "push", event);
    let merge = server.commit_of(&runner.folder(), "HEAD");
    let runner = runner.set("GITHUB_REF", "refs/heads/main").set("GITHUB_SHA", &merge);
    judged(&runner, 0);
    // Without an API nobody knows.
    judged(
        &job(&server, "http://127.0.0.1:9", "pull_request", request(&server, "reopened", "")),
        1,
    );
}

#[test]
#[ignore = "minutes: many pull requests"]
fn the_label_goes_with_the_next_push() {
    if !is_ready() {
        return;
    }
    let server = Server::new();
    let head = server.branch("work", weakened);
    let api = Api::new(&head);
    let event = || request(&server, "synchronize", "");
    let steps = job(&server, &api.address, "pull_request", event()).runs();
    assert_eq!(steps.iter().map(|step| step.code).collect::<Vec<_>>(), [0, 1, 0]);
    let expected = "DELETE /repos/acme/shop/issues/7/labels/gate-approved\n";
    assert!(api.requests().iter().any(|one| one == expected), "{:?}", api.requests());
    // A token that may not: the label stays, and counts for nothing.
    let steps = job(&server, "http://127.0.0.1:9", "pull_request", event()).runs();
    assert_eq!(steps[1].code, 1);
    assert!(steps[2].output.contains("the label gate-approved stays"), "{}", steps[2].output);
}
