//! The files in examples/ do what the README says of them.

use crate::needs::{needs, root};
use crate::support::{Run, gate};

fn example(words: &str) -> Run {
    let folder = root().join("examples");
    Run::new(crate::support::GATE).args(["-C".as_ref(), folder.as_os_str()]).args(words.split(' '))
}

#[test]
fn the_finished_agent_may_end_its_loop() {
    let decision = example("check --json finished.log").code(0).json();
    assert_eq!(decision["signal"]["source"], "exit_status");
    assert_eq!(decision["transcript"]["format"], "text");
    example("check finished.log").code(0).says("DONE");
}

#[test]
fn the_unfinished_agent_goes_on() {
    let decision = example("check --json unfinished.jsonl").code(1).json();
    assert_eq!(decision["transcript"]["format"], "claude-stream");
    assert_eq!(decision["signal"]["status"], "continue");
    assert_eq!(decision["transcript"]["problems"], serde_json::json!([]));
}

#[test]
fn the_prompt_holds_the_protocol_and_says_nothing_itself() {
    let prompt = std::fs::read_to_string(root().join("examples/prompt.md")).unwrap();
    assert!(prompt.contains(gate("prompt").code(0).stdout.trim_end()), "{prompt}");
    let record = example("scan --json prompt.md").code(0).json();
    assert_eq!(record["signal"]["status"], "absent");
    assert_eq!(record["indicators"]["score"], 0);
}

#[test]
fn the_labelled_transcripts_are_judged_as_labelled() {
    let ran = example("replay --labels replay/labels.jsonl replay").code(0);
    ran.says("9 iterations in 6 files").says("all ").says("unclear     absent");
    let rows = example("replay --json replay/loop.log replay/stream.jsonl").code(0).json_lines();
    let verdicts: Vec<_> = rows.iter().map(|row| row["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["continue", "continue", "exit", "continue", "exit"]);
    assert_eq!((&rows[2]["first_line"], &rows[4]["first_line"]), (&16.into(), &6.into()));
}

#[test]
fn a_folder_is_replayed_in_batches() {
    if !needs("bash") || !needs("parallel") {
        return;
    }
    let script = root().join("examples/replay-batch.sh");
    let run = Run::new(script).args([root().join("examples/replay")]).with_gate_in_path();
    let rows = run.code(0).json_lines();
    let files: Vec<_> = rows.iter().map(|row| row["file"].as_str().unwrap()).collect();
    assert!(files.len() >= 6 && files.is_sorted(), "{files:?}");
}

fn compiled(name: &str) -> Run {
    let folder = std::path::Path::new(crate::support::GATE).parent().unwrap();
    Run::new(folder.join("examples").join(name))
}

#[test]
fn a_program_reads_a_transcript_with_the_library() {
    let file = root().join("examples/unfinished.jsonl");
    compiled("read_transcript").args([file]).code(0).says("format: claude-stream");
}

#[test]
fn a_program_decides_without_input_and_output() {
    compiled("decide").code(0).says("tests Pass: exit").says("tests Fail: continue");
}

#[test]
fn a_program_gates_its_own_loop() {
    // The agent fails its first iteration: the file that its check asks for is missing.
    let settings = "[checks.file]\ncommand = [\"test\", \"-e\", \"done.txt\"]\n";
    let agent = "test -e begun && touch done.txt; touch begun; \
                 printf 'It is ready.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: the file is there\\n'";
    let run = compiled("gate_a_loop").settings(settings).file("task.md", "Do it.").committed();
    let ran = run.args(["task.md", "sh", "-c", agent]).code(0);
    ran.tells("1 continue: file failed").tells("2 exit: ");
}

#[test]
fn a_loop_that_was_interrupted_starts_with_decisions_of_its_own() {
    // The agent's second call kills the loop. Its third one does the work, and says the same.
    let agent = "echo >>calls; calls=$(wc -l <calls); [ $calls != 2 ] || kill -9 $PPID; \
                 [ $calls -lt 3 ] || touch done.txt; \
                 printf 'It is ready.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: the file is there\\n'";
    let settings = "[checks.file]\ncommand = [\"test\", \"-e\", \"done.txt\"]\n";
    let program = std::path::Path::new(crate::support::GATE).with_file_name("examples/gate_a_loop");
    let once = format!("'{}' task.md sh -c \"$0\"", program.display());
    let run = Run::new("sh").settings(settings).file("task.md", "Do it.").committed();
    let ran = run.args(["-c", &format!("{once}; {once}"), agent]).code(0);
    ran.tells("1 continue: file failed").tells("1 exit: ");
}

#[test]
fn the_book_shows_the_whole_program() {
    let read = |file| std::fs::read_to_string(root().join(file)).unwrap();
    let example = read("examples/gate_a_loop.rs");
    let (_, program) = example.split_once("\n\nuse ").unwrap();
    let shown = format!("```rust,no_run\nuse {program}```\n");
    assert!(read("docs/book/src/howto/loop-rust.md").contains(&shown), "{shown}");
}
