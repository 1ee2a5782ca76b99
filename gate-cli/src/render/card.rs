//! The card for a person: the verdict with its reason in one line, the rows of what is not in order,
//! and the next step.

pub(crate) mod checks;

use gate_card::next_step;
use gate_core::decide::breaker::{BreakerState, Counters, LimitedCounter};
use gate_core::decide::checks::GOAL;
use gate_core::decide::evidence::Outcome;
use gate_core::decide::grounds::in_words;
use gate_core::decide::open_decisions::ConfirmedDecision;
use gate_core::decide::policy::BreakerPolicy;
use gate_core::decide::reason::{ReasonCode, WarningCode};
use gate_core::decide::score::Indicators;
use gate_core::decide::signal::{NearMiss, Signal, Status};
use gate_core::decide::situation::Released;
use gate_core::record::GoalState;
use gate_core::scan::Transcript;
use gate_core::text::counted;
use gate_core::{Decision, Policy, Verdict};

use super::page::{Mark, Page};
use super::text::{brief, local_time};
use crate::record::Record;
use checks::{check, is_quiet, mark, passed};

/// Notes that a card shows at most.
const MAX_NOTES: usize = 3;

/// Almost-signals that a card shows at most.
const MAX_NEAR_MISSES: usize = 5;

/// Reasons that the row of the signal shows.
const SIGNAL_CODES: [ReasonCode; 4] = [
    ReasonCode::SignalAbsent,
    ReasonCode::SignalContinue,
    ReasonCode::SignalBlocked,
    ReasonCode::SignalInvalid,
];

/// Options of a card.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CardOptions<'p> {
    /// Everything: also what is fine, and what decided nothing.
    pub(crate) verbose: bool,
    /// The settings that decided, if they are known.
    pub(crate) policy: Option<&'p Policy>,
}

/// The card of a decision, for stdout.
pub(crate) fn card(record: &Record, options: CardOptions<'_>) -> String {
    let mut page = Page::new();
    fill_card(&mut page, record, options);
    page.into_text()
}

/// Writes the card of a decision on a page.
pub(crate) fn fill_card(page: &mut Page, record: &Record, options: CardOptions<'_>) {
    let card = Card::new(record, options);
    card.head(page);
    page.blank();
    if record.repeated {
        page.row("repeated", "this iteration was decided before; this is that decision");
    }
    card.checks(page);
    goals(page, record);
    for decision in &card.decision.input.observed.decided {
        page.row("decision", &decided_line(decision));
    }
    card.signal(page);
    card.other_reasons(page);
    card.limits(page);
    card.notes(page);
    if options.verbose {
        add_indicators(page, &record.decision.input.indicators, usize::MAX);
    }
    page.rows("next", next_step(card.decision));
}

/// The card of a scan.
pub(crate) fn scan_card(
    file: &str,
    transcript: &Transcript,
    signal: &Signal,
    indicators: &Indicators,
) -> String {
    let mut page = Page::new();
    let format = transcript.format.as_deref().unwrap_or("empty");
    page.head(Mark::None, file, &format!("({format})"));
    page.row("signal", &signal_line(signal));
    signal_details(&mut page, signal, usize::MAX);
    add_indicators(&mut page, indicators, usize::MAX);
    let problem = transcript.problems.first();
    page.rows("note", problem.map(|problem| format!("line {}: {}", problem.line, problem.text)));
    page.into_text()
}

/// The first word of a card about work that is done.
pub(crate) fn done(verified: bool) -> &'static str {
    if verified { "DONE" } else { "DONE (unverified)" }
}

/// A decision of a person, with the command that shows it. Without one it is no evidence.
pub(crate) fn decided_line(decision: &ConfirmedDecision) -> String {
    let ConfirmedDecision { question, answer, command, .. } = decision;
    match command {
        Some(command) => format!("{question}: {answer} (`{command}`)"),
        None => format!("{question}: {answer} (no command shows it)"),
    }
}

/// The checks of a decision: first what is not in order, then the rest in one line; and its goals.
pub(crate) fn checks(page: &mut Page, record: &Record) {
    Card::new(record, CardOptions::default()).checks(page);
    goals(page, record);
}

/// The goals of a decision, but for those of which the check of goals tells that they are not met.
fn goals(page: &mut Page, record: &Record) {
    for goal in &record.goals {
        match (goal.state, &goal.command) {
            (GoalState::Met, _) => page.marked(Mark::Good, "goal", &goal.line()),
            (_, None) => page.marked(Mark::Unsure, "goal", &goal.line()),
            (_, Some(_)) => {}
        }
    }
}

