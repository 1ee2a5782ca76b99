//! `gate audit`: what stood behind the claims in past transcripts.

mod formats;

use serde_json::{Value, json};

use crate::support::{Ran, Run, gate};

/// A session of Claude Code, written event by event.
pub(crate) struct Session(Vec<Value>);

impl Session {
    pub(crate) fn new() -> Self {
        let init = json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m-1"});
        Self(vec![init]).prompt("Do it.")
    }

    fn event(mut self, kind: &str, content: &Value) -> Self {
        self.0.push(json!({"type": kind, "session_id": "s", "message": {"content": content}}));
        self
    }

    fn prompt(self, text: &str) -> Self {
        self.event("user", &json!(text))
    }

    pub(crate) fn says(self, text: &str) -> Self {
        self.event("assistant", &json!([{"type": "text", "text": text}]))
    }

    fn call(self, name: &str, input: &Value, output: &str, failed: bool) -> Self {
        let id = format!("t{}", self.0.len());
        let call = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        let result = json!([{
            "type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed
        }]);
        self.event("assistant", &call).event("user", &result)
    }

    pub(crate) fn edit(self, path: &str) -> Self {
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        self.call("Edit", &input, "updated", false)
    }

    pub(crate) fn ran(self, command: &str, output: &str) -> Self {
        self.call("Bash", &json!({"command": command}), output, false)
    }

    fn failed(self, command: &str, output: &str) -> Self {
        self.call("Bash", &json!({"command": command}), &format!("Exit code 1\n{output}"), true)
    }

    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|event| format!("{event}\n")).collect()
    }
}

pub(crate) const CLAIM: &str = "The parser is in place and all tests pass.";

fn audit(session: &Session) -> Run {
    gate("audit s.jsonl --json").file("s.jsonl", session.text())
}

