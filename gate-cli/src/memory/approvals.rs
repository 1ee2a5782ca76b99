//! Approvals of changes, and of tests that fail. An approval is a record of its own. It holds in
//! the project for the bytes that the decision showed, or as long as the test fails, and for 30
//! days at most.

use gate_checks::is_test_allowed;
use gate_core::decide::policy::Allowance;
use gate_core::history::kind;
use gate_core::ledger::Sealed;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{Memory, body};
use crate::failure::Failure;
use crate::operator::Operator;
use crate::record::{ApprovedChange, Ledger};
use crate::secrets;
use crate::store::View;

/// The time for which an approval holds at most.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Records that are read at once.
const PAGE_RECORDS: usize = 100;

/// The approvals of a project, with the exits that came after them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Approvals {
    approvals: Vec<Approval>,
    exits: Vec<Exit>,
}

/// An approval that is young enough.
#[derive(Clone, Debug)]
struct Approval {
    /// The number of its record.
    seq: u64,
    changes: Vec<ApprovedChange>,
}

/// A decision `exit` of this work tree.
#[derive(Clone, Debug)]
struct Exit {
    seq: u64,
    /// The digest of the baseline that it was compared with.
    baseline: String,
    /// The tests that failed and were left out. They fail in the next baseline, too. `None` if that
    /// is not known: the tests did not run, or not all of them are named.
    left_out_tests: Option<Vec<String>>,
}

impl Approvals {
    /// The number of the latest approval's record.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.approvals.iter().map(|approval| approval.seq).max()
    }

    /// The approved changes for a decision that is compared with this baseline. After an
    /// exit with an approved change, another baseline has taken the change in. Of an approval
    /// only those tests are left that each such exit left out, because they still failed. An exit
    /// without tests shows nothing about them.
    pub(crate) fn in_force(&self, baseline: Option<&str>) -> Vec<ApprovedChange> {
        let mut changes = Vec::new();
        for approval in &self.approvals {
            let later_exits = self.exits.iter().filter(|exit| exit.seq > approval.seq);
            // Compared with the exit's own baseline a change still shows; another has taken it in.
            let exits_taken_in: Vec<_> =
                later_exits.filter(|exit| Some(exit.baseline.as_str()) != baseline).collect();
            for change in &approval.changes {
                changes.extend(still_in_force(change, &exits_taken_in));
            }
        }
        changes
    }
}

/// The part of an approved change that these exits leave in force. No exit ends one that is bound to
/// bytes: the tree shows if they are there.
fn still_in_force(change: &ApprovedChange, exits: &[&Exit]) -> Vec<ApprovedChange> {
    match (&change.content, &change.test, &change.rule) {
        (Some(_), _, _) => vec![change.clone()],
        (None, Some(_), _) => still_failing(change, exits),
        (None, None, Some(_)) if exits.is_empty() => vec![change.clone()],
        (None, None, Some(_)) => Vec::new(),
        // An earlier version approved a file whatever its bytes.
        (None, None, None) => Vec::new(),
    }
}

/// The approved tests that each of these exits left out, one change for each.
fn still_failing(change: &ApprovedChange, exits: &[&Exit]) -> Vec<ApprovedChange> {
    let left_out: Vec<_> = exits.iter().filter_map(|exit| exit.left_out_tests.as_ref()).collect();
    let Some((first_exits, later_exits)) = left_out.split_first() else {
        return vec![change.clone()];
    };
    // A change may name its tests by a pattern, so the first exit's list tells which they are.
    let allow = [Allowance::from(change.clone())];
    first_exits
        .iter()
        .filter(|test| is_test_allowed(test, &allow))
        .filter(|test| later_exits.iter().all(|tests| tests.contains(test)))
        .map(|test| ApprovedChange::from_test(test, &change.reason))
        .collect()
}

impl Memory {
    /// Records that an operator approves these changes of tests.
    pub(crate) fn approve(
        &mut self,
        changes: &[ApprovedChange],
        operator: &Operator,
    ) -> Result<Ledger, Failure> {
        let changes: Vec<_> = changes.iter().cloned().map(without_secrets).collect();
        let body = json!({ "approved": changes, "by": operator });
        let draft = body::draft(kind::APPROVED, None, &operator.actor(), &body)?;
        Ok(Ledger::place(&self.append(&draft)?))
    }

