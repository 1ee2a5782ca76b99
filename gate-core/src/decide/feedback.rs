//! Feedback: one line for a person about what to do next, and a text for the agent's next
//! turn.
//!
//! Neither holds the text that would pass: an agent that copies its feedback
//! must not get through with it. What gate says itself and what others say never
//! stand in one line.

mod quoted;

use super::input::Input;
use super::policy::Policy;
use super::reason::{Reason, ReasonCode};
use super::signal::{NearMiss, Signal, Status, TokenState, prompt};
use super::situation::Course;
use super::verdict::Verdict;

/// The longest feedback, in characters.
const MAX_FEEDBACK_CHARS: usize = 1_500;

/// With this line each feedback begins.
const OPENING: &str = "The work does not count as done yet:";

/// The beginning of a refusal that follows from no decision.
const UNDECIDED: &str = "gate cannot decide whether the work is done";

/// True if a text is gate's feedback, which a client may hand on in a prompt.
pub fn is_feedback(text: &str) -> bool {
    text.contains(OPENING) || text.contains(UNDECIDED)
}

/// The line for an agent about settings that a person has not approved.
const SETTINGS_CHANGED: &str = "- gate.toml is another than the one that a person approved, which decides; \
     unless you were asked to change it, put it back (settings-differ)\n";

/// The one cheapest thing that would change the verdict.
pub(super) fn next(verdict: Verdict, reasons: &[Reason], input: &Input) -> Option<String> {
    let signal = &input.signal;
    if verdict == Verdict::Exit {
        return None;
    }
    let first = reasons.iter().min_by_key(|reason| cost(reason.code))?;
    Some(match first.code {
        ReasonCode::SignalAbsent => absent(&signal.near_misses),
        ReasonCode::SignalInvalid if lacks_token(signal) => {
            "give the signal again, with this iteration's EXIT_TOKEN beside it".to_owned()
        }
        ReasonCode::BreakerTripped | ReasonCode::BreakerOpen => freed(input).to_owned(),
        code => step(code, first),
    })
}

/// The effort that it takes to remove a reason. Reasons that only a person can remove
/// come first, because nothing else would help.
fn cost(code: ReasonCode) -> u8 {
    match code {
        ReasonCode::Passed | ReasonCode::Forced => 0,
        ReasonCode::BreakerTripped
        | ReasonCode::BreakerOpen
        | ReasonCode::BreakerIsolated
        | ReasonCode::BudgetSpent
        | ReasonCode::MaxBlocks
        | ReasonCode::Released
        | ReasonCode::SettingsChanged
        | ReasonCode::BackoffLimit
        | ReasonCode::Cancelled
        | ReasonCode::Tampered => 1,
        ReasonCode::SignalBlocked => 2,
        ReasonCode::RequiredCheckFailed | ReasonCode::RedBefore => 3,
        ReasonCode::RequiredCheckInconclusive
        | ReasonCode::CheckNotRun
        | ReasonCode::CheckRunning
        | ReasonCode::BackgroundRunning => 4,
        ReasonCode::SignalContinue | ReasonCode::SignalContradicts | ReasonCode::SignalInvalid => 5,
        ReasonCode::RateLimited | ReasonCode::AgentUnavailable => 2,
        ReasonCode::AgentFailed => 6,
        ReasonCode::SignalAbsent => 7,
        ReasonCode::ThresholdNotReached
        | ReasonCode::ConsecutiveNotReached
        | ReasonCode::EvidenceRequired => 8,
    }
}

/// True if a signal lacks nothing but its token.
fn lacks_token(signal: &Signal) -> bool {
    signal.token.is_some_and(|token| token != TokenState::Held)
}

fn absent(near_misses: &[NearMiss]) -> String {
    match near_misses.last() {
        Some(miss) => {
            format!("give an explicit exit signal; line {} was almost one: {}", miss.line, miss.why)
        }
        None => {
            "give an explicit exit signal; `gate prompt` prints the protocol for the agent's prompt"
                .to_owned()
        }
    }
}

