//! Questions to a project's ledger, each with its statement.

use super::sql::{Cell, SqlValue};
use super::{statements, view};

/// A record of a project's ledger, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// The last record.
    Head,
    /// The record with this number.
    Entry(u64),
    /// The latest decision of this loop.
    LatestOfLoop(&'a str),
    /// The latest record of this loop that is no decision.
    LatestStepOfLoop(&'a str),
    /// The latest record of this task that is no loop's.
    LatestOfTask(&'a str),
    /// The latest records of this type that are no decisions, at most so many.
    LatestOfType(&'a str, usize),
    /// The decision of this iteration of a run.
    Decision(&'a str, u64),
    /// The digest of a policy, if its text is kept.
    Policy(&'a str),
}

/// A statement with its parameters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) statement: &'static str,
    given: Vec<Cell>,
}

/// The rows that answer a question.
pub(super) type Rows = Vec<Vec<Cell>>;

/// Questions with their rows.
pub(super) type Answers = Vec<(Question, Rows)>;

impl Question {
    /// The parameters.
    pub(super) fn given(&self) -> Vec<SqlValue<'_>> {
        let values = self.given.iter().map(|cell| match cell {
            Cell::Integer(number) => SqlValue::Integer(*number),
            Cell::Text(text) => SqlValue::Text(text),
            Cell::Null | Cell::Other(_) => SqlValue::MaybeText(None),
        });
        values.collect()
    }
}

impl Lookup<'_> {
    /// The question; none if no record can have such a name or number: a database may refuse to
    /// look for it.
    pub(super) fn question(self, project: &str) -> Option<Question> {
        let text = |text: &str| view::name("", text).ok().map(|text| Cell::Text(text.to_owned()));
        let number = |number: u64| i64::try_from(number).ok().map(Cell::Integer);
        let most = |limit: usize| Cell::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let (statement, given) = match self {
            Self::Policy(digest) => {
                let given = vec![text(digest)?];
                return Some(Question { statement: statements::HAS_POLICY, given });
            }
            Self::Head => (statements::HEAD, vec![]),
            Self::Entry(seq) => (statements::ENTRY, vec![number(seq)?]),
            Self::LatestOfLoop(name) => (statements::LATEST_OF_LOOP, vec![text(name)?]),
            Self::LatestStepOfLoop(name) => (statements::LATEST_STEP_OF_LOOP, vec![text(name)?]),
            Self::LatestOfTask(task) => (statements::LATEST_OF_TASK, vec![text(task)?]),
            Self::LatestOfType(kind, limit) => {
                (statements::LATEST_OF_TYPE, vec![text(kind)?, most(limit)])
            }
            Self::Decision(run, iteration) => {
                (statements::DECISION, vec![text(run)?, number(iteration)?])
            }
        };
        let given = std::iter::once(Cell::Text(project.to_owned())).chain(given).collect();
        Some(Question { statement, given })
    }
}
