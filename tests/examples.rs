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
