//! Rounds of checks that only say how they end.

mod rounds;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use gate_core::decide::checks::Cost;
use gate_core::decide::policy::{Mode, Policy};
use tokio::runtime::Builder;

use super::*;
use crate::check::{Check, CheckId, GatherOptions};
use crate::event::Events;
use crate::worktree::WorkTree;

struct Fake {
    id: CheckId,
    outcome: Option<Outcome>,
}

#[async_trait]
impl Check for Fake {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, _: &CheckContext) -> Evidence {
        let outcome = self.outcome.expect("the table is gone");
        Evidence::new(self.id.as_str(), Mode::Require, outcome)
    }
}

/// A check of this name, after the others; without an outcome it panics.
fn planned(name: &str, needs: &[&str], outcome: Option<Outcome>) -> Planned {
    let check = Arc::new(Fake { id: CheckId::new(name), outcome });
    Planned {
        check,
        cost: Cost::Run,
        rerun_on_new_files: false,
        needs: needs.iter().map(|need| CheckId::new(*need)).collect(),
        mode: Mode::Require,
        is_too_long: false,
    }
}

/// A context in this folder, and the names of the checks that begin in it.
fn context(folder: &Path) -> (CheckContext, Arc<Mutex<Vec<String>>>) {
    let site = CheckSite::new(folder);
    let began: Arc<Mutex<Vec<String>>> = Arc::default();
    let names = began.clone();
    let events = Events::to(move |event| {
        if let Event::Started { check } = event {
            names.lock().unwrap().push(check.to_string());
        }
    });
    let tree = Arc::new(WorkTree::open(&site).unwrap().snapshot().unwrap());
    let options = GatherOptions { events, ..GatherOptions::default() };
    let cx = CheckContext::new(&Policy::default(), &site, tree, None, options);
    (cx, began)
}

/// The outcome and the summary of each check, and the names of those that began.
fn run(plan: &[Planned], all: bool) -> (BTreeMap<String, (Outcome, String)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (cx, began) = context(folder.path());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let records =
        runtime.block_on(run_round(plan, &cx, Rules { jobs: 2, runs_all: all, deadline: None }));
    assert_eq!(records.len(), plan.len());
    let records =
        records.into_iter().map(|record| (record.check, (record.outcome, record.summary)));
    let began = began.lock().unwrap().clone();
    (records.collect(), began)
}

fn chain(length: usize, first: Outcome) -> Vec<Planned> {
    let name = |number| format!("c{number:04}");
    let one = |number: usize| {
        let outcome = if number == 0 { first } else { Outcome::Pass };
        let needs = number.checked_sub(1).map(name);
        let needs: Vec<_> = needs.iter().map(String::as_str).collect();
        planned(&name(number), &needs, Some(outcome))
    };
    // The last ones come first.
    (0..length).rev().map(one).collect()
}

/// The time for one grew with the third power of their number: for so many, hours.
#[test]
fn four_thousand_checks_in_a_chain_hung_the_gate() {
    let (records, began) = run(&chain(4_000, Outcome::Pass), false);
    assert!(records.values().all(|(outcome, _)| *outcome == Outcome::Pass));
    assert!(began.is_sorted() && began.len() == 4_000);
    let (records, began) = run(&chain(4_000, Outcome::Fail), true);
    let skipped = records.values().filter(|(outcome, _)| *outcome == Outcome::Skipped).count();
    assert_eq!((skipped, began.len()), (3_999, 1));
    assert_eq!(records["c0001"].1, "it needs c0000, which did not pass");
    assert_eq!(records["c3999"].1, "it needs c3998, which did not pass");
}

#[test]
fn a_failure_makes_the_verdict_certain_unless_all_is_asked_for() {
    let plan = [
        planned("a", &[], Some(Outcome::Fail)),
        planned("b", &["a", "outside"], Some(Outcome::Pass)),
        planned("c", &["outside"], Some(Outcome::Pass)),
        planned("d", &[], Some(Outcome::Pass)),
        planned("e", &["d", "d", "c"], Some(Outcome::Pass)),
    ];
    let (records, began) = run(&plan, true);
    assert_eq!(began, ["a", "c", "d", "e"]);
    assert_eq!(records["b"], (Outcome::Skipped, "it needs a, which did not pass".to_owned()));
    let (records, _) = run(&plan, false);
    assert_eq!(records["e"].1, "not needed, since a did not pass");
}

#[test]
fn checks_that_need_each_other_leave_records() {
    let plan = [
        planned("a", &["b"], Some(Outcome::Pass)),
        planned("b", &["a"], Some(Outcome::Pass)),
        planned("c", &[], Some(Outcome::Pass)),
    ];
    let (records, began) = run(&plan, false);
    assert_eq!(began, ["c"]);
    assert!(records["a"].1.contains("waits for it in turn") && records["b"].0 == Outcome::Skipped);
}

#[test]
fn a_check_with_a_defect_says_what_it_was() {
    let (records, _) = run(&[planned("a", &[], None)], false);
    assert_eq!(records["a"].0, Outcome::Inconclusive);
    let said = "gate has a defect in this check (the table is gone); please report it";
    assert_eq!(records["a"].1, said);
}
