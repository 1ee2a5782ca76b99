//! Why a decision is what it is: stable codes, each with a text that explains
//! it and says what to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($(#[$outer:meta])* $name:ident { $($variant:ident = $code:literal: $doc:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $(#[doc = $doc] $variant,)* }

        impl $name {
            /// All codes, in the order in which they are explained.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code in records.
            pub fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// The meaning of the code, and what to do.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    /// Why a decision is what it is.
    ReasonCode {
        Passed = "passed": "Every condition holds: enough indicators, an explicit signal, and every required check passes, if any is configured. The loop may end. With `\"verified\": false` no check stands behind it: see `no-evidence`.",
        Forced = "forced": "The operator ended the loop with --force-complete. It is recorded as forced, with the reason that was given; nothing else was required.",
        SignalAbsent = "signal-absent": "The agent's last word holds no explicit signal. Put the completion protocol (`gate prompt`) into the agent's prompt; look at the near misses for a signal that is almost one.",
        SignalContinue = "signal-continue": "The agent says that work remains. That is respected whatever else speaks for completion; only --force-complete goes past it.",
        SignalContradicts = "signal-contradicts": "The agent's signal contradicts itself: COMPLETE beside remaining work, EXIT_SIGNAL: true beside failing tests, one key with two values, two spellings that disagree. A contradiction means continue.",
        SignalInvalid = "signal-invalid": "The last word holds a signal that cannot be read, such as a block that is cut off. It is not taken for completion, and not for silence either. With `signal.token = \"required\"` it also means a signal without this iteration's EXIT_TOKEN; `gate prompt` shows its halves.",
        SignalBlocked = "signal-blocked": "The agent says that it cannot go on. The loop stops, and the work is not done: a person has to look at the agent's reason.",
        ThresholdNotReached = "threshold-not-reached": "Fewer completion indicators than `exit_gate.indicator_threshold`. An indicator is a pattern's hit, a passing check, all boxes ticked in a plan file, or fields of the signal that say the same in another way. Lower the threshold, add a check, or add a pattern.",
        EvidenceRequired = "evidence-required": "The agent claims completion, no check stands behind the claim, and `exit_gate.unverified = \"continue\"` or `--require-evidence` asks for one. Configure a check (`gate init` finds the project's test and build commands), or let the agent's word end the loop with `exit_gate.unverified = \"exit\"`.",
        RequiredCheckFailed = "required-check-failed": "A required check failed. The work is not done until it passes; its log says what is wrong.",
        RequiredCheckInconclusive = "required-check-inconclusive": "A required check could not find out: it timed out, its report was incomplete, or the tree changed under it. Inconclusive is never a pass.",
        CheckNotRun = "check-not-run": "A configured check left no record, or a required one was skipped. What was not looked at has not passed.",
        Tampered = "tampered": "A check, its files or the settings were changed to get around it. Nothing counts until a person has looked: where settings appeared that nobody approved, `gate trust` approves them; where the run is locked, `gate lock` says to which policy.",
        SettingsChanged = "settings-changed": "Everything holds by the settings that you approved, which decide; but `gate.toml` is another by now. If you changed it, `gate trust` approves it, and the next check of the same output exits. If you did not, `git diff gate.toml` shows what was changed: put it back.",
        AgentFailed = "agent-failed": "The agent's program ended with an error and gave no complete signal. With a complete signal the checks decide.",
        ConsecutiveNotReached = "consecutive-not-reached": "This iteration passes, but `exit_gate.consecutive` asks for several in a row.",
        RateLimited = "rate-limited": "The iteration ended in a rate or usage limit of the agent's service. It counts towards no trip but `breaker.rate_limited`; go on when the limit is over (`retry_at`, where the client says when).",
        AgentUnavailable = "agent-unavailable": "The agent could not work: it lost the connection to its service, or its program failed at its start. `gate run` waits (`retry_at`) and tries again. Such an iteration counts towards no trip.",
        BackoffLimit = "backoff-limit": "`gate run` ended the loop, because the agent could not work for longer than `[run] backoff_limit`. The work is not done. The other reasons say what kept the agent from working: mend that, then start the loop again.",
        Cancelled = "cancelled": "The loop was ended while the agent worked, by a signal, by `gate stop` or because the work item is somebody else's. What the agent has used is recorded; the work was not judged.",
        BreakerTripped = "breaker-tripped": "This iteration reached a limit of `[breaker]`, so the circuit breaker of this session, loop or run opened: it stops, and the work is not done. Others go on. Look at the other reasons; `gate breaker reset --reason …` closes it, a new prompt in the session does too, and after the cool-down one iteration may try.",
        BreakerOpen = "breaker-open": "The circuit breaker of this session, loop or run is open: it went on without getting anywhere, or its state was lost. It stops, and the work is not done. Look at what tripped it (`gate breaker status`); `gate breaker reset --reason …` closes it.",
        BudgetSpent = "budget-spent": "The run used up its `[budget]`. It ends, not done, and so does each later decision of the run; another run, loop or prompt is free. Look at what it did, then give it more (`[budget]`, or `gate run --budget-…`), or begin a new run (`--new-run`, or `gate breaker reset --reason …`).",
        CheckRunning = "check-running": "A required check outlived the deadline of the stop hook. It goes on, on a copy of the work tree; the next stop waits for what it comes to.",
        BackgroundRunning = "background-running": "Everything else holds, but the agent left tasks running in the background, which may still change the work. This refuses a stop once a prompt.",
        MaxBlocks = "max-blocks": "The agent's stop was refused as often as `hook.max_blocks` allows. The agent is let go, and the work is not done: a person has to look at the other reasons.",
        Released = "released": "A stop hook let the agent go without a verdict that ends the work: nothing changed, the checks are green, they could not run here, or the person has to know that they are red. It is no exit. `released` says what was seen: green, red or not-run.",
        RedBefore = "red-before": "The agent says that it is done, and tests are red that were red before the session began. That is said once. If they are not its task, it says so and stops.",
        BreakerIsolated = "breaker-isolated": "An operator holds the breaker open. The loop stops, and the work is not done, until the operator closes it.",
    }
}

