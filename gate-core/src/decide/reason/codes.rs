//! The codes of reasons and warnings, each with its meaning, its cause, an example and what
//! to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Explanation;

macro_rules! codes {
    ($(#[$outer:meta])* $name:ident { $($variant:ident = $code:literal {
        what: $what:literal, why: $why:literal, example: $example:literal, next: $next:literal,
    })* } removed { $($removed:ident = $old:literal)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[doc = $what] $variant,)*
            $(#[doc = "In records of older versions alone."] $removed,)*
        }

        impl $name {
            /// All codes, in the order in which they are explained.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The codes of rules that are gone: records of older versions have them.
            pub const REMOVED: &'static [Self] = &[$(Self::$removed,)*];

            /// The code in records.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* $(Self::$removed => $old,)* }
            }

            /// The code in words.
            pub fn explanation(self) -> Explanation {
                match self {
                    $(Self::$variant => {
                        Explanation { what: $what, why: $why, example: $example, next: $next }
                    })*
                    $(Self::$removed => REMOVED,)*
                }
            }
        }
    };
}

/// The explanation of a code whose rule is gone.
const REMOVED: Explanation = Explanation {
    what: "A rule of an older version of gate, which this version does not have.",
    why: "Records keep the codes that they were made with. Such a decision is not decided again.",
    example: "A decision in `gate log` that an older version made.",
    next: "Nothing.",
};

