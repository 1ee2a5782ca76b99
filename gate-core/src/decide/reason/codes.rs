//! The codes of reasons: each with its meaning, its cause, an example, the remedy, and the words
//! for the agent and for a person.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CodeRow, Explanation};

macro_rules! codes {
    ($(#[$outer:meta])* $name:ident { $($variant:ident = $code:literal {
        meaning: $meaning:literal, cause: $cause:literal, example: $example:literal,
        remedy: $remedy:literal, $($key:ident: $value:literal,)*
    })* } removed { $($removed:ident = $removed_code:literal)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[doc = $meaning] $variant,)*
            $(#[doc = "In records of older versions alone."] $removed,)*
        }

        impl $name {
            /// All codes, in the order in which they are explained.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The codes of rules that are gone: records of older versions have them.
            pub const REMOVED: &'static [Self] = &[$(Self::$removed,)*];

            /// The code in records.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$variant => $code,)*
                    $(Self::$removed => $removed_code,)*
                }
            }

            /// The code in words.
            pub fn explanation(self) -> Explanation {
                self.row().explanation
            }

            pub(in crate::decide) fn row(self) -> CodeRow {
                match self {
                    $(Self::$variant => CodeRow {
                        explanation: Explanation {
                            meaning: $meaning, cause: $cause, example: $example, remedy: $remedy,
                        },
                        $($key: $value,)*
                        ..CodeRow::REMOVED
                    },)*
                    $(Self::$removed => CodeRow::REMOVED,)*
                }
            }
        }
    };
}

