//! The attempt that a refusal belongs to, and the limit that ends the loop next.

use crate::decide::input::Input;
use crate::decide::policy::Policy;
use crate::decide::release::MAX_SAME_FAILURES;
use crate::decide::run_state::RunState;

/// A limit that comes nearer.
struct Limit {
    /// Events until the loop ends; at least 1.
    left: u64,
    /// One event and several.
    one: &'static str,
    several: &'static str,
}

impl Limit {
    /// None if the limit is not set, has been reached, or nothing was counted.
    fn new(count: u64, most: u32, one: &'static str, several: &'static str) -> Option<Self> {
        let left = u64::from(most).checked_sub(count).filter(|left| *left > 0 && count > 0)?;
        Some(Self { left, one, several })
    }
}

/// The line with both, as far as they are known. `run` is the state after this decision.
pub(super) fn line(input: &Input, run: Option<&RunState>, policy: &Policy) -> String {
    let (Some(run), Some(_)) = (run, input.kept()) else { return String::new() };
    if input.observed.stop.is_some() {
        return refusals(input, run.refusals.same, policy);
    }
    let attempt = input.observed.iteration;
    let nearest = limits(run, policy).into_iter().min_by_key(|limit| limit.left);
    match nearest {
        Some(Limit { left: 1, one, .. }) => {
            format!("This is attempt {attempt}. gate stops the loop after one more {one}.\n")
        }
        Some(Limit { left, several, .. }) => {
            format!("This is attempt {attempt}. gate stops the loop after {left} more {several}.\n")
        }
        None => format!("This is attempt {attempt}.\n"),
    }
}

/// The refusals of a stop. Where a person is there, the same failure refuses less often.
fn refusals(input: &Input, same: u32, policy: &Policy) -> String {
    let (blocks, most) = (input.refusals().blocks.saturating_add(1), policy.hook.max_blocks);
    let situation = input.observed.stop.as_ref().and_then(|stop| stop.situation.as_ref());
    let is_interactive = situation.is_some_and(|situation| !situation.is_unattended());
    let left = (most.saturating_sub(blocks), MAX_SAME_FAILURES.saturating_sub(same));
    match is_interactive && same > 0 && left.1 < left.0 {
        true => {
            format!("This is refusal {same} of at most {MAX_SAME_FAILURES} for the same failure.\n")
        }
        false => format!("This is refusal {blocks} of at most {most}.\n"),
    }
}

/// The limits that are set and that this run has come nearer to.
fn limits(run: &RunState, policy: &Policy) -> Vec<Limit> {
    let (counters, breaker) = (&run.counters, &policy.breaker);
    let all = [
        Limit::new(
            counters.refused.into(),
            breaker.refused,
            "refused claim in a row",
            "refused claims in a row",
        ),
        Limit::new(
            counters.no_progress.into(),
            breaker.no_progress,
            "iteration without a change to the files",
            "iterations without a change to the files",
        ),
        Limit::new(
            counters.same_error.into(),
            breaker.same_error,
            "iteration with the same error",
            "iterations with the same error",
        ),
        Limit::new(
            counters.inconclusive.into(),
            breaker.inconclusive,
            "iteration with a check that cannot run",
            "iterations with a check that cannot run",
        ),
        Limit::new(
            counters.permission_denied.into(),
            breaker.permission_denied,
            "iteration with a denied tool",
            "iterations with a denied tool",
        ),
        Limit::new(counters.no_exit.into(), breaker.no_exit, "iteration", "iterations"),
        Limit::new(run.spent.iterations, policy.budget.iterations, "iteration", "iterations"),
    ];
    all.into_iter().flatten().collect()
}