fn step(code: ReasonCode, reason: &Reason) -> String {
    let check = reason.check.as_deref().unwrap_or("the check");
    match code {
        ReasonCode::RateLimited => "wait until the limit is over, then go on".to_owned(),
        ReasonCode::AgentUnavailable => "wait until the agent can work again; its standard error says what is wrong".to_owned(),
        ReasonCode::BackoffLimit => "mend what keeps the agent from working, then start the loop again".to_owned(),
        ReasonCode::Cancelled => "start the loop again".to_owned(),
        ReasonCode::BreakerIsolated => "the operator who isolated the breaker has to close it: `gate breaker status` says how".to_owned(),
        ReasonCode::BudgetSpent => "look at what was done, then raise the budget, or begin a new run: `gate breaker reset --reason …`".to_owned(),
        ReasonCode::MaxBlocks => "look at what is missing, then tell the agent how to go on".to_owned(),
        ReasonCode::CheckRunning => format!("wait for {check} to end"),
        ReasonCode::BackgroundRunning => "wait for the background tasks, or stop them".to_owned(),
        ReasonCode::Tampered => format!("a person has to look at {check}: {}", reason.message),
        ReasonCode::SettingsChanged => "`gate trust`, or the settings as they were; then check again".to_owned(),
        ReasonCode::SignalBlocked => "a person has to remove what blocks the agent".to_owned(),
        ReasonCode::RequiredCheckFailed => format!("make {check} pass"),
        ReasonCode::RequiredCheckInconclusive => format!("see to it that {check} can be measured: {}", why(reason)),
        ReasonCode::CheckNotRun => format!("let {check} run: it is required"),
        ReasonCode::SignalContinue => "finish the remaining work, then signal completion".to_owned(),
        ReasonCode::SignalContradicts => "give one exit signal that does not contradict itself".to_owned(),
        ReasonCode::SignalInvalid => "give a whole exit signal, as the protocol shows it".to_owned(),
        ReasonCode::AgentFailed => "find out why the agent's program failed".to_owned(),
        ReasonCode::ConsecutiveNotReached => "pass again in the next iteration".to_owned(),
        ReasonCode::ThresholdNotReached => {
            "say in the final message what was finished, add a check, or lower `exit_gate.indicator_threshold`".to_owned()
        }
        ReasonCode::RedBefore => "say whether the red tests are part of the task".to_owned(),
        ReasonCode::EvidenceRequired => {
            "configure a check (`gate init`), or set `exit_gate.unverified = \"exit\"`".to_owned()
        }
        ReasonCode::BreakerTripped
        | ReasonCode::BreakerOpen
        | ReasonCode::SignalAbsent
        | ReasonCode::Passed
        | ReasonCode::Forced
        | ReasonCode::Released => reason.message.clone(),
    }
}

/// The step that frees a loop that its breaker stopped. A reset in the agent's client is
/// refused, because an agent may have typed it.
fn freed(input: &Input) -> &'static str {
    if input.is_lost() {
        "find out what happened to the state, then `gate breaker reset --reason …`"
    } else if input.observed.stop.is_some() {
        "look at what tripped the breaker; a new prompt of yours closes it, or `gate breaker reset --reason …` in another terminal"
    } else {
        "look at what tripped the breaker, then `gate breaker reset --reason …`"
    }
}

/// The check's own part of a message, after the colon.
fn why(reason: &Reason) -> &str {
    reason.message.split_once(": ").map_or(reason.message.as_str(), |(_, why)| why)
}

/// The text for the agent's next turn: what is missing, each with its code, what to
/// do, and, as far as there is room, what checks say.
pub(super) fn text(verdict: Verdict, reasons: &[Reason], input: &Input, policy: &Policy) -> String {
    if verdict != Verdict::Continue {
        return String::new();
    }
    let mut text = format!("{OPENING}\n");
    for reason in reasons {
        let what = for_agent(reason, input);
        text.push_str(&format!("- {what} ({})\n", reason.code.code()));
    }
    if not_own(input).is_some() {
        text.push_str(NOT_OWN);
    }
    if input.settings_changed.is_some() {
        text.push_str(SETTINGS_CHANGED);
    }
    let closing = closing(reasons, input, policy);
    let room = MAX_FEEDBACK_CHARS.saturating_sub(length(&text) + length(&closing));
    text.push_str(&quoted::all(reasons, input, policy, room));
    let room = MAX_FEEDBACK_CHARS.saturating_sub(length(&closing));
    cut(&text, room) + &closing
}

