//! The audit as one HTML page.

use maud::{Markup, html};

use super::text::{covered, group, headline, largest, on_the_way, worst_first};
use crate::audit::{AuditItem, AuditRecord, ClaimSupport, Claims};
use gate_card::text::plain;
use gate_card::web;

/// The most claims of a group on a page.
const MAX_CLAIMS: usize = 1_000;

/// The claims that stand at the beginning.
const MAX_WORST: usize = 5;

/// The audit as one HTML page.
pub fn document(record: &AuditRecord) -> String {
    let way = on_the_way(record);
    let worst = worst_first(record);
    let main = html! {
        @if record.all.claims > 0 { (numbers(&record.all)) }
        @if !worst.is_empty() {
            section.over {
                h2 { "Look at these first" }
                ul.claims { @for item in worst.iter().take(MAX_WORST) { (claim(item, true)) } }
            }
        }
        @if record.all.claims > 0 {
            section.over {
                h2 { "All claims" }
                @for standing in present(&record.all) { (details(record, standing)) }
            }
        }
        (groups(record))
        section.over {
            @if !way.is_empty() { p { "On the way: " (way) "." } }
            p { "Observed in transcripts, never evidence: nothing was run." }
        }
    };
    web::document("gate audit", &headline(record), &covered(record), &main)
}

/// The standings of the claims, the worst first.
fn present(claims: &Claims) -> impl Iterator<Item = ClaimSupport> {
    ClaimSupport::WORST_FIRST.into_iter().filter(|standing| claims.number(*standing) > 0)
}

/// The numbers as one bar, with a legend that leads to the claims.
fn numbers(all: &Claims) -> Markup {
    let mut next_x = 0;
    let blocks = present(all).map(|standing| {
        let x = next_x;
        next_x += all.number(standing);
        (standing, x)
    });
    let blocks: Vec<_> = blocks.collect();
    html! {
        svg.timeline viewBox=(format!("0 0 {} 1", all.claims)) preserveAspectRatio="none"
            role="img" aria-label="Claims by the check behind them" {
            @for (standing, x) in blocks {
                rect class=(class(standing)) x=(x) y="0" width=(all.number(standing)) height="1" {
                    title { (all.number(standing)) " " (standing.words()) }
                }
            }
        }
        ul.legend {
            @for standing in present(all) {
                li class=(class(standing)) {
                    a href={ "#" (anchor(standing)) } { (all.number(standing)) " " (standing.words()) }
                }
            }
        }
    }
}

/// The claims of one standing, folded. A link to what is within unfolds it.
fn details(record: &AuditRecord, standing: ClaimSupport) -> Markup {
    let number = record.all.number(standing) as usize;
    let more = number.saturating_sub(MAX_CLAIMS);
    html! {
        details {
            summary { span.verdict.(class(standing)) { (standing.words()) } ": " (number) }
            ul.claims id=(anchor(standing)) {
                @for item in record.with(standing).take(MAX_CLAIMS) {
                    (claim(item, item.words() != standing.words()))
                }
            }
            @if more > 0 { p { "And " (more) " more: see " code { "gate audit --json" } "." } }
        }
    }
}

/// A claim and its check; within its group without the group's words.
fn claim(item: &AuditItem, shows_words: bool) -> Markup {
    html! {
        li {
            p {
                @if shows_words { span.verdict.(class(item.standing)) { (item.words()) } " " }
                (plain(&item.said()))
            }
            @if let Some(command) = &item.command {
                p.check { code { (plain(command)) } (line(item.command_line)) }
            }
            @if let Some(command) = &item.later_part {
                p.check { "then " code { (plain(command)) } (line(item.later_part_line)) }
            }
            p.when { (plain(&item.file)) ":" (item.line) }
        }
    }
}

fn line(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| format!(", line {number}"))
}

fn groups(record: &AuditRecord) -> Markup {
    let several: Vec<_> =
        record.groups().into_iter().filter(|(_, groups)| groups.len() > 1).collect();
    html! {
        @if !several.is_empty() {
            section.over {
                h2 { "Where a passing check stood behind the claims" }
                @for (title, groups) in several {
                    @let rows = largest(groups).into_iter()
                        .map(|(name, claims)| web::row(None, &plain(name), &[&group(claims)]));
                    @let caption = format!("By {title}");
                    (web::table(&caption, 2, &[title, "passed after the last edit"], &rows.collect::<Vec<_>>()))
                }
            }
        }
    }
}

fn class(standing: ClaimSupport) -> &'static str {
    match standing {
        ClaimSupport::PassedAfter => "calm",
        ClaimSupport::Failed => "bad",
        ClaimSupport::None | ClaimSupport::Stale => "refused",
        ClaimSupport::Unknown => "going",
    }
}

fn anchor(standing: ClaimSupport) -> &'static str {
    match standing {
        ClaimSupport::PassedAfter => "passed",
        ClaimSupport::Stale => "stale",
        ClaimSupport::Failed => "failed",
        ClaimSupport::None => "none",
        ClaimSupport::Unknown => "unknown",
    }
}
