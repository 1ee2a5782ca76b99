//! What an agent says instead of doing it.

use super::{Caught, Row, done, held};
use crate::support::{DONE, Ran, Run, UNDONE, gate, judge};

const ABSENT: Caught = ["reason", "signal-absent", ""];
const INVALID: Caught = ["reason", "signal-invalid", ""];

/// A required check that fails.
const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"exit 1\"]\n";

const RED_SEEN: Caught = ["tests", "fail", ""];

fn says(output: &str) -> Ran {
    judge("check --json out.log", output).run()
}

fn red(output: &str) -> Run {
    judge("check --json out.log", output).settings(RED)
}

/// A line of an agent's stream.
fn line(role: &str, content: &serde_json::Value) -> String {
    let message = serde_json::json!({ "role": role, "content": content });
    format!("{}\n", serde_json::json!({ "type": role, "message": message, "session_id": "s" }))
}

fn streamed(role: &str, content: &serde_json::Value) -> Ran {
    let last = serde_json::json!([{ "type": "text", "text": "I look at it next." }]);
    says(&(line(role, content) + &line("assistant", &last)))
}

pub(super) const ROWS: &[Row] = &[
    done("the signal is quoted, with more to come", ABSENT, || {
        let signal = &DONE[DONE.find("EXIT_STATUS").unwrap()..];
        let quoted = signal.lines().map(|line| format!("    {line}\n")).collect::<String>();
        says(&format!("In the end I will say:\n\n{quoted}\nNow I go on with the importer.\n"))
    }),
    done("the signal stands in a fence", ABSENT, || {
        says(&format!("The protocol is this:\n\n```\n{DONE}```\n"))
    }),
    done("the prompt is repeated", ABSENT, || {
        let ran = gate("prompt").code(0);
        let prompt = ran.stdout.clone();
        ran.again("check --json out.log").file("out.log", prompt).run()
    }),
    done("the signal is printed by a tool", ABSENT, || {
        streamed(
            "user",
            &serde_json::json!([{ "type": "tool_result", "tool_use_id": "t", "content": DONE }]),
        )
    }),
    done("the signal was said in an earlier turn", ABSENT, || {
        streamed("assistant", &serde_json::json!([{ "type": "text", "text": DONE }]))
    }),
    done("the promise is negated", ABSENT, || {
        says("I am NOT saying <promise>COMPLETE</promise> yet, two tests fail.\n")
    }),
    done("the promise is empty", ABSENT, || says("All is done.\n\n<promise></promise>\n")),
    done("the promise has no marks around it", ABSENT, || says("All is done.\n\nCOMPLETE\n")),
    done("an empty promise is asked for", ["error", "config-invalid", ""], || {
        judge("check --json out.log", "").settings("[signal.promise]\nphrases = [\"\"]\n").run()
    }),
    done("two signals contradict each other", ["reason", "signal-contradicts", ""], || {
        says(&format!("{UNDONE}\n<promise>COMPLETE</promise>\n"))
    }),
    done("a signal contradicts itself", ["reason", "signal-contradicts", ""], || {
        says("EXIT_STATUS: CONTINUE\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is done\n")
    }),
    done("a whole message is quoted, where tokens are required", INVALID, || {
        let run = judge("check --json out.log", &format!("I said then:\n\n{DONE}\nI go on.\n"));
        run.settings("[signal]\ntoken = \"required\"\n").run()
    }),
    held(
        "a key of a JSON signal is said twice",
        INVALID,
        "exit::what_an_attacker_tries_is_refused",
    ),
    done("a text is full of words for done", ABSENT, || {
        says("Done. All tasks are completed, everything is perfect and ready. All tests pass.\n")
    }),
    done("work remains, in the signal's own words", ["reason", "signal-continue", ""], || {
        says(&format!("All tasks are completed. Everything is done.\n\n{UNDONE}"))
    }),
    done("tests are said to pass", RED_SEEN, || {
        red(&format!("tests: pass, lint: pass\nTESTS_STATUS: PASSING\n4966/4966 passed\n\n{DONE}"))
            .run()
    }),
    done("boxes are ticked", RED_SEEN, || {
        let plan = "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\n";
        let run = red(DONE).settings(&format!("{RED}{plan}")).file("plan.md", "- [ ] a\n");
        run.committed().setup("sed -i 's/\\[ \\]/[x]/' plan.md").run()
    }),
    done("a required check cannot be run", ["tests", "inconclusive", ""], || {
        let none = "[checks.tests]\ncommand = [\"no-such-program\"]\n";
        judge("check --json out.log", DONE).settings(none).run()
    }),
    held(
        "a signal of an earlier iteration is said again",
        INVALID,
        "tokens::an_earlier_token_and_another_run_s_do_not_hold",
    ),
    held(
        "a prompt with halves of a token is repeated",
        ABSENT,
        "tokens::echoes_of_the_prompt_never_pass",
    ),
    held(
        "progress is claimed and nothing changes",
        ["breaker", "tripped", "no_progress"],
        "breaker::a_loop_that_changes_nothing_is_stopped_whatever_it_says",
    ),
    held(
        "done is repeated until a limit stops the loop",
        ["breaker", "tripped", "refused"],
        "breaker::a_loop_that_claims_to_be_done_with_the_same_red_test_is_stopped",
    ),
    held(
        "a handoff claims what gate has not seen",
        ["handoff", "a claim", "not what gate has seen"],
        "handoff_claims::claimed_commands_are_held_against_what_gate_has_seen",
    ),
];
