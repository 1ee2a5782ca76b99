//! The one step for a person that would change the verdict.

use serde::Deserialize as _;

use super::lacks_token;
use crate::decide::breaker::BreakerState;
use crate::decide::changed_tests::{approve_command, names_to_approve};
use crate::decide::evidence::{Evidence, worst_of};
use crate::decide::grounds::{is_of_goals, lists_criteria};
use crate::decide::input::Input;
use crate::decide::reason::{Reason, ReasonCode, WarningCode};
use crate::decide::signal::{NearMiss, TokenState, UNREAD};
use crate::decide::verdict::Verdict;
use crate::integrity::{Finding, Severity};
use crate::text;

/// The beginning of the names of folders for reports.
const REPORT_FOLDER: &str = "gate-report-";

/// The beginning of a plug-in's name.
const PLUGIN: &str = "gate-check-";

/// The most of a test's name or place, in characters.
const MAX_NAME_CHARS: usize = 120;

/// The most of a finding's advice, in characters.
const MAX_ADVICE_CHARS: usize = 240;

/// The one cheapest thing that would change the verdict.
pub(in crate::decide) fn next(
    verdict: Verdict,
    reasons: &[Reason],
    input: &Input,
) -> Option<String> {
    let signal = &input.signal;
    if verdict == Verdict::Exit {
        return None;
    }
    let cheapest = reasons.iter().min_by_key(|reason| reason.code.row().effort)?;
    Some(match cheapest.code {
        ReasonCode::SignalAbsent if is_unreadable(input) => UNREADABLE.to_owned(),
        ReasonCode::SignalAbsent if is_silent(input) => SILENT.to_owned(),
        ReasonCode::SignalAbsent => signal_step(&signal.near_misses),
        ReasonCode::SignalInvalid if signal.token == Some(TokenState::Unchecked) => {
            "check again without `--no-state`: the state knows this iteration's token".to_owned()
        }
        ReasonCode::SignalInvalid if lacks_token(signal) => {
            "give the signal again, with this iteration's EXIT_TOKEN beside it".to_owned()
        }
        ReasonCode::SignalInvalid if cheapest.message.ends_with(UNREAD) => {
            "check again when the transcript is whole: a part of it could not be read".to_owned()
        }
        ReasonCode::BreakerTripped | ReasonCode::BreakerOpen => breaker_step(input).to_owned(),
        ReasonCode::TestsChanged => approval(input),
        ReasonCode::DecisionsOpen => confirmation(input),
        ReasonCode::DecisionsUnlisted => new_list(input),
        ReasonCode::SealedTestsFailed if verdict == Verdict::Blocked => {
            "run the sealed tests by hand, and tell the agent what is missing; then `gate check --new-run`".to_owned()
        }
        ReasonCode::RequiredCheckFailed => repair(cheapest, input),
        ReasonCode::RequiredCheckInconclusive => measuring_step(cheapest, input),
        _ => usual_step(cheapest),
    })
}

/// The step after an output in which nobody's words could be found.
const UNREADABLE: &str =
    "name the agent whose output it is: `--format`, in `gate run` `--agent`, takes its name";

/// The output is of no known format.
fn is_unreadable(input: &Input) -> bool {
    input.warnings.iter().any(|warning| warning.code == WarningCode::UnknownFormat)
}

/// The step after an output without a word of the agent's.
const SILENT: &str = "find out why the agent wrote nothing: look at its standard error";

/// The agent wrote nothing, and no hook asks.
fn is_silent(input: &Input) -> bool {
    let observed = &input.observed;
    observed.output == 0 && observed.stop.is_none() && input.signal.near_misses.is_empty()
}

fn signal_step(near_misses: &[NearMiss]) -> String {
    match near_misses.last() {
        Some(miss) => {
            format!("repeat the exit signal: line {} was almost one, but {}", miss.line, miss.why)
        }
        None => {
            "add the output of `gate prompt` to the agent's prompt: it shows how to end".to_owned()
        }
    }
}

/// The confirmation of open decisions, with the file in which a person gives it.
fn confirmation(input: &Input) -> String {
    let listing = input.observed.listing.as_ref();
    let file = match listing {
        Some(listing) if !listing.open.is_empty() => listing.file.as_ref(),
        _ => None,
    };
    match file {
        Some(file) => format!("confirm or edit each decision in {file}, then start the loop again"),
        None => "start the loop again: the work comes next".to_owned(),
    }
}

/// The step to another list of open decisions.
fn new_list(input: &Input) -> String {
    let listing = input.observed.listing.as_ref();
    let has_changes = listing.is_some_and(|listing| !listing.changed.is_empty());
    let undo = if has_changes { "undo the changes, then " } else { "" };
    format!("{undo}start the loop again; without `--decide-first` the work begins at once")
}

/// The approval of changed tests, in the words that a person types.
fn approval(input: &Input) -> String {
    let changed: Vec<_> = input.evidence.iter().flat_map(Evidence::changed_tests).collect();
    let command = approve_command(&names_to_approve(&changed));
    let noun = if changed.iter().all(|changed| changed.guarded) { "files" } else { "tests" };
    format!("`{command}`, then check again; or put the {noun} back")
}

