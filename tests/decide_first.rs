//! `gate run --decide-first`: before the work, a person confirms what the task leaves open.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fooled::tools;
use crate::needs::needs;
use crate::support::{GATE, Ran, Run, gate};
use crate::tests_first::{self, NEW_TEST, shown};
use crate::tests_first_confirm::TERMINAL;

const SETTINGS: &str = "[checks.tests]\ncommand = [\"true\"]\ncontrol = false\n";

/// An agent that does one thing before the decisions, and another one afterwards.
const AGENT: &str = "#!/bin/sh\ncat >prompt\n\
    if grep -q 'this phase: open decisions only' prompt; then cp prompt prompt-list; . ./list.sh\n\
    else . ./code.sh; printf 'Done.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: it is written\\n'\n\
    fi\n";

const LIST: &str = "printf 'I read it.\\n\\nDECISION: column name => tax_rate\\n\
                    DECISION: its default => 0\\n'\n";
const NOTHING: &str = "printf 'All of it is said.\\n\\nDECISION: none\\n'\n";
const CODE: &str = "echo tax_rate >>export.py\n";
const RUN: &str = "run --decide-first --prompt PROMPT.md --json --max-iterations 1 -- ./agent.sh";

fn project(words: &str, list: &str) -> Run {
    gate(words)
        .settings(SETTINGS)
        .file(".gitignore", "prompt*\n*.sh\n")
        .file("export.py", "amount\n")
        .file("PROMPT.md", "Add a tax column to the export.\n")
        .file("list.sh", list)
        .file("code.sh", CODE)
        .script("agent.sh", AGENT)
        .committed()
}

/// The file that a person edits, as the end of the loop names it.
fn file(end: &Value) -> PathBuf {
    let file = PathBuf::from(end["decisions"]["file"].as_str().unwrap());
    assert!(end["next"].as_str().unwrap().contains(file.to_str().unwrap()), "{end}");
    file
}

fn edit(end: &Value, changes: &[(&str, &str)]) {
    let mut text = fs::read_to_string(file(end)).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{text}");
        text = text.replacen(old, new, 1);
    }
    fs::write(file(end), text).unwrap();
}

/// A loop that waits for a person.
#[track_caller]
fn waits(ran: &Ran, iterations: u64, says: &str) -> Value {
    let end = ran.json();
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"blocked".into(), &iterations.into()));
    assert!(end["message"].as_str().unwrap().contains(says), "{end}");
    assert_eq!(end["decisions"]["confirmed"], false, "{end}");
    assert_eq!(ran.file("export.py"), "amount\n");
    end
}

#[test]
fn nothing_begins_before_a_person_has_confirmed_in_the_file() {
    let ran = project(RUN, LIST).code(1);
    let end = waits(&ran, 1, "2 decisions are open: column name, its default");
    let open = json!([{ "question": "column name", "choice": "tax_rate" },
                      { "question": "its default", "choice": "0" }]);
    assert_eq!((&end["verdict"], &end["decisions"]["open"]), (&"blocked".into(), &open));
    assert!(end["resume"].as_str().unwrap().contains(" --decide-first"), "{end}");
    let status = shown(&ran, "status");
    assert!(
        status.contains("BLOCKED") && status.contains(file(&end).to_str().unwrap()),
        "{status}"
    );
    assert!(status.contains("then go on with: `gate run --task"), "{status}");
    assert!(shown(&ran, "ledger verify").starts_with("HOLDS"));
    assert_eq!(ran.beside("last").output().unwrap().status.code(), Some(4));
    // Unattended, silence confirms nothing, and costs nothing.
    let check = RUN.replace("--json", "--json --exit-codes check");
    let ran = ran.again(&check).code(4);
    waits(&ran, 0, "2 decisions are open: column name, its default");
    edit(&end, &[("[ ]", "[?]")]);
    let ran = ran.again(RUN).code(1);
    waits(&ran, 0, ".md:15: `[?]` is no mark: `[x]` confirms the answer");
    edit(&end, &[("[?]", "[x]")]);
    let ran = ran.again(RUN).code(1);
    waits(&ran, 0, "not confirmed yet: its default");
    // The command is required, and the prompt has both answers.
    edit(&end, &[("[ ] 0", "[ ] none"), ("command:", "command: grep -q vat export.py")]);
    let ran = ran.again(RUN).code(1);
    let end = ran.json();
    let decided = json!([
        { "question": "column name", "answer": "tax_rate", "command": "grep -q vat export.py" },
        { "question": "its default", "answer": "none", "edited": true },
    ]);
    assert_eq!((&end["decisions"]["decided"], &end["iterations"]), (&decided, &1.into()), "{end}");
    let unmet = "not met: column name: tax_rate (`grep -q vat export.py`: exit code 1)";
    assert!(end["message"].as_str().unwrap().contains(unmet), "{end}");
    let prompt = ran.file("prompt");
    assert!(prompt.contains("- column name: tax_rate (`grep -q vat export.py` has to pass)"));
    assert!(prompt.contains("- its default: none\n"), "{prompt}");
    assert!(!ran.file("prompt-list").contains("EXIT_STATUS"));
    // A loop that goes on asks nothing again, also without the option.
    let words = RUN.replace("--decide-first", "").replace(" --json", "");
    let ran = ran.again(&words).file("code.sh", "echo vat >>export.py\n").code(0);
    let last = shown(&ran, "last");
    assert!(last.contains("criteria met 1 of 1"), "{last}");
    assert!(last.contains("its default: none (no command shows it)"), "{last}");
    let log = shown(&ran, "log");
    assert!(log.contains("column name (tax_rate), its default (0), by agent.sh"), "{log}");
    assert!(log.contains("column name (tax_rate), its default (none)"), "{log}");
    // The work is done, so the same prompt is another task.
    let ran = ran.again(RUN).setup("git checkout -q export.py").code(1);
    waits(&ran, 1, "2 decisions are open");
}

