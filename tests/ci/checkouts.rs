//! Checkouts as CIs make them: the same honest change passes in each, the same weakened test fails,
//! and where nothing can be compared, the line that mends it does.

use serde_json::{Value, json};

use super::{Job, Server, honest, weakened};
use crate::needs::needs;
use crate::support::is_full;

/// A job for a branch of the server.
type Checkout = for<'s> fn(&'s Server, &str) -> Job<'s>;

/// Checkouts that have what is to be compared.
const WHOLE: [(&str, Checkout); 19] = [
    ("GitHub, the merge, all history", |server, branch| server.merge_job(branch, 0)),
    ("GitHub, the merge, two commits", |server, branch| server.merge_job(branch, 2)),
    ("GitHub, the head, detached, no default branch", |server, branch| {
        let job = whole_clone(server, branch);
        job.on_github("pull_request", &server.request(branch))
    }),
    ("GitHub, main went on since the pull request began", |server, branch| {
        let event = server.request(branch);
        server.advance_main(|server| server.edit("tests/test_cart.py", "[1, 2]", "[2, 1]"));
        whole_clone(server, branch).on_github("pull_request", &event)
    }),
    ("GitHub, the branch took in main, and its event is older", |server, branch| {
        let event = server.request(branch);
        server.advance_main(|server| {
            server.edit("cart.py", "name.title()", "name.upper()");
            server.edit("tests/test_cart.py", "\"Ada\"", "\"ADA\"");
        });
        server.git("desk", &["merge", "-q", "-m", "take in main", "main"]);
        server.git("desk", &["push", "-q", "origin", branch]);
        whole_clone(server, branch).on_github("pull_request", &event)
    }),
    ("GitHub, a fork", |server, branch| {
        server.merge_ref(branch);
        let steps = [
            "fetch -q origin +refs/heads/main:refs/remotes/origin/main \
             +refs/pull/7/head:refs/remotes/pull/7/head",
            "checkout -q --detach refs/remotes/pull/7/head",
        ];
        let mut event = server.request(branch);
        event["pull_request"]["head"]["repo"] = json!({ "full_name": "mallory/shop" });
        server.job(&steps).on_github("pull_request", &event)
    }),
    ("GitHub, a push to a branch", |server, branch| {
        let before = server.commit_of("desk", "main");
        push(server, branch, json!({ "before": before, "forced": false }), branch)
    }),
    ("GitHub, a push to main", |server, branch| {
        let before = server.commit_of("desk", "main");
        server.git("desk", &["push", "-q", "origin", &format!("{branch}:main")]);
        push(server, branch, json!({ "before": before, "forced": false }), "main")
    }),
    ("GitHub, a new branch", |server, branch| {
        push(server, branch, json!({ "before": "0".repeat(40), "created": true }), branch)
    }),
    ("GitHub, a forced push, the old commit is gone", |server, branch| {
        let before = "7".repeat(40);
        push(server, branch, json!({ "before": before, "forced": true }), branch)
    }),
    ("GitHub, a forced push, the old commit is there", |server, branch| {
        let before =
            server.output("desk", &["commit-tree", "main^{tree}", "-p", "main", "-m", "x"]);
        server.git("desk", &["push", "-q", "origin", &format!("{}:refs/heads/old", before.trim())]);
        push(server, branch, json!({ "before": before.trim(), "forced": true }), branch)
    }),
    ("GitHub, the merge queue", |server, branch| {
        let group = json!({
            "base_sha": server.commit_of("desk", "main"),
            "base_ref": "refs/heads/main",
            "head_sha": server.commit_of("desk", branch),
        });
        let event = json!({ "action": "checks_requested", "merge_group": group });
        whole_clone(server, branch).on_github("merge_group", &event)
    }),
    ("GitLab, the source branch", |server, branch| {
        let base = server.commit_of("desk", "main");
        let job = whole_clone(server, branch).set("GITLAB_CI", "true");
        job.set("CI_MERGE_REQUEST_IID", "7")
            .set("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .set("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", "")
            .set("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)
    }),
    ("GitLab, a merged result", |server, branch| {
        let merge = server.merge_ref(branch);
        let base = server.commit_of("desk", "main");
        let steps = [&*format!("fetch -q --depth=20 origin {merge}"), "checkout -q FETCH_HEAD"];
        let job = server.job(&steps).set("GITLAB_CI", "true").set("CI_MERGE_REQUEST_IID", "7");
        job.set("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .set("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &base)
            .set("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base)
    }),
    ("GitLab, a push", |server, branch| {
        let before = server.commit_of("desk", "main");
        let job = whole_clone(server, branch).set("GITLAB_CI", "true");
        job.set("CI_PIPELINE_SOURCE", "push")
            .set("CI_COMMIT_BRANCH", branch)
            .set("CI_DEFAULT_BRANCH", "main")
            .set("CI_COMMIT_BEFORE_SHA", before)
    }),
    ("Bitbucket, main merged into the branch, a short commit", |server, branch| {
        let base = server.advance_main(|server| server.write("NOTES.txt", "x\n"));
        let job = whole_clone(server, branch);
        job.git("-c user.name=x -c user.email=x merge -q -m merge origin/main");
        job.set("BITBUCKET_BUILD_NUMBER", "1")
            .set("BITBUCKET_PR_ID", "7")
            .set("BITBUCKET_PR_DESTINATION_BRANCH", "main")
            .set("BITBUCKET_PR_DESTINATION_COMMIT", &base[..12])
    }),
    ("Jenkins, main merged into the branch", |server, branch| {
        server.advance_main(|server| server.write("NOTES.txt", "x\n"));
        let job = whole_clone(server, branch);
        job.git("-c user.name=x -c user.email=x merge -q -m merge origin/main");
        job.set("JENKINS_URL", "http://localhost/")
            .set("CHANGE_ID", "7")
            .set("CHANGE_TARGET", "main")
    }),
    ("no CI, a local branch", |server, branch| {
        let job = whole_clone(server, branch);
        job.git(&format!("checkout -q -B {branch}"));
        job
    }),
    ("GitHub, the default branch has another name", |server, branch| {
        server.git("server.git", &["branch", "-m", "main", "trunk"]);
        server.git("server.git", &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
        let mut event = server.request(branch);
        event["pull_request"]["base"]["ref"] = json!("trunk");
        whole_clone(server, branch).on_github("pull_request", &event)
    }),
];

/// Checkouts that lack the base.
const LACKING: [(&str, Checkout); 6] = [
    ("GitHub, the merge, one commit", |server, branch| server.merge_job(branch, 1)),
    ("GitHub, the head, one commit", |server, branch| {
        let steps = [&*format!("fetch -q --depth=1 origin {branch}"), "checkout -q FETCH_HEAD"];
        server.job(&steps).on_github("pull_request", &server.request(branch))
    }),
    ("GitHub, a push, one commit", |server, branch| {
        let before = server.commit_of("desk", "main");
        let steps = [&*format!("fetch -q --depth=1 origin {branch}"), "checkout -q FETCH_HEAD"];
        let event = json!({
            "before": before, "forced": false, "repository": { "default_branch": "main" },
        });
        let job = server.job(&steps).on_github("push", &event);
        job.set("GITHUB_REF", format!("refs/heads/{branch}"))
    }),
    ("GitLab, one commit", |server, branch| {
        let base = server.commit_of("desk", "main");
        let steps = [&*format!("fetch -q --depth=1 origin {branch}"), "checkout -q FETCH_HEAD"];
        let job = server.job(&steps).set("GITLAB_CI", "true").set("CI_MERGE_REQUEST_IID", "7");
        job.set("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
            .set("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)
    }),
    ("Jenkins, the head alone", |server, branch| {
        let fetch = format!("fetch -q origin +refs/heads/{branch}:refs/remotes/origin/PR-7");
        let job = server.job(&[&fetch, "checkout -q --detach refs/remotes/origin/PR-7"]);
        job.set("JENKINS_URL", "http://localhost/")
            .set("CHANGE_ID", "7")
            .set("CHANGE_TARGET", "main")
    }),
    ("no CI, `git clone --depth 1 --branch`", |server, branch| {
        let fetch =
            format!("fetch -q --depth=1 origin +refs/heads/{branch}:refs/remotes/origin/{branch}");
        let checkout = format!("checkout -q -B {branch} origin/{branch}");
        let head = format!("symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/{branch}");
        server.job(&[&fetch, &checkout, &head])
    }),
];

/// All branches, and this one checked out, detached.
fn whole_clone<'s>(server: &'s Server, branch: &str) -> Job<'s> {
    let checkout = format!("checkout -q --detach refs/remotes/origin/{branch}");
    server.job(&["fetch -q origin +refs/heads/*:refs/remotes/origin/*", &checkout])
}

fn push<'s>(server: &'s Server, branch: &str, mut event: Value, to: &str) -> Job<'s> {
    event["repository"] = json!({ "default_branch": "main" });
    let job = whole_clone(server, branch).on_github("push", &event);
    job.set("GITHUB_REF", format!("refs/heads/{to}"))
}

/// Judges a weakened test in checkouts. What is compared there is the same for an honest change,
/// which the first one shows; `.ci/full` judges it in all.
fn in_each(checkouts: &[(&str, Checkout)]) {
    if !needs("pytest") {
        return;
    }
    for (index, (name, checkout)) in checkouts.iter().enumerate() {
        if index == 0 || is_full() {
            is_right(name, *checkout);
        }
        is_wrong(name, *checkout);
    }
}

fn is_right(name: &str, checkout: Checkout) {
    let server = Server::new();
    server.branch("right", honest);
    let ended = checkout(&server, "right").runs("");
    assert_eq!(ended.code, 0, "{name}: {}{}", ended.stdout, ended.stderr);
    let passed = "PASS  2 checks, 4 tests passed, compared with";
    assert!(ended.stdout.starts_with(passed), "{name}: {}", ended.stdout);
}

fn is_wrong(name: &str, checkout: Checkout) {
    let server = Server::new();
    server.branch("wrong", weakened);
    let ended = checkout(&server, "wrong").runs("");
    assert_eq!(ended.code, 1, "{name}: {}{}", ended.stdout, ended.stderr);
    for part in ["test_discount", "+1 −1", "assert 10000 == 9000"] {
        assert!(ended.stdout.contains(part), "{name}: {part}: {}", ended.stdout);
    }
}

#[test]
fn the_merge_of_a_pull_request_is_compared() {
    in_each(&WHOLE[1..2]);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_whole_checkout_of_github_is_compared() {
    in_each(&WHOLE[..12]);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn a_whole_checkout_of_others_is_compared() {
    in_each(&WHOLE[12..]);
}

#[test]
fn a_checkout_without_its_base_is_no_verdict_and_the_named_line_mends_it() {
    are_mended(&LACKING[..1]);
}

#[test]
#[ignore = "minutes: many pull requests"]
fn each_checkout_without_its_base_is_mended_by_the_named_line() {
    are_mended(&LACKING[1..]);
}

/// Nothing can be compared in these checkouts, until the line that the error names has run.
fn are_mended(checkouts: &[(&str, Checkout)]) {
    if !needs("pytest") {
        return;
    }
    for (name, checkout) in checkouts {
        let server = Server::new();
        server.branch("wrong", weakened);
        let job = checkout(&server, "wrong");
        let ended = job.runs("");
        assert_eq!(ended.code, 2, "{name}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains("nothing can be compared"), "{name}: {}", ended.stderr);
        let line = ended.stderr.split('`').find(|part| part.starts_with("git fetch"));
        let line = line.unwrap_or_else(|| panic!("{name}: {}", ended.stderr));
        job.git(line.strip_prefix("git ").unwrap());
        let ended = job.runs("");
        assert_eq!(ended.code, 1, "{name}, after {line}: {}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains("test_discount"), "{name}: {}", ended.stdout);
    }
}

#[test]
fn a_workflow_with_secrets_runs_no_code_of_strangers() {
    let server = Server::new();
    server.branch("right", honest);
    let job =
        whole_clone(&server, "right").on_github("pull_request_target", &server.request("right"));
    job.runs("").code(2).says("with the repository's secrets").says("on: [pull_request]");
}

#[test]
fn an_event_that_cannot_be_read_names_its_file_and_line() {
    let server = Server::new();
    server.branch("right", honest);
    let job = whole_clone(&server, "right").on_github("pull_request", &json!({}));
    let event = server.path("bad.json");
    std::fs::write(&event, "{\n  \"action\": \n").unwrap();
    job.set("GITHUB_EVENT_PATH", &event).runs("").code(2).says("bad.json").says("line 3");
}

#[test]
#[ignore = "minutes: many pull requests"]
fn the_first_push_of_a_repository_is_judged_alone_and_the_next_one_is_compared() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    let event = json!({ "before": "0".repeat(40), "created": true });
    push(&server, "main", event, "main").runs("").code(0).says("nothing is there to compare with");
    let job = whole_clone(&server, "main");
    job.runs("").code(0).says("nothing is there to compare with");
    server.advance_main(weakened);
    let job = whole_clone(&server, "main");
    job.runs("").code(1).says("compared with the one before it").says("test_discount");
}

#[test]
fn a_base_that_already_has_the_commit_compares_nothing() {
    let server = Server::new();
    let job = whole_clone(&server, "main");
    job.runs("--base main").code(2).says("already has the commit that is judged");
    job.runs("--base nowhere").code(2).says("nowhere is not in this clone");
}

#[test]
fn what_is_not_committed_yet_is_compared_with_the_commit() {
    if !needs("pytest") {
        return;
    }
    let server = Server::new();
    weakened(&server);
    server.git("desk", &["add", "-A"]);
    let job = Job { server: &server, folder: server.path("desk"), variables: Vec::new() };
    job.runs("--base HEAD").code(1).says("test_discount");
}
