//! Rounds: order, number at once, deadlines, and ends that are forced.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

/// The way in which a check ends.
#[derive(Clone, Copy)]
enum Act {
    Ends(Outcome),
    /// It waits until it is cancelled, and then is this.
    Waits(Outcome),
    /// As `Waits`, in the words of a check that got no slot.
    WaitsForSlot,
    /// It is cancelled, and goes on until it is killed.
    Ignores,
}

struct Acting {
    id: CheckId,
    mode: Mode,
    act: Act,
    running: Arc<Running>,
}

/// The checks that run now, and the most that ever did.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Check for Acting {
    fn id(&self) -> &CheckId {
        &self.id
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let now = self.running.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.running.most.fetch_max(now, Ordering::Relaxed);
        tokio::task::yield_now().await;
        let outcome = match self.act {
            Act::Ends(outcome) => outcome,
            Act::Waits(outcome) => {
                cx.cancel.cancelled().await;
                outcome
            }
            Act::WaitsForSlot => {
                cx.cancel.cancelled().await;
                Outcome::Inconclusive
            }
            Act::Ignores => {
                cx.cancel.grace_over().await;
                Outcome::Inconclusive
            }
        };
        self.running.now.fetch_sub(1, Ordering::Relaxed);
        let record = Evidence::new(self.id.as_str(), self.mode, outcome);
        let summary = match self.act {
            Act::WaitsForSlot => NO_SLOT,
            _ => "as it says",
        };
        record.with_summary(summary)
    }
}

#[derive(Default)]
struct Plan {
    checks: Vec<Planned>,
    running: Arc<Running>,
}

impl Plan {
    fn with(mut self, name: &str, cost: Cost, mode: Mode, act: Act) -> Self {
        let running = Arc::clone(&self.running);
        let check = Acting { id: CheckId::new(name), mode, act, running };
        self.checks.push(Planned {
            check: Arc::new(check),
            cost,
            rerun_on_new_files: false,
            needs: Vec::new(),
            mode,
            is_too_long: false,
        });
        self
    }

    fn required(self, name: &str, act: Act) -> Self {
        self.with(name, Cost::Run, Mode::Require, act)
    }
}

/// The records as `name: outcome: summary`, in the order in which they were left, and the
/// names of those that began.
fn played(plan: &[Planned], rules: Rules) -> (Vec<String>, Vec<String>) {
    played_until(plan, rules, usize::MAX)
}

/// The same, with a deadline that comes after so many records.
fn played_until(plan: &[Planned], rules: Rules, ends: usize) -> (Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (cx, began) = context(folder.path());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let records = runtime.block_on(async {
        let mut round = Round::new(plan, cx, rules);
        loop {
            round.start_ready_checks();
            if round.records.len() >= ends {
                round.rules.deadline = Some(Instant::now());
            }
            if !round.take_next_record().await {
                return round.records;
            }
        }
    });
    let line =
        |record: &Evidence| format!("{}: {:?}: {}", record.check, record.outcome, record.summary);
    let began = began.lock().unwrap().clone();
    (records.iter().map(line).collect(), began)
}

const RULES: Rules = Rules { jobs: 2, runs_all: false, deadline: None };

#[test]
fn cheap_checks_begin_first_and_those_of_one_cost_by_name() {
    let passes = Act::Ends(Outcome::Pass);
    let plan = Plan::default()
        .with("d", Cost::Ask, Mode::Require, passes)
        .with("c", Cost::Run, Mode::Require, passes)
        .with("b", Cost::Run, Mode::Require, passes)
        .with("a", Cost::Build, Mode::Require, passes)
        .with("e", Cost::Look, Mode::Require, passes);
    let (_, began) = played(&plan.checks, Rules { jobs: 1, ..RULES });
    assert_eq!(began, ["e", "a", "b", "c", "d"]);
}

#[test]
fn no_more_checks_run_at_once_than_there_are_jobs() {
    for jobs in [1, 3] {
        let names: Vec<_> = (0..8).map(|number| format!("c{number}")).collect();
        let plan = names
            .iter()
            .fold(Plan::default(), |plan, name| plan.required(name, Act::Ends(Outcome::Pass)));
        let (records, _) = played(&plan.checks, Rules { jobs, ..RULES });
        assert_eq!((records.len(), plan.running.most.load(Ordering::Relaxed)), (8, jobs));
    }
}

#[test]
fn a_deadline_that_has_passed_starts_nothing() {
    let plan = Plan::default().required("a", Act::Ends(Outcome::Pass));
    let past = Instant::now().checked_sub(Duration::from_millis(1)).unwrap();
    let (records, began) = played(&plan.checks, Rules { deadline: Some(past), ..RULES });
    assert_eq!((records, began), (vec![format!("a: Inconclusive: {TOO_LONG}")], Vec::new()));
}