    /// The approvals of the project.
    pub(crate) fn approvals(&mut self) -> Result<Approvals, Failure> {
        self.retry(|memory| {
            let mut view = memory.store.view(&memory.project)?;
            let records = view.entries_of_type(kind::APPROVED, usize::MAX)?;
            let now = Timestamp::now();
            let approvals: Vec<_> =
                records.iter().filter_map(|sealed| parse_approval(sealed, now)).collect();
            let exits = match approvals.iter().map(|approval| approval.seq).min() {
                Some(oldest) => exits_since(&mut view, oldest, &memory.tree)?,
                None => Vec::new(),
            };
            Ok(Approvals { approvals, exits })
        })
    }
}

fn without_secrets(change: ApprovedChange) -> ApprovedChange {
    ApprovedChange { reason: secrets::masked(&change.reason), ..change }
}

/// `None` for an approval that is too old, and for one that this version cannot read: without it,
/// nothing more is allowed.
fn parse_approval(sealed: &Sealed, now: Timestamp) -> Option<Approval> {
    let time: Timestamp = sealed.record.time.parse().ok()?;
    if now.duration_since(time) > MAX_AGE {
        return None;
    }
    let changes = sealed.record.body.get("approved")?.clone();
    Some(Approval { seq: sealed.record.seq, changes: serde_json::from_value(changes).ok()? })
}

/// The exits of a work tree from this record on.
fn exits_since(view: &mut View<'_>, first_seq: u64, tree: &str) -> Result<Vec<Exit>, Failure> {
    let mut page_start = first_seq;
    let mut exits = Vec::new();
    loop {
        let page = view.entries(page_start, PAGE_RECORDS)?;
        let Some(last) = page.last() else { return Ok(exits) };
        page_start = last.record.seq + 1;
        exits.extend(page.iter().filter_map(|sealed| parse_exit(sealed, tree)));
    }
}

/// `None` for another record, and for an exit that was compared with no baseline.
fn parse_exit(sealed: &Sealed, tree: &str) -> Option<Exit> {
    let body = &sealed.record.body;
    let is_here = body.get("tree").and_then(Value::as_str) == Some(tree);
    if sealed.record.kind != kind::PASSED || !is_here {
        return None;
    }
    let decision = body.get("decision")?;
    let baseline = decision.get("baseline")?.as_str()?.to_owned();
    Some(Exit { seq: sealed.record.seq, baseline, left_out_tests: left_out_tests(decision) })
}