/// The verdict of a decision and why, in one line.
pub(crate) fn head(page: &mut Page, record: &Record) {
    Card::new(record, CardOptions::default()).head(page);
}

/// The verdict of a decision, its time and why, for a row of another page.
pub(crate) fn decided(record: &Record) -> (Mark, String) {
    let (mark, word, why) = Card::new(record, CardOptions::default()).headline();
    (mark, format!("{word} ({}): {why}", local_time(&record.time)))
}

/// The first word of a decision's card.
pub(crate) fn word(record: &Record) -> &'static str {
    Card::new(record, CardOptions::default()).headline().1
}

struct Card<'d> {
    decision: &'d Decision,
    options: CardOptions<'d>,
    /// The decision is in the ledger.
    is_stored: bool,
}

impl<'d> Card<'d> {
    fn new(record: &'d Record, options: CardOptions<'d>) -> Self {
        Self { decision: &record.decision, options, is_stored: record.ledger.is_some() }
    }

    fn head(&self, page: &mut Page) {
        let (mark, word, why) = self.headline();
        page.head(mark, word, &why);
    }

    fn headline(&self) -> (Mark, &'static str, String) {
        let decision = self.decision;
        if let Some(released) = decision.released {
            let (mark, word, subject) = match released {
                Released::Green => (Mark::Good, "RELEASED (green)", "its checks pass"),
                Released::Red => (Mark::Bad, "RELEASED (red)", "the work is not done"),
                Released::NotRun => (Mark::Unsure, "RELEASED (not checked)", "nothing was run"),
                Released::Waiting => (Mark::Unsure, "WAITING", "it goes on by itself"),
            };
            let why = decision.reasons.first().map(|reason| format!(": {}", reason.message));
            return (
                mark,
                word,
                format!("the agent may stop; {subject}{}", why.unwrap_or_default()),
            );
        }
        match decision.verdict {
            Verdict::Exit => {
                let mark =
                    if decision.verified && !decision.forced { Mark::Good } else { Mark::Unsure };
                (mark, done(decision.verified), self.why_done())
            }
            Verdict::Continue => (Mark::Bad, "NOT DONE", self.why()),
            Verdict::Tripped => (Mark::Bad, "STOPPED", self.why()),
            Verdict::Blocked => (Mark::Bad, "BLOCKED", self.why()),
        }
    }

    fn why_done(&self) -> String {
        let grounds = self.grounds_of_done();
        let change = self.decision.input.observed.about_change();
        change.map_or(grounds.clone(), |change| format!("{change}; {grounds}"))
    }

    fn grounds_of_done(&self) -> String {
        let decision = self.decision;
        if decision.forced {
            let reason = decision.input.force_reason.as_deref().unwrap_or("no reason given");
            return format!("forced by the operator: {}", brief(reason));
        }
        let claim = decision.input.signal.reason.as_deref().map(brief);
        if !decision.verified {
            let word = claim.map_or("so".to_owned(), |claim| format!("\"{claim}\""));
            let all_passed =
                decision.input.evidence.iter().all(|evidence| evidence.outcome == Outcome::Pass);
            let checks = if all_passed { "no check confirms that" } else { "no check is required" };
            return format!("the agent says {word}; {checks}");
        }
        let grounds = in_words(&decision.rests_on());
        claim.map_or(grounds.clone(), |claim| format!("{grounds}; the agent says \"{claim}\""))
    }

    /// The first reason; of checks their names alone, since rows say more.
    fn why(&self) -> String {
        let Some(first) = self.decision.reasons.first() else { return String::new() };
        let verb = match first.code {
            ReasonCode::RequiredCheckFailed => "failed",
            ReasonCode::RequiredCheckInconclusive => "gave no result",
            _ => return first.message.clone(),
        };
        let reasons = self.decision.reasons.iter().filter(|reason| reason.code == first.code);
        let names: Vec<_> = reasons.filter_map(|reason| reason.check.as_deref()).collect();
        match (names.as_slice(), first.code) {
            ([GOAL], ReasonCode::RequiredCheckFailed) => "the goal is not met".to_owned(),
            _ => format!("{} {verb}", listed(&names)),
        }
    }

