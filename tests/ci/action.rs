//! The action's steps, run as GitHub's runner runs them: from a recorded event, on a bare clone.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::runner::{Runner, yaml};
use super::{PRODUCT, Server, TESTS, honest, weakened};
use crate::needs::{needs, root};
use crate::support::GATE;

/// All is there that these tests start.
pub(super) fn is_ready() -> bool {
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
#[ignore = "minutes: many pull requests"]
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
        let runner = inputs.iter().fold(runner, |runner, (name, value)| runner.input(name, value));
        runner.run_to("Install")
    };
    let address = archive.to_str().unwrap();
    let step = from(&[("archive", address), ("sha256", &digest.to_uppercase())]);
    assert_eq!(step.code, 0, "{}", step.output);
    let step = from(&[("archive", address), ("sha256", &"0".repeat(64))]);
    assert!(step.code == 2 && step.output.contains("has the digest"), "{}", step.output);
    let step = from(&[("archive", address)]);
    assert!(step.code == 2 && step.output.contains("sha256:"), "{}", step.output);
    let step = from(&[("archive", "http://localhost/gate.tar.gz"), ("sha256", &digest)]);
    assert!(step.code == 2 && step.output.contains("neither https"), "{}", step.output);
    let step = from(&[("program", "/nowhere/gate")]);
    assert!(step.code == 2 && step.output.contains("no program"), "{}", step.output);
    // The cache has what was built before.
    fill_cache(&server);
    let step = from(&[("install-only", "true")]);
    assert_eq!(step.code, 0, "{}", step.output);
    assert!(step.output.starts_with("gate "), "{}", step.output);
}

/// Puts a gate where the action's cache has those that it built before.
fn fill_cache(server: &Server) {
    let built = server.path("home/.cache/exit-gate/bin");
    fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(GATE, built.join("gate")).unwrap();
}

#[test]
#[ignore = "minutes: many pull requests"]
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
        let step = runner.run_to("Judge");
        assert_eq!(step.code, code, "{}", step.output);
        assert!(runner.summary().contains(part), "{}", runner.summary());
    }
}