codes! {
    /// The cause of a verdict.
    ReasonCode {
        Passed = "passed" {
            what: "Every condition for the end of the loop is met.",
            why: "There are enough completion indicators, an explicit exit signal, and every required check passes.",
            example: "`EXIT_STATUS: COMPLETE` in the final message, and green tests.",
            next: "Nothing. With `\"verified\": false` no check confirms the agent's word: see `no-evidence`.",
        }
        Forced = "forced" {
            what: "The operator ended the loop with `--force-complete`.",
            why: "The operator's word counts more than the rules. It is recorded with its reason, and never as verified unless the checks pass.",
            example: "`gate check out.log --force-complete --reason \"shipped by hand\"`",
            next: "Nothing.",
        }
        SignalAbsent = "signal-absent" {
            what: "The agent's final message contains no exit signal.",
            why: "Prose such as \"all done\" is often wrong. An explicit signal says that the agent means to stop.",
            example: "The message ends with \"All tests pass now.\" and no `EXIT_STATUS: COMPLETE`.",
            next: "Put the output of `gate prompt` into the agent's prompt. Look at the near misses: a line that is almost a signal says what is wrong with it.",
        }
        SignalContinue = "signal-continue" {
            what: "The agent says that work remains.",
            why: "An agent that wants to go on is right often enough to be believed, whatever else speaks for completion.",
            example: "`EXIT_STATUS: CONTINUE`, or `REMAINING_WORK: the migration`.",
            next: "Let the agent go on. `--force-complete` ends the loop all the same.",
        }
        SignalContradicts = "signal-contradicts" {
            what: "The agent's exit signal contradicts itself.",
            why: "One of two statements is wrong, and gate cannot know which.",
            example: "`EXIT_STATUS: COMPLETE` beside `REMAINING_WORK: two tests`, or `EXIT_SIGNAL: true` beside `TESTS_STATUS: FAILING`.",
            next: "Give one exit signal whose fields agree.",
        }
        WorkLeft = "work-left" {
            what: "The agent claims completion, and its final message says that work of the task is left.",
            why: "One of the two is wrong. If the same sentence stands there at the next claim and no file changed, it counts no more.",
            example: "\"The other two lists I do next time.\" above `EXIT_STATUS: COMPLETE`.",
            next: "Finish the work, or leave the sentence out if it is not about this task.",
        }
        SignalInvalid = "signal-invalid" {
            what: "The agent's final message holds an exit signal that cannot be read.",
            why: "A broken signal is neither completion nor silence.",
            example: "A `---RALPH_STATUS---` block without an end, or a signal without this iteration's EXIT_TOKEN while `signal.token = \"required\"`.",
            next: "Give the whole signal again, as `gate prompt` shows it.",
        }
        SignalBlocked = "signal-blocked" {
            what: "The agent says that it cannot go on.",
            why: "More iterations would cost money and change nothing.",
            example: "`EXIT_STATUS: BLOCKED` with `EXIT_REASON: the database password is missing`.",
            next: "Solve what the agent names, then start the loop again.",
        }
        ThresholdNotReached = "threshold-not-reached" {
            what: "There are fewer completion indicators than `exit_gate.indicator_threshold`.",
            why: "A signal alone may be an accident. An indicator is a pattern's hit, a passing check, a plan file with all boxes ticked, or fields of the signal that say the same in another way.",
            example: "A threshold of 2, no check, and one phrase such as \"ready for review\".",
            next: "Add a check. Or lower the threshold, or add a pattern for the words that your agent uses.",
        }
        EvidenceRequired = "evidence-required" {
            what: "The agent claims completion, and no passing check confirms that.",
            why: "`exit_gate.unverified = \"continue\"` or `--require-evidence` asks for a check.",
            example: "`gate check --require-evidence out.log` in a project without checks.",
            next: "Configure a check: `gate init` finds the project's test and build commands. Or set `exit_gate.unverified = \"exit\"`.",
        }
        RequiredCheckFailed = "required-check-failed" {
            what: "A required check failed.",
            why: "The work is not done until its required checks pass.",
            example: "`tests`: 1 of 312 failed.",
            next: "Fix what the check reports. `gate last --log CHECK` prints all that it wrote.",
        }
        RequiredCheckInconclusive = "required-check-inconclusive" {
            what: "A required check gave no result.",
            why: "It timed out, its tool is missing, its report is incomplete, or the tree changed while it ran. No result is never a pass.",
            example: "`lint`: ruff is not installed.",
            next: "Install the tool, give the check more time (`timeout`), or correct its command in gate.toml.",
        }
        CheckNotRun = "check-not-run" {
            what: "A required check did not run, or left no record.",
            why: "A check that did not run has not passed.",
            example: "`build` was not run, since `tests` failed before it.",
            next: "Let it run: fix what comes before it, or leave out `--no-checks`.",
        }
        Tampered = "tampered" {
            what: "A check, its files or the settings were changed so that the check proves nothing.",
            why: "Whoever may edit a check could make it pass.",
            example: "A test's assertion was deleted, or the tests' command became `true`.",
            next: "A person looks at the change. If it is right: `gate approve` lists what can be approved, `gate trust` approves gate.toml. Else put back what was there.",
        }
        TestsChanged = "tests-changed" {
            what: "The work changed tests, and nothing is missing but a person's approval of that.",
            why: "The old text of these tests fails on the new work. Whether the task asks for other tests, only a person can say. The agent is told once; after that the verdict is `blocked`.",
            example: "`test_total` expected 3 and now expects 4.",
            next: "If the change is right: `gate approve NAME… --reason …`, then check again; no further turn of the agent is needed. If not: put the tests back. `gate run --may-change GLOB` says beforehand which test files may change.",
        }
        SealedTestsFailed = "sealed-tests-failed" {
            what: "Tests that the agent does not see fail on the work.",
            why: "They were written from the task, not from the code. Their text appears nowhere, so that the work has to meet the task and not the tests. After the third refusal in a run the verdict is `blocked`.",
            example: "9 of 12 sealed tests pass: a limit that the task names is missing in the code.",
            next: "Compare the work with each requirement of the task. A person can run the sealed tests by hand and say what is missing.",
        }
        SettingsChanged = "settings-changed" {
            what: "gate.toml is not the one that you approved.",
            why: "Everything passes by the approved settings, which decide. But an agent may have edited the file.",
            example: "You raised a timeout in gate.toml and have not run `gate trust` since.",
            next: "If the change is yours: `gate trust`, then check again. If not: `git diff gate.toml` shows it; put it back.",
        }
        AgentFailed = "agent-failed" {
            what: "The agent's program ended with an error and gave no complete signal.",
            why: "A program that failed may have stopped in the middle of its work.",
            example: "`gate check --agent-exit-code 1 out.log` without a signal in out.log.",
            next: "Find out why the agent's program failed: its standard error usually says why.",
        }
        ConsecutiveNotReached = "consecutive-not-reached" {
            what: "This iteration passes, but more in a row have to.",
            why: "`exit_gate.consecutive` asks for several passing iterations in a row.",
            example: "`consecutive = 2`, and this is the first.",
            next: "Run the next iteration.",
        }
        RateLimited = "rate-limited" {
            what: "The iteration ended in a rate or usage limit of the agent's service.",
            why: "The agent could not work, so its iteration counts only towards `breaker.rate_limited`.",
            example: "\"usage limit reached, resets at 15:00\"",
            next: "Wait until `retry_at`. `gate run` does that by itself.",
        }
        AgentUnavailable = "agent-unavailable" {
            what: "The agent could not work.",
            why: "It lost the connection to its service, or its program failed at its start. Such an iteration counts towards no limit.",
            example: "\"API Error: Connection error\"",
            next: "Wait. `gate run` tries again at `retry_at`. If that does not help, read the agent's standard error.",
        }
        BackoffLimit = "backoff-limit" {
            what: "`gate run` ended the loop, because the agent could not work for too long.",
            why: "`[run] backoff_limit` is over. The work is not done.",
            example: "Six hours without a connection.",
            next: "Mend what kept the agent from working: the other reasons say what. Then start the loop again.",
        }
        Cancelled = "cancelled" {
            what: "The loop was ended while the agent worked.",
            why: "A signal such as Ctrl-C, `gate stop`, or a lost lease of the work item ended it. The work was not judged.",
            example: "Ctrl-C in the second iteration.",
            next: "Start the loop again. The card shows the command.",
        }
        BreakerTripped = "breaker-tripped" {
            what: "This iteration reached a limit of `[breaker]`: the loop stops, not done.",
            why: "A loop that gets nowhere costs money.",
            example: "3 iterations in a row changed no file.",
            next: "Look at the other reasons and remove the cause. Then close the breaker: `gate breaker reset --reason …`. A new prompt in the session closes it too, and so does an attempt that succeeds after the cool-down.",
        }
        BreakerOpen = "breaker-open" {
            what: "The circuit breaker is open: the loop has been stopped before, not done.",
            why: "It reached a limit of `[breaker]`, or its state was lost.",
            example: "The iteration after one with `breaker-tripped`.",
            next: "`gate breaker status` shows the cause. Remove it, then `gate breaker reset --reason …`.",
        }
        BudgetSpent = "budget-spent" {
            what: "The run has used up its `[budget]`.",
            why: "Each later decision of this run ends the same way. Other runs are free.",
            example: "$5.02 of $5.00",
            next: "Look at what was done. Then raise the budget (`[budget]`, or `gate run --budget-cost`), or begin a new run (`--new-run`).",
        }
        CheckRunning = "check-running" {
            what: "A required check is still running. Only a program that embeds gate's core decides so early: gate itself ends its checks.",
            why: "No result is never a pass.",
            example: "A decision over a record whose `running` is true.",
            next: "Wait until the check has ended, and decide again.",
        }
        BackgroundRunning = "background-running" {
            what: "Everything else passes, but the agent left tasks running in the background.",
            why: "They may still change the work. This refuses a stop once a prompt.",
            example: "A development server, started with `run_in_background`.",
            next: "Wait for the tasks, or stop them.",
        }
        WorkElsewhere = "work-elsewhere" {
            what: "Work of this loop does not stand in the tree that is judged.",
            why: "A green tree says nothing about work in another work tree, on another branch, in the stash or in another repository. If it is in one other work tree, its checks run there, too.",
            example: "The agent committed on the branch `tax`, and went back to `main`.",
            next: "Merge it here, or drop it. A loop with a branch for each piece of work names them: `[tree] branches = [\"story/*\"]`.",
        }
        OnlyNewFiles = "only-new-files" {
            what: "The only change since the loop began is new files that no other file names.",
            why: "An agent that writes a script beside the product has often changed nothing. This refuses one claim; the next one counts.",
            example: "`reproduce.py` at the top of the repository, and no other change.",
            next: "Change what the task is about. If the new file is the work, give the completion status again.",
        }
        MaxBlocks = "max-blocks" {
            what: "The agent's stop was refused as often as `hook.max_blocks` allows, so the agent is let go. The work is not done.",
            why: "An agent that is refused forever gets nowhere.",
            example: "Five refusals over the same red test.",
            next: "Look at the other reasons, then tell the agent how to go on.",
        }
        Released = "released" {
            what: "A stop hook let the agent go. That is no exit.",
            why: "Nothing changed, the checks are green, they could not run here, or the person has to know that they are red. `released` says which: green, red, not-run, or waiting for a helper or a wake-up.",
            example: "A question was answered, and no file changed.",
            next: "Nothing if it is green. Else read the other reasons.",
        }
        BreakerIsolated = "breaker-isolated" {
            what: "An operator stopped the loop with `gate breaker isolate`.",
            why: "The operator's word counts until it is taken back.",
            example: "`gate breaker isolate --reason \"wrong branch\"`",
            next: "The operator closes it: `gate breaker reset --reason …`.",
        }
    } removed {
        UntestedChange = "untested-change"
        RedBefore = "red-before"
    }
}

