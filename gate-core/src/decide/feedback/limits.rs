//! The attempt that a refusal belongs to, and the limit that ends the loop next.

use crate::decide::input::Input;
use crate::decide::policy::Policy;
use crate::decide::release::MAX_SAME_FAILURES;
use crate::decide::run_state::RunState;

/// A limit that comes nearer.
struct Limit {
    /// Events until the loop ends; at least 1.
    remaining: u64,
    /// The noun for one event.
    singular: &'static str,
    plural: &'static str,
}

impl Limit {
    /// `None` if the limit is not set, has been reached, or nothing was counted.
    fn new(count: u64, limit: u32, singular: &'static str, plural: &'static str) -> Option<Self> {
        let remaining = u64::from(limit).checked_sub(count)?;
        (remaining > 0 && count > 0).then_some(Self { remaining, singular, plural })
    }
}

/// The line with the attempt and the limit, as far as they are known. `run` is the state after
/// this decision.
pub(super) fn line(input: &Input, run: Option<&RunState>, policy: &Policy) -> String {
    let (Some(run), Some(_)) = (run, input.kept()) else { return String::new() };
    if input.observed.stop.is_some() {
        return refusal_line(input, run.refusals.same, policy);
    }
    let attempt = input.observed.iteration;
    let nearest = limits(run, policy).into_iter().min_by_key(|limit| limit.remaining);
    match nearest {
        Some(Limit { remaining: 1, singular, .. }) => {
            format!("This is attempt {attempt}. gate stops the loop after one more {singular}.\n")
        }
        Some(Limit { remaining, plural, .. }) => format!(
            "This is attempt {attempt}. gate stops the loop after {remaining} more {plural}.\n"
        ),
        None => format!("This is attempt {attempt}.\n"),
    }
}

/// The refusals of a stop. Where a person is there, the same failure refuses less often.
fn refusal_line(input: &Input, same_failures: u32, policy: &Policy) -> String {
    let (blocks, max_blocks) = (input.refusals().blocks.saturating_add(1), policy.hook.max_blocks);
    let situation = input.observed.stop.as_ref().and_then(|stop| stop.situation.as_ref());
    let is_interactive = situation.is_some_and(|situation| !situation.is_unattended());
    let remaining_blocks = max_blocks.saturating_sub(blocks);
    let remaining_failures = MAX_SAME_FAILURES.saturating_sub(same_failures);
    match is_interactive && same_failures > 0 && remaining_failures < remaining_blocks {
        true => format!(
            "This is refusal {same_failures} of at most {MAX_SAME_FAILURES} for the same failure.\n"
        ),
        false => format!("This is refusal {blocks} of at most {max_blocks}.\n"),
    }
}

/// The limits that are set and that this run has come nearer to.
fn limits(run: &RunState, policy: &Policy) -> Vec<Limit> {
    let (counters, breaker) = (&run.counters, &policy.breaker);
    let limits = [
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
    limits.into_iter().flatten().collect()
}
