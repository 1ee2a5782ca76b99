//! A receipt as an in-toto statement.
//!
//! Source: in-toto attestation framework, Statement v1 and the predicate "Test Result" v0.1.

use gate_core::decide::evidence::Outcome;
use serde_json::{Value, json};

use super::{ReceiptRecord, RunCheck};

/// The type of the statement.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of the predicate.
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// The member of the predicate with the whole receipt.
pub(super) const RECEIPT: &str = "gateReceipt";

pub(super) fn statement(receipt: &ReceiptRecord) -> Value {
    let names = |wanted: &[Outcome]| {
        let checks = receipt.checks.iter().filter(|check| wanted.contains(&check.outcome));
        checks.map(|check| check.check.clone()).collect::<Vec<_>>()
    };
    json!({
        "_type": STATEMENT,
        "subject": subject(receipt),
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": if receipt.success { "PASSED" } else { "FAILED" },
            "configuration": receipt.checks.iter().map(configuration).collect::<Vec<_>>(),
            "passedTests": names(&[Outcome::Pass]),
            "warnedTests": names(&[Outcome::Skipped]),
            "failedTests": names(&[Outcome::Fail, Outcome::Tamper, Outcome::Inconclusive]),
            RECEIPT: receipt,
        },
    })
}

/// The commit and the work tree, each by its digest.
fn subject(receipt: &ReceiptRecord) -> Vec<Value> {
    let commit = receipt
        .commit
        .as_ref()
        .map(|commit| json!({ "name": "commit", "digest": { "gitCommit": commit } }));
    let tree = receipt.tree.as_deref().and_then(|tree| tree.split_once(':'));
    let tree =
        tree.map(|(algorithm, hex)| json!({ "name": "work tree", "digest": { algorithm: hex } }));
    commit.into_iter().chain(tree).collect()
}

fn configuration(check: &RunCheck) -> Value {
    json!({ "name": check.check, "annotations": { "argv": check.argv } })
}
