//! What to do next: one line for a person, a text for the agent's next turn.
//!
//! Neither holds the text that would pass: an agent that copies its feedback
//! must not get through with it.

use super::reason::{Reason, ReasonCode};
use super::signal::{NearMiss, Signal, Status};
use super::verdict::Verdict;

/// The longest feedback, in characters.
const LONGEST: usize = 1_500;

/// The one cheapest thing that would change the verdict.
pub(super) fn next(verdict: Verdict, reasons: &[Reason], signal: &Signal) -> Option<String> {
    if verdict == Verdict::Exit {
        return None;
    }
    let first = reasons.iter().min_by_key(|reason| cost(reason.code))?;
    Some(match first.code {
        ReasonCode::SignalAbsent => absent(&signal.near_misses),
        code => step(code, first),
    })
}

/// How much it takes to remove a reason: the smallest first. What only a
/// person can remove comes before all else, for nothing else would help.
fn cost(code: ReasonCode) -> u8 {
    match code {
        ReasonCode::Passed | ReasonCode::Forced => 0,
        ReasonCode::BreakerTripped
        | ReasonCode::BreakerOpen
        | ReasonCode::BreakerIsolated
        | ReasonCode::Tampered => 1,
        ReasonCode::SignalBlocked => 2,
        ReasonCode::RequiredCheckFailed => 3,
        ReasonCode::RequiredCheckInconclusive | ReasonCode::CheckNotRun => 4,
        ReasonCode::SignalContinue | ReasonCode::SignalContradicts | ReasonCode::SignalInvalid => 5,
        ReasonCode::RateLimited => 2,
        ReasonCode::AgentFailed => 6,
        ReasonCode::SignalAbsent => 7,
        ReasonCode::ThresholdNotReached | ReasonCode::ConsecutiveNotReached => 8,
    }
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
        ReasonCode::BreakerTripped | ReasonCode::BreakerOpen => "look at what tripped the breaker, then `gate breaker reset --reason …`".to_owned(),
        ReasonCode::BreakerIsolated => "the operator who isolated the breaker has to close it".to_owned(),
        ReasonCode::Tampered => format!("a person has to look at {check}: {}", reason.message),
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
        ReasonCode::SignalAbsent | ReasonCode::Passed | ReasonCode::Forced => reason.message.clone(),
    }
}

/// What a check itself says, without the words before it.
fn why(reason: &Reason) -> &str {
    reason.message.split_once(": ").map_or(reason.message.as_str(), |(_, why)| why)
}

/// The text for the agent's next turn.
pub(super) fn text(verdict: Verdict, reasons: &[Reason], signal: &Signal) -> String {
    if verdict != Verdict::Continue {
        return String::new();
    }
    let mut text = "The work does not count as done yet:\n".to_owned();
    for reason in reasons {
        text.push_str("- ");
        text.push_str(&for_agent(reason));
        text.push('\n');
    }
    text.push_str(closing(signal));
    cut(text)
}

/// A reason in words that are no signal. What the agent wrote itself is not
/// said back to it.
fn for_agent(reason: &Reason) -> String {
    match reason.code {
        ReasonCode::SignalAbsent => "your final message gave no explicit completion status".to_owned(),
        ReasonCode::SignalContinue => "you said that work remains; finish it".to_owned(),
        ReasonCode::SignalContradicts => {
            "your completion status contradicts itself: remaining work, failing tests, or two values for one key".to_owned()
        }
        ReasonCode::SignalInvalid => "your completion status could not be read; give it whole".to_owned(),
        ReasonCode::ThresholdNotReached => {
            "too little in your final message and in the checks speaks for completion; sum up what was finished and verified".to_owned()
        }
        _ => reason.message.clone(),
    }
}

fn closing(signal: &Signal) -> &'static str {
    match signal.status {
        Status::Complete => "Put this right, verify it, then give your completion status again.",
        _ => {
            "Go on with the work. When everything is finished and verified, end your message with the completion status that your instructions describe."
        }
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST - 1) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