    fn checks(&self, page: &mut Page) {
        let (mut bad, mut unsure, mut fine) = (Vec::new(), Vec::new(), Vec::new());
        // Checks that did not run share a row if they share the reason.
        let mut not_run: Vec<(&str, Vec<&str>)> = Vec::new();
        for evidence in &self.decision.input.evidence {
            match (mark(evidence), evidence.outcome) {
                (_, Outcome::Skipped) => {
                    match not_run.iter_mut().find(|(reason, _)| *reason == evidence.summary) {
                        Some((_, names)) => names.push(&evidence.check),
                        None => not_run.push((&evidence.summary, vec![&evidence.check])),
                    }
                }
                (Mark::Good, _) if !self.options.verbose && is_quiet(evidence) => {
                    fine.push(passed(evidence));
                }
                (Mark::Bad, _) => bad.push(evidence),
                _ => unsure.push(evidence),
            }
        }
        for evidence in bad.into_iter().chain(unsure) {
            let next = self.decision.next.as_deref();
            check(page, evidence, self.options.verbose, self.is_stored, next);
        }
        for (reason, names) in not_run {
            let suffix =
                if reason.is_empty() { String::new() } else { format!(": {}", brief(reason)) };
            page.marked(Mark::Unsure, "not run", &format!("{}{suffix}", listed(&names)));
        }
        if self.checks_were_skipped() {
            page.marked(Mark::Unsure, "not run", "the checks, because of what the agent wrote");
        }
        let claim = self.claim();
        match (fine.is_empty(), &claim) {
            (false, Some(claim)) => {
                page.marked(Mark::Good, "passed", &format!("{}; {claim}", fine.join(", ")));
            }
            (false, None) => page.marked(Mark::Good, "passed", &fine.join(", ")),
            (true, Some(claim)) => page.row("signal", claim),
            (true, None) => {}
        }
    }

    /// The agent's claim, if it is complete and helped to decide.
    fn claim(&self) -> Option<String> {
        let signal = &self.decision.input.signal;
        let has_effect = !self.options.verbose
            && !self.decision.forced
            && !self.has_reason(&[ReasonCode::BreakerOpen, ReasonCode::BreakerIsolated]);
        (has_effect && signal.status == Status::Complete)
            .then(|| format!("the agent signals completion{}", signal_place(signal)))
    }

    fn has_reason(&self, codes: &[ReasonCode]) -> bool {
        self.decision.reasons.iter().any(|reason| codes.contains(&reason.code))
    }

    /// The configured checks did not run, because the signal decided before.
    fn checks_were_skipped(&self) -> bool {
        let policy = self.options.policy;
        policy.is_some_and(|policy| !policy.checks.is_empty())
            && self.decision.input.evidence.is_empty()
            && self.head_shows_signal()
    }

    /// The signal, unless the head or the line of what passed says it all.
    fn signal(&self, page: &mut Page) {
        let signal = &self.decision.input.signal;
        let mark = match signal.status {
            Status::Complete => Mark::Good,
            Status::Continue | Status::Blocked | Status::Absent => Mark::Unsure,
            Status::Invalid => Mark::Bad,
        };
        if self.options.verbose {
            page.marked(mark, "signal", &signal_line(signal));
            signal_details(page, signal, usize::MAX);
        } else if signal.status == Status::Invalid || !self.head_shows_signal() {
            // An agent that a hook lets go, or that the operator overrules, owes no signal.
            // Neither does one that only lists decisions.
            let is_listing = self.decision.input.observed.listing.is_some();
            let owes_signal =
                self.decision.released.is_none() && !self.decision.forced && !is_listing;
            let is_shown = match signal.status {
                Status::Complete => false,
                Status::Absent => owes_signal,
                Status::Continue | Status::Blocked | Status::Invalid => true,
            };
            if is_shown {
                page.marked(mark, "signal", &signal_line(signal));
                signal_details(page, signal, 1);
            }
        } else if let Some(miss) = signal.near_misses.last() {
            page.marked(mark, "signal", &near_miss(miss));
        }
    }

    fn head_shows_signal(&self) -> bool {
        let first = self.decision.reasons.first().map(|reason| reason.code);
        first.is_some_and(|code| SIGNAL_CODES.contains(&code))
    }

    /// Reasons that neither the head nor a row has shown.
    fn other_reasons(&self, page: &mut Page) {
        for reason in self.decision.reasons.iter().skip(1) {
            let is_shown = SIGNAL_CODES.contains(&reason.code)
                || reason.check.as_ref().is_some_and(|check| self.has_row(check));
            if self.options.verbose || !is_shown {
                page.row("also", &reason.message);
            }
        }
    }

