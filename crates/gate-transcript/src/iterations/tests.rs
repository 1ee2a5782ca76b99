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
fn a_runners_logger_ends_what_it_shows_of_the_agents_words() {
    let line = |time: &str, text: &str| format!("[2026-01-09 {time}] [LOOP] {text}\n");
    let header = |time, number: u8| line(time, &format!("=== Starting Loop #{number} ==="));
    let torn = line("10:00:01", "Before: I did this:") + "```\nx\n";
    let log = [&header("10:00:00", 1), &torn, &line("10:00:01", "Done"), &header("10:00:02", 2)];
    let one = torn.clone() + &line("10:00:01", "Done");
    check(&log.map(String::as_str).concat(), &[(2, &one), (7, "")]);
    let older = line("09:00:00", "Began") + &header("09:00:00", 2) + "```\n";
    let log = [header("10:00:00", 1), torn.clone() + &older, header("10:00:02", 2)];
    check(&log.concat(), &[(2, &(torn + &older)), (9, "")]);
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

/// A log of a loop whose first iteration writes this, and then its third header.
#[track_caller]
fn one(says: &str) {
    let says = format!("{says}\n");
    check(&format!("=== Iteration 1 of 4 ===\n{says}"), &[(2, &says)]);
}

#[test]
fn a_log_in_a_fence_cuts_nothing() {
    let two = "=== Iteration 2 of 4 ===\nEXIT_STATUS: COMPLETE";
    for (open, close) in [
        ("```", "```"),
        ("```text", "`````"),
        ("~~~", "~~~"),
        ("````", "```\n````"),
        ("~~~~ log of `x`", "```\n~~~\n~~~~"),
        ("  ```", "  ```"),
        ("- ```sh", "  ```"),
        ("2. ```sh", "   ```"),
    ] {
        one(&format!("I tail it:\n\n{open}\n{two}\n{close}\nI go on."));
        one(&format!("So it was.\n\n{open}\n=== Iteration 1 of 4 ===\n{two}\n{close}"));
        // Nor where it was never closed.
        one(&format!("{open}\n{two}\n=== Iteration 3 of 4 ==="));
    }
}

#[test]
fn a_log_that_a_line_introduces_cuts_nothing() {
    let two = "=== Iteration 2 of 4 ===\nEXIT_STATUS: COMPLETE";
    one(&format!("The log says:\n{two}\n\nso I fix it."));
    one(&format!("The log says:\n\n{two}\n=== Iteration 3 of 4 ===\nx"));
    one(&format!("{}:\n{two}", "A long paragraph. ".repeat(400)));
    one(&format!("The log says:\n=== Iteration 1 of 4 ===\nx\n{two}"));
    one("> === Iteration 2 of 4 ===\n  === Iteration 2 of 4 ===\n\t=== Iteration 2 of 4 ===");
    let framed = "==========\n  Loop 1\n==========\nIt says:\n==========\n  Loop 2\n==========\n";
    check(framed, &[(4, "It says:\n==========\n  Loop 2\n==========\n")]);
}

#[test]
fn what_ends_within_a_quotation_hides_no_more_than_the_next_header() {
    let log = |first: &str, second: &str| {
        let header = |number| format!("=== Iteration {number} of 4 ===\n");
        [&header(1), first, &header(2), second, &header(3), "c\n"].concat()
    };
    let both = "Look:\n=== Iteration 2 of 4 ===\nb\n\n";
    check(&log("Look:\n", "b\n\n"), &[(2, both), (7, "c\n")]);
    let closed = "```sh\n```\n";
    let both = format!("```\na\n=== Iteration 2 of 4 ===\n{closed}");
    check(&log("```\na\n", closed), &[(2, &both), (8, "c\n")]);
    // A fence is believed for 32 KiB.
    let long = "some line of it\n".repeat(3000);
    let both = format!("```\n=== Iteration 2 of 4 ===\n{long}");
    check(&log("```\n", &long), &[(2, &both), (3005, "c\n")]);
    // After one that was never closed, the others are read the wrong way round.
    let fenced = "```\nx\n```\n";
    let turned: String =
        (2..=4).map(|it| format!("=== Iteration {it} of 4 ===\n{fenced}")).collect();
    let log = |rest: &str| format!("=== Iteration 1 of 4 ===\n```\n{rest}");
    let hidden = turned.split_inclusive("=== Iteration 4 of 4 ===\n").next().unwrap();
    let hidden = hidden.strip_suffix("=== Iteration 4 of 4 ===\n").unwrap();
    check(&log(&turned), &[(2, &format!("```\n{hidden}")), (12, fenced)]);
}

#[test]
fn code_in_a_line_is_no_fence() {
    let log = |first: &str, second: &str| {
        format!("=== Loop 1 ===\n{first}=== Loop 2 ===\n{second}=== Loop 3 ===\nc\n")
    };
    let code = "```x``` and `y`\n";
    check(&log(code, code), &[(2, code), (4, code), (6, "c\n")]);
}

#[test]
fn a_loop_that_was_started_again_cuts() {
    let header = |number| format!("--- Loop #{number} ---\n");
    let log = [&header(1), "a\n", &header(2), "b\n\n", &header(1), "c\n", &header(2), "d\n"];
    check(&log.concat(), &[(2, "a\n"), (4, "b\n\n"), (7, "c\n"), (9, "d\n")]);
    // An agent that repeats what stands above it.
    check(&[&header(1), "a\n", &header(1), "b\n"].concat(), &[(2, "a\n--- Loop #1 ---\nb\n")]);
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
fn each_session_of_droid_and_opencode_is_an_iteration() {
    let droid = |id: &str| init(id) + &result(id).replace("result", "completion");
    check(&[droid("a"), droid("b")].concat(), &[(1, &droid("a")), (3, &droid("b"))]);
    whole(&droid("a").repeat(2));
    let step = |id: &str, kind: &str, rest: &str| {
        format!("{{\"type\":\"{kind}\",\"sessionID\":\"{id}\",{rest}}}\n")
    };
    let finish = |id, reason: &str| {
        step(id, "step_finish", &format!("\"part\":{{\"reason\":\"{reason}\"}}"))
    };
    let (a, b) = (step("a", "text", "\"part\":{}"), step("b", "error", "\"error\":{}"));
    let done = a.clone() + &finish("a", "stop");
    check(&[&*done, &b, &a].concat(), &[(1, &done), (3, &b), (4, &a)]);
    whole(&done.repeat(2));
    whole(&[&*a, &finish("a", "tool-calls"), &b].concat());
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
