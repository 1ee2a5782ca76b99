//! The report in a terminal, and the sentences that all its forms share.

use std::time::Duration;

use gate_core::decide::evidence::Outcome;
use gate_core::decide::signal::Status;
use gate_core::record::GoalRecord;
use gate_core::text::counted;

use super::behind::BehindClaims;
use super::figures::{CheckFigures, ReportRecord, Totals, agent_name, is_refused};
use crate::loops::{CheckRecord, IterationRecord, LoopRecord, LoopState, dollars};
use gate_card::{Mark, Page, local_time, span};

/// The failures of a loop whose text is shown.
const MAX_FAILURES: usize = 3;

/// The report as a card for a person.
pub fn card(report: &ReportRecord) -> String {
    let mut page = Page::new();
    page.text(&headline(&report.totals));
    page.text(&covered(report));
    for one in &report.loops {
        page.blank();
        page.head(one.state.mark(), one.state.word(), &title(one));
        page.row("why", &one.why);
        for failure in failures(one) {
            page.marked(Mark::Bad, &failure.check, &failure.summary);
            for line in failure.excerpt.iter().flat_map(|excerpt| excerpt.lines()) {
                page.detail(line);
            }
        }
        page.rows("next", &one.next);
        for fact in facts(one) {
            page.row(fact.name, &fact.text);
        }
        page.row("took", &figures(one));
        page.row("agent", &agent_name(one));
    }
    summary(&mut page, report);
    page.into_text()
}

fn summary(page: &mut Page, report: &ReportRecord) {
    if report.loops.is_empty() {
        return;
    }
    page.blank();
    page.row("claims", &claims(&report.totals));
    page.rows("behind", report.behind.as_ref().map(BehindClaims::sentence));
    for refusals in &report.refusals {
        page.row("refused", &format!("{} × {}", refusals.count, refusals.code));
    }
    for check in &report.checks {
        page.row("check", &check_figures(check));
    }
}

/// The number of loops by state, the cost, and the time.
pub fn headline(totals: &Totals) -> String {
    let states = [
        (totals.died, "died"),
        (totals.done, "done"),
        (totals.stopped, "stopped"),
        (totals.blocked, "blocked"),
        (totals.released, "released"),
        (totals.open, "open"),
    ];
    let states = states.iter().filter(|(count, _)| *count > 0);
    let states: Vec<_> = states.map(|(count, word)| format!("{count} {word}")).collect();
    let time = span(Duration::from_millis(totals.duration_ms));
    match totals.loops {
        0 => "No loops.".to_owned(),
        loops => {
            let cost = cost(totals.usage.cost_micro_usd);
            format!("{}: {}. {cost}, {time}.", counted(loops, "loop"), states.join(", "))
        }
    }
}

/// Micro-dollars as dollars.
pub fn cost(micro: u64) -> String {
    if micro == 0 { "No cost known".to_owned() } else { dollars(micro) }
}

/// The time that the report covers.
pub fn covered(report: &ReportRecord) -> String {
    let until = local_time(&report.until);
    match &report.since {
        Some(since) => format!("From {} until {until}.", local_time(since)),
        None => format!("Until {until}."),
    }
}

/// The task, else the run.
pub fn title(one: &LoopRecord) -> String {
    one.task.clone().unwrap_or_else(|| one.run.clone())
}

fn crashes_in_words(count: usize) -> String {
    match count {
        1 => "the agent crashed once".to_owned(),
        count => format!("the agent crashed {count} times"),
    }
}

/// A fact of a loop with its name.
pub struct Fact {
    /// Its name, as a row has it.
    pub name: &'static str,
    /// The fact in words.
    pub text: String,
}