#[test]
fn a_deadline_ends_what_runs_and_starts_nothing_more() {
    let plan = Plan::default()
        .required("a", Act::Waits(Outcome::Inconclusive))
        .required("b", Act::WaitsForSlot)
        .required("c", Act::Ends(Outcome::Pass));
    let (mut records, began) = played_until(&plan.checks, RULES, 0);
    records.sort();
    let expected = [
        format!("a: Inconclusive: {TOO_LONG}"),
        format!("b: Inconclusive: {NO_SLOT}"),
        format!("c: Inconclusive: {TOO_LONG}"),
    ];
    assert_eq!(
        (records.as_slice(), began.as_slice()),
        (&expected[..], &["a".to_owned(), "b".to_owned()][..])
    );
}

#[test]
fn a_check_that_still_found_its_answer_at_the_deadline_keeps_it() {
    let plan = Plan::default().required("a", Act::Waits(Outcome::Fail));
    let (records, _) = played_until(&plan.checks, RULES, 0);
    assert_eq!(records, ["a: Fail: as it says"]);
}

#[test]
fn a_cancelled_check_that_goes_on_is_killed_at_the_deadline() {
    let plan = Plan::default().required("a", Act::Ends(Outcome::Fail)).required("b", Act::Ignores);
    let (records, _) = played_until(&plan.checks, RULES, 1);
    let ended = "b: Skipped: not needed, since a did not pass";
    assert_eq!(records, ["a: Fail: as it says", ended]);
}

#[test]
fn what_was_cancelled_and_still_answered_counts() {
    for (outcome, record) in [
        (Outcome::Pass, "b: Pass: as it says"),
        (Outcome::Fail, "b: Fail: as it says"),
        (Outcome::Inconclusive, "b: Skipped: not needed, since a did not pass"),
    ] {
        let plan = Plan::default()
            .required("a", Act::Ends(Outcome::Fail))
            .required("b", Act::Waits(outcome));
        assert_eq!(played(&plan.checks, RULES).0[1], record);
    }
}

#[test]
fn only_a_required_check_or_a_tamper_makes_the_verdict_certain() {
    for (mode, outcome, is_certain) in [
        (Mode::Require, Outcome::Fail, true),
        (Mode::Require, Outcome::Inconclusive, true),
        (Mode::Require, Outcome::Skipped, true),
        (Mode::Require, Outcome::Pass, false),
        (Mode::Warn, Outcome::Fail, false),
        (Mode::Warn, Outcome::Inconclusive, false),
        (Mode::Warn, Outcome::Tamper, true),
    ] {
        let plan = Plan::default()
            .with("a", Cost::Look, mode, Act::Ends(outcome))
            .required("b", Act::Ends(Outcome::Pass));
        let (records, began) = played(&plan.checks, Rules { jobs: 1, ..RULES });
        assert_eq!(began.len() == 1, is_certain, "{mode:?} {outcome:?}");
        let skipped = records[1].contains("not needed, since a did not pass");
        assert_eq!(skipped, is_certain, "{records:?}");
        let (_, began) = played(&plan.checks, Rules { jobs: 1, runs_all: true, ..RULES });
        assert_eq!(began, ["a", "b"]);
    }
}

#[test]
fn a_defect_names_the_log_of_panics_where_there_is_one() {
    let plan = [planned("a", &[], None)];
    let folder = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let (cx, _) = context(folder.path());
    let site = CheckSite { state: Some(state.path().to_owned()), ..CheckSite::new(folder.path()) };
    let cx = CheckContext { site: Arc::new(site), ..cx };
    let summary = || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_round(&plan, &cx, RULES)).remove(0).summary
    };
    assert!(summary().ends_with("please report it"));
    let log = state.path().join(PANICS);
    std::fs::write(&log, "").unwrap();
    let named = format!("please report it, with the last entry of {}", log.display());
    assert!(summary().ends_with(&named));
}

#[test]
fn the_end_of_a_round_cancels_nothing_of_its_caller() {
    let plan = Plan::default().required("a", Act::Ends(Outcome::Fail));
    let folder = tempfile::tempdir().unwrap();
    let (cx, _) = context(folder.path());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let past = Instant::now().checked_sub(Duration::from_millis(1));
    for rules in [RULES, Rules { deadline: past, ..RULES }] {
        assert_eq!(runtime.block_on(run_round(&plan.checks, &cx, rules)).len(), 1);
        assert!(!cx.cancel.is_cancelled() && !cx.cancel.is_grace_over());
    }
}
