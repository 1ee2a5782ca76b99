//! The audit in a terminal, and the sentences that its forms share.

use std::collections::BTreeMap;

use gate_core::text::{counted, readable_size};

use crate::audit::{AuditItem, AuditRecord, ClaimSupport, Claims};
use gate_card::page::{Mark, Page};
use gate_card::text::brief;

/// Groups that are shown of each kind: those with the most claims.
const MAX_GROUPS: usize = 6;

/// Claims that are shown on a screen.
const MAX_ITEMS: usize = 8;

/// The audit as a card for a person.
pub fn card(record: &AuditRecord) -> String {
    let mut page = Page::new();
    page.head(Mark::None, "AUDIT", &headline(record));
    page.row("read", &covered(record));
    if record.all.claims == 0 {
        return page.into_text();
    }
    page.blank();
    for standing in ClaimSupport::WORST_FIRST {
        let number = record.all.number(standing);
        page.marked(mark(standing), &number.to_string(), standing.words());
    }
    let way = on_the_way(record);
    if !way.is_empty() {
        page.row("way", &way);
    }
    for (title, groups) in record.groups().into_iter().filter(|(_, groups)| groups.len() > 1) {
        page.blank();
        for (name, claims) in largest(groups) {
            page.row(title, &format!("{}: {}", brief(name), group(claims)));
        }
        if groups.len() > MAX_GROUPS {
            page.row("", &format!("and {} more", groups.len() - MAX_GROUPS));
        }
    }
    let open = worst_first(record);
    if !open.is_empty() {
        page.blank();
    }
    for item in open.iter().take(MAX_ITEMS) {
        page.marked(mark(item.standing), item.words(), &item_line(item));
    }
    let more = open.len().saturating_sub(MAX_ITEMS);
    if more > 0 {
        page.row("", &format!("and {more} more: --html FILE or --json shows each"));
    }
    page.blank();
    page.text(
        "Observed in transcripts, never evidence: nothing was run, and nothing left this machine.",
    );
    page.into_text()
}

/// One number.
pub fn headline(record: &AuditRecord) -> String {
    let claims = counted(record.all.claims, "claim");
    match record.share {
        None => "no turn that changed files claimed to be done".to_owned(),
        Some(share) => format!(
            "{} of {claims} had a passing check after the last edit ({:.0}–{:.0} %)",
            share.percent(),
            share.low * 100.0,
            share.high * 100.0
        ),
    }
}

/// The files that were read.
pub fn covered(record: &AuditRecord) -> String {
    let unread = match record.unread.len() {
        0 => String::new(),
        many => format!(", {many} not readable"),
    };
    let cost =
        if record.cost_usd > 0.0 { format!(", ${:.2}", record.cost_usd) } else { String::new() };
    format!(
        "{} files, {}{unread}: {} turns, {} of which changed files{cost}",
        record.files,
        readable_size(record.bytes),
        record.turns,
        record.changed
    )
}

/// Events on the way; empty if there were none.
pub fn on_the_way(record: &AuditRecord) -> String {
    let way = &record.on_the_way;
    let all = [
        (way.tests_edited, "turns changed tests"),
        (way.tests_skipped, "took a test out"),
        (way.no_verify, "left hooks out"),
        (way.history, "looked up commits elsewhere"),
        (way.denied, "calls denied"),
        (record.looked_up.absent, "named commits or files are not there now"),
    ];
    let present = all.iter().filter(|(count, _)| *count > 0);
    present.map(|(count, words)| format!("{count} {words}")).collect::<Vec<_>>().join(", ")
}

/// The groups with the most claims.
pub fn largest(groups: &BTreeMap<String, Claims>) -> Vec<(&str, &Claims)> {
    let mut all: Vec<_> = groups.iter().map(|(name, claims)| (name.as_str(), claims)).collect();
    all.sort_by_key(|(_, claims)| std::cmp::Reverse(claims.claims));
    all.truncate(MAX_GROUPS);
    all
}

/// The claims of a group in a sentence: how many, and the checks behind them.
pub fn group(claims: &Claims) -> String {
    let share = claims.share().map(|share| share.percent()).unwrap_or_default();
    format!("{share} of {}", claims.claims)
}

/// The claims that a person should look at, the worst first.
pub fn worst_first(record: &AuditRecord) -> Vec<&AuditItem> {
    let is_open = |standing: &ClaimSupport| {
        !matches!(standing, ClaimSupport::PassedAfter | ClaimSupport::Unknown)
    };
    let standings = ClaimSupport::WORST_FIRST.into_iter().filter(is_open);
    standings.flat_map(|standing| record.with(standing)).collect()
}

fn mark(standing: ClaimSupport) -> Mark {
    match standing {
        ClaimSupport::PassedAfter => Mark::Good,
        ClaimSupport::Failed | ClaimSupport::None => Mark::Bad,
        ClaimSupport::Stale | ClaimSupport::Unknown => Mark::Unsure,
    }
}

/// The place, the claim, and the check that decided.
fn item_line(item: &AuditItem) -> String {
    let check = match (&item.command, item.command_line) {
        (Some(command), Some(line)) => format!("; line {line}: {command}"),
        _ => String::new(),
    };
    let part = match (&item.later_part, item.later_part_line) {
        (Some(command), Some(line)) => format!("; then line {line}: {command}"),
        _ => String::new(),
    };
    format!("{}:{} {}{check}{part}", item.file, item.line, item.said())
}
