//! The report as one HTML page that needs no network and no script.

use std::time::Duration;

use gate_core::Verdict;
use maud::{Markup, Render, html};

use super::figures::{ReportRecord, agent_name, is_refused, refused};
use super::text::{
    claim, claims, cost, covered, facts, failures, figures, found, grouped, headline, title,
};
use crate::loops::{IterationRecord, LoopRecord, LoopState};
use gate_card::text::{brief, clock, lines, plain};
use gate_card::{local_time, span, web};

/// The latest iterations of a loop that are shown at once; earlier ones are folded.
const SHOWN_ITERATIONS: usize = 20;

/// The longest text of a failure, in characters.
const MAX_EXCERPT_CHARS: usize = 1_500;

/// The longest text in a cell, in characters. A long night has many folded rows.
const MAX_CELL_CHARS: usize = 80;
const MAX_FOLDED_CHARS: usize = 36;

/// The width of a timeline, in its own units.
const WIDTH: f64 = 1000.0;

/// The height of a block in it.
const HEIGHT: f64 = 28.0;

/// The narrowest block: one that is narrower cannot be seen.
const MIN_BLOCK: f64 = 3.0;

/// The latest iterations that are drawn.
const MAX_BLOCKS: usize = 120;

/// The report as one HTML page.
pub fn document(report: &ReportRecord) -> String {
    let headline = headline(&report.totals);
    let main = html! {
        @if report.loops.is_empty() {
            p { "No loop ran in this time. " code { "gate run" } " starts one." }
        }
        @for one in &report.loops { (section(one)) }
        @if !report.loops.is_empty() { (summary(report)) }
    };
    web::document("gate report", &headline, &covered(report), &main)
}

fn section(one: &LoopRecord) -> Markup {
    html! {
        section.loop {
            h2 { span class={ "badge " (badge(one.state)) } { (one.state.word()) } " " (plain(&title(one))) }
            p.why { (with_code(&one.why)) }
            @if let Some(next) = &one.next {
                p.next { strong { "Next: " } (with_code(next)) }
            }
            @for fact in facts(one) {
                p.figures { (fact.name) ": " (with_code(&fact.text)) }
            }
            p.figures { (plain(&agent_name(one))) " · " (figures(one)) " · " (local_time(&one.started)) " to " (local_time(&one.ended)) }
            @if !one.iterations.is_empty() { (timeline(one)) }
            @for failure in failures(one) {
                figure {
                    figcaption { strong { (plain(&failure.check)) } ": " (plain(&failure.summary)) }
                    @if let Some(excerpt) = &failure.excerpt {
                        pre tabindex="0" { (cut(&lines(excerpt), MAX_EXCERPT_CHARS)) }
                    }
                }
            }
            @if !one.iterations.is_empty() { (iterations(one)) }
        }
    }
}

fn badge(state: LoopState) -> &'static str {
    match state {
        LoopState::Done => "good",
        LoopState::Stopped | LoopState::Blocked | LoopState::Died => "bad",
        LoopState::Released | LoopState::Open => "going",
    }
}

fn iterations(one: &LoopRecord) -> Markup {
    let earlier = one.iterations.len().saturating_sub(SHOWN_ITERATIONS);
    let (folded, shown) = one.iterations.split_at(earlier);
    html! {
        (table(shown, &format!("Iterations of {}", plain(&title(one))), MAX_CELL_CHARS))
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " earlier iterations" }
                (table(folded, &format!("Earlier iterations of {}", plain(&title(one))), MAX_FOLDED_CHARS))
            }
        }
    }
}

/// The titles of the columns of iterations.
const ITERATION_TITLES: [&str; 10] = [
    "#",
    "Time",
    "Verdict",
    "Agent said",
    "gate found",
    "Files changed",
    "Agent",
    "Checks",
    "Tokens",
    "Cost",
];

fn table(iterations: &[IterationRecord], caption: &str, most: usize) -> Markup {
    let rows: Vec<_> = iterations.iter().map(|iteration| row(iteration, most)).collect();
    web::table(caption, 7, &ITERATION_TITLES, &rows)
}

fn row(iteration: &IterationRecord, most: usize) -> web::Row {
    let verdict = match iteration.released {
        Some(_) => "released",
        None => iteration.verdict.name(),
    };
    let tokens = Some(iteration.usage.tokens).filter(|tokens| *tokens > 0).map(grouped);
    let cells: [&dyn Render; 9] = [
        &time(&iteration.time),
        &verdict,
        &cut(&plain(&claim(iteration)), most),
        &cut(&plain(&found(iteration)), most),
        &files(iteration),
        &iteration.agent_ms.map(milliseconds).unwrap_or_default(),
        &milliseconds(iteration.decision_ms),
        &tokens.unwrap_or_default(),
        &iteration.usage.dollars(),
    ];
    web::row(Some(class(iteration)), &iteration.iteration, &cells)
}

fn milliseconds(time_ms: u64) -> String {
    span(Duration::from_millis(time_ms))
}

