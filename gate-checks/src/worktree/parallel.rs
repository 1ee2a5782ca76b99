//! The same work on many items, on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::error::WorktreeError;
use crate::cancellation::Cancellation;
use crate::worktree::error::stop_if_cancelled;

/// Items that a worker takes at once.
const BLOCK: usize = 64;

pub(super) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(8)
}

/// Does the work on the items `0..count`; the results stand in their order.
/// Each worker prepares once what it uses again for every item.
pub(super) fn each<T: Send, U>(
    count: usize,
    cancel: &Cancellation,
    prepare: impl Fn() -> U + Sync,
    work: impl Fn(&mut U, usize) -> T + Sync,
) -> Result<Vec<T>, WorktreeError> {
    let next = AtomicUsize::new(0);
    let mut done = on_all(workers().min(count.div_ceil(BLOCK)), || {
        let mut tool = prepare();
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(BLOCK, Ordering::Relaxed);
            if start >= count || cancel.is_cancelled() {
                return done;
            }
            let block = start..count.min(start + BLOCK);
            done.push((start, block.map(|at| work(&mut tool, at)).collect::<Vec<T>>()));
        }
    });
    stop_if_cancelled(cancel)?;
    done.sort_unstable_by_key(|(start, _)| *start);
    Ok(done.into_iter().flat_map(|(_, results)| results).collect())
}

/// Runs the same function on so many threads, this one among them, and joins
/// what they return.
pub(super) fn on_all<T: Send>(threads: usize, work: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancellation::{CancelReason, Grace};

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for count in [0, 1, BLOCK, BLOCK + 1, 1000] {
            let doubled = each(count, &Cancellation::default(), || (), |(), at| at * 2).unwrap();
            assert_eq!(doubled, (0..count).map(|at| at * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn work_that_nobody_waits_for_stops() {
        let token = Cancellation::default();
        token.cancel(CancelReason::Unwanted, Grace::Usual);
        let done = each(10, &token, || (), |(), at| at);
        assert!(matches!(done, Err(WorktreeError::Cancelled)));
    }
}