/// The facts of a loop: its deaths, and its crashes. Of one that is not done, too: its tree, its
/// folder, its handoff, and the command that goes on.
pub fn facts(one: &LoopRecord) -> Vec<Fact> {
    let open = "it goes on, or its end was not recorded".to_owned();
    let crashes = one.iterations.iter().filter(|iteration| iteration.crashed).count();
    let is_done = one.state == LoopState::Done;
    let unless_done = |fact: &Option<String>| if is_done { None } else { fact.clone() };
    let goals: Vec<_> = one.goals.iter().map(GoalRecord::line).collect();
    // The next step may be that command.
    let is_named = |resume: &String| one.next.iter().any(|next| next.contains(resume.as_str()));
    [
        ("open", (one.state == LoopState::Open).then_some(open)),
        ("goal", (!goals.is_empty()).then(|| goals.join("; "))),
        ("deaths", one.deaths_in_words()),
        ("crashes", Some(crashes).filter(|count| *count > 0).map(crashes_in_words)),
        ("tree", unless_done(&one.tree)),
        ("folder", unless_done(&one.folder)),
        ("handoff", unless_done(&one.handoff)),
        ("go on with", unless_done(&one.resume).filter(|resume| !is_named(resume))),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some(Fact { name, text: text? }))
    .collect()
}

/// Iterations, time and cost of a loop.
pub fn figures(one: &LoopRecord) -> String {
    let iterations = counted(one.iterations.len(), "iteration");
    let mut figures = vec![iterations, span(Duration::from_millis(one.duration_ms))];
    figures.extend(Some(one.cost()).filter(|cost| !cost.is_empty()));
    if one.usage.tokens > 0 {
        figures.push(format!("{} tokens", grouped(one.usage.tokens)));
    }
    figures.join(", ")
}

/// Claims of completion, and those that were refused.
pub fn claims(totals: &Totals) -> String {
    match (totals.claims, totals.refused) {
        (0, _) => "no agent claimed to be done".to_owned(),
        (claims, 0) => format!("{claims} of completion, none refused"),
        (claims, refused) => format!("{claims} of completion, {refused} refused"),
    }
}

/// The figures of a check in a sentence.
pub fn check_figures(check: &CheckFigures) -> String {
    let CheckFigures { check, runs, failed, flaky, slowest_ms, .. } = check;
    let slowest = span(Duration::from_millis(*slowest_ms));
    let flaky = if *flaky > 0 { format!(", {flaky} flaky") } else { String::new() };
    let passed = match failed {
        0 => "all passed".to_owned(),
        failed => format!("{failed} did not pass"),
    };
    format!("{check}: {}, {passed}{flaky}, at most {slowest}", counted(*runs, "run"))
}

/// The failures of the last iteration that had some, if the work is not done.
pub fn failures(one: &LoopRecord) -> Vec<&CheckRecord> {
    if one.state == LoopState::Done {
        return Vec::new();
    }
    let failing = |iteration: &&IterationRecord| iteration.checks.iter().any(is_failure);
    let Some(last) = one.iterations.iter().rev().find(failing) else { return Vec::new() };
    last.checks.iter().filter(|check| is_failure(check)).take(MAX_FAILURES).collect()
}

fn is_failure(check: &CheckRecord) -> bool {
    matches!(check.outcome, Outcome::Fail | Outcome::Tamper | Outcome::Inconclusive)
}

/// The agent's claim about the work, with its reason.
pub fn claim(iteration: &IterationRecord) -> String {
    let word = match iteration.claim {
        Status::Complete => "done",
        Status::Continue => "not done",
        Status::Blocked => "blocked",
        Status::Absent => "nothing",
        Status::Invalid => "unreadable",
    };
    let refused = if is_refused(iteration) { ", refused" } else { "" };
    match &iteration.claim_reason {
        Some(reason) => format!("{word}{refused}: {reason}"),
        None => format!("{word}{refused}"),
    }
}

/// The checks that did not pass, else the number of those that passed.
pub fn found(iteration: &IterationRecord) -> String {
    let failed: Vec<_> = iteration.checks.iter().filter(|check| is_failure(check)).collect();
    let passed = iteration.checks.iter().filter(|check| check.outcome == Outcome::Pass).count();
    match failed.as_slice() {
        [] if passed > 0 => format!("{passed} passed"),
        [] => "no checks ran".to_owned(),
        [one] => format!("{}: {}", one.check, one.summary),
        all => {
            let names: Vec<_> = all.iter().map(|check| check.check.as_str()).collect();
            format!("{} did not pass", names.join(", "))
        }
    }
}

/// A number with a comma between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
