//! Signal tokens, decision by decision: the prompted agent can say its own token, and no echo, replay
//! or other session can.

use std::fs;

use serde_json::{Value, json};

use crate::support::postgres::Database;
use crate::support::{Ran, gate, judge};

const SETTINGS: &str = "[signal]\ntoken = \"required\"\n[breaker]\nno_progress = 0\n";

/// The two halves in a text, joined as an agent joins them.
#[track_caller]
pub(crate) fn joined(text: &str) -> String {
    let half_after = |mark: &str| {
        let (_, tail) = text.rsplit_once(mark).unwrap_or_else(|| panic!("no {mark:?} in {text}"));
        tail.chars().take_while(char::is_ascii_alphanumeric).collect::<String>()
    };
    let token = half_after("the first half is ") + &half_after("the second half is ");
    assert_eq!(token.len(), 8, "{text}");
    assert!(!text.contains(&token), "the whole stands in {text}");
    token
}

/// The last words of an agent that is done, with this token.
pub(crate) fn done(token: &str) -> String {
    format!(
        "All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is done\nEXIT_TOKEN: {token}\n"
    )
}

/// The text of `gate prompt` for the next iteration.
fn prompted(words: &str) -> (Ran, String) {
    let ran = gate(words).settings(SETTINGS).code(0);
    let text = ran.stdout.clone();
    (ran, text)
}

/// One more decision over this output.
fn check(ran: Ran, words: &str, output: &str, code: i32) -> (Ran, Value) {
    let ran = ran.again(words).file("out.log", output).code(code);
    let decision = ran.json();
    (ran, decision)
}

const CHECK: &str = "check --json --run r out.log";

#[track_caller]
fn refused(decision: &Value, token: &str, reason: &str) {
    assert_eq!(decision["signal"]["status"], "invalid", "{decision}");
    assert_eq!(decision["signal"]["token"], token, "{decision}");
    assert_eq!(decision["reasons"][0]["code"], "signal-invalid");
    assert!(decision["reasons"][0]["message"].as_str().unwrap().contains(reason), "{decision}");
    let misses = decision["signal"]["near_misses"].as_array().unwrap();
    assert!(misses.iter().any(|miss| miss["why"].as_str().unwrap().contains(reason)), "{decision}");
}

#[test]
fn an_agent_that_joins_the_halves_is_believed() {
    let (ran, prompt) = prompted("prompt --run r");
    let ran = ran.again("prompt --run r").code(0);
    assert_eq!(ran.stdout, prompt, "asked again for the same iteration");
    let token = joined(&prompt);
    let (ran, decision) = check(ran, CHECK, &done(&token), 0);
    assert_eq!(
        (&decision["signal"]["token"], &decision["next_token"]),
        (&json!("held"), &Value::Null)
    );
    let explained = ran.again("explain --json").code(0).json();
    assert_eq!(explained["same"], true);
}

#[test]
fn the_feedback_carries_the_halves_of_the_next_token() {
    let (ran, prompt) = prompted("prompt --run r");
    let first = joined(&prompt);
    let (ran, decision) = check(ran, CHECK, "I go on.\n", 1);
    let feedback = decision["feedback"].as_str().unwrap();
    let second = joined(feedback);
    assert_ne!(first, second);
    assert!(feedback.chars().count() <= 1_500);
    let halves = &decision["next_token"];
    assert_eq!(
        halves["first"].as_str().unwrap().to_owned() + halves["second"].as_str().unwrap(),
        second
    );
    assert!(!decision.to_string().contains(&second));
    let ran = ran.again("explain --json").code(0);
    assert_eq!(ran.json()["same"], true);
    let ran = ran.again("prompt --run r").code(0);
    assert_eq!(joined(&ran.stdout), second);
    // An echo of the feedback is no signal.
    let (ran, decision) = check(ran, CHECK, feedback, 1);
    assert_eq!(decision["signal"]["status"], "absent");
    let third = joined(decision["feedback"].as_str().unwrap());
    check(ran, CHECK, &done(&third), 0);
}

#[test]
fn an_earlier_token_and_another_run_s_do_not_hold() {
    let (ran, prompt) = prompted("prompt --run r");
    let first = joined(&prompt);
    let ran = ran.again("prompt --run other").code(0);
    let other_token = joined(&ran.stdout);
    let (ran, _) = check(ran, "check --json --run other out.log", "I go on.\n", 1);
    let (ran, decision) = check(ran, CHECK, &done(&other_token), 1);
    refused(&decision, "other-run", "iteration 1 of the run other");
    let (ran, decision) = check(ran, CHECK, &done(&first), 1);
    refused(&decision, "earlier", "that of iteration 1, and this is 2");
    let (ran, decision) = check(ran, CHECK, &done("bcdf2345"), 1);
    refused(&decision, "wrong", "not this iteration's");
    let (ran, decision) = check(ran, CHECK, "EXIT_STATUS: COMPLETE\n", 1);
    refused(&decision, "missing", "carries no EXIT_TOKEN");
    let token = joined(decision["feedback"].as_str().unwrap());
    let (ran, _) = check(ran, CHECK, &done(&token), 0);
    // The run has ended: its tokens are spent.
    let (_, decision) = check(ran, CHECK, &done(&token), 1);
    refused(&decision, "other-run", "iteration 5 of the run r");
}

