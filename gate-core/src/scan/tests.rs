//! What a scan tells of a transcript beside its signal.

use super::*;
use crate::decide::signal::Status;

fn scanned(input: &str, from: Option<u64>) -> Scan {
    let policy = Policy::default();
    let patterns = PatternSet::new(&policy.patterns).unwrap();
    let mut scanner = Scanner::new(&patterns, None);
    if let Some(byte) = from {
        scanner.begin_at(byte);
    }
    scanner.push(input.as_bytes());
    scanner.finish(&policy.signal).without_token()
}

fn scan_of(input: &str) -> Scan {
    scanned(input, None)
}

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s1","model":"claude-x"}"#;

fn says(text: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}},"session_id":"s1"}}"#
    )
}

fn user(text: &str) -> String {
    format!(r#"{{"type":"user","message":{{"content":"{text}"}},"session_id":"s1"}}"#)
}

fn calls(id: &str, command: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}]}},"session_id":"s1"}}"#
    )
}

fn answers(id: &str, more: &str) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}",{more}}}]}},"session_id":"s1"}}"#
    )
}

fn failed(message: &str) -> String {
    format!(r#"{{"type":"result","is_error":true,"result":"{message}","session_id":"s1"}}"#)
}

const LIMIT: &str =
    r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1774026000}}"#;

const DENIED: &str = r#""is_error":true,"content":"This command requires approval""#;

fn stream<T: AsRef<str>>(records: &[T]) -> Scan {
    let lines: Vec<_> = std::iter::once(INIT).chain(records.iter().map(AsRef::as_ref)).collect();
    scan_of(&(lines.join("\n") + "\n"))
}