/// What stood behind the claims of a session, with the command that decided.
#[track_caller]
fn check(session: &Session, expected: &[(&str, Option<&str>)]) {
    let record = audit(session).code(0).json();
    let items = record["items"].as_array().unwrap();
    let found: Vec<_> = items
        .iter()
        .map(|item| (item["standing"].as_str().unwrap(), item["command"].as_str()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_check_counts_that_passed_after_the_last_edit() {
    let begun = || Session::new().edit("src/a.rs");
    let passed = begun().ran("cargo test 2>&1", "ok").says(CLAIM);
    check(&passed, &[("passed_after", Some("cargo test"))]);
    let stale = begun().ran("cargo test", "ok").edit("src/b.rs").says(CLAIM);
    check(&stale, &[("stale", Some("cargo test"))]);
    let failed = begun().failed("cargo test", "1 failed").says(CLAIM);
    check(&failed, &[("failed", Some("cargo test"))]);
    let mended = begun().failed("cargo test", "").ran("cargo test -q", "ok").says(CLAIM);
    check(&mended, &[("passed_after", Some("cargo test -q"))]);
    check(&begun().says(CLAIM), &[("none", None)]);
}

#[test]
fn prose_is_no_edit_and_a_shell_may_write_files() {
    let session = Session::new().edit("src/a.rs").ran("pytest", "3 passed in 0.1s");
    check(&session.edit("NOTES.md").says(CLAIM), &[("passed_after", Some("pytest"))]);
    let session = Session::new().edit("src/a.py").ran("pytest", "3 passed in 0.1s");
    let session = session.ran("sed -i s/a/b/ src/a.py", "").says(CLAIM);
    check(&session, &[("stale", Some("pytest"))]);
    check(&Session::new().edit("README.md").says(CLAIM), &[]);
}

#[test]
fn an_edit_that_failed_changed_nothing() {
    let input = json!({"file_path": "src/a.rs", "old_string": "x", "new_string": "y"});
    let session = Session::new().edit("src/a.rs").ran("cargo test", "ok");
    let session = session.call("Edit", &input, "<tool_use_error>not found</tool_use_error>", true);
    check(&session.says(CLAIM), &[("passed_after", Some("cargo test"))]);
}

#[test]
fn a_failure_without_a_code_is_one() {
    let run = json!({"command": "npx vitest run"});
    let session = Session::new().edit("a.ts").call("Bash", &run, "vitest failed", true);
    check(&session.says(CLAIM), &[("failed", Some("npx vitest run"))]);
}

#[test]
fn a_hidden_exit_code_gives_way_to_what_is_shown() {
    let piped = |output: &str| {
        let session = Session::new().edit("a.py").ran("pytest -q | tail -1; date", output);
        session.says(CLAIM)
    };
    check(&piped("12 passed in 0.31s"), &[("passed_after", Some("pytest -q"))]);
    check(&piped("1 failed, 11 passed in 0.31s"), &[("failed", Some("pytest -q"))]);
    check(&piped("see above"), &[("unknown", Some("pytest -q"))]);
}

#[test]
fn what_may_have_been_a_check_is_no_accusation() {
    for line in ["python a.py --demo", "bash tools/all.sh", "npm test", "cargo build"] {
        let other = Session::new().edit("a.py").ran(line, "42").says(CLAIM);
        check(&other, &[("unknown", None)]);
    }
    let looks = Session::new().edit("a.py").ran("git diff | head; ls", "a.py").says(CLAIM);
    check(&looks, &[("none", None)]);
    let agent = Session::new().edit("a.py").call("Task", &json!({"prompt": "test"}), "ok", false);
    check(&agent.says(CLAIM), &[("unknown", None)]);
    let background = Session::new().edit("a.py");
    let background = background.ran("pytest", "Command running in background with ID: b1");
    check(&background.says(CLAIM), &[("unknown", Some("pytest"))]);
}

#[test]
fn a_run_in_the_background_ends_in_a_later_answer() {
    let session = Session::new().edit("a.py");
    let session = session.ran("pytest", "Command running in background with ID: b1");
    let poll = json!({"bash_id": "b1"});
    let ended = "<status>completed</status>\n<exit_code>0</exit_code>";
    let session = session.call("BashOutput", &poll, ended, false).says(CLAIM);
    check(&session, &[("passed_after", Some("pytest"))]);
}

#[test]
fn answers_belong_to_their_calls() {
    let call = |id: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    let answer = |id: &str, output: &str| json!({"type": "tool_result", "tool_use_id": id, "content": output});
    let calls = json!([call("x", "pytest -q | tail -1"), call("y", "npx vitest | tail -1")]);
    let answers = json!([
        answer("y", "      Tests  1 failed | 4 passed (5)"),
        answer("x", "3 passed in 0.1s")
    ]);
    let session = Session::new().edit("a.py").event("assistant", &calls).event("user", &answers);
    check(&session.says(CLAIM), &[("failed", Some("npx vitest"))]);
}

#[test]
fn a_long_session_is_read_from_its_beginning() {
    let long = "x".repeat(200_000);
    let session = Session::new().edit("a.rs").ran("cargo test", "ok");
    let session = session.ran("cat big", &long).ran("cat big", &long).says(CLAIM);
    check(&session, &[("passed_after", Some("cargo test"))]);
}

#[test]
fn finished_work_is_claimed_in_prose() {
    let says = |text: &str| Session::new().edit("a.rs").says(text);
    check(&says("Renamed both tables and the view."), &[("none", None)]);
    check(&says("The tables are next. Let me rename them:"), &[]);
    let goes_on = "The rename is complete.\nEXIT_STATUS: IN_PROGRESS\nEXIT_REASON: next table";
    check(&says(goes_on), &[("none", None)]);
}

#[test]
fn each_turn_is_looked_at_by_itself() {
    let session = Session::new().edit("a.rs").says("I look further.");
    let session = session.prompt("Go on.").says("Nothing changed, all tests pass.");
    let session = session.prompt("Go on.").edit("b.rs").ran("cargo test", "ok").says(CLAIM);
    let record = audit(&session).code(0).json();
    let counted = [&record["turns"], &record["changed"], &record["claims"]];
    assert_eq!(counted, [&json!(3), &json!(2), &json!(1)]);
    assert_eq!(record["items"][0]["line"], 13);
    assert_eq!(record["items"][0]["command_line"], 12);
    assert_eq!(record["by"]["model"]["m-1"]["passed_after"], 1);
    assert_eq!(record["share"]["share"], 1.0);
}

#[test]
fn a_turn_goes_on_after_a_hooks_feedback_and_a_compaction() {
    let session = Session::new().edit("a.rs").says("The parser is next. Let me write it:");
    let session = session.prompt("Stop hook feedback: run the tests").ran("cargo test", "ok");
    check(&session.says(CLAIM), &[("passed_after", Some("cargo test"))]);
    let compacted = "This session is being continued from a previous conversation.";
    let session = Session::new().edit("a.rs").says(CLAIM).prompt(compacted);
    check(&session.prompt("Go on."), &[("none", None)]);
}

#[test]
fn what_happened_on_the_way_is_counted() {
    let skip = json!({"file_path": "tests/test_a.py", "new_string": "@pytest.mark.skip\ndef"});
    let session = Session::new().call("Edit", &skip, "ok", false);
    let session = session.ran("git commit --no-verify -m a", "").ran("git log --all -p", "");
    let record = audit(&session.says(CLAIM)).code(0).json();
    let way = json!({
        "tests_edited": 1, "tests_skipped": 1, "no_verify": 1, "history": 1, "denied": 0
    });
    assert_eq!(record["on_the_way"], way);
}

#[test]
fn a_named_commit_and_file_are_looked_up() {
    let run = gate("audit s.jsonl --json").file("b", "").committed();
    let file = run.at("work/a.py").display().to_string();
    let said = format!("Created `{file}` and committed it as 1a2b3c4. All tests pass.");
    let run = run.file("s.jsonl", Session::new().edit(&file).says(&said).text());
    let looked_up = run.code(0).json()["items"][0]["looked_up"].take();
    assert_eq!(
        looked_up,
        json!([
            {"claim": "commit 1a2b3c4", "holds": false},
            {"claim": format!("file {file}"), "holds": false}
        ])
    );
}

#[test]
fn looking_up_a_commit_starts_no_program_of_the_repository() {
    // A partial clone fetches an object that it lacks.
    let settings = "git config core.repositoryFormatVersion 1\n\
                    git config extensions.partialClone origin\n\
                    git config remote.origin.promisor true\n\
                    git config remote.origin.url ssh://localhost/r\n\
                    git config core.sshCommand \"touch '$PWD/started'; false\"\n";
    let run = gate("audit s.jsonl --json").file("b", "").committed().setup(settings);
    let said = format!("Committed it as {}. All tests pass.", "1a2b3c4d5e".repeat(4));
    let session = Session::new().edit(&run.at("work/a.py").display().to_string()).says(&said);
    let ran = run.file("s.jsonl", session.text()).code(0);
    assert_eq!(ran.json()["items"][0]["looked_up"][0]["holds"], false);
    assert!(!ran.path("started").exists());
}

#[test]
fn hooks_of_a_commit_may_be_checks() {
    let commit = |output: &str| {
        Session::new().edit("a.ts").ran("git commit -m 'Add a flag'", output).says(CLAIM)
    };
    let passed = "[COMPLETED] eslint --fix\n[main 1a2b3c4] Add a flag";
    check(&commit(passed), &[("unknown", None)]);
    check(&commit("[main 1a2b3c4] Add a flag"), &[("none", None)]);
}

#[test]
fn a_turn_goes_on_after_a_message_that_no_person_wrote() {
    let session = Session::new().edit("a.rs").says("The agents work.");
    let session = session.prompt("<teammate-message teammate_id=\"b\">done</teammate-message>");
    check(&session.ran("cargo test", "ok").says(CLAIM), &[("passed_after", Some("cargo test"))]);
}

/// A folder of two transcripts, as an agent keeps them.
fn home() -> Ran {
    let passed = Session::new().edit("a.rs").ran("cargo test", "ok").says(CLAIM).text();
    let none = Session::new().edit("a.rs").says(CLAIM).text();
    let run = gate("audit").file("../home/.claude/projects/shop/a.jsonl", &passed);
    run.file("../home/.claude/projects/shop/b.jsonl", &none).code(0)
}

#[test]
fn the_transcripts_of_this_machine_are_found() {
    let ran =
        home().says("AUDIT  50 % of 2 claims had a passing check after the last edit (9–91 %)");
    let ran = ran.says("2 files").says("✓ 1").says("✗ none ran").says("b.jsonl:5 “The parser is");
    let ran = ran.again("audit --since 1h").code(0).says("50 % of 2 claims");
    let ran = ran.again("audit --html -").code(0).says("<h1>50 % of 2 claims");
    let ran = ran.again("audit gone").code(2).tells("gone");
    ran.again("audit gone ../home/.claude/projects").code(2).says("50 % of 2 claims");
}

#[test]
fn without_transcripts_it_names_the_folders_that_it_looked_for() {
    gate("audit").code(0).tells(".claude/projects, ").tells("name one, as in `gate audit FOLDER`");
}

#[test]
fn only_what_the_agent_wrote_is_quoted() {
    let signal = "<promise>COMPLETE</promise>";
    let says = |text: &str| {
        gate("audit s.jsonl").file("s.jsonl", Session::new().edit("a.rs").says(text).text())
    };
    let met = format!("Excellent! All acceptance criteria have been met:\n- a route\n\n{signal}");
    says(&met).code(0).says("“Excellent! All acceptance criteria have been met”");
    let ran = says(signal).code(0).says(" an explicit signal\n");
    assert!(!ran.stdout.contains('“'), "{}", ran.stdout);
}

#[test]
fn a_part_that_passed_is_not_the_whole() {
    let session =
        Session::new().edit("src/a.py").failed("pytest -q", "27 failed, 109 passed in 3.1s");
    let session = session.ran("pytest -q tests/test_form.py", "19 passed in 0.3s").says(CLAIM);
    check(&session, &[("failed", Some("pytest -q"))]);
    let ran = audit(&session).code(0);
    assert_eq!(ran.json()["items"][0]["later_part"], "pytest -q tests/test_form.py");
    ran.again("audit s.jsonl").code(0).says("a part passed, the whole failed");
}

#[test]
fn a_tick_in_a_list_of_tasks_makes_no_check_stale() {
    let session = Session::new().edit("src/a.py").ran("pytest", "3 passed in 0.1s");
    let session = session.edit("tasks/prd.json").edit("docs/sprint-status.yaml").says(CLAIM);
    check(&session, &[("passed_after", Some("pytest"))]);
}