/// A reason in gate's own words, which are no signal. The feedback never repeats what the
/// agent wrote, nor what would pass.
fn for_agent(reason: &Reason, input: &Input) -> String {
    let check = quoted::name(reason);
    match reason.code {
        ReasonCode::SignalAbsent => "your final message gave no explicit completion status".to_owned(),
        ReasonCode::SignalContinue => "you said that work remains; finish it".to_owned(),
        ReasonCode::SignalContradicts => {
            "your completion status contradicts itself: remaining work, failing tests, or two values for one key".to_owned()
        }
        ReasonCode::SignalInvalid if lacks_token(&input.signal) => {
            "your completion status does not carry the token that it was asked for".to_owned()
        }
        ReasonCode::SignalInvalid => "your completion status could not be read; give it whole".to_owned(),
        ReasonCode::ThresholdNotReached => {
            "too little in your final message and in the checks speaks for completion; sum up what was finished and verified".to_owned()
        }
        ReasonCode::RequiredCheckFailed => format!("{check} failed"),
        ReasonCode::RequiredCheckInconclusive => format!("{check} could not be measured"),
        ReasonCode::CheckNotRun => format!("{check} did not run"),
        ReasonCode::CheckRunning => {
            format!("{check} is still running; wait for it: look again in a while")
        }
        ReasonCode::Tampered => format!("{check} was worked around"),
        ReasonCode::RateLimited => "the iteration ended in a limit".to_owned(),
        ReasonCode::AgentUnavailable => "your program or its connection failed".to_owned(),
        ReasonCode::BackgroundRunning => background(input),
        ReasonCode::RedBefore => {
            "tests are red that were red before you began; if they are not your task, say so and stop".to_owned()
        }
        ReasonCode::EvidenceRequired => {
            "no check stands behind your completion status; a person has to configure one".to_owned()
        }
        ReasonCode::AgentFailed
        | ReasonCode::Released
        | ReasonCode::ConsecutiveNotReached
        | ReasonCode::Passed
        | ReasonCode::Forced
        | ReasonCode::BreakerTripped
        | ReasonCode::BreakerOpen
        | ReasonCode::BreakerIsolated
        | ReasonCode::BudgetSpent
        | ReasonCode::MaxBlocks
        | ReasonCode::SettingsChanged
        | ReasonCode::BackoffLimit
        | ReasonCode::Cancelled
        | ReasonCode::SignalBlocked => reason.message.clone(),
    }
}

/// The line for an agent about failures that are older than its session, or another
/// session's.
const NOT_OWN: &str = "- some red tests are not yours unless they are your task; if nothing else \
                       is left, end with the status BLOCKED\n";

/// Failing tests that are not the agent's.
fn not_own(input: &Input) -> Option<String> {
    let stop = input.observed.stop.as_ref()?;
    stop.situation.as_ref()?.not_own()
}

fn background(input: &Input) -> String {
    let tasks = input.observed.stop.as_ref().map_or(0, |stop| stop.background.len());
    match tasks {
        1 => "a background task is still running; wait for it to end, or stop it".to_owned(),
        tasks => format!(
            "{tasks} background tasks are still running; wait for them to end, or stop them"
        ),
    }
}

/// The closing paragraph, with the token of the next status if one is required.
fn closing(reasons: &[Reason], input: &Input, policy: &Policy) -> String {
    let what = what_to_do(reasons, input, policy);
    match &input.next_token {
        Some(token) => format!("{}\n\n{}", what.trim_end(), token.told()),
        None => what,
    }
}

/// The first refusal of a hook explains the protocol, because the agent may never have
/// heard of it.
fn what_to_do(reasons: &[Reason], input: &Input, policy: &Policy) -> String {
    let is_new = input.observed.stop.is_some() && !input.refusals().reminded;
    let absent = reasons.iter().any(|reason| reason.code == ReasonCode::SignalAbsent);
    if is_looked_at(input) {
        return WAY_OUT.to_owned();
    }
    match input.signal.status {
        Status::Complete => {
            "Put this right, verify it, then give your completion status again.".to_owned()
        }
        _ if is_new && absent => {
            format!("Go on if something is left, then close as follows.\n\n{}", prompt(&policy.signal, None))
        }
        _ => "Go on with the work. When everything is finished and verified, end your message with the completion status that your instructions describe.".to_owned(),
    }
}

/// The closing paragraph for an agent that needs no completion status to stop.
const WAY_OUT: &str = "Put this right and verify it, then finish. Do not weaken a test. If you cannot go on, or a \
                       check itself is wrong, say so and end your message with the status BLOCKED.";

/// True if the ruling on a stop depends on its checks alone.
fn is_looked_at(input: &Input) -> bool {
    let stop = input.observed.stop.as_ref();
    let situation = stop.and_then(|stop| stop.situation.as_ref());
    situation.is_some_and(|situation| situation.course(input.signal.status) == Course::Look)
}

/// The text, of at most so many characters.
fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some(_) => {
            let kept: String = text.chars().take(longest.saturating_sub(2)).collect();
            format!("{kept}…\n")
        }
        None => text.to_owned(),
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests;