/// The failing tests that a person had left out of a decision, as its checks name them. `None` if
/// no check of tests passed in it, and if a check left out more tests than it names.
fn left_out_tests(decision: &Value) -> Option<Vec<String>> {
    let evidence = decision.get("evidence")?.as_array()?;
    let passing = evidence.iter().filter(|result| result["outcome"] == "pass");
    let mut left_out: Option<Vec<String>> = None;
    for tests in passing.filter_map(|result| result.pointer("/detail/tests")) {
        let list = tests["left_out"].as_array().into_iter().flatten();
        let names: Vec<_> = list.filter_map(Value::as_str).map(str::to_owned).collect();
        if tests["left_out_count"].as_u64().is_some_and(|count| count > names.len() as u64) {
            return None;
        }
        left_out.get_or_insert_with(Vec::new).extend(names);
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(seq: u64) -> Approval {
        let test = format!("t{seq}");
        let reason = "asked for".to_owned();
        Approval { seq, changes: vec![ApprovedChange::from_test(&test, &reason)] }
    }

    fn exit(seq: u64, baseline: &str) -> Exit {
        Exit { seq, baseline: baseline.to_owned(), left_out_tests: Some(Vec::new()) }
    }

    #[track_caller]
    fn check(approvals: &Approvals, baseline: Option<&str>, expected: &[&str]) {
        let in_force = approvals.in_force(baseline);
        let names: Vec<_> = in_force.iter().map(ApprovedChange::name).collect();
        assert_eq!(names, expected, "{baseline:?}");
    }

    #[test]
    fn an_approval_holds_until_another_baseline_follows_an_exit() {
        let mut approvals =
            Approvals { approvals: vec![approval(7), approval(3)], exits: Vec::new() };
        assert_eq!(approvals.newest(), Some(7));
        check(&approvals, Some("a"), &["t7", "t3"]);
        approvals.exits = vec![exit(5, "a"), exit(2, "z")];
        // The baseline is the one of that exit, so it has not taken anything in.
        check(&approvals, Some("a"), &["t7", "t3"]);
        check(&approvals, Some("b"), &["t7"]);
        check(&approvals, None, &["t7"]);
        check(&Approvals::default(), Some("a"), &[]);
    }

    #[test]
    fn a_failing_test_is_left_out_until_an_exit_finds_it_passing() {
        let red = |seq, baseline: &str, tests: &[&str]| {
            let left_out = tests.iter().map(|&test| test.to_owned()).collect();
            Exit { left_out_tests: Some(left_out), ..exit(seq, baseline) }
        };
        let mut approvals = Approvals { approvals: vec![approval(3)], exits: Vec::new() };
        approvals.exits = vec![red(5, "a", &["f.py::t3", "f.py::t4"]), red(6, "b", &["f.py::t3"])];
        check(&approvals, Some("a"), &["f.py::t3"]);
        check(&approvals, Some("c"), &["f.py::t3"]);
        approvals.exits.push(exit(7, "c"));
        check(&approvals, Some("c"), &["f.py::t3"]);
        check(&approvals, Some("d"), &[]);
    }

    #[test]
    fn an_approval_of_many_tests_holds_for_those_that_fail() {
        let mut approvals = Approvals { approvals: vec![approval(3)], exits: vec![exit(5, "a")] };
        approvals.approvals[0].changes[0].test = Some("f.py::*".to_owned());
        approvals.exits[0].left_out_tests =
            Some(vec!["f.py::red".to_owned(), "g.py::red".to_owned()]);
        check(&approvals, Some("a"), &["f.py::*"]);
        check(&approvals, Some("b"), &["f.py::red"]);
    }

    #[test]
    fn an_exit_without_tests_ends_no_approval_of_a_failing_test() {
        let mut approvals = Approvals { approvals: vec![approval(3)], exits: Vec::new() };
        approvals.exits = vec![Exit { left_out_tests: None, ..exit(5, "a") }];
        check(&approvals, Some("b"), &["t3"]);
        approvals.exits.push(exit(6, "b"));
        check(&approvals, Some("c"), &[]);
        approvals.exits.pop();
        let change = &mut approvals.approvals[0].changes[0];
        (change.rule, change.test) = (Some("nothing-changed".to_owned()), None);
        check(&approvals, Some("a"), &["nothing-changed"]);
        check(&approvals, Some("b"), &[]);
    }

    #[test]
    fn an_approval_of_a_file_holds_for_its_bytes_alone() {
        let mut approvals = Approvals { approvals: vec![approval(3)], exits: vec![exit(5, "a")] };
        let change = &mut approvals.approvals[0].changes[0];
        (change.path, change.test) = (Some("tests/a.py".to_owned()), None);
        check(&approvals, Some("a"), &[]);
        approvals.approvals[0].changes[0].content = Some("blake3:aa".to_owned());
        check(&approvals, Some("b"), &["tests/a.py"]);
    }

    #[test]
    fn a_decision_names_the_tests_that_were_left_out() {
        let named = |outcome: &str, detail: Value| {
            let evidence = json!([
                { "check": "build", "outcome": "pass" },
                { "check": "tests", "outcome": outcome, "detail": detail },
            ]);
            left_out_tests(&json!({ "evidence": evidence }))
        };
        let names = vec!["a::b".to_owned(), "c".to_owned()];
        let tests = json!({ "left_out": ["a::b", "c"], "left_out_count": 2 });
        assert_eq!(named("pass", json!({ "tests": tests })), Some(names));
        assert_eq!(named("fail", json!({ "tests": tests })), None);
        assert_eq!(named("pass", json!({ "tests": { "executed": 3 } })), Some(Vec::new()));
        assert_eq!(named("pass", json!({ "tests": null })), Some(Vec::new()));
        assert_eq!(named("pass", json!({ "log": "x" })), None);
        let cut = json!({ "left_out": ["a"], "left_out_count": 2 });
        assert_eq!(named("pass", json!({ "tests": cut })), None);
        assert_eq!(left_out_tests(&json!({})), None);
    }
}