#[test]
fn a_turn_that_writes_code_or_lists_nothing_is_asked_once_more() {
    let writes = "echo tax >>export.py\necho x >new.py\n";
    let ran = project(RUN, &format!("{writes}{LIST}")).code(1);
    let end = ran.json();
    let says = "the open decisions were not listed: no file may change before the open decisions \
                are confirmed: undo the changes of export.py, new.py";
    assert_eq!((&end["message"], &end["iterations"]), (&says.into(), &2.into()), "{end}");
    assert!(end["next"].as_str().unwrap().starts_with("undo the changes, then go on with: `gate"));
    // What the agent wrote is the person's to judge: nothing is reset.
    assert!(ran.file("export.py").contains("tax") && ran.file("new.py") == "x\n");
    let mends = format!(
        "if [ -f new.py ]; then git checkout -q export.py; rm new.py; {LIST}\nelse {writes}{LIST}fi\n"
    );
    let ran = project(RUN, &mends).code(1);
    waits(&ran, 2, "2 decisions are open");
    let prompt = ran.file("prompt-list");
    assert!(prompt.contains("undo the changes of export.py, new.py (decisions-unlisted)"));
    let ran = project(RUN, "echo 'I would take tax_rate.'\n").code(1);
    let says = "the final message lists no open decisions: no line begins with `DECISION:`";
    assert!(ran.json()["message"].as_str().unwrap().contains(says), "{}", ran.json());
    assert_eq!(ran.json()["iterations"], 2);
}

#[test]
fn with_nothing_open_the_work_begins_at_once() {
    let ran = project(RUN, NOTHING).code(0).tells("no open decisions: the work begins");
    let end = ran.json();
    let decisions = json!({ "by": "agent.sh", "confirmed": true, "file": null,
                            "open": [], "decided": [] });
    assert_eq!((&end["decisions"], &end["iterations"]), (&decisions, &1.into()));
    assert!(!ran.file("prompt").contains("Decided by a person"));
    assert!(shown(&ran, "log").contains("nothing is open, says agent.sh"));
}

#[test]
fn an_agent_confirms_nothing() {
    // It knows the place of the file, and writes it in its turn, ticked.
    let place = "folder=$HOME/.local/state/gate/decisions/$(ls $HOME/.local/share/gate/runs)\n\
                 mkdir -p $folder\nprintf '## 1. column name\\n- [x] tax_rate\\n' >$folder/t1.md\n";
    let words = RUN.replace("--prompt", "--task t1 --prompt");
    let ran = project(&words, &format!("{place}{LIST}")).code(1);
    let end = waits(&ran, 1, "2 decisions are open");
    assert_eq!(file(&end).file_name().unwrap(), "t1.md");
    waits(&ran.again(&words).code(1), 0, "2 decisions are open");
    // It starts the loop again below itself, after it has ticked the boxes.
    let ran = project(&words, LIST).code(1);
    edit(&waits(&ran, 1, ""), &[("[ ]", "[x]"), ("[ ]", "[x]")]);
    let ran = ran.again(&words).env("CLAUDECODE", "1").code(1);
    waits(&ran, 0, "`--decide-first` is for the person in charge");
    // A person's own start confirms the same file.
    ran.again(&words).code(0);
}

#[test]
fn a_loop_that_was_killed_asks_for_the_list_again_and_keeps_one_that_it_has() {
    let kills = "[ -f killed.sh ] || { touch killed.sh; \
                 kill -9 $(ps -o ppid= -p $PPID) $PPID; sleep 5; }\n";
    let ran = project(RUN, &format!("{kills}{LIST}")).run();
    assert_eq!(ran.ended(), None, "{}", ran.stderr);
    let ran = ran.again(RUN).code(1);
    let end = waits(&ran, 1, "2 decisions are open");
    // The file is gone, and the list is not.
    fs::remove_file(file(&end)).unwrap();
    let ran = ran.again(RUN).code(1);
    waits(&ran, 0, "2 decisions are open");
    assert!(fs::read_to_string(file(&end)).unwrap().contains("- [ ] tax_rate"));
}

