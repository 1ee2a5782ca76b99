//! The action's steps, run as GitHub's runner runs them: from a recorded event, on a bare clone.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::runner::{Runner, yaml};
use super::{PRODUCT, Server, TESTS, honest, weakened};
use crate::needs::{needs, root};
use crate::support::GATE;

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
    fill_cache(&server);
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

/// Puts a gate where the action's cache has those that it built before.
fn fill_cache(server: &Server) {
    let built = server.path("home/.cache/exit-gate/bin");
    fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(GATE, built.join("gate")).unwrap();
}

#[test]
fn the_books_eight_lines_judge_a_repository_that_never_had_gate() {
    if !is_ready() {
        return;
    }
    let page = fs::read_to_string(root().join("docs/book/src/howto/ci.md")).unwrap();
    let block = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(block.lines().count(), 8, "{block}");
    let steps = &yaml(block)["jobs"]["gate"]["steps"];
    let steps: Vec<_> = steps.as_array().unwrap().iter().collect();
    let [checkout, judge] = steps[..] else { panic!("{block}") };
    assert_eq!(checkout["uses"].as_str().unwrap().split('@').next(), Some("actions/checkout"));
    assert_eq!(checkout["with"]["fetch-depth"], "0");
    assert!(judge["uses"].as_str().unwrap().contains("/gate@") && judge["with"].is_null());
    let files = [
        ("cart.py", PRODUCT),
        ("tests/test_cart.py", TESTS),
        ("pytest.ini", "[pytest]\npythonpath = .\n"),
        (".gitignore", "__pycache__/\n.pytest_cache/\n"),
    ];
    for (change, code, part) in [
        (honest as fn(&Server), 0, "## ✅ gate: pass"),
        (weakened, 1, "**fails**: `tests/test_cart.py::test_discount`"),
    ] {
        let server = Server::with(&files);
        fill_cache(&server);
        server.branch("work", change);
        let runner = Runner::new(server.merge_job("work", 0), server.request("work"));
        let steps = runner.runs();
        assert_eq!(steps[1].code, code, "{}", steps[1].output);
        assert!(runner.summary().contains(part), "{}", runner.summary());
    }
}