#[test]
fn a_transcript_tells_what_its_format_reports() {
    let end = r#"{"type":"result","is_error":false,"result":"Done.","total_cost_usd":0.5,"duration_ms":9,"usage":{"input_tokens":7},"session_id":"s1"}"#;
    let scan = stream(&[
        user("Go."),
        calls("t1", "make"),
        answers("t1", r#""content":"ok""#),
        calls("t2", "rm -rf x"),
        answers("t2", DENIED),
        says("Done."),
        end.to_owned(),
        failed("API Error: 500"),
    ]);
    let text = |text: &str| Some(text.to_owned());
    let expected = Transcript {
        format: text("claude-stream"),
        client: text("claude-code"),
        session: text("s1"),
        model: text("claude-x"),
        tokens: Some(7),
        cost_micro_usd: Some(500_000),
        duration_ms: Some(9),
        turns: 1,
        errors: vec![Remark { text: "API Error: 500".to_owned(), line: 9 }],
        denials: vec![Remark { text: "Bash".to_owned(), line: 6 }],
        commands: vec![Command { command: "make".to_owned(), exit_code: 0, line: 4 }],
        ..Transcript::default()
    };
    assert_eq!(Transcript { turns: 1, ..scan.transcript.clone() }, expected);
    let observed = scan.observed();
    assert_eq!(observed.session, text("s1"));
    assert_eq!((observed.tokens, observed.cost_micro_usd), (Some(7), Some(500_000)));
    assert_eq!((observed.denied, observed.limited), (scan.effort.denied, scan.effort.limited));
}

#[test]
fn the_last_hundred_of_each_kind_are_kept_and_the_first_hundred_flaws() {
    let errors: Vec<_> = (0..103).map(|number| failed(&format!("error {number}"))).collect();
    let kept = stream(&errors).transcript.errors;
    assert_eq!((kept.len(), kept[0].line, &*kept[99].text), (100, 5, "error 102"));
    let noise: Vec<_> = (0..103).map(|number| format!("noise {number}")).collect();
    let flaws = stream(&noise).transcript.problems;
    assert_eq!((flaws.len(), flaws[0].line, flaws[99].line), (100, 2, 101));
}

#[test]
fn limits_are_those_of_the_last_turn() {
    let limits = |records: &[&str]| stream(records).transcript.limits.len();
    let (prompt, report) = (user("Go."), user("<task-notification>it ended"));
    let compaction = r#"{"type":"system","subtype":"compact_boundary","session_id":"s1"}"#;
    assert_eq!(limits(&[LIMIT, LIMIT]), 2);
    assert_eq!(limits(&[LIMIT, &report]), 1);
    assert_eq!(limits(&[LIMIT, &prompt, LIMIT]), 1);
    assert_eq!(limits(&[LIMIT, &prompt]), 0);
    assert_eq!(limits(&[LIMIT, compaction]), 0);
}

#[test]
fn turns_are_counted_without_notifications() {
    let turns = |records: &[String]| stream(records).transcript.turns;
    let prompt = user("Go.");
    let feedback = user("Stop hook feedback: no");
    let report = user("<task-notification>it ended");
    assert_eq!(turns(&[says("a")]), 0);
    assert_eq!(turns(&[prompt.clone(), says("a"), report, feedback, says("b"), prompt]), 3);
}

#[test]
fn an_agent_has_acted_if_a_tool_spoke_since_the_persons_prompt() {
    let acted = |records: &[String]| stream(records).acted;
    let call = || calls("t1", "make");
    assert!(!acted(&[user("Go."), says("a")]));
    assert!(acted(&[user("Go."), call(), says("a")]));
    assert!(!acted(&[call(), user("Go."), says("a")]));
    assert!(acted(&[user("Go."), call(), user("Stop hook feedback: no"), says("a")]));
    assert!(scanned(&says("a"), Some(7)).acted, "it may have, before");
}

#[test]
fn a_scan_that_begins_later_says_how_far_it_reaches() {
    let reach = |records: &[String], from| {
        let scan = scanned(&(records.join("\n") + "\n"), from);
        assert_eq!(scan.transcript.skipped, from.unwrap_or_default());
        scan.reach
    };
    let called = [calls("t1", "make")];
    assert_eq!(reach(&called, None), Reach::All);
    assert_eq!(reach(&called, Some(100)), Reach::Nothing);
    assert_eq!(reach(&[says("a")], Some(100)), Reach::Word);
    assert_eq!(reach(&[user("Go."), says("a")], Some(100)), Reach::Turn);
    assert_eq!(reach(&[says("a"), user("Go.")], Some(100)), Reach::Turn);
    assert_eq!(reach(&[user("<task-notification>x"), says("a")], Some(100)), Reach::Word);
    assert!(Reach::Nothing < Reach::Word && Reach::Word < Reach::Turn && Reach::Turn < Reach::All);
}

#[test]
fn a_signal_is_doubted_for_what_could_not_be_read_behind_it() {
    let signal = says(r"EXIT_STATUS: COMPLETE\nREMAINING_WORK: none");
    let problems = |records: &[&str]| stream(records).signal.problems;
    let status = |records: &[&str]| stream(records).signal.status;
    let torn = r#"{"type":"assistant","mess"#;
    assert_eq!(
        problems(&[&signal, torn, "{}"]),
        ["line 3: what follows the signal could not be read"]
    );
    assert_eq!(status(&[&signal, torn, "{}"]), Status::Invalid);
    assert_eq!(problems(&[torn, &signal]), [""; 0]);
    assert_eq!(problems(&[&signal, "noise"]), [""; 0]);
}

/// The problem that tells a person how a transcript can be read after all.
const UNKNOWN: &str = "1: JSON of no known format: nobody's words could be found. \
                       `--format` says whose it is; `gate scan --help` lists the names";

#[test]
fn a_long_transcript_of_no_known_format_is_not_silent() {
    let record = "{\"some\":\"object\"}\n";
    for bytes in [100, 70 << 10, 330 << 10, 3 << 20] {
        let scan = scan_of(&record.repeat(bytes / record.len() + 1));
        let problems = &scan.transcript.problems;
        assert_eq!(problems.len(), 1, "{bytes} bytes: {problems:?}");
        assert_eq!(format!("{}: {}", problems[0].line, problems[0].text), UNKNOWN);
        assert!(scan.unknown_format, "{bytes} bytes");
    }
    assert!(!scan_of(&"All is said in words.\n".repeat(30_000)).unknown_format);
}

#[test]
fn flaws_are_told_in_words_with_their_lines() {
    let flaws = |input: &str| -> Vec<String> {
        let problems = scan_of(input).transcript.problems;
        problems.iter().map(|flaw| format!("{}: {}", flaw.line, flaw.text)).collect()
    };
    assert_eq!(flaws(&format!("{INIT}\nnoise\n")), ["2: no record of this format; passed over"]);
    assert_eq!(
        flaws(&format!("{INIT}\n{{\"type\":\"a\n{INIT}\n")),
        ["2: a record that cannot be read; passed over"]
    );
    assert_eq!(flaws(&format!("{INIT}\n{{\"type\":\"a")), ["2: the last record is cut off"]);
    assert_eq!(flaws("{\"some\":\"object\"}\n"), [UNKNOWN]);
    let policy = Policy::default();
    let problems = scan(b"a\n\xff\n", &policy).unwrap().transcript.problems;
    assert_eq!(problems[0].text, "bytes that are not UTF-8 were replaced");
}

#[test]
fn the_last_word_and_the_prompt_are_kept_apart_from_what_a_hook_said() {
    let asked = stream(&[user("Go."), says("One.")]);
    assert_eq!(asked.last_word, "One.");
    let again = stream(&[user("Go."), says("One."), user("Stop hook feedback: no"), says("Two.")]);
    assert_eq!((again.last_word.as_str(), &again.prompt), ("Two.", &asked.prompt));
    let other = stream(&[user("Stop."), says("One.")]);
    assert!(asked.prompt.is_some() && other.prompt != asked.prompt);
    assert_eq!(stream(&[says("One."), user("Go.")]).last_word, "");
}
