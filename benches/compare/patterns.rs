//! The patterns that all programs are given: six, as a shell script lists
//! them, and sixty, as a team that has met many agents may have.

/// The seed's six patterns.
pub(crate) const SIX: [&str; 6] = [
    "<promise>COMPLETE</promise>",
    "all tasks.*completed",
    "implementation.*finished",
    "ready for review",
    "no remaining work",
    "all acceptance criteria.*met",
];

/// Those that sixty have beside the six.
const MORE: [&str; 54] = [
    "all (unit )?tests (now )?pass",
    "tests? (are|is) green",
    "every test passes",
    "the (task|story|ticket) is (now )?(complete|finished)",
    "work on .* is (complete|finished)",
    "feature (is )?fully implemented",
    "fully implemented and tested",
    "nothing (else )?remains",
    "nothing left to (do|change)",
    "no further (work|steps) (is|are) needed",
    "no more (tasks|changes) (are )?(needed|required)",
    "(is|are) ready (to|for) (merge|merging|release)",
    "ready to ship",
    "can be merged",
    "successfully (implemented|migrated|refactored|fixed)",
    "all (todos|items|steps) (are )?(done|complete|checked)",
    "plan (is )?fully (checked|worked) off",
    "exit_signal: *true",
    "exit_status: *complete",
    "remaining_work: *(none|nothing)",
    "status: *complete",
    "task_complete",
    "loop_complete",
    "<done>",
    "<complete/?>",
    "\\[COMPLETE\\]",
    "\\[TASK DONE\\]",
    "i have (now )?(finished|completed)",
    "i('m| am) finished",
    "we have (finished|completed)",
    "that (finishes|completes) the",
    "this (finishes|completes) the",
    "in summary, (all|everything)",
    "summary of (the )?changes",
    "final (result|status):",
    "goal (has been )?(met|reached)",
    "objectives? (were|was|have been) met",
    "requirements? (are|is|have been) (satisfied|fulfilled)",
    "build (is )?(green|successful)",
    "builds? without (errors|warnings)",
    "pipeline (is )?green",
    "lint(er)? (is )?clean",
    "0 failing",
    "zero (failures|errors)",
    "no (failing|broken) tests",
    "[0-9]+ passed, 0 failed",
    "coverage (is )?(at )?100 ?%",
    "merge request (is )?open",
    "pull request (was )?opened",
    "pushed (to|the) (branch|remote)",
    "committed all changes",
    "milestone (was )?reached",
    "rollout (is )?complete",
    "verified (by|with) (running|the) tests",
];

/// Sixty patterns.
pub(crate) fn sixty() -> Vec<&'static str> {
    SIX.iter().chain(&MORE).copied().collect()
}

/// The settings under which gate looks for these patterns alone.
pub(crate) fn settings(patterns: &[&str]) -> String {
    let one = |(at, regex): (usize, &&str)| {
        format!("[[patterns.custom]]\nid = \"pattern-{at}\"\nregex = '''{regex}'''\n")
    };
    let all: String = patterns.iter().enumerate().map(one).collect();
    format!("[patterns]\npacks = []\n{all}")
}
