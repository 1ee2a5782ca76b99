//! Logs, cut into iterations.

use super::{Part, Splitter};

/// The line in which each iteration begins, and its text.
fn cut_in(log: &str, piece: usize) -> Vec<(u64, String)> {
    let mut found: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut take = |part: Part<'_>| match part {
        Part::Begin(line) => found.push((line, Vec::new())),
        Part::Bytes(bytes) => found.last_mut().unwrap().1.extend_from_slice(bytes),
    };
    let mut splitter = Splitter::default();
    log.as_bytes().chunks(piece).for_each(|piece| splitter.push(piece, &mut take));
    splitter.finish(&mut take);
    found.into_iter().map(|(line, text)| (line, String::from_utf8(text).unwrap())).collect()
}

/// The same, however the log is cut into pieces.
#[track_caller]
fn cut(log: &str) -> Vec<(u64, String)> {
    let whole = cut_in(log, usize::MAX);
    let pieces: &[usize] = if log.len() > 1 << 20 { &[5000] } else { &[1, 2, 7, 64, 5000] };
    for &piece in pieces {
        assert_eq!(cut_in(log, piece), whole, "in pieces of {piece}");
    }
    whole
}

#[track_caller]
fn check(log: &str, iterations: &[(u64, &str)]) {
    let iterations: Vec<_> =
        iterations.iter().map(|(line, text)| (*line, (*text).into())).collect();
    assert_eq!(cut(log), iterations);
}

/// Nothing is cut, and nothing is lost.
#[track_caller]
fn whole(log: &str) {
    check(log, &[(1, log)]);
}

#[test]
fn a_loops_headers_cut() {
    check(
        "=== Loop started ===\nMax: 3\n\n--- Iteration 1 of 3: Thu Jan 8 ---\nold\n\
         --- Iteration 2 of 3: Thu Jan 8 ---\nnew\nlast\n",
        &[(5, "old\n"), (7, "new\nlast\n")],
    );
    check("=== Loop 1/50 - today ===\na\n=== Loop 2/50 - later ===\nb", &[(2, "a\n"), (4, "b")]);
    check(
        "\u{1b}[32m═══ Round 1 ═══\u{1b}[0m\na\n\u{1b}[32m═══ Round 2 ═══\u{1b}[0m\n",
        &[(2, "a\n"), (4, "")],
    );
    check(
        "==========\n  My Iteration 1 of 9 (amp)\n==========\na\n==========\n  My Iteration 2 of 9 (amp)\n  Story: x\n==========\nb\n",
        &[(4, "a\n==========\n"), (7, "  Story: x\nb\n")],
    );
}

#[test]
fn a_runners_own_log_is_cut_by_its_loops() {
    let line = |text: &str| format!("[2026-01-09 10:00:00] [LOOP] {text}\n");
    let [one, two, other] =
        ["=== Starting Loop #1 ===", "=== Starting Loop #2 ===", "Executing"].map(line);
    let log = format!("{other}{one}{other}{two}{other}{one}{other}");
    check(&log, &[(3, &other), (5, &other), (7, &other)]);
}

#[test]
fn runner_headers_that_a_reader_knows_stay() {
    let first = "# Iteration 3 Log\n\n## Metadata\n--- RAW OUTPUT ---\na\n";
    let second = "# Iteration 5 Log\n\n## Metadata\n--- RAW OUTPUT ---\n# Iteration 3 Log\nb\n";
    check(&format!("{first}{second}"), &[(1, first), (6, second)]);
}

#[test]
fn what_an_agent_writes_cuts_nothing() {
    whole("");
    whole("a\nb");
    whole("I began.\n\n### Iteration 1\nx\n\n### Iteration 2\ny\n");
    whole("Iteration 1\n-----------\nx\nIteration 2\n-----------\n");
    whole("Loop 1\nLoop 2\n");
    whole("=== Iteration ===\n=== Summary of 2 ===\n=== Iteration 1 is over ===\n");
    let late = format!("{}=== Iteration 1 ===\na\n=== Iteration 2 ===\nb\n", "said\n".repeat(40));
    whole(&late);
    check(
        "--- Loop #4 ---\n--- Loop #1 ---\n=== Loop #5 ===\n--- Loop #5 is next ---\n- Loop #5 -\n",
        &[(2, "--- Loop #1 ---\n=== Loop #5 ===\n--- Loop #5 is next ---\n- Loop #5 -\n")],
    );
}

fn init(session: &str) -> String {
    format!("{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\"}}\n")
}

fn result(session: &str) -> String {
    format!("{{\"type\":\"result\",\"result\":\"x\",\"session_id\":\"{session}\"}}\n")
}

#[test]
fn another_session_cuts_after_the_end_of_the_one_before() {
    let (a, b) = ([init("a"), result("a")].concat(), [init("b"), result("b")].concat());
    check(&format!("noise\n{a}{b}"), &[(1, &format!("noise\n{a}")), (4, &b)]);
    let hook = "{\"type\":\"system\",\"subtype\":\"hook_started\",\"session_id\":\"b\"}\n";
    check(&format!("{a}{hook}{b}"), &[(1, &a), (3, &format!("{hook}{b}"))]);
    let gemini = |id: &str| {
        format!("{{\"type\": \"init\", \"session_id\": \"{id}\"}}\n{{\"type\": \"result\"}}\n")
    };
    check(&(gemini("a") + &gemini("b")), &[(1, &gemini("a")), (3, &gemini("b"))]);
}

#[test]
fn the_same_session_goes_on_after_its_result() {
    whole(&[init("a"), result("a"), init("a"), result("a")].concat());
    whole(&[init("a"), init("b"), result("b")].concat());
    let tool = "{\"type\":\"user\",\"text\":\"{\\\"type\\\":\\\"result\\\",\\\"session_id\\\":\\\"z\\\"}\"}\n";
    whole(&[&init("a"), tool, &result("a"), tool].concat());
}

#[test]
fn each_result_of_a_file_of_results_is_an_iteration() {
    check(&result("a").repeat(2), &[(1, &result("a")), (2, &result("a"))]);
    check(&(result("a") + "\n" + &result("b")), &[(1, &(result("a") + "\n")), (3, &result("b"))]);
}

#[test]
fn each_process_of_codex_is_an_iteration() {
    let one = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.started\"}\n\
               {\"type\":\"turn.completed\"}\n";
    check(&one.repeat(2), &[(1, one), (4, one)]);
    whole("{\"type\":\"thread.started\"}\n{\"type\":\"thread.started\"}\n");
}

#[test]
fn long_lines_and_broken_records_pass() {
    whole(&"x".repeat(3 << 20));
    whole(&format!("{}{{\"type\":\"result\",\"result\":\"{}", init("a"), "x".repeat(2 << 20)));
    whole(&format!("{}{{\"type\":\"result\"\n{}", init("a"), init("b")));
}
