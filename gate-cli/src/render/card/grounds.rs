//! The grounds of an exit, for the first line of its card.

use gate_core::decide::checks::is_of_behaviour;
use gate_core::decide::decision::Decision;
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::text::{counted, some_names};
use serde_json::Value;

/// The grounds of a verified exit, such as "2 checks passed", "old tests 311 of 311".
pub(super) fn grounds(decision: &Decision) -> String {
    let passed = decision.input.evidence.iter().filter(|check| check.outcome == Outcome::Pass);
    let checks = format!("{} passed", counted(passed.count(), "check"));
    let shown = [
        criteria_met(decision),
        sealed_tests(decision),
        first_tests(decision),
        old_tests(decision),
    ];
    let shown: Vec<_> = shown.into_iter().flatten().collect();
    if shown.is_empty() && !has_check_of_behaviour(decision) {
        return format!("{checks}, no check of behaviour");
    }
    [vec![checks], shown].concat().join(", ")
}

/// The criteria that their own commands show to be met; none if no criterion has one.
fn criteria_met(decision: &Decision) -> Option<String> {
    let details = decision.input.evidence.iter().filter_map(|evidence| evidence.detail.as_ref());
    let criteria: Vec<_> =
        details.filter_map(|detail| detail.get("criteria")?.as_array()).flatten().collect();
    let met = criteria.iter().filter(|one| one["state"] == "met").count();
    (met > 0).then(|| format!("criteria met {met} of {}", criteria.len()))
}

/// The sealed tests that pass; none if there are none.
fn sealed_tests(decision: &Decision) -> Option<String> {
    let all: Vec<_> = decision.input.evidence.iter().filter_map(Evidence::sealed_tests).collect();
    let readable = all.iter().any(|sealed| sealed.readable);
    let who = if readable { " (readable by the agent)" } else { "" };
    let counts: Option<Vec<_>> = all.iter().map(|one| one.passed.zip(one.total)).collect();
    let (passed, total) = sums(counts?);
    (total > 0).then(|| format!("sealed {passed} of {total}{who}"))
}

/// The tests that were written before the work and pass now; none if there are none.
fn first_tests(decision: &Decision) -> Option<String> {
    let passed: u64 = decision.input.evidence.iter().filter_map(Evidence::first_tests_passed).sum();
    (passed > 0).then(|| format!("tests written first {passed}"))
}

/// The baseline's tests that pass again, of those that passed there; none if they are not known.
fn old_tests(decision: &Decision) -> Option<String> {
    let details = decision.input.evidence.iter().filter_map(|evidence| evidence.detail.as_ref());
    let compared = details.filter_map(|detail| detail.get("tests")?.get("baseline"));
    let counts = compared.filter_map(|compared| {
        let passed = compared.get("passed")?.as_u64()?;
        let approved = compared.get("allowed").and_then(Value::as_array).map_or(0, Vec::len);
        Some((passed, approved as u64))
    });
    let (passed, approved) = sums(counts.collect());
    let edited = edited_files(decision);
    let note = match (approved, edited.as_slice()) {
        (0, []) => String::new(),
        (0, files) => format!(" (edited: {})", some_names(files, 1)),
        (approved, _) => format!(" ({approved} approved)"),
    };
    let total = passed + approved;
    (total > 0).then(|| format!("old tests {passed} of {total}{note}"))
}

/// The files whose old texts ran in the place of the tree's: their new texts may ask for less.
fn edited_files(decision: &Decision) -> Vec<String> {
    let details = decision.input.evidence.iter().filter_map(|evidence| evidence.detail.as_ref());
    let files = details.filter_map(|detail| detail.get("tests")?.get("overlaid")?.as_array());
    files.flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn sums(counts: Vec<(u64, u64)>) -> (u64, u64) {
    counts.into_iter().fold((0, 0), |sums, one| (sums.0 + one.0, sums.1 + one.1))
}

/// True if a check that passed runs the product.
fn has_check_of_behaviour(decision: &Decision) -> bool {
    let mut passed = decision.input.evidence.iter().filter(|check| check.outcome == Outcome::Pass);
    passed.any(|check| is_of_behaviour(&check.check))
}