codes! {
    /// A remark on a decision that does not change it.
    WarningCode {
        NoEvidence = "no-evidence": "No check is configured, none passed, or all that passes is what the agent itself ticked. So the decision rests on the agent's word, and an exit carries `\"verified\": false`. `gate init` finds the project's test and build commands; `exit_gate.unverified = \"continue\"` or `--require-evidence` refuses such an exit.",
        NoBaseline = "no-baseline": "What the work tree was before the agent acted is not known, because it is outside of git or nothing was committed. Tests that vanished and settings that were weakened cannot be seen.",
        ChecksNotRun = "checks-not-run": "Checks are configured and were left out of this decision, as asked.",
        ThresholdUnreachable = "threshold-unreachable": "The threshold is higher than all configured sources can add up to, so the gate can never pass. Lower `exit_gate.indicator_threshold` or add a check.",
        ThresholdFromEnvironment = "threshold-from-environment": "The threshold comes from an environment variable, which an agent can set. Put it into gate.toml instead.",
        StreakNotCounted = "streak-not-counted": "`exit_gate.consecutive` asks for several passing iterations in a row, and no state is kept that could count them, so the gate cannot pass.",
        OverrideIgnored = "override-ignored": "The agent asked to bypass the threshold (EXIT_OVERRIDE), and `signal.agent_override` does not allow it.",
        OverrideGranted = "override-granted": "The agent asked to bypass the threshold with high confidence, and `signal.agent_override` allows it. Required checks still decide.",
        AgentExitCode = "agent-exit-code": "The agent's program ended with an error after a complete signal. The checks decide.",
        InputProblem = "input-problem": "Part of the transcript could not be read as its format says; it was passed over.",
        AgentError = "agent-error": "The client reported an error of the agent or of its API. It decides nothing by itself; where it cut the work short, the signal or the checks say so.",
        LimitReached = "limit-reached": "The client reported a rate or usage limit. `retry_at` says when it ends, where the client tells.",
        ToolDenied = "tool-denied": "The client denied the agent a tool. Where gate starts the agent, `gate run --allow edits`, `checks` or `all` allows more, and so do arguments in `[run.agents.NAME] args`; else the client's own settings do.",
        CheckWarning = "check-warning": "A check with mode = \"warn\" did not pass. It is shown and decides nothing.",
        CheckElsewhere = "check-elsewhere": "A configured check runs in another place only (`when`): in gate check, in gate run, or in a stop hook. It takes no part in this decision.",
        Flaky = "flaky": "A check failed and passed when it was run again (`retry`). It counts as passed; what wavers is named, and wants to be made steady.",
        TrustLowered = "trust-lowered": "`GATE_TRUST_LEVEL` claims more than what gate sees allows, so the decision carries the level that holds. The guide says what each level needs.",
        SettingsDiffer = "settings-differ": "`gate.toml` is another than the one that you approved, which decides. If you changed it, `gate trust` approves it. If you did not, `git diff gate.toml` shows what was changed.",
        CheckDidNotCount = "check-did-not-count": "A check with mode = \"count\" did not pass, so it added no indicator.",
    }
}

/// One reason of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Its code.
    pub code: ReasonCode,
    /// The check that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// A sentence for a person or an agent.
    pub message: String,
}

/// One warning of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Its code.
    pub code: WarningCode,
    /// A sentence for a person.
    pub message: String,
}

impl Reason {
    pub(crate) fn new(code: ReasonCode, message: impl Into<String>) -> Self {
        Self { code, check: None, message: message.into() }
    }

    pub(crate) fn is_tampering(&self) -> bool {
        self.code == ReasonCode::Tampered
    }

    pub(crate) fn for_check(code: ReasonCode, check: &str, message: impl Into<String>) -> Self {
        Self { code, check: Some(check.to_owned()), message: message.into() }
    }
}

impl Warning {
    /// A warning with this text.
    pub fn new(code: WarningCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The explanation of a reason's or a warning's code.
pub fn explain(code: &str) -> Option<&'static str> {
    let reason =
        ReasonCode::ALL.iter().find(|known| known.code() == code).map(|known| known.explanation());
    reason.or_else(|| {
        WarningCode::ALL.iter().find(|known| known.code() == code).map(|known| known.explanation())
    })
}

impl WarningCode {
    /// True if the warning came with the input; the others are found by the decision.
    pub(super) fn is_given(self) -> bool {
        matches!(
            self,
            Self::InputProblem
                | Self::ThresholdFromEnvironment
                | Self::AgentError
                | Self::LimitReached
                | Self::CheckElsewhere
                | Self::NoBaseline
                | Self::TrustLowered
        )
    }
}
