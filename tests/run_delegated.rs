//! Runs that an agent of `gate run` delegates: loops of its own, in the background.

use std::fs;

use crate::run::{SAYS, alive, bus, project, task};
use crate::support::{Ran, Run};

/// An agent that delegates to `child.sh`, and ends when that has begun.
fn delegates(words: &str, child: &str, more: &str) -> Run {
    let agent = format!(
        "(exec gate run --task child --prompt PROMPT.md --max-iterations 1 -- ./child.sh) \
         >child.out 2>&1 &\nloop=$!\nwhile ! test -s pids; do sleep 0.05; done\n{more}touch fixed\n{SAYS}"
    );
    let ignored = "count\nseen\npids\nchild.out\n";
    project(&agent)
        .words(&format!("run --task t1 --prompt PROMPT.md {words} --json -- ./agent.sh"))
        .file(".gitignore", ignored)
        .script("child.sh", &format!("#!/bin/sh\necho half\necho $$ >>pids\n{child}"))
        .with_gate_in_path()
}

/// The record and the result of the only run of the child, and what its bus says.
fn child(ran: &Ran) -> [String; 3] {
    let folder = task(ran).with_file_name("child");
    let runs: Vec<_> = fs::read_dir(folder.join("runs")).unwrap().flatten().collect();
    assert_eq!(runs.len(), 1);
    let read = |path: &str| fs::read_to_string(runs[0].path().join(path)).unwrap();
    let bus = fs::read_to_string(folder.join("TASK-MESSAGE-BUS.md")).unwrap();
    assert!(!runs[0].path().join(".gate-reserve").exists());
    [read("run-info.yaml"), read("output.md"), bus]
}

#[test]
fn a_delegated_run_was_killed_half_a_second_after_its_agent() {
    let ran = delegates("", "sleep 3\necho whole\n", "").code(0);
    let [info, output, child] = child(&ran);
    assert!(info.contains("status: completed\n") && info.contains("exit_code: 0\n"), "{info}");
    assert_eq!(output, "half\nwhole\n");
    assert!(child.contains("type: RUN_STOP"), "{child}");
    assert!(bus(&ran).contains("task completed (all children finished)"), "{}", bus(&ran));
}

#[test]
fn a_delegated_run_that_took_too_long_stayed_running_for_ever() {
    let ran = delegates("--children-timeout 300ms", "sleep 300\n", "").code(0);
    let [info, output, child] = child(&ran);
    assert!(info.contains("status: failed\n") && !info.contains("end_time: 0001"), "{info}");
    assert_eq!(output, "half\n");
    assert!(child.contains("type: RUN_CRASH"), "{child}");
    assert!(bus(&ran).contains("timeout waiting for children after 0s"), "{}", bus(&ran));
    assert_eq!(alive(&ran), [""; 0]);
}

#[test]
fn a_delegated_run_whose_loop_was_killed_stayed_running_for_ever() {
    let ran = delegates("", "sleep 300\n", "kill -9 $loop\n").code(0);
    let [info, output, child] = child(&ran);
    assert!(info.contains("process is not alive") && info.contains("status: failed\n"), "{info}");
    assert_eq!(output, "half\n");
    assert!(child.contains("type: RUN_CRASH"), "{child}");
    assert_eq!(alive(&ran), [""; 0]);
}

#[test]
fn a_server_that_an_agent_leaves_behind_is_not_waited_for() {
    let agent = format!("(trap '' HUP; exec sleep 300) &\necho $! >>pids\ntouch fixed\n{SAYS}");
    let ran = project(&agent).code(0);
    assert!(bus(&ran).contains("left running was ended: sleep"), "{}", bus(&ran));
    assert!(bus(&ran).contains("task completed (no active children)"), "{}", bus(&ran));
    assert_eq!(alive(&ran), [""; 0]);
}