fn answered(answers: &str, code: i32) -> Ran {
    let words = RUN.replace(" --json", "");
    let args = ["-c", TERMINAL, answers, ">", GATE].into_iter().chain(words.split(' '));
    project("", LIST).program("python3").args(args).code(code)
}

#[test]
fn at_a_terminal_enter_keeps_and_text_replaces() {
    let ran = answered("|none -- grep -q tax_rate export.py", 0);
    ran.says("1 of 2  column name").says("its default: none (`grep -q tax_rate export.py`)");
    let ran = answered("|vat -- grep -q vat export.py", 1).says("its default: vat");
    assert!(ran.file("prompt").contains("- column name: tax_rate\n"));
    // An end of the input is no answer.
    let ran = answered("|^D", 1).says("2 decisions are open, and nothing was confirmed");
    assert_eq!(ran.file("export.py"), "amount\n");
    assert!(!shown(&ran, "log").contains("decided"));
}

#[test]
fn a_command_of_a_person_needs_no_approval_of_settings() {
    let words = RUN.replace("--json", "--json --unverified");
    let ran = project(&words, LIST).setup("rm gate.toml").code(1);
    edit(&waits(&ran, 1, ""), &[("[ ]", "[x]"), ("[ ]", "[x]"), ("command:", "command: true")]);
    let end = ran.again(&words).code(0).json();
    assert_eq!((&end["verified"], &end["verdict"]), (&true.into(), &"exit".into()), "{end}");
}

#[test]
fn criteria_that_only_warn_still_only_warn() {
    let warns = "[checks.acceptance_criteria]\nmode = \"warn\"\n\
                 [[criteria]]\nid = \"decision-1\"\ntext = \"later\"\nverify = [\"false\"]\n";
    let run = project(RUN, LIST).settings(&format!("{SETTINGS}{warns}"));
    let ran = run.committed().code(1);
    edit(&waits(&ran, 1, ""), &[("[ ]", "[x]"), ("[ ]", "[x]"), ("command:", "command: true")]);
    let end = ran.again(RUN).code(0).json();
    assert_eq!(end["verdict"], "exit", "{end}");
}

#[test]
fn another_prompt_is_listed_anew_until_a_person_has_confirmed() {
    let words = RUN.replace("--prompt", "--task t1 --prompt");
    let ran = project(&words, LIST).code(1);
    waits(&ran, 1, "2 decisions are open");
    let other = "Add a tax column to the export: vat, 0 by default.\n";
    let ran = ran.again(&words).file("PROMPT.md", other).file("list.sh", NOTHING).code(0);
    ran.tells("no open decisions: the work begins");
}

#[test]
#[ignore = "minutes: projects with real test runners"]
fn decisions_come_before_tests() {
    if !needs("pytest") {
        return;
    }
    let words =
        "run --decide-first --tests-first --task t1 --prompt PROMPT.md --json -- ./agent.sh";
    let agent = "#!/bin/sh\ncat >prompt\n\
        if grep -q 'this phase: open decisions only' prompt; then cat says-list; exit; fi\n\
        if grep -q 'this phase: tests only' prompt; then cp prompt prompt-tests; . ./tests.sh\n\
        else . ./code.sh; fi\ncat says\n";
    let list = "DECISION: division by zero => raise ValueError\n";
    let project = tests_first::project(words, NEW_TEST, tests_first::CODE);
    let ran = project.script("agent.sh", agent).file("says-list", list).committed().code(1);
    let end = ran.json();
    assert!(end["resume"].as_str().unwrap().contains(" --tests-first"), "{end}");
    edit(&end, &[("[ ]", "[x]"), ("command:", "command: grep -q // calc.py")]);
    let ran = tools(ran.again(words)).code(0);
    let end = ran.json();
    assert_eq!((&end["tests_first"]["locked"], &end["success"]), (&true.into(), &true.into()));
    let decided = "- division by zero: raise ValueError (`grep -q // calc.py` has to pass)";
    assert!(ran.file("prompt-tests").contains(decided) && ran.file("prompt").contains(decided));
    let last = shown(&ran, "last");
    assert!(last.contains("criteria met 1 of 1, tests written first 1"), "{last}");
}

#[test]
fn what_cannot_go_with_it_is_refused() {
    for other in ["--work", "--force-complete --reason x"] {
        let words = format!("run --decide-first --prompt PROMPT.md {other} -- ./agent.sh");
        let ran = project(&words, LIST).code(2).tells("cannot be used with");
        assert_eq!(ran.file("prompt"), "");
    }
}