/// The number of files that differ from the loop's beginning, or if the iteration changed any.
fn files(iteration: &IterationRecord) -> String {
    match (iteration.changed_files, iteration.changed) {
        (Some(0), _) => "none".to_owned(),
        (Some(number), Some(false)) => format!("{}, as before", grouped(number)),
        (Some(number), _) => grouped(number),
        (None, Some(true)) => "some".to_owned(),
        (None, Some(false)) => "none".to_owned(),
        (None, None) => String::new(),
    }
}

/// The timeline of a loop: a block for each iteration, as wide as it took.
fn timeline(one: &LoopRecord) -> Markup {
    let earlier = one.iterations.len().saturating_sub(MAX_BLOCKS);
    let drawn = &one.iterations[earlier..];
    let times: Vec<f64> = drawn.iter().map(|iteration| time_ms(iteration) as f64).collect();
    let total: f64 = times.iter().sum::<f64>().max(1.0);
    let free = WIDTH - MIN_BLOCK * drawn.len() as f64;
    let mut x = 0.0;
    let blocks = drawn.iter().zip(times).map(|(iteration, time)| {
        let width = MIN_BLOCK + free.max(0.0) * time / total;
        let block = (iteration, x, width);
        x += width;
        block
    });
    let blocks: Vec<_> = blocks.collect();
    html! {
        svg.timeline viewBox=(format!("0 0 {:.0} {HEIGHT:.0}", x.max(1.0))) preserveAspectRatio="none"
            role="img" aria-label=(timeline_label(one)) {
            @for (iteration, x, width) in blocks {
                rect class=(class(iteration)) x=(format!("{x:.1}")) y="0"
                    width=(format!("{:.1}", (width - 1.0).max(1.0))) height=(format!("{HEIGHT:.0}")) {
                    title { (hint(iteration)) }
                }
            }
        }
    }
}

/// The agent's time and that of the decision.
fn time_ms(iteration: &IterationRecord) -> u64 {
    iteration.agent_ms.unwrap_or_default().saturating_add(iteration.decision_ms)
}

/// The class of a block and of a row: the colour of its verdict.
fn class(iteration: &IterationRecord) -> &'static str {
    match iteration.verdict {
        Verdict::Exit => "good",
        Verdict::Tripped | Verdict::Blocked => "bad",
        Verdict::Continue if is_refused(iteration) => "refused",
        Verdict::Continue => "going",
    }
}

fn hint(iteration: &IterationRecord) -> String {
    let time = milliseconds(time_ms(iteration));
    format!("iteration {}: {}, {time}", iteration.iteration, iteration.verdict.name())
}

fn timeline_label(one: &LoopRecord) -> String {
    let (iterations, refused) = (one.iterations.len(), refused(one));
    format!("Timeline: {iterations} iterations, {refused} refused claims")
}

fn summary(report: &ReportRecord) -> Markup {
    let refusals = report.refusals.iter();
    let refusals: Vec<_> =
        refusals.map(|one| web::row(None, &html! { code { (one.code) } }, &[&one.count])).collect();
    html! {
        section.over {
            h2 { "Over all" }
            p { "Claims: " (claims(&report.totals)) "." }
            @if let Some(behind) = &report.behind {
                p { "Behind them, in the transcripts: " (behind.sentence()) "." }
            }
            @if !refusals.is_empty() {
                (web::table("Refused claims by reason", 2, &["Reason", "Claims"], &refusals))
            }
            @if !report.checks.is_empty() { (checks(report)) }
            (agents(report))
        }
    }
}

fn checks(report: &ReportRecord) -> Markup {
    let rows = report.checks.iter().map(|check| {
        let (slowest, total) = (milliseconds(check.slowest_ms), milliseconds(check.total_ms));
        let cells: [&dyn Render; 5] = [&check.runs, &check.failed, &check.flaky, &slowest, &total];
        web::row(None, &cell(&check.check), &cells)
    });
    let titles = ["Check", "Runs", "Did not pass", "Flaky", "Slowest", "Together"];
    web::table("Checks, the slowest first", 2, &titles, &rows.collect::<Vec<_>>())
}

fn agents(report: &ReportRecord) -> Markup {
    let rows = report.agents.iter().map(|agent| {
        let per_done = agent.cost_per_done_usd.map(|usd| format!("${usd:.2}"));
        let cells: [&dyn Render; 6] = [
            &agent.loops,
            &agent.done,
            &agent.claims,
            &agent.refused,
            &cost(agent.usage.cost_micro_usd),
            &per_done.unwrap_or_default(),
        ];
        web::row(None, &cell(&agent.agent), &cells)
    });
    let titles = ["Agent", "Loops", "Done", "Claims", "Refused", "Cost", "Cost of one done"];
    web::table("Agents", 2, &titles, &rows.collect::<Vec<_>>())
}

/// A sentence whose words between backticks are commands.
fn with_code(text: &str) -> Markup {
    let text = plain(text);
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The time of day; of a time that cannot be read its text.
fn time(text: &str) -> String {
    text.parse().map_or_else(|_| brief(text), clock)
}

fn cell(text: &str) -> String {
    cut(&plain(text), MAX_CELL_CHARS)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