#[test]
fn echoes_of_the_prompt_never_pass() {
    let (ran, prompt) = prompted("prompt --run r");
    let quoted = prompt.lines().map(|line| format!("> {line}\n")).collect::<String>();
    let halves = prompt.lines().last().unwrap().to_owned();
    let complete = "\n<promise>COMPLETE</promise>\n";
    let mut ran = ran;
    for echo in [
        prompt.clone(),
        format!("```\n{prompt}```\n"),
        format!("{prompt}{complete}"),
        format!("{quoted}{complete}"),
        format!("EXIT_STATUS: COMPLETE\nEXIT_TOKEN: {halves}\n"),
        format!("{complete}{halves}\n"),
    ] {
        ran = ran.again(&format!("{CHECK} --dry-run")).file("out.log", &echo).code(1);
        assert_ne!(ran.json()["signal"]["status"], "complete", "{echo}");
    }
    check(ran, CHECK, &done(&joined(&prompt)), 0);
}

#[test]
fn a_token_counts_in_the_agent_s_own_last_word_alone() {
    let (ran, prompt) = prompted("prompt --run r");
    let token = joined(&prompt);
    let says = |role: &str, content: Value| json!({ "type": role, "message": { "role": role, "content": content }, "session_id": "s" });
    let tool = json!([{ "type": "tool_result", "tool_use_id": "t", "content": done(&token) }]);
    let word = json!([{ "type": "text", "text": "All tasks are completed.\n\n<promise>COMPLETE</promise>" }]);
    let call =
        json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "cat x" } }]);
    let lines = [says("assistant", call), says("user", tool), says("assistant", word)];
    let text = lines.map(|line| format!("{line}\n")).concat();
    let (ran, decision) = check(ran, &format!("{CHECK} --dry-run"), &text, 1);
    refused(&decision, "missing", "carries no EXIT_TOKEN");
    let bold = format!(
        "\u{1b}[1m**EXIT_STATUS:** COMPLETE\u{1b}[0m\n- **EXIT_TOKEN:** `{}`\n",
        token.to_uppercase()
    );
    let bold = format!("All tasks are completed.\n\n{bold}");
    check(ran, CHECK, &bold, 0);
}

#[test]
fn without_state_no_token_can_hold() {
    let (ran, prompt) = prompted("prompt --run r");
    let said = done(&joined(&prompt));
    let (ran, decision) = check(ran, &format!("{CHECK} --no-state"), &said, 1);
    refused(&decision, "unchecked", "no state is kept (--no-state)");
    let ran = ran.again("scan --json out.log").code(0);
    let scan = ran.json();
    assert_eq!(
        (&scan["signal"]["status"], &scan["signal"]["token"]),
        (&json!("invalid"), &json!("unchecked"))
    );
    assert!(scan["signal"]["problems"][0].as_str().unwrap().contains("was not looked at"));
    // A dry run knows, and spends nothing.
    let (ran, _) = check(ran, &format!("{CHECK} --dry-run"), &said, 0);
    check(ran, CHECK, &said, 0);
}

#[test]
fn where_no_token_is_required_none_is_looked_at_or_made() {
    let ran = judge("check --json --run r out.log", &done("anything")).code(0);
    let decision = ran.json();
    assert_eq!((decision["signal"].get("token"), &decision["next_token"]), (None, &Value::Null));
    assert!(!ran.state().join("signal.key").exists());
    assert!(!gate("prompt").code(0).stdout.contains("EXIT_TOKEN"));
}

#[test]
fn a_lost_key_makes_tokens_void_and_a_damaged_one_stops() {
    let (ran, prompt) = prompted("prompt --run r");
    let said = done(&joined(&prompt));
    let key = ran.state().join("signal.key");
    fs::remove_file(&key).unwrap();
    let (ran, decision) = check(ran, CHECK, &said, 1);
    refused(&decision, "wrong", "not this iteration's");
    fs::write(ran.state().join("signal.key"), "short").unwrap();
    ran.again("check --run r out.log").code(5).stops().tells("signal.key").tells("hint: ");
}

#[test]
fn numbered_iterations_have_tokens_of_their_own() {
    let words = |n: u32| format!("{CHECK} --iteration {n}");
    let (ran, prompt) = prompted("prompt --run r --iteration 1");
    let (ran, decision) = check(ran, &words(1), "I go on.\n", 1);
    let second = joined(decision["feedback"].as_str().unwrap());
    let ran = ran.again("prompt --run r --iteration 2").code(0);
    assert_eq!(joined(&ran.stdout), second);
    let (ran, decision) = check(ran, &words(2), &done(&joined(&prompt)), 1);
    refused(&decision, "earlier", "iteration 1, and this is 2");
    let third = joined(decision["feedback"].as_str().unwrap());
    let (ran, _) = check(ran, &words(3), &done(&third), 0);
    // Told once more what was not heard, and no new loop.
    let (_, again) = check(ran, &words(3), &done(&third), 0);
    assert_eq!(again["repeated"], true);
}

#[test]
fn decisions_in_a_database_have_their_key_beside_it() {
    let Some(database) = Database::new() else { return };
    let settings = format!("{SETTINGS}[project]\nid = \"shop\"\n");
    let url = || database.url.clone();
    let ran = gate("prompt --run r").settings(&settings).env("GATE_DATABASE_URL", url()).code(0);
    let said = done(&joined(&ran.stdout));
    assert!(ran.state().join("signal.key").is_file());
    let ran = ran.again(CHECK).file("out.log", &said).env("GATE_DATABASE_URL", url()).code(0);
    ran.again("explain --json").env("GATE_DATABASE_URL", url()).code(0).says("\"same\": true");
}