codes! {
    /// A remark on a decision that does not change the verdict.
    WarningCode {
        NoEvidence = "no-evidence" {
            what: "No passing check confirms the agent's word.",
            why: "None is configured, none passed, or all that passes is what the agent ticked itself. Such an exit carries `\"verified\": false`.",
            example: "A project without gate.toml.",
            next: "`gate init` finds the project's test and build commands. `--require-evidence` refuses such an exit.",
        }
        NoBaseline = "no-baseline" {
            what: "gate does not know how the work tree was before the agent acted.",
            why: "The project is outside of git, or nothing was committed. So gate cannot see deleted tests and weakened settings.",
            example: "A folder without `.git`.",
            next: "Commit before the agent starts, or run `gate baseline`.",
        }
        BaselineOfHistory = "baseline-of-history" {
            what: "Nobody took a baseline, so the checked out commit or a local branch says how the work tree was before the agent acted.",
            why: "An agent can commit weaker tests, or move the branch. The decision's trust level is T0.",
            example: "A loop of your own around `gate check`, in a repository without a remote.",
            next: "`gate baseline`, before the agent starts. `gate run` and the hook at the beginning of a session take one by themselves.",
        }
        ChecksNotRun = "checks-not-run" {
            what: "The configured checks were left out of this decision.",
            why: "An option asked for that.",
            example: "`gate check --no-checks out.log`",
            next: "Leave the option out.",
        }
        ThresholdUnreachable = "threshold-unreachable" {
            what: "The threshold is higher than all sources can add up to, so the gate can never pass.",
            why: "Too few checks and patterns are configured.",
            example: "`indicator_threshold = 9` with two checks.",
            next: "Lower `exit_gate.indicator_threshold`, or add a check.",
        }
        ThresholdFromEnvironment = "threshold-from-environment" {
            what: "The threshold comes from an environment variable.",
            why: "An agent can set such a variable.",
            example: "`GATE_EXIT_THRESHOLD=0`",
            next: "Put the threshold into gate.toml.",
        }
        SettingLocked = "setting-locked" {
            what: "A source of settings sets a value that the machine's settings lock. The locked value counts.",
            why: "`/etc/gate/gate.toml` lists the key under `locked`. The message names the file and line, or the variable, that sets another value.",
            example: "`exit_gate.unverified` is locked at \"continue\", and gate.toml says \"exit\".",
            next: "Take the setting out of the place that the message names.",
        }
        SettingGone = "setting-gone" {
            what: "A file of settings has a key that an earlier version had. It changes nothing.",
            why: "The message names the file, the line, and what serves instead.",
            example: "`fail_to_pass = true` in `[checks.tests]`.",
            next: "Take the key out of the file, then `gate trust`.",
        }
        StreakNotCounted = "streak-not-counted" {
            what: "`exit_gate.consecutive` asks for several passing iterations, and no state is kept that could count them.",
            why: "So the gate cannot pass.",
            example: "`consecutive = 2` with `--no-state`.",
            next: "Leave out `--no-state`, or set `consecutive = 1`.",
        }
        OverrideIgnored = "override-ignored" {
            what: "The agent asked to bypass the threshold, and the settings do not allow that.",
            why: "`signal.agent_override` is \"never\".",
            example: "`EXIT_OVERRIDE: true`",
            next: "Nothing, or set `signal.agent_override = \"high-confidence\"`.",
        }
        OverrideGranted = "override-granted" {
            what: "The agent asked to bypass the threshold with high confidence, and the settings allow that.",
            why: "`signal.agent_override` is \"high-confidence\". Required checks still decide.",
            example: "`EXIT_OVERRIDE: true` with `EXIT_CONFIDENCE: HIGH`",
            next: "Nothing.",
        }
        AgentExitCode = "agent-exit-code" {
            what: "The agent's program ended with an error after a complete signal.",
            why: "The signal was given before, so the checks decide.",
            example: "`gate check --agent-exit-code 1 out.log` with a signal in out.log.",
            next: "Look at the agent's standard error if that happens often.",
        }
        InputProblem = "input-problem" {
            what: "A part of the transcript could not be read.",
            why: "It is not as its format says, and was passed over.",
            example: "A line of JSON that is cut off.",
            next: "Nothing if the rest is right. If gate took the wrong format: `--format`.",
        }
        UnknownFormat = "unknown-format" {
            what: "The output is JSON of no format that gate knows.",
            why: "Nobody's words can be found in it, so no signal would ever be seen.",
            example: "A log of events that a loop writes by itself.",
            next: "Name the agent or its format with `--format` (`gate scan --help` lists the names), or let the agent print plain text. `gate run` ends at the first such output.",
        }
        AgentError = "agent-error" {
            what: "The client reported an error of the agent or of its API.",
            why: "It decides nothing by itself.",
            example: "\"API Error: 529 overloaded\"",
            next: "Nothing. If the work was cut short, the reasons say so.",
        }
        LimitReached = "limit-reached" {
            what: "The client reported a rate or usage limit.",
            why: "The next iteration may end at once.",
            example: "\"usage limit reached\"",
            next: "Wait until `retry_at`, if the client says when the limit ends.",
        }
        ToolDenied = "tool-denied" {
            what: "The client denied the agent a tool.",
            why: "The agent may lack the rights to do its task.",
            example: "Write was denied in `claude -p`.",
            next: "`gate run --allow edits`, `checks` or `all` allows more, and so do arguments in `[run.agents.NAME] args`. Without `gate run` the client's own settings decide.",
        }
        CheckWarning = "check-warning" {
            what: "A check with `mode = \"warn\"` did not pass.",
            why: "It is shown and does not block.",
            example: "`clean_git`: 1 file is not committed.",
            next: "Fix it if you want to, or set `mode = \"require\"`.",
        }
        CheckElsewhere = "check-elsewhere" {
            what: "A configured check runs in another place only.",
            why: "Its `when` names gate check, gate run or a stop hook.",
            example: "`when = [\"run\"]`, in a stop hook.",
            next: "Nothing, or change `when`.",
        }
        Flaky = "flaky" {
            what: "A check failed, and passed when it ran again.",
            why: "`retry` allows that, so it counts as passed.",
            example: "A test that depends on time.",
            next: "Make the named tests steady.",
        }
        TrustLowered = "trust-lowered" {
            what: "`GATE_TRUST_LEVEL` claims more than the facts allow.",
            why: "The decision carries the level that the facts allow.",
            example: "T2, while the agent owns the work tree.",
            next: "Set up what the level needs: the book lists that under `Trust levels`. Or lower the claim.",
        }
        SettingsDiffer = "settings-differ" {
            what: "gate.toml is not the one that you approved. The approved settings decide.",
            why: "An agent may have edited the file.",
            example: "You added a check and have not run `gate trust` since.",
            next: "If the change is yours: `gate trust`. If not: `git diff gate.toml` shows it.",
        }
        SettingsOfUserChanged = "settings-of-user-changed" {
            what: "Your own settings, `gate/config.toml` in your settings folder, changed in the middle of a run.",
            why: "They hold for all projects and need no approval, and an agent can write to your home folder.",
            example: "An `[[integrity.allow]]` with `path = \"**\"`, written between two iterations.",
            next: "Nothing if you changed them. Else undo it: `gate config show` says what holds and where it comes from.",
        }
        CheckDidNotCount = "check-did-not-count" {
            what: "A check with `mode = \"count\"` did not pass, so it added no indicator.",
            why: "Only a pass counts.",
            example: "`clean_git`: 2 files are not committed.",
            next: "Nothing, or set another `mode`.",
        }
    } removed {
        ChangeWithoutTest = "change-without-test"
    }
}
