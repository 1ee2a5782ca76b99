//! The calls of tools that formats show.

use std::fmt::Write;

use crate::{Answer, Call, Event, Reader, Sink};

#[derive(Default)]
struct Calls(String);

impl Sink for Calls {
    fn event(&mut self, _event: Event<'_>) {}

    fn called(&mut self, call: &Call<'_>) {
        let Call { tool, line, .. } = call;
        writeln!(
            self.0,
            "{line} {tool}: {}",
            call.about().unwrap_or_default().lines().next().unwrap_or_default()
        )
        .unwrap();
    }
}

#[track_caller]
fn check(input: &[&str], expected: &[&str]) {
    let (mut calls, mut reader) = (Calls::default(), Reader::new(None));
    reader.push((input.join("\n") + "\n").as_bytes(), &mut calls);
    reader.finish(&mut calls);
    assert_eq!(calls.0.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn claude_shows_commands_and_paths() {
    check(
        &[
            r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
            r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"a","name":"Edit","input":{"file_path":"src/a.rs","old_string":"x"}},{"type":"tool_use","id":"b","name":"Bash","input":{"description":"all","command":"make"}}]}}"#,
        ],
        &["2 Edit: src/a.rs", "2 Bash: make"],
    );
}

#[test]
fn codex_shows_commands_and_changed_files() {
    check(
        &[
            r#"{"type":"thread.started","thread_id":"1"}"#,
            r#"{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"make test"}}"#,
            r#"{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"a.py","kind":"update"}],"status":"completed"}}"#,
        ],
        &["2 command_execution: make test", "3 file_change: a.py"],
    );
}

#[test]
fn a_rollout_shows_patches_and_shells() {
    check(
        &[
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","call_id":"c","input":"*** Begin Patch\n*** Update File: a.py"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"d","arguments":"{\"command\":[\"make\",\"test\"]}"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"mcp__a__write_file","call_id":"e","arguments":"{\"path\":\"/w/a.md\",\"content\":\"x\"}"}}"#,
        ],
        &["2 apply_patch: *** Begin Patch", "3 shell: make test", "4 mcp__a__write_file: /w/a.md"],
    );
}

/// The ids of calls, and those of answers with their ends.
#[derive(Default)]
struct Answers(Vec<String>);

impl Sink for Answers {
    fn event(&mut self, _event: Event<'_>) {}

    fn called(&mut self, call: &Call<'_>) {
        self.0.push(format!("{} called", call.id));
    }

    fn answered(&mut self, answer: &Answer<'_>) {
        self.0.push(format!("{} {:?}", answer.id, answer.ending));
    }
}

#[track_caller]
fn answers(input: &[&str], expected: &[&str]) {
    let (mut answers, mut reader) = (Answers::default(), Reader::new(None));
    reader.push((input.join("\n") + "\n").as_bytes(), &mut answers);
    reader.finish(&mut answers);
    assert_eq!(answers.0, expected);
}

#[test]
fn answers_name_their_calls_in_any_order() {
    answers(
        &[
            r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#,
            r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"b","name":"Bash","input":{"command":"make test"}}]}}"#,
            r#"{"type":"user","session_id":"s","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"Exit code 1","is_error":true},{"type":"tool_result","tool_use_id":"a","content":"ok"}]}}"#,
        ],
        &["a called", "b called", "b Failed", "a Succeeded"],
    );
}

#[test]
fn code_for_a_shell_is_a_command() {
    for (language, expected) in [("shell", "2 run: make"), ("python", "2 run: python")] {
        let call = format!(
            r#"{{"type":"assistant","session_id":"s","message":{{"content":[{{"type":"tool_use","id":"a","name":"run","input":{{"language":"{language}","code":"make"}}}}]}}}}"#
        );
        let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
        check(&[init, &call], &[expected]);
    }
}

#[test]
fn a_script_in_a_rollout_calls_tools_in_its_name() {
    answers(
        &[
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call","name":"exec","call_id":"c","input":"await tools.exec_command({cmd: 'make'}); await tools.exec_command({cmd: 'ls'})"}}"#,
            r#"{"timestamp":"t","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":"Script completed"}}"#,
        ],
        &["c called", "c called", "c Unmarked"],
    );
}

#[test]
fn the_steps_of_antigravity_answer_in_order_and_tasks_later() {
    let step = |kind: &str, status: &str, content: &str| {
        format!(
            r#"{{"step_index":1,"source":"MODEL","type":"{kind}","status":"{status}","content":"{content}"}}"#
        )
    };
    let calls = r#"{"step_index":0,"source":"MODEL","type":"PLANNER_RESPONSE","tool_calls":[{"name":"run_command","args":{"CommandLine":"\"make\""}},{"name":"write_to_file","args":{"TargetFile":"/w/a.py"}}]}"#;
    let runs =
        r"Created At: t\nTool is running as a background task with task id: c-1/task-7\nmake";
    let ended = r"<SYSTEM_MESSAGE>\nsender=c-1/task-7 content=Task c-1/task-7 finished with result:\n\t\tThe command failed with exit code: 2\n";
    answers(
        &[
            calls,
            &step("RUN_COMMAND", "RUNNING", runs),
            &step("CODE_ACTION", "ERROR", "No such file."),
            &step("SYSTEM_MESSAGE", "DONE", ended),
            &step("GENERIC", "DONE", "An answer to nothing."),
        ],
        &["1 called", "2 called", "2 Failed", "1 Unmarked"],
    );
    check(&[calls], &["1 run_command: make", "1 write_to_file: /w/a.py"]);
}

#[test]
fn a_whole_input_is_read_from_its_beginning() {
    let begin = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
    let call = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"make"}}]},"session_id":"s"}"#;
    let answer = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"a","type":"tool_result","content":"{}"}}]}},"session_id":"s"}}"#,
        "x".repeat(1 << 19)
    );
    let input = [begin, call, &answer, call, &answer].join("\n") + "\n";
    let read = |mut reader: Reader| {
        let mut answers = Answers::default();
        reader.push(input.as_bytes(), &mut answers);
        reader.finish(&mut answers);
        answers.0.len()
    };
    assert_eq!((read(Reader::whole(None)), read(Reader::new(None))), (4, 3));
}

#[test]
fn another_process_of_a_session_on_the_disk_is_no_prompt() {
    #[derive(Default)]
    struct Boundaries(usize);
    impl Sink for Boundaries {
        fn event(&mut self, event: Event<'_>) {
            self.0 += usize::from(matches!(event, Event::Boundary(..)));
        }
    }
    let lines = [
        r#"{"type":"user","sessionId":"s","message":{"content":"Do it."}}"#,
        r#"{"type":"assistant","session_id":"p","sessionId":"s","message":{"content":[{"type":"text","text":"One."}]}}"#,
        r#"{"type":"assistant","sessionId":"s","message":{"content":[{"type":"text","text":"Two."}]}}"#,
    ];
    let (mut boundaries, mut reader) = (Boundaries::default(), Reader::new(None));
    reader.push((lines.join("\n") + "\n").as_bytes(), &mut boundaries);
    reader.finish(&mut boundaries);
    assert_eq!(boundaries.0, 1);
}
