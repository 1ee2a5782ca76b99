//! The report as one HTML page that needs no network and no script.

use std::time::Duration;

use maud::{Markup, html};

use super::figures::{ReportRecord, agent_name};
use super::text::{
    claim, claims, cost, covered, failures, figures, found, grouped, headline, title,
};
use super::timeline::{class, svg};
use crate::loops::{IterationRecord, LoopRecord, LoopState};
use crate::render::text::{brief, clock, lines, plain};
use crate::render::{local_time, span, web};

/// The latest iterations of a loop that are shown at once; earlier ones are folded.
const SHOWN_ITERATIONS: usize = 20;

/// The longest text of a failure, in characters.
const MAX_EXCERPT_CHARS: usize = 1_500;

/// The longest text in a cell, in characters. A long night has many folded rows.
const MAX_CELL_CHARS: usize = 80;
const MAX_FOLDED_CHARS: usize = 36;

pub(super) fn document(report: &ReportRecord) -> String {
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
            p.figures { (plain(&agent_name(one))) " · " (figures(one)) " · " (local_time(&one.started)) " to " (local_time(&one.ended)) }
            @if !one.iterations.is_empty() { (svg(one)) }
            @for failure in failures(one) {
                figure {
                    figcaption { strong { (plain(&failure.check)) } ": " (plain(&failure.summary)) }
                    @if let Some(excerpt) = &failure.excerpt {
                        pre tabindex="0" { (shortened(&lines(excerpt))) }
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
        LoopState::Stopped | LoopState::Blocked => "bad",
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

fn table(iterations: &[IterationRecord], caption: &str, most: usize) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table.iterations {
                caption { (caption) }
                thead { tr {
                    th scope="col" { "#" } th scope="col" { "Time" } th scope="col" { "Verdict" }
                    th scope="col" { "Agent said" } th scope="col" { "gate found" }
                    th scope="col" { "Files changed" } th scope="col" { "Agent" } th scope="col" { "Checks" }
                    th scope="col" { "Tokens" } th scope="col" { "Cost" }
                } }
                tbody { @for iteration in iterations { (row(iteration, most)) } }
            }
        }
    }
}

fn row(iteration: &IterationRecord, most: usize) -> Markup {
    let milliseconds = |ms: u64| span(Duration::from_millis(ms));
    let verdict = match iteration.released {
        Some(_) => "released",
        None => iteration.verdict.name(),
    };
    html! {
        tr class=(class(iteration)) {
            th scope="row" { (iteration.iteration) }
            td { (time(&iteration.time)) }
            td { (verdict) }
            td { (cut(&plain(&claim(iteration)), most)) }
            td { (cut(&plain(&found(iteration)), most)) }
            td { (files(iteration)) }
            td { @if let Some(ms) = iteration.agent_ms { (milliseconds(ms)) } }
            td { (milliseconds(iteration.decision_ms)) }
            td { @if iteration.usage.tokens > 0 { (grouped(iteration.usage.tokens)) } }
            td { (iteration.usage.dollars()) }
        }
    }
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

fn summary(report: &ReportRecord) -> Markup {
    html! {
        section.over {
            h2 { "Over all" }
            p { "Claims: " (claims(&report.totals)) "." }
            @if let Some(behind) = &report.behind {
                p { "Behind them, in the transcripts: " (behind.sentence()) "." }
            }
            @if !report.refusals.is_empty() {
                div.wide tabindex="0" role="region" aria-label="Refused claims by reason" {
                    table {
                        caption { "Refused claims by reason" }
                        thead { tr { th scope="col" { "Reason" } th.number scope="col" { "Claims" } } }
                        tbody { @for one in &report.refusals {
                            tr { th scope="row" { code { (one.code) } } td.number { (one.count) } }
                        } }
                    }
                }
            }
            @if !report.checks.is_empty() { (checks(report)) }
            (agents(report))
        }
    }
}

fn checks(report: &ReportRecord) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Checks" {
            table {
                caption { "Checks, the slowest first" }
                thead { tr {
                    th scope="col" { "Check" } th.number scope="col" { "Runs" }
                    th.number scope="col" { "Did not pass" } th.number scope="col" { "Flaky" }
                    th.number scope="col" { "Slowest" } th.number scope="col" { "Together" }
                } }
                tbody { @for check in &report.checks {
                    tr {
                        th scope="row" { (cell(&check.check)) }
                        td.number { (check.runs) } td.number { (check.failed) } td.number { (check.flaky) }
                        td.number { (span(Duration::from_millis(check.slowest_ms))) }
                        td.number { (span(Duration::from_millis(check.total_ms))) }
                    }
                } }
            }
        }
    }
}

fn agents(report: &ReportRecord) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Agents" {
            table {
                caption { "Agents" }
                thead { tr {
                    th scope="col" { "Agent" } th.number scope="col" { "Loops" } th.number scope="col" { "Done" }
                    th.number scope="col" { "Claims" } th.number scope="col" { "Refused" }
                    th.number scope="col" { "Cost" } th.number scope="col" { "Cost of one done" }
                } }
                tbody { @for agent in &report.agents {
                    tr {
                        th scope="row" { (cell(&agent.agent)) }
                        td.number { (agent.loops) } td.number { (agent.done) }
                        td.number { (agent.claims) } td.number { (agent.refused) }
                        td.number { (cost(agent.usage.cost_micro_usd)) }
                        td.number { @if let Some(usd) = agent.cost_per_done_usd { "$" (format!("{usd:.2}")) } }
                    }
                } }
            }
        }
    }
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

fn shortened(text: &str) -> String {
    cut(text, MAX_EXCERPT_CHARS)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}

#[cfg(test)]
mod tests;
