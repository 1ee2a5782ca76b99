//! What a person sees of `gate run` while it runs.

use crate::needs::needs;
use crate::support::{GATE, Ran, Run, gate};

const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n";

/// Prints what Claude Code prints, and is done the second time.
const AGENT: &str = r#"#!/bin/sh
cat >/dev/null
echo x >>count
n=$(wc -l <count | tr -d ' ')
printf '{"type":"system","subtype":"init","session_id":"s%s","model":"m","tools":["Bash","Edit"]}\n' "$n"
printf '{"type":"assistant","session_id":"s%s","message":{"id":"m1","content":[{"type":"text","text":"I run the tests."},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"make check"}}]}}\n' "$n"
test "$n" -ge 2 && touch fixed
text='All tasks are completed.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended\n'
printf '{"type":"assistant","session_id":"s%s","message":{"id":"m2","content":[{"type":"text","text":"%s"}]}}\n' "$n" "$text"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"s%s","num_turns":2,"total_cost_usd":0.37}\n' "$text" "$n"
"#;

fn project(words: &str) -> Run {
    gate(words)
        .settings(RED)
        .file("PROMPT.md", "Mend it.\n")
        .file(".gitignore", "count\nscreen\n")
        .script("agent.sh", AGENT)
        .committed()
}

/// What stands at a terminal while gate runs with these words.
fn at_a_terminal(words: &str) -> (Ran, String) {
    let script = "import os, pty, sys\n\
        screen = open('screen', 'wb')\n\
        def read(fd):\n\
        \x20   data = os.read(fd, 65536)\n\
        \x20   screen.write(data)\n\
        \x20   return data\n\
        sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))\n";
    let run = project(words).env("TERM", "xterm").under(["python3", "-c", script]);
    let ran = run.code(0);
    let screen = anstream::adapter::strip_str(&ran.file("screen")).to_string();
    (ran, screen.replace('\r', ""))
}

#[test]
fn a_log_has_a_line_when_an_iteration_begins_one_a_check_and_one_at_its_end() {
    let ran = project("run --task t1 --prompt PROMPT.md -- ./agent.sh").code(0);
    let steps = [
        "iteration 1 begins",
        "check tests: fail",
        "iteration 1 ended: continue",
        "iteration 2 begins",
    ];
    let mut rest = ran.stderr.as_str();
    for step in steps {
        let at = rest.find(step).unwrap_or_else(|| panic!("{step}\n{}", ran.stderr));
        rest = &rest[at..];
    }
    assert!(rest.contains("elapsed, $0.37 so far"), "{rest}");
    assert!(
        rest.contains("check tests: pass") && rest.contains("iteration 2 ended: exit"),
        "{rest}"
    );
    assert_eq!(ran.stderr.lines().count(), 7, "{}", ran.stderr);
    assert!(ran.stderr.lines().all(|line| line.starts_with("gate: ")), "{}", ran.stderr);
}

#[test]
fn a_person_at_a_terminal_reads_what_the_agent_says_and_no_json() {
    if !needs("python3") {
        return;
    }
    let (_, screen) = at_a_terminal("run --task t1 --prompt PROMPT.md -- ./agent.sh");
    for part in [
        "starting ./agent.sh\n",
        "\niteration 1  0",
        "I run the tests.\n  > Bash  make check\n",
        "✗ tests: fail",
        "\nNOT DONE  tests failed",
        "elapsed, $0.37 so far\n",
        "✓ tests: pass",
        "\nDONE  the work is done",
        ", $0.74\n",
    ] {
        assert!(screen.contains(part), "{part:?} is not shown:\n{screen}");
    }
    assert!(!screen.contains("subtype") && !screen.contains("session_id"), "{screen}");
}

#[test]
fn a_person_who_asks_for_it_sees_the_output_as_it_is() {
    if !needs("python3") {
        return;
    }
    let (_, screen) = at_a_terminal("run --task t1 --prompt PROMPT.md --raw -- ./agent.sh");
    assert!(screen.contains(r#""subtype":"init""#), "{screen}");
    assert!(screen.contains("iteration 2"), "{screen}");
}

/// What a loop tells that another loop's agent starts in this folder, after this setup.
fn told_within(folder: &str, setup: &str) -> String {
    let agent = format!(
        "{setup}\nprintf '#!/bin/sh\\necho x\\n' >inner.sh\nchmod +x inner.sh\n\
         test {folder} = . || cp inner.sh {folder}\n(cd {folder} && {GATE} run --task t2 --prompt \
         PROMPT.md --max-iterations 1 -- ./inner.sh) 2>\"$HOME/told\" >/dev/null\n\
         touch fixed\nprintf 'EXIT_STATUS: COMPLETE\\n'\n"
    );
    let ran = crate::run::project(&agent).run();
    let told = std::fs::read_to_string(ran.home().join("told")).unwrap();
    assert!(!ran.stderr.contains("in this work tree"), "{}", ran.stderr);
    // That loop is over.
    let words = "run --task t3 --prompt PROMPT.md --max-iterations 1 -- ./inner.sh";
    let later = ran.again(words).run();
    assert!(!later.stderr.contains("in this work tree"), "{}", later.stderr);
    told
}

#[test]
fn a_second_loop_in_one_tree_is_warned_of() {
    let told = told_within(".", "true");
    let warnings: Vec<_> = told.lines().filter(|line| line.contains("in this work tree")).collect();
    assert_eq!(warnings.len(), 1, "{told}");
    for part in ["-t1 (agent.sh, pid ", "git worktree add ../t2"] {
        assert!(warnings[0].contains(part), "{told}");
    }
    let other = told_within("../other", "git worktree add -q ../other");
    assert!(!other.contains("in this work tree"), "{other}");
}

#[test]
fn each_call_of_a_session_that_goes_on_costs_what_it_reports() {
    let agent = AGENT.replace(" \"$n\"\n", " 1\n").replace("\"$n\" \"$text\"", "1 \"$text\"");
    let words = "run --prompt PROMPT.md --agent claude-stream --json -- ./agent.sh";
    let ran = project(words).script("agent.sh", &agent).run();
    let end = ran.json();
    assert_eq!((&end["iterations"], &end["cost_usd"]), (&2.into(), &0.74.into()), "{end}");
    let words =
        "run --prompt PROMPT.md --agent claude-stream --budget-cost 0.5 --json -- ./agent.sh";
    let agent = agent.replace("test \"$n\" -ge 2", "test \"$n\" -ge 9");
    let end = project(words).script("agent.sh", &agent).run().json();
    assert_eq!(end["stopped_by"], "tripped", "{end}");
    assert_eq!(end["iterations"], 2, "{end}");
}

#[test]
fn a_loop_names_the_crash_of_its_agent_and_stops_no_other_loop_over_the_same_prompt() {
    let words = "run --prompt PROMPT.md --max-iterations 3 -- sh -c";
    let run = project(words).args(["echo sorry; exit 3"]).user_settings("");
    let ran = run.code(1).says("its program ended with code 3 in the last iteration");
    let ran = ran.again("run --prompt PROMPT.md -- ./agent.sh").code(0);
    ran.says("DONE  ").says("task        task-");
}
