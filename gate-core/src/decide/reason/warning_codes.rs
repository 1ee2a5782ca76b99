//! The codes of warnings, each with its meaning, its cause, an example and what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Entry, Explanation};

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
            is_given: true,
        }
        BaselineOfHistory = "baseline-of-history" {
            what: "Nobody took a baseline, so the checked out commit or a local branch says how the work tree was before the agent acted.",
            why: "An agent can commit weaker tests, or move the branch. The decision's trust level is T0.",
            example: "A loop of your own around `gate check`, in a repository without a remote.",
            next: "`gate baseline`, before the agent starts. `gate run` and the hook at the beginning of a session take one by themselves.",
            is_given: true,
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
            is_given: true,
        }
        SettingLocked = "setting-locked" {
            what: "A source of settings sets a value that the machine's settings lock. The locked value counts.",
            why: "`/etc/gate/gate.toml` lists the key under `locked`. The message names the file and line, or the variable, that sets another value.",
            example: "`exit_gate.unverified` is locked at \"continue\", and gate.toml says \"exit\".",
            next: "Take the setting out of the place that the message names.",
            is_given: true,
        }
        SettingGone = "setting-gone" {
            what: "A file of settings has a key that an earlier version had. It changes nothing.",
            why: "The message names the file, the line, and what serves instead.",
            example: "`fail_to_pass = true` in `[checks.tests]`.",
            next: "Take the key out of the file, then `gate trust`.",
            is_given: true,
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
            is_given: true,
        }
        UnknownFormat = "unknown-format" {
            what: "The output is JSON of no format that gate knows.",
            why: "Nobody's words can be found in it, so no signal would ever be seen.",
            example: "A log of events that a loop writes by itself.",
            next: "Name the agent or its format with `--format` (`gate scan --help` lists the names), or let the agent print plain text. `gate run` ends at the first such output.",
            is_given: true,
        }
        AgentError = "agent-error" {
            what: "The client reported an error of the agent or of its API.",
            why: "It decides nothing by itself.",
            example: "\"API Error: 529 overloaded\"",
            next: "Nothing. If the work was cut short, the reasons say so.",
            is_given: true,
        }
        LimitReached = "limit-reached" {
            what: "The client reported a rate or usage limit.",
            why: "The next iteration may end at once.",
            example: "\"usage limit reached\"",
            next: "Wait until `retry_at`, if the client says when the limit ends.",
            is_given: true,
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
            is_given: true,
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
            is_given: true,
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
