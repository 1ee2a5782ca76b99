//! Feedback: one line for a person about what to do next, and a text for the agent's next
//! turn.
//!
//! Neither holds the text that would pass: an agent that copies its feedback
//! must not get through with it. gate's own words and those of others never stand in
//! one line.

mod checks;
mod limits;
mod next_step;
mod quoted;

pub(super) use next_step::next;

use super::evidence::Evidence;
use super::input::Input;
use super::policy::{Mode, Policy};
use super::reason::{Reason, ReasonCode};
use super::run_state::RunState;
use super::signal::{Signal, Status, TokenState, prompt};
use super::situation::{Course, FailureShares, Situation};
use super::verdict::Verdict;

/// The longest feedback, in characters.
const MAX_FEEDBACK_CHARS: usize = 1_500;

/// The first line of each feedback.
const OPENING: &str = "The work does not count as done yet:";

/// The beginning of a refusal that follows from no decision.
const UNDECIDED: &str = "gate cannot decide whether the work is done";

/// A text is gate's feedback, which a client may hand on in a prompt.
pub fn is_feedback(text: &str) -> bool {
    text.contains(OPENING) || text.contains(UNDECIDED)
}

/// The line for an agent that asked something: it must not answer itself.
const NO_ANSWER: &str =
    "This is not the person's answer to what you asked: do nothing that needs one.\n";

/// The line for an agent about settings that a person has not approved.
const SETTINGS_CHANGED: &str = "- gate.toml is another than the one that a person approved, which decides; \
     unless you were asked to change it, put it back (settings-differ)\n";

/// The text for the agent's next turn: the attempt, its claim, the reasons with their codes,
/// the outcomes of the checks, quotations of checks as far as there is room, and the next step.
/// `run` is the state after the decision.
pub(super) fn text(
    verdict: Verdict,
    reasons: &[Reason],
    input: &Input,
    policy: &Policy,
    run: Option<&RunState>,
) -> String {
    if verdict != Verdict::Continue {
        return String::new();
    }
    let asks = situation(input).is_some_and(|situation| situation.asks);
    let mut text = if asks { format!("{NO_ANSWER}{OPENING}\n") } else { format!("{OPENING}\n") };
    // A turn that lists decisions uses up none of the limits.
    if input.observed.listing.is_none() {
        text.push_str(&limits::line(input, run, policy));
    }
    text.push_str(&quoted::claim(input, policy));
    for reason in reasons {
        let wording = for_agent(reason, input);
        text.push_str(&format!("- {wording} ({})\n", reason.code.code()));
    }
    if is_newly_red(input) {
        text.push_str(NEWLY_RED);
    } else if has_left_red(input) {
        text.push_str(LEFT_RED);
    }
    if failures_of_others(input).is_some() {
        text.push_str(NOT_OWN);
    }
    if red_before(input).is_some() {
        text.push_str(RED_BEFORE);
    }
    // A person is told, and may have made the change.
    if input.settings_changed.is_some() && !is_of_person(input) {
        text.push_str(SETTINGS_CHANGED);
    }
    text.push_str(&checks::line(&input.evidence));
    // The closing paragraph is never cut: without it the agent does not know how to end.
    let closing = closing(reasons, input, policy);
    let quotation_room = MAX_FEEDBACK_CHARS.saturating_sub(length(&text) + length(&closing));
    text.push_str(&quoted::quotations(reasons, input, policy, quotation_room));
    let text_room = MAX_FEEDBACK_CHARS.saturating_sub(length(&closing));
    cut(&text, text_room) + &closing
}

/// A reason in gate's own words, which are no signal. Of what the agent wrote, the feedback
/// repeats its claim alone, fenced, and nothing that would pass.
fn for_agent(reason: &Reason, input: &Input) -> String {
    match reason.code {
        ReasonCode::SignalInvalid if lacks_token(&input.signal) => {
            "your completion status does not carry the token that it was asked for".to_owned()
        }
        ReasonCode::BackgroundRunning => background(input),
        code => reason.wording(code.row().to_agent, &quoted::name(reason)),
    }
}

/// The closing of a turn that was to list open decisions.
const LIST_AGAIN: &str = "Leave each file as it was before, and end your final message with the list of open decisions, in \
     the form that you were given.";

/// The line for an agent about tests that its turn has broken.
const NEWLY_RED: &str =
    "- they passed on the tree of the last prompt, and failed twice now (newly-red)\n";

/// The line for an agent about tests that it left red.
const LEFT_RED: &str = "- an earlier turn of yours left some of them red (still-red)\n";

/// The line for an agent about failures that do not come from its turn.
const NOT_OWN: &str = "- other red tests are not yours unless they are your task (not-yours)\n";

