//! The codes of warnings, each with its meaning, its cause, an example and the remedy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CodeRow, Explanation};

codes! {
    /// A remark on a decision that does not change the verdict.
    WarningCode {
        NoEvidence = "no-evidence" {
            meaning: "No passing check confirms the agent's word.",
            cause: "None is configured, none passed, or all that passes is what the agent ticked itself. Such an exit carries `\"verified\": false`.",
            example: "A project without gate.toml.",
            remedy: "`gate init` finds the project's test and build commands. `--require-evidence` refuses such an exit.",
        }
        NoBaseline = "no-baseline" {
            meaning: "gate does not know how the work tree was before the agent acted.",
            cause: "The project is outside of git, or nothing was committed. So gate cannot see deleted tests and weakened settings.",
            example: "A folder without `.git`.",
            remedy: "Commit before the agent starts, or run `gate baseline`.",
            comes_with_input: true,
        }
        BaselineOfHistory = "baseline-of-history" {
            meaning: "Nobody took a baseline, so the checked out commit or a local branch says how the work tree was before the agent acted.",
            cause: "An agent can commit weaker tests, or move the branch. The decision's trust level is T0.",
            example: "A loop of your own around `gate check`, in a repository without a remote.",
            remedy: "`gate baseline`, before the agent starts. `gate run` and the hook at the beginning of a session take one by themselves.",
            comes_with_input: true,
        }
        ChecksNotRun = "checks-not-run" {
            meaning: "The configured checks were left out of this decision.",
            cause: "An option asked for that.",
            example: "`gate check --no-checks out.log`",
            remedy: "Leave the option out.",
        }
        ThresholdUnreachable = "threshold-unreachable" {
            meaning: "The threshold is higher than all sources can add up to, so the gate can never pass.",
            cause: "Too few checks and patterns are configured.",
            example: "`indicator_threshold = 9` with two checks.",
            remedy: "Lower `exit_gate.indicator_threshold`, or add a check.",
        }
        ThresholdFromEnvironment = "threshold-from-environment" {
            meaning: "The threshold comes from an environment variable.",
            cause: "An agent can set such a variable.",
            example: "`GATE_EXIT_THRESHOLD=0`",
            remedy: "Put the threshold into gate.toml.",
            comes_with_input: true,
        }
        SettingLocked = "setting-locked" {
            meaning: "A source of settings sets a value that the machine's settings lock. The locked value counts.",
            cause: "`/etc/gate/gate.toml` lists the key under `locked`. The message names the file and line, or the variable, that sets another value.",
            example: "`exit_gate.unverified` is locked at \"continue\", and gate.toml says \"exit\".",
            remedy: "Take the setting out of the place that the message names.",
            comes_with_input: true,
        }
        SettingGone = "setting-gone" {
            meaning: "A file of settings has a key that an earlier version had. It changes nothing.",
            cause: "The message names the file, the line, and what serves instead.",
            example: "`fail_to_pass = true` in `[checks.tests]`.",
            remedy: "Take the key out of the file, then `gate trust`.",
            comes_with_input: true,
        }
        StreakNotCounted = "streak-not-counted" {
            meaning: "`exit_gate.consecutive` asks for several passing iterations, and no state is kept that could count them.",
            cause: "So the gate cannot pass.",
            example: "`consecutive = 2` with `--no-state`.",
            remedy: "Leave out `--no-state`, or set `consecutive = 1`.",
        }
        OverrideIgnored = "override-ignored" {
            meaning: "The agent asked to bypass the threshold, and the settings do not allow that.",
            cause: "`signal.agent_override` is \"never\".",
            example: "`EXIT_OVERRIDE: true`",
            remedy: "Nothing, or set `signal.agent_override = \"high-confidence\"`.",
        }
        OverrideGranted = "override-granted" {
            meaning: "The agent asked to bypass the threshold with high confidence, and the settings allow that.",
            cause: "`signal.agent_override` is \"high-confidence\". Required checks still decide.",
            example: "`EXIT_OVERRIDE: true` with `EXIT_CONFIDENCE: HIGH`",
            remedy: "Nothing.",
        }
        AgentExitCode = "agent-exit-code" {
            meaning: "The agent's program ended with an error after a complete signal.",
            cause: "The signal was given before, so the checks decide.",
            example: "`gate check --agent-exit-code 1 out.log` with a signal in out.log.",
            remedy: "Look at the agent's standard error if that happens often.",
        }
        InputProblem = "input-problem" {
            meaning: "A part of the transcript could not be read.",
            cause: "It is not as its format says, and was passed over.",
            example: "A line of JSON that is cut off.",
            remedy: "Nothing if the rest is right. If gate took the wrong format: `--format`.",
            comes_with_input: true,
        }
        UnknownFormat = "unknown-format" {
            meaning: "The output is JSON of no format that gate knows.",
            cause: "Nobody's words can be found in it, so no signal would ever be seen.",
            example: "A log of events that a loop writes by itself.",
            remedy: "Name the agent or its format with `--format` (`gate scan --help` lists the names), or let the agent print plain text. `gate run` ends at the first such output.",
            comes_with_input: true,
        }
        AgentError = "agent-error" {
            meaning: "The client reported an error of the agent or of its API.",
            cause: "It decides nothing by itself.",
            example: "\"API Error: 529 overloaded\"",
            remedy: "Nothing. If the work was cut short, the reasons say so.",
            comes_with_input: true,
        }
        LimitReached = "limit-reached" {
            meaning: "The client reported a rate or usage limit.",
            cause: "The next iteration may end at once.",
            example: "\"usage limit reached\"",
            remedy: "Wait until `retry_at`, if the client says when the limit ends.",
            comes_with_input: true,
        }
        ToolDenied = "tool-denied" {
            meaning: "The client denied the agent a tool.",
            cause: "The agent may lack the rights to do its task.",
            example: "Write was denied in `claude -p`.",
            remedy: "`gate run --allow edits`, `checks` or `all` allows more, and so do arguments in `[run.agents.NAME] args`. Without `gate run` the client's own settings decide.",
        }
        CheckWarning = "check-warning" {
            meaning: "A check with `mode = \"warn\"` did not pass.",
            cause: "It is shown and does not block.",
            example: "`clean_git`: 1 file is not committed.",
            remedy: "Fix it if you want to, or set `mode = \"require\"`.",
        }
        CheckElsewhere = "check-elsewhere" {
            meaning: "A configured check runs in another place only.",
            cause: "Its `when` names gate check, gate run or a stop hook.",
            example: "`when = [\"run\"]`, in a stop hook.",
            remedy: "Nothing, or change `when`.",
            comes_with_input: true,
        }
        Flaky = "flaky" {
            meaning: "A check failed, and passed when it ran again.",
            cause: "`retry` allows that, so it counts as passed.",
            example: "A test that depends on time.",
            remedy: "Make the named tests steady.",
        }
        TrustLowered = "trust-lowered" {
            meaning: "`GATE_TRUST_LEVEL` claims more than the facts allow.",
            cause: "The decision carries the level that the facts allow.",
            example: "T2, while the agent owns the work tree.",
            remedy: "Set up what the level needs: the book lists that under `Trust levels`. Or lower the claim.",
            comes_with_input: true,
        }
        SettingsDiffer = "settings-differ" {
            meaning: "gate.toml is not the one that you approved. The approved settings decide.",
            cause: "An agent may have edited the file.",
            example: "You added a check and have not run `gate trust` since.",
            remedy: "If the change is yours: `gate trust`. If not: `git diff gate.toml` shows it.",
        }
        SettingsOfUserChanged = "settings-of-user-changed" {
            meaning: "Your own settings, `gate/config.toml` in your settings folder, changed in the middle of a run.",
            cause: "They hold for all projects and need no approval, and an agent can write to your home folder.",
            example: "An `[[integrity.allow]]` with `path = \"**\"`, written between two iterations.",
            remedy: "Nothing if you changed them. Else undo it: `gate config show` says what holds and where it comes from.",
        }
        CheckDidNotCount = "check-did-not-count" {
            meaning: "A check with `mode = \"count\"` did not pass, so it added no indicator.",
            cause: "Only a pass counts.",
            example: "`clean_git`: 2 files are not committed.",
            remedy: "Nothing, or set another `mode`.",
        }
    } removed {
        ChangeWithoutTest = "change-without-test"
    }
}