codes! {
    /// The cause of a verdict.
    ReasonCode {
        Passed = "passed" {
            meaning: "Every condition for the end of the loop is met.",
            cause: "There are enough completion indicators, an explicit exit signal, and every required check passes.",
            example: "`EXIT_STATUS: COMPLETE` in the final message, and green tests.",
            remedy: "Nothing. With `\"verified\": false` no check confirms the agent's word: see `no-evidence`.",
            effort: 0,
        }
        Forced = "forced" {
            meaning: "The operator ended the loop with `--force-complete`.",
            cause: "The operator's word counts more than the rules. It is recorded with its reason, and never as verified unless the checks pass.",
            example: "`gate check out.log --force-complete --reason \"shipped by hand\"`",
            remedy: "Nothing.",
            effort: 0,
        }
        SignalAbsent = "signal-absent" {
            meaning: "The agent's final message contains no exit signal.",
            cause: "Prose such as \"all done\" is often wrong. An explicit signal says that the agent means to stop.",
            example: "The message ends with \"All tests pass now.\" and no `EXIT_STATUS: COMPLETE`.",
            remedy: "Put the output of `gate prompt` into the agent's prompt. Look at the near misses: a line that is almost a signal says what is wrong with it.",
            effort: 7,
            to_agent: "your final message gave no explicit completion status",
        }
        SignalContinue = "signal-continue" {
            meaning: "The agent says that work remains.",
            cause: "An agent that wants to go on is right often enough to be believed, whatever else speaks for completion.",
            example: "`EXIT_STATUS: CONTINUE`, or `REMAINING_WORK: the migration`.",
            remedy: "Let the agent go on. `--force-complete` ends the loop all the same.",
            effort: 5,
            to_agent: "you said that work remains; finish it",
            to_person: "finish the remaining work, then signal completion",
        }
        SignalContradicts = "signal-contradicts" {
            meaning: "The agent's exit signal contradicts itself.",
            cause: "One of two statements is wrong, and gate cannot know which.",
            example: "`EXIT_STATUS: COMPLETE` beside `REMAINING_WORK: two tests`, or `EXIT_SIGNAL: true` beside `TESTS_STATUS: FAILING`.",
            remedy: "Give one exit signal whose fields agree.",
            effort: 5,
            to_agent: "your completion status contradicts itself: remaining work, failing tests, or two values for one key",
            to_person: "give one exit signal that does not contradict itself",
        }
        WorkLeft = "work-left" {
            meaning: "The agent claims completion, and its final message says that work of the task is left.",
            cause: "One of the two is wrong. If the same sentence stands there at the next claim and no file changed, it counts no more.",
            example: "\"The other two lists I do next time.\" above `EXIT_STATUS: COMPLETE`.",
            remedy: "Finish the work, or leave the sentence out if it is not about this task.",
            effort: 5,
            to_agent: "your final message says that work is left; finish that, or say that it is not part of the task",
            to_person: "finish the work that the sentence names, or claim again if it is no part of the task",
        }
        SignalInvalid = "signal-invalid" {
            meaning: "The agent's final message holds an exit signal that cannot be read.",
            cause: "A broken signal is neither completion nor silence.",
            example: "A `---RALPH_STATUS---` block without an end, or a signal without this iteration's EXIT_TOKEN while `signal.token = \"required\"`.",
            remedy: "Give the whole signal again, as `gate prompt` shows it.",
            effort: 5,
            to_agent: "your completion status could not be read; give it whole",
            to_person: "give a whole exit signal, as the protocol shows it",
        }
        SignalBlocked = "signal-blocked" {
            meaning: "The agent says that it cannot go on.",
            cause: "More iterations would cost money and change nothing.",
            example: "`EXIT_STATUS: BLOCKED` with `EXIT_REASON: the database password is missing`.",
            remedy: "Solve what the agent names, then start the loop again.",
            effort: 2,
            to_person: "solve that, then start the agent again",
        }
        DecisionsOpen = "decisions-open" {
            meaning: "The first turn of a loop listed what its task leaves open, before any work.",
            cause: "`gate run --decide-first` asks for the names, defaults and permissions that a task leaves open. A person confirms them: no test can show that an agent chose what somebody wanted.",
            example: "`2 decisions are open: name of the column (tax_rate), its default (0)`",
            remedy: "Confirm or edit the list, at the terminal or in the file that the message names, then start the loop again. With an empty list the loop goes on by itself.",
            effort: 0,
        }
        DecisionsUnlisted = "decisions-unlisted" {
            meaning: "The first turn of a loop did not list what its task leaves open, or changed a file.",
            cause: "With `--decide-first` the first turn writes nothing but that list. gate asks once more, then the loop ends.",
            example: "A turn that edits `export.py`, or a final message without a line `DECISION: what is open => choice`.",
            remedy: "Undo what the turn changed, then start the loop again. Without `--decide-first` the work begins at once.",
            effort: 1,
        }
        ThresholdNotReached = "threshold-not-reached" {
            meaning: "There are fewer completion indicators than `exit_gate.indicator_threshold`.",
            cause: "A signal alone may be an accident. An indicator is a pattern's hit, a passing check, a plan file with all boxes ticked, or fields of the signal that say the same in another way.",
            example: "A threshold of 2, no check, and one phrase such as \"ready for review\".",
            remedy: "Add a check. Or lower the threshold, or add a pattern for the words that your agent uses.",
            effort: 8,
            to_agent: "too little in your final message and in the checks speaks for completion; sum up what was finished and verified",
            to_person: "add a check, let the agent say what it finished, or lower `exit_gate.indicator_threshold`",
        }
        EvidenceRequired = "evidence-required" {
            meaning: "The agent claims completion, and no passing check confirms that.",
            cause: "`exit_gate.unverified = \"continue\"` or `--require-evidence` asks for a check.",
            example: "`gate check --require-evidence out.log` in a project without checks.",
            remedy: "Configure a check: `gate init` finds the project's test and build commands. Or set `exit_gate.unverified = \"exit\"`.",
            effort: 8,
            to_agent: "no check stands behind your completion status; a person has to configure one",
            to_person: "configure a check (`gate init`), or set `exit_gate.unverified = \"exit\"`",
        }
        RequiredCheckFailed = "required-check-failed" {
            meaning: "A required check failed.",
            cause: "The work is not done until its required checks pass.",
            example: "`tests`: 1 of 312 failed.",
            remedy: "Fix what the check reports. `gate last --log CHECK` prints all that it wrote.",
            effort: 3,
            to_agent: "{check} failed",
            to_person: "make {check} pass",
        }
        RequiredCheckInconclusive = "required-check-inconclusive" {
            meaning: "A required check gave no result.",
            cause: "It timed out, its tool is missing, its report is incomplete, or the tree changed while it ran. No result is never a pass.",
            example: "`lint`: ruff is not installed.",
            remedy: "Install the tool, give the check more time (`timeout`), or correct its command in gate.toml.",
            effort: 4,
            to_agent: "{check} could not be measured",
        }
        CheckNotRun = "check-not-run" {
            meaning: "A required check did not run, or left no record.",
            cause: "A check that did not run has not passed.",
            example: "`build` was not run, since `tests` failed before it.",
            remedy: "Let it run: fix what comes before it, or leave out `--no-checks`.",
            effort: 4,
            to_agent: "{check} did not run",
            to_person: "let {check} run: it is required",
        }
        Tampered = "tampered" {
            meaning: "A check, its files or the settings were changed so that the check proves nothing.",
            cause: "Whoever may edit a check could make it pass.",
            example: "A test's assertion was deleted, or the tests' command became `true`.",
            remedy: "A person looks at the change. If it is right: `gate approve` lists what can be approved, `gate trust` approves gate.toml. Else put back what was there.",
            effort: 1,
            to_agent: "{check} does not count",
            to_person: "look at {check}: put back what was changed, or let a person approve it (`gate approve` lists it)",
        }
        TestsChanged = "tests-changed" {
            meaning: "The work changed tests, and nothing is missing but a person's approval of that.",
            cause: "The old text of these tests fails on the new work. Whether the task asks for other tests, only a person can say. The agent is told once; after that the verdict is `blocked`.",
            example: "`test_total` expected 3 and now expects 4.",
            remedy: "If the change is right: `gate approve NAME… --reason …`, then check again; no further turn of the agent is needed. If not: put the tests back. `gate run --may-change GLOB` says beforehand which test files may change.",
            effort: 3,
            to_agent: "{check}: this work changed tests, and their old text fails now; put them back, or say why the task needs the change: a person then decides",
        }
        SealedTestsFailed = "sealed-tests-failed" {
            meaning: "Tests that the agent does not see fail on the work.",
            cause: "They were written from the task, not from the code. Their text appears nowhere, so that the work has to meet the task and not the tests. After the third refusal in a run the verdict is `blocked`.",
            example: "9 of 12 sealed tests pass: a limit that the task names is missing in the code.",
            remedy: "Compare the work with each requirement of the task. A person can run the sealed tests by hand and say what is missing.",
            effort: 3,
            to_agent: "{check}: tests of the task that you do not see fail; read the task again, and compare your work with each of its requirements",
            to_person: "compare the work with each requirement of the task",
        }
        SettingsChanged = "settings-changed" {
            meaning: "gate.toml is not the one that you approved.",
            cause: "Everything passes by the approved settings, which decide. But an agent may have edited the file.",
            example: "You raised a timeout in gate.toml and have not run `gate trust` since.",
            remedy: "If the change is yours: `gate trust`, then check again. If not: `git diff gate.toml` shows it; put it back.",
            effort: 1,
            to_person: "approve or undo the change, then check again",
        }
        AgentFailed = "agent-failed" {
            meaning: "The agent's program ended with an error and gave no complete signal.",
            cause: "A program that failed may have stopped in the middle of its work.",
            example: "`gate check --agent-exit-code 1 out.log` without a signal in out.log.",
            remedy: "Find out why the agent's program failed: its standard error usually says why.",
            effort: 6,
            to_person: "find out why the agent's program failed",
        }
        ConsecutiveNotReached = "consecutive-not-reached" {
            meaning: "This iteration passes, but more in a row have to.",
            cause: "`exit_gate.consecutive` asks for several passing iterations in a row.",
            example: "`consecutive = 2`, and this is the first.",
            remedy: "Run the next iteration.",
            effort: 8,
            to_person: "pass again in the next iteration",
        }
        RateLimited = "rate-limited" {
            meaning: "The iteration ended in a rate or usage limit of the agent's service.",
            cause: "The agent could not work, so its iteration counts only towards `breaker.rate_limited`.",
            example: "\"usage limit reached, resets at 15:00\"",
            remedy: "Wait until `retry_at`. `gate run` does that by itself.",
            effort: 2,
            to_agent: "the iteration ended in a limit",
            to_person: "wait until the limit is over, then run the agent again",
        }
        AgentUnavailable = "agent-unavailable" {
            meaning: "The agent could not work.",
            cause: "It lost the connection to its service, or its program failed at its start. Such an iteration counts towards no limit.",
            example: "\"API Error: Connection error\"",
            remedy: "Wait. `gate run` tries again at `retry_at`. If that does not help, read the agent's standard error.",
            effort: 2,
            to_agent: "your program or its connection failed",
            to_person: "run the agent again later; its standard error says what is wrong",
        }
        BackoffLimit = "backoff-limit" {
            meaning: "`gate run` ended the loop, because the agent could not work for too long.",
            cause: "`[run] backoff_limit` is over. The work is not done.",
            example: "Six hours without a connection.",
            remedy: "Mend what kept the agent from working: the other reasons say what. Then start the loop again.",
            effort: 1,
            to_person: "fix what keeps the agent from working, then start the loop again",
        }
        Cancelled = "cancelled" {
            meaning: "The loop was ended while the agent worked.",
            cause: "A signal such as Ctrl-C, `gate stop`, or a lost lease of the work item ended it. The work was not judged.",
            example: "Ctrl-C in the second iteration.",
            remedy: "Start the loop again. The card shows the command.",
            effort: 1,
            to_person: "start the loop again",
        }
        BreakerTripped = "breaker-tripped" {
            meaning: "This iteration reached a limit of `[breaker]`: the loop stops, not done.",
            cause: "A loop that gets nowhere costs money.",
            example: "3 iterations in a row changed no file.",
            remedy: "Look at the other reasons and remove the cause. Then close the breaker: `gate breaker reset --reason …`. A new prompt in the session closes it too, and so does an attempt that succeeds after the cool-down.",
            effort: 1,
        }
        BreakerOpen = "breaker-open" {
            meaning: "The circuit breaker stopped this loop before; it is not done.",
            cause: "It reached a limit of `[breaker]`, or its state was lost.",
            example: "The iteration after one with `breaker-tripped`.",
            remedy: "`gate breaker status` shows the cause. Remove it, then `gate breaker reset --reason …`.",
            effort: 1,
        }
        BudgetSpent = "budget-spent" {
            meaning: "The run has used up its `[budget]`.",
            cause: "Each later decision of this run ends the same way. Other runs are free.",
            example: "$5.02 of $5.00",
            remedy: "Look at what was done. Then raise the budget (`[budget]`, or `gate run --budget-cost`), or begin a new run (`--new-run`).",
            effort: 1,
            to_person: "raise the budget, or begin a new run with `gate breaker reset --reason …`",
        }
        CheckRunning = "check-running" {
            meaning: "A required check is still running. Only a program that embeds gate's core decides so early: gate itself ends its checks.",
            cause: "No result is never a pass.",
            example: "A decision over a record whose `running` is true.",
            remedy: "Wait until the check has ended, and decide again.",
            effort: 4,
            to_agent: "{check} is still running; wait for it: look again in a while",
            to_person: "wait for {check} to end",
        }
        BackgroundRunning = "background-running" {
            meaning: "Everything else passes, but the agent left tasks running in the background.",
            cause: "They may still change the work. This refuses a stop once a prompt.",
            example: "A development server, started with `run_in_background`.",
            remedy: "Wait for the tasks, or stop them.",
            effort: 4,
            to_person: "wait for the background tasks, or stop them",
        }
        WorkElsewhere = "work-elsewhere" {
            meaning: "Work of this loop does not stand in the tree that is judged.",
            cause: "A green tree says nothing about work in another work tree, on another branch, in the stash or in another repository. If it is in one other work tree, its checks run there, too.",
            example: "The agent committed on the branch `tax`, and went back to `main`.",
            remedy: "Merge it here, or drop it. A loop with a branch for each piece of work names them: `[tree] branches = [\"story/*\"]`.",
            effort: 4,
            to_agent: "work of this task does not stand in this tree; merge it here, or drop it; if neither is right, say why and end with BLOCKED",
            to_person: "merge the work here, or drop it; `[tree] branches` names branches that belong to the loop",
        }
        OnlyNewFiles = "only-new-files" {
            meaning: "The only change since the loop began is new files that no other file names.",
            cause: "An agent that writes a script beside the product has often changed nothing. This refuses one claim; the next one counts.",
            example: "`reproduce.py` at the top of the repository, and no other change.",
            remedy: "Change what the task is about. If the new file is the work, give the completion status again.",
            effort: 4,
            to_agent: "all that changed is new files that no other file names; is that the work? If so, give your completion status again",
            to_person: "change what the task is about, or claim again if the new files are the work",
        }
        MaxBlocks = "max-blocks" {
            meaning: "The agent's stop was refused as often as `hook.max_blocks` allows, so the agent is let go. The work is not done.",
            cause: "An agent that is refused forever gets nowhere.",
            example: "Five refusals over the same red test.",
            remedy: "Look at the other reasons, then tell the agent how to go on.",
            effort: 1,
            to_person: "look at what is missing, then tell the agent how to go on",
        }
        Released = "released" {
            meaning: "A stop hook let the agent go. That is no exit.",
            cause: "Nothing changed, the checks are green, they could not run here, or the person has to know that they are red. `released` says which: green, red, not-run, or waiting for a helper or a wake-up.",
            example: "A question was answered, and no file changed.",
            remedy: "Nothing if it is green. Else read the other reasons.",
            effort: 1,
        }
        BreakerIsolated = "breaker-isolated" {
            meaning: "An operator stopped the loop with `gate breaker isolate`.",
            cause: "The operator's word counts until it is taken back.",
            example: "`gate breaker isolate --reason \"wrong branch\"`",
            remedy: "The operator closes it: `gate breaker reset --reason …`.",
            effort: 1,
            to_person: "ask the operator who stopped the loop; `gate breaker status` shows how to go on",
        }
    } removed {
        UntestedChange = "untested-change"
        RedBefore = "red-before"
    }
}
