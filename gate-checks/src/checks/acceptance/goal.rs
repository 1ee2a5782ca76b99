//! The words of a verdict on the goals of a person.

use gate_core::decide::evidence::{Evidence, Outcome};

use super::criteria::{Criteria, Criterion};
use crate::check::CheckId;

impl Criteria {
    /// The record of the check of goals: that of criteria in other words.
    pub(in crate::checks) fn goal_verdict(&self, check: &CheckId) -> Evidence {
        let mut evidence = self.verdict(check);
        let with_outcome = |outcome: Outcome, name: fn(&Criterion) -> String| {
            let goals = self.list.iter().filter(move |goal| {
                goal.result.as_ref().is_some_and(|result| result.outcome == outcome)
            });
            goals.map(name).collect::<Vec<_>>().join("; ")
        };
        evidence.summary = match evidence.outcome {
            Outcome::Pass => format!("met: {}", with_outcome(Outcome::Pass, Criterion::name)),
            Outcome::Fail => {
                format!("not met: {}", with_outcome(Outcome::Fail, Criterion::refusal))
            }
            _ => evidence.summary,
        };
        evidence
    }
}
