//! The audit as one HTML page.

use maud::{Markup, html};

use super::text::{covered, group, headline, largest, on_the_way};
use crate::audit::{AuditItem, AuditRecord, ClaimSupport};
use crate::render::text::plain;
use crate::render::web;

/// The most claims of a page.
const MAX_ROWS: usize = 2_000;

pub(super) fn document(record: &AuditRecord) -> String {
    let way = on_the_way(record);
    let main = html! {
        section.over {
            h2 { "What stood behind the claims" }
            div.wide tabindex="0" role="region" aria-label="Claims by standing" {
                table {
                    thead { tr { th { "A check…" } th.number { "claims" } } }
                    tbody {
                        @for standing in ClaimSupport::ALL {
                            tr { th scope="row" { (standing.words()) } td.number { (record.all.number(standing)) } }
                        }
                    }
                }
            }
            @if !way.is_empty() { p { "On the way: " (way) "." } }
            p { "Observed in transcripts, never evidence: nothing was run." }
        }
        section.over {
            h2 { "Claims with a passing check after the last edit" }
            div.wide tabindex="0" role="region" aria-label="Claims by agent, model and project" {
                table {
                    thead { tr { th { "by" } th { "name" } th.number { "passed after" } } }
                    tbody {
                        @for (title, groups) in [("agent", &record.by.agent), ("model", &record.by.model), ("project", &record.by.project)] {
                            @for (name, claims) in largest(groups) {
                                tr { td { (title) } th scope="row" { (plain(name)) } td.number { (group(claims)) } }
                            }
                        }
                    }
                }
            }
        }
        (claims(record))
    };
    web::document("gate audit", &headline(record), &covered(record), &main)
}

fn claims(record: &AuditRecord) -> Markup {
    let more = record.items.len().saturating_sub(MAX_ROWS);
    html! {
        section.over {
            h2 { "Each claim" }
            @if record.items.is_empty() { p { "None." } }
            @else {
                div.wide tabindex="0" role="region" aria-label="Each claim" {
                    table {
                        thead { tr { th { "where" } th { "claim" } th { "a check…" } th { "check" } } }
                        tbody { @for item in record.items.iter().take(MAX_ROWS) { (row(item)) } }
                    }
                }
            }
            @if more > 0 { p { "And " (more) " more: see " code { "gate audit --json" } "." } }
        }
    }
}

fn row(item: &AuditItem) -> Markup {
    let class = match item.standing {
        ClaimSupport::PassedAfter => "good",
        ClaimSupport::Failed | ClaimSupport::None => "bad",
        ClaimSupport::Stale | ClaimSupport::Unknown => "",
    };
    html! {
        tr class=(class) {
            th scope="row" { (plain(&item.file)) ":" (item.line) }
            td { (plain(&item.claim)) }
            td { (item.standing.words()) }
            td { @if let Some(command) = &item.command { code { (plain(command)) } @if let Some(line) = item.command_line { ", line " (line) } } }
        }
    }
}