/// The line for an agent about tests that failed at the baseline.
const RED_BEFORE: &str = "- some of these tests were red before you began: if it is not your task, end with BLOCKED \
     (red-before)\n";

/// Failing tests of required checks that failed at the baseline; `None` at a stop whose checks are
/// looked at, which names them in its own way.
fn red_before(input: &Input) -> Option<String> {
    if is_looked_at(input) {
        return None;
    }
    let required = input.evidence.iter().filter(|record| record.mode == Mode::Require);
    let tests: Vec<_> = required.flat_map(Evidence::red_before).collect();
    (!tests.is_empty()).then(|| tests.join(", "))
}

/// Each failure that the agent answers for was seen to come from its turn.
fn is_newly_red(input: &Input) -> bool {
    let mut failures = own_failures(input).peekable();
    failures.peek().is_some() && failures.all(|shares| shares.newly_red)
}

/// The agent answers for a failure of an earlier turn.
fn has_left_red(input: &Input) -> bool {
    own_failures(input).any(|shares| !shares.newly_red)
}

fn own_failures(input: &Input) -> impl Iterator<Item = &FailureShares> {
    let failures = situation(input).into_iter().flat_map(|situation| &situation.failures);
    failures.filter(|shares| !shares.own.is_empty())
}

fn situation(input: &Input) -> Option<&Situation> {
    input.observed.stop.as_ref()?.situation.as_ref()
}

/// A stop whose checks are looked at while a person may be there.
fn is_of_person(input: &Input) -> bool {
    is_looked_at(input) && situation(input).is_some_and(|situation| !situation.is_unattended())
}

/// Failing tests that are not the agent's.
fn failures_of_others(input: &Input) -> Option<String> {
    situation(input)?.failures_of_others()
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

/// A signal lacks nothing but its token.
fn lacks_token(signal: &Signal) -> bool {
    signal.token.is_some_and(|token| token != TokenState::Held)
}

/// The closing paragraph, with the token of the next status if one is required.
fn closing(reasons: &[Reason], input: &Input, policy: &Policy) -> String {
    let mut closing = what_to_do(reasons, input, policy);
    if reasons.iter().any(|reason| reason.code == ReasonCode::RequiredCheckFailed)
        && !is_looked_at(input)
    {
        closing.insert_str(0, NO_WAY_AROUND);
    }
    match &input.next_token {
        Some(token) => format!("{}\n\n{}", closing.trim_end(), token.prompt_paragraph()),
        None => closing,
    }
}

/// The first refusal of a hook explains the protocol, because the agent may never have
/// heard of it.
fn what_to_do(reasons: &[Reason], input: &Input, policy: &Policy) -> String {
    if input.observed.listing.is_some() {
        return LIST_AGAIN.to_owned();
    }
    let is_first_refusal = input.observed.stop.is_some() && !input.refusals().reminded;
    let lacks_signal = reasons.iter().any(|reason| reason.code == ReasonCode::SignalAbsent);
    if is_looked_at(input) {
        return if is_of_person(input) { WAY_OUT_TO_PERSON } else { WAY_OUT }.to_owned();
    }
    if reasons.iter().all(|reason| reason.code == ReasonCode::OnlyNewFiles) {
        return "If the task is about something else, change that first.".to_owned();
    }
    match input.signal.status {
        Status::Complete => {
            "Put this right, verify it, then give your completion status again.".to_owned()
        }
        _ if is_first_refusal && lacks_signal => {
            format!("Go on if something is left, then close as follows.\n\n{}", prompt(&policy.signal, None))
        }
        _ => "Go on with the work. When everything is finished and verified, end your message with the completion status that your instructions describe.".to_owned(),
    }
}

/// The ways that are closed, and the one that is open if a check itself is wrong.
const NO_WAY_AROUND: &str = "Do not weaken, skip or delete a test. If a check itself is wrong, say so and end your \
                             message with the status BLOCKED.\n";

/// The closing paragraph for an agent that needs no completion status to stop.
const WAY_OUT: &str = "Put this right and verify it, then finish. Do not weaken, skip or delete a test. If you cannot go on, or a \
                       check itself is wrong, say so and end your message with the status BLOCKED.";

/// The closing paragraph where a person reads the agent's words.
const WAY_OUT_TO_PERSON: &str = "Mend the code and verify it, then finish. If a test itself is wrong, or you cannot go on, say so \
                                 and stop: the person decides.";

/// The ruling on a stop depends on its checks alone.
fn is_looked_at(input: &Input) -> bool {
    situation(input).is_some_and(|situation| situation.course(input.signal.status) == Course::Look)
}

/// The text, of at most `max_chars` characters.
fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some(_) => {
            let beginning: String = text.chars().take(max_chars.saturating_sub(2)).collect();
            format!("{beginning}…\n")
        }
        None => text.to_owned(),
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod explained_tests;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
