//! Tests that were written before the work. A record says who wrote them, and who writes the code.

use gate_core::decide::first_tests::FirstTests;
use gate_core::history::kind;
use serde::{Deserialize, Serialize};

use super::decision_transaction::GATE;
use super::{Memory, body};
use crate::failure::Failure;

/// The body of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockedTests {
    /// The task, or the id of the work item.
    pub(crate) task: String,
    /// The agent that wrote the tests.
    pub(crate) tests_by: String,
    /// The agent that writes the code; `None` if that is not known yet.
    pub(crate) code_by: Option<String>,
    /// A person has looked at the tests and agreed.
    pub(crate) confirmed: bool,
    /// The digest of the baseline that holds the tests.
    pub(crate) baseline: Option<String>,
    /// The tests.
    pub(crate) tests: FirstTests,
}

impl Memory {
    /// Records that tests are locked into the decisions on a task.
    pub(crate) fn lock_tests(&mut self, locked: &LockedTests) -> Result<(), Failure> {
        self.append(&body::draft(kind::TESTS_LOCKED, None, GATE, locked)?).map(drop)
    }

    /// The tests that were locked last for a task, in a record that this version can read.
    pub(crate) fn locked_tests(&mut self, task: &str) -> Result<Option<LockedTests>, Failure> {
        let records = self.retry(|memory| {
            Ok(memory.view()?.entries_of_type(kind::TESTS_LOCKED, usize::MAX)?)
        })?;
        let bodies = records.iter().map(|sealed| serde_json::to_value(&sealed.record.body));
        let mut locked = bodies.flatten().filter_map(|body| LockedTests::deserialize(body).ok());
        Ok(locked.find(|locked| locked.task == task))
    }
}