/// The repair of the first criterion, failing test, place or finding that a check names. Else the
/// command to run again, or the summary of a check without a command.
fn repair(reason: &Reason, input: &Input) -> String {
    let Some(failed) = reason.check.as_deref().and_then(|name| worst_of(&input.evidence, name))
    else {
        return usual_step(reason);
    };
    if let Some(criterion) = unmet_criterion(failed) {
        let step = if is_of_goals(failed) { "reach the goal" } else { "meet the criterion" };
        return format!("{step}: {}", text::brief(criterion, MAX_NAME_CHARS));
    }
    if let Some(failure) = first_failure(failed) {
        return failure;
    }
    if let Some(finding) = first_finding(failed) {
        return text::brief(&finding.advice(), MAX_ADVICE_CHARS);
    }
    let hint = match failed.argv.as_slice() {
        [] => text::brief(&failed.summary, MAX_NAME_CHARS),
        // A plug-in needs gate's question on its standard input.
        [program] if program.contains(PLUGIN) => text::brief(&failed.summary, MAX_NAME_CHARS),
        // With the options that make its report, nobody can type it.
        words if words.iter().any(|word| word.contains(REPORT_FOLDER)) => {
            text::brief(&failed.summary, MAX_NAME_CHARS)
        }
        // The script that a shell reads is the last word.
        [_, .., dash, script] if dash == "-c" => {
            format!("`{}`", text::brief(script, MAX_NAME_CHARS))
        }
        words => format!("`{}`", text::brief(&words.join(" "), MAX_NAME_CHARS)),
    };
    let step = usual_step(reason);
    if hint.is_empty() { step } else { format!("{step}: {hint}") }
}

/// The repair of the first failing test, or of an error outside of tests; `None` if the check's
/// report explains no failure.
fn first_failure(failed: &Evidence) -> Option<String> {
    let failure = failed.failures().into_iter().next()?;
    let name = failure.short_name().map(|name| text::brief(name, MAX_NAME_CHARS));
    let place = failure.place().map(|place| text::brief(&place, MAX_NAME_CHARS));
    match (name, place) {
        (Some(name), Some(place)) => Some(format!("fix {name} ({place})")),
        (Some(name), None) => Some(format!("fix {name}")),
        (None, Some(place)) => Some(format!("fix the error at {place}")),
        (None, None) => None,
    }
}

/// The first finding that decides, if gate itself looked for findings.
fn first_finding(failed: &Evidence) -> Option<Finding> {
    if !failed.argv.is_empty() {
        return None;
    }
    let all = failed.detail.as_ref()?.get("findings")?.as_array()?;
    all.iter().find_map(|finding| {
        let finding = Finding::deserialize(finding).ok()?;
        (finding.severity != Severity::Warn && !finding.hint.is_empty()).then_some(finding)
    })
}

/// The words of the first criterion that is open or not met.
fn unmet_criterion(failed: &Evidence) -> Option<&str> {
    let criteria = failed.detail.as_ref()?.get("criteria")?.as_array()?;
    let unmet = criteria.iter().find(|criterion| {
        criterion["state"].as_str().is_some_and(|state| matches!(state, "not-met" | "open"))
    })?;
    unmet["text"].as_str().filter(|words| !words.is_empty())
}

/// The step in the row of a reason's code.
fn usual_step(reason: &Reason) -> String {
    reason.wording(reason.code.row().to_person, check_name(reason))
}

fn check_name(reason: &Reason) -> &str {
    reason.check.as_deref().unwrap_or("the check")
}

/// The step to a result of a check that has none.
fn measuring_step(reason: &Reason, input: &Input) -> String {
    let (check, message) = (check_name(reason), &reason.message);
    // The check's own words stand behind the colon.
    let cause = message.split_once(": ").map_or(message.as_str(), |(_, cause)| cause);
    if !cause.contains("not installed") {
        return format!("find out why {check} gave no result: {cause}");
    }
    let place = match worst_of(&input.evidence, check) {
        Some(evidence) if is_of_goals(evidence) => {
            "give the goal again with another command: `gate goal \"TEXT\" -- COMMAND`".to_owned()
        }
        Some(evidence) if lists_criteria(evidence) => {
            "correct the command of the criterion".to_owned()
        }
        _ => format!("correct `checks.{check}.command` in gate.toml"),
    };
    format!("install it, or {place}")
}

/// The step that frees a loop that its breaker stopped. A reset in the agent's client is
/// refused, because an agent may have typed it.
fn breaker_step(input: &Input) -> &'static str {
    let hold = input.memory.as_ref().and_then(|memory| memory.hold.as_ref());
    if input.is_lost() {
        "find out what happened to the state; then `gate ledger accept --reason …` if the records that are there hold, else `gate breaker reset --reason …`"
    } else if hold.is_some_and(|hold| hold.state != BreakerState::Closed) {
        "fix the cause; an operator opened this breaker, and `gate breaker status` shows the command that closes it"
    } else if input.observed.stop.is_some() {
        "fix the cause; then give a new prompt, or run `gate breaker reset --reason …` in another terminal"
    } else {
        "fix the cause (`gate log` shows what happened), then `gate breaker reset --reason …`"
    }
}
