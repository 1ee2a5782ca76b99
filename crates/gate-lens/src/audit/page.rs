//! The audit as one HTML page.

use maud::{Markup, html};

use super::text::{covered, group, headline, largest, on_the_way};
use crate::audit::{AuditItem, AuditRecord, ClaimSupport};
use gate_card::text::plain;
use gate_card::web;

/// The most claims of a page.
const MAX_ROWS: usize = 2_000;

/// The audit as one HTML page.
pub fn document(record: &AuditRecord) -> String {
    let way = on_the_way(record);
    let standings = ClaimSupport::ALL
        .map(|standing| web::row(None, &standing.words(), &[&record.all.number(standing)]));
    let main = html! {
        section.over {
            h2 { "What stood behind the claims" }
            (web::table("Claims by standing", 2, &["A check…", "claims"], &standings))
            @if !way.is_empty() { p { "On the way: " (way) "." } }
            p { "Observed in transcripts, never evidence: nothing was run." }
        }
        section.over {
            h2 { "Claims with a passing check after the last edit" }
            (groups(record))
        }
        (claims(record))
    };
    web::document("gate audit", &headline(record), &covered(record), &main)
}

fn groups(record: &AuditRecord) -> Markup {
    let rows = record.groups().into_iter().flat_map(|(title, groups)| {
        let row = move |(name, claims)| web::row(None, &title, &[&plain(name), &group(claims)]);
        largest(groups).into_iter().map(row)
    });
    let titles = ["by", "name", "passed after"];
    web::table("Claims by agent, model and project", 3, &titles, &rows.collect::<Vec<_>>())
}

fn claims(record: &AuditRecord) -> Markup {
    let more = record.items.len().saturating_sub(MAX_ROWS);
    let rows: Vec<_> = record.items.iter().take(MAX_ROWS).map(row).collect();
    html! {
        section.over {
            h2 { "Each claim" }
            @if rows.is_empty() { p { "None." } }
            @else { (web::table("Each claim", 0, &["where", "claim", "a check…", "check"], &rows)) }
            @if more > 0 { p { "And " (more) " more: see " code { "gate audit --json" } "." } }
        }
    }
}

fn row(item: &AuditItem) -> Markup {
    let class = match item.standing {
        ClaimSupport::PassedAfter => Some("good"),
        ClaimSupport::Failed | ClaimSupport::None => Some("bad"),
        ClaimSupport::Stale | ClaimSupport::Unknown => None,
    };
    let place = format!("{}:{}", plain(&item.file), item.line);
    let command = item.command.as_deref().map(plain);
    let check = html! {
        @if let Some(command) = command { code { (command) } }
        @if let Some(line) = item.command_line { ", line " (line) }
    };
    web::row(class, &place, &[&plain(&item.claim), &item.standing.words(), &check])
}
