//! The same work on many items, on all processors.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::error::WorktreeError;
use crate::cancellation::Cancellation;
use crate::worktree::error::stop_if_cancelled;

/// Items that a worker takes at once.
const BLOCK_ITEMS: usize = 64;

/// The number of threads: one for each processor, but at most 8.
pub(super) fn workers() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(8)
}

/// Does the work on the items `0..count`; the results stand in their order.
/// Each worker prepares once what it uses again for every item.
pub(super) fn map<T: Send, U>(
    count: usize,
    cancel: &Cancellation,
    prepare: impl Fn() -> U + Sync,
    work: impl Fn(&mut U, usize) -> T + Sync,
) -> Result<Vec<T>, WorktreeError> {
    let next_item = AtomicUsize::new(0);
    let mut blocks = on_all(workers().min(count.div_ceil(BLOCK_ITEMS)), || {
        let mut tool = prepare();
        let mut blocks = Vec::new();
        loop {
            let start = next_item.fetch_add(BLOCK_ITEMS, Ordering::Relaxed);
            if start >= count || cancel.is_cancelled() {
                return blocks;
            }
            let items = start..count.min(start + BLOCK_ITEMS);
            blocks.push((start, items.map(|item| work(&mut tool, item)).collect::<Vec<T>>()));
        }
    });
    stop_if_cancelled(cancel)?;
    blocks.sort_unstable_by_key(|(start, _)| *start);
    Ok(blocks.into_iter().flat_map(|(_, results)| results).collect())
}

/// Runs the same function on so many threads, this one among them, and joins
/// what they return.
pub(super) fn on_all<T: Send>(threads: usize, work: impl Fn() -> Vec<T> + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(&work)).collect();
        let mut results = work();
        for helper in helpers {
            match helper.join() {
                Ok(helper_results) => results.extend(helper_results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancellation::{CancelReason, Grace};

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        for count in [0, 1, BLOCK_ITEMS, BLOCK_ITEMS + 1, 1000] {
            let doubled = map(count, &Cancellation::default(), || (), |(), item| item * 2).unwrap();
            assert_eq!(doubled, (0..count).map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn work_that_nobody_waits_for_stops() {
        let token = Cancellation::default();
        token.cancel(CancelReason::Unwanted, Grace::Usual);
        let results = map(10, &token, || (), |(), item| item);
        assert!(matches!(results, Err(WorktreeError::Cancelled)));
    }
}