    fn has_row(&self, check: &str) -> bool {
        self.decision.input.evidence.iter().any(|evidence| evidence.check == check)
    }

    /// The breaker if it is not closed, and limits that are half used up.
    fn limits(&self, page: &mut Page) {
        let breaker = &self.decision.breaker;
        let is_head = self.decision.verdict == Verdict::Tripped && !self.options.verbose;
        if breaker.state != BreakerState::Closed && !is_head {
            page.row("breaker", state_name(breaker.state));
        }
        if self.options.verbose {
            page.rows("counters", counters(&breaker.counters));
        } else if self.decision.verdict == Verdict::Continue
            && let Some(policy) = self.options.policy
        {
            for line in near_limits(&breaker.counters, &policy.breaker) {
                page.row("limit", &format!("{line}, then the loop stops"));
            }
        }
    }

    fn notes(&self, page: &mut Page) {
        let notes = self.decision.input.warnings.iter().filter(|warning| {
            self.options.verbose
                || !matches!(
                    warning.code,
                    WarningCode::CheckWarning | WarningCode::CheckDidNotCount
                )
        });
        for (number, warning) in notes.enumerate() {
            if number == MAX_NOTES && !self.options.verbose {
                page.row("note", "there are more: gate last --verbose");
                break;
            }
            page.row("note", &warning.message);
        }
    }
}

/// A breaker's state in words.
pub(crate) fn state_name(state: BreakerState) -> &'static str {
    match state {
        BreakerState::Closed | BreakerState::HalfOpen => "ready",
        BreakerState::Open | BreakerState::Isolated => "stopped",
    }
}

/// The counters that are not zero; `None` if all are zero.
pub(crate) fn counters(counters: &Counters) -> Option<String> {
    let counts = LimitedCounter::all().into_iter().filter_map(|counter| {
        let count = (counter.count)(counters);
        (count > 0).then(|| format!("{} {count}", counter.name()))
    });
    let texts: Vec<_> = counts.collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Counters that have reached half of their limit, each in words.
fn near_limits(counters: &Counters, limits: &BreakerPolicy) -> Vec<String> {
    let lines = LimitedCounter::all().into_iter().filter_map(|counter| {
        let (count, limit) = ((counter.count)(counters), (counter.limit)(limits));
        (limit > 0 && count > 0 && 2 * count >= limit)
            .then(|| format!("{count} of {limit} {}", counter.noun))
    });
    lines.collect()
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => "a check".to_owned(),
        [name] => (*name).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn signal_line(signal: &Signal) -> String {
    let status = match signal.status {
        Status::Complete => "complete",
        Status::Continue => "the agent says that work remains",
        Status::Blocked => "the agent says that it is blocked",
        Status::Absent => return "none in the agent's final message".to_owned(),
        Status::Invalid => "cannot be read",
    };
    let reason = signal.reason.as_deref().map(|reason| format!(": {}", brief(reason)));
    format!("{status}{}{}", signal_place(signal), reason.unwrap_or_default())
}

/// ` in line 4 (exit_status)`; empty if there is no signal.
fn signal_place(signal: &Signal) -> String {
    let line = signal.line.map(|line| format!(" in line {line}"));
    let source = signal.source.map(|source| format!(" ({})", source.name()));
    line.unwrap_or_default() + &source.unwrap_or_default()
}

fn signal_details(page: &mut Page, signal: &Signal, max_misses: usize) {
    for problem in &signal.problems {
        page.detail(problem);
    }
    for miss in signal.near_misses.iter().rev().take(max_misses.min(MAX_NEAR_MISSES)) {
        page.detail(&near_miss(miss));
    }
}

fn near_miss(miss: &NearMiss) -> String {
    brief(&format!("almost, in line {}: {}: {}", miss.line, miss.why, miss.text))
}

fn add_indicators(page: &mut Page, indicators: &Indicators, max_hits: usize) {
    let Indicators { score, threshold, .. } = indicators;
    page.row("indicators", &format!("{score} found, {threshold} needed"));
    let hits = indicators.hits.iter().filter(|hit| hit.weight > 0);
    for hit in hits.take(max_hits) {
        page.detail(&format!("line {}: {} \"{}\"", hit.line, hit.pattern, hit.excerpt));
    }
    if indicators.checks > 0 {
        page.detail(&counted(indicators.checks, "passing check"));
    }
    if indicators.fields > 0 {
        page.detail("the signal's other fields say the same");
    }
    if indicators.word > 0 {
        page.detail("the signal itself, since no check runs");
    }
}
