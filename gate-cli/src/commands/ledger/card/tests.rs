//! The result of verifying a ledger.

use gate_core::ledger::{Body, Chain, Draft, Head, Sealed};
use serde_json::json;

use super::{LedgerReport, VerifyRecord, verified_card};
use crate::render::json;
use crate::render::tests::plain;

fn records(count: u64) -> Vec<Sealed> {
    let mut head = Head::EMPTY;
    (0..count)
        .map(|number| {
            let sealed = head.follow(Draft {
                time: "2026-11-02T10:00:00Z".to_owned(),
                kind: "run_started".to_owned(),
                run: None,
                actor: "gate".to_owned(),
                body: Body::new(&json!({ "number": number })).unwrap(),
            });
            head = sealed.head();
            sealed
        })
        .collect()
}

/// The report on these records, against a head that is known.
fn verified(
    records: &[Sealed],
    known_head: Option<Head>,
    undecided: Option<usize>,
) -> LedgerReport {
    let mut chain = known_head.into_iter().fold(Chain::new(), Chain::against);
    let mut last_sound = Head::EMPTY;
    for sealed in records {
        if chain.push(sealed).is_err() {
            break;
        }
        last_sound = sealed.head();
    }
    LedgerReport::new(&chain, last_sound, undecided, None)
}

fn card(report: &LedgerReport) -> String {
    plain(&verified_card(&VerifyRecord { ledger: report.clone(), store: None, next: None }))
}

#[track_caller]
fn check(report: &LedgerReport, expected: &[&str]) {
    let card = card(report);
    assert_eq!(card.lines().collect::<Vec<_>>(), expected);
}

const UNSEEN: &str = "    tail        records that are missing at the end cannot be seen: give the head \
                      that you know with --head SEQ:HASH";

#[test]
fn a_ledger_that_holds_says_how_far_that_is_known() {
    let three = records(3);
    let head = format!("    head        3:{}", three[2].hash);
    check(&verified(&three, None, None), &["HOLDS  3 records", "", &head, UNSEEN]);
    let known_head = Some(three[1].head());
    check(
        &verified(&three, known_head, Some(0)),
        &[
            "HOLDS  3 records",
            "",
            &head,
            "    tail        the last head that is known is in it",
            "    again       every decision comes out the same from its record",
        ],
    );
    let again = "    again       2 decisions are taken as they stand: their policy is not here, or \
                 another version of gate made them";
    let report = verified(&three[..1], None, Some(2));
    let head = format!("    head        1:{}", three[0].hash);
    check(&report, &["HOLDS  1 record", "", &head, UNSEEN, again]);
    check(&verified(&[], None, None), &["HOLDS  no records", "", UNSEEN]);
}

#[test]
fn a_ledger_that_is_broken_says_what_holds_before() {
    let mut three = records(3);
    let known_head = Some(three[2].head());
    let cut = verified(&three[..1], known_head, Some(1));
    let card = card(&cut);
    assert!(
        card.starts_with("BROKEN  ") && card.contains("\n    holds       1 record before that\n")
    );
    assert!(!card.contains("    tail  ") && !card.contains("    again  "), "{card}");
    three[1].record.actor = "eve".to_owned();
    let edited = verified(&three, known_head, None);
    let value: serde_json::Value = serde_json::from_str(&json(&edited).unwrap()).unwrap();
    assert_eq!(value["ok"], false);
    assert_eq!((&value["records"], &value["problem"]["seq"]), (&json!(1), &json!(2)));
    assert_eq!(value["known"], json!(null), "what was found before says nothing now");
    assert_eq!(value["head"], three[0].hash.to_string());
}
