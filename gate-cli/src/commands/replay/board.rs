//! Who reads which file, and what they found, in the order of the files.
//!
//! Files are taken in order and, ahead of it, the largest first, so that no big
//! one is left to the end. What is found ahead of its turn waits here; a file
//! that would fill the board waits for its turn.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How far ahead of the first open file one may be taken.
const WINDOW: usize = 1024;

/// How many findings may wait for their turn.
const WAITING: usize = 512;

/// The board.
#[derive(Debug)]
pub(super) struct Board<T> {
    state: Mutex<State<T>>,
    moved: Condvar,
}

#[derive(Debug)]
struct State<T> {
    sizes: Vec<u64>,
    taken: Vec<bool>,
    /// The first file that is not told whole.
    first: usize,
    found: BTreeMap<usize, Found<T>>,
    waiting: usize,
}

#[derive(Debug)]
struct Found<T> {
    items: Vec<T>,
    ended: bool,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self { items: Vec::new(), ended: false }
    }
}

/// What is to be told next.
#[derive(Debug)]
pub(super) struct Next<T> {
    pub(super) items: Vec<T>,
    /// How many files are told whole.
    pub(super) ended: usize,
    /// Whether that is all.
    pub(super) last: bool,
}

impl<T> Board<T> {
    /// A board for files of these sizes.
    pub(super) fn new(sizes: Vec<u64>) -> Self {
        let taken = vec![false; sizes.len()];
        let state = State { sizes, taken, first: 0, found: BTreeMap::new(), waiting: 0 };
        Self { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// A file to read; none where all are taken.
    pub(super) fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        loop {
            if let Some(file) = state.next() {
                state.taken[file] = true;
                return Some(file);
            }
            if state.taken.iter().skip(state.first).all(|&taken| taken) {
                return None;
            }
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Something was found in a file.
    pub(super) fn put(&self, file: usize, item: T) {
        let mut state = self.lock();
        while state.must_wait(file) {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.found.entry(file).or_default().items.push(item);
        state.waiting += 1;
        self.moved.notify_all();
    }

    /// A file was read.
    pub(super) fn end(&self, file: usize) {
        self.lock().found.entry(file).or_default().ended = true;
        self.moved.notify_all();
    }

    /// Waits for what is next in the order of the files, at most so long.
    pub(super) fn next(&self, patience: Duration) -> Next<T> {
        let state = self.lock();
        let idle = |state: &mut State<T>| !state.is_ready();
        let waited = self.moved.wait_timeout_while(state, patience, idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let next = state.pull();
        self.moved.notify_all();
        next
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn next(&self) -> Option<usize> {
        let ahead = self.first..self.taken.len().min(self.first.saturating_add(WINDOW));
        let mut open = ahead.filter(|&file| !self.taken[file]);
        let first = open.next()?;
        if first == self.first {
            return Some(first);
        }
        open.chain([first]).max_by_key(|&file| self.sizes[file])
    }

    /// A file waits where the board is full, while somebody reads the one whose
    /// turn it is.
    fn must_wait(&self, file: usize) -> bool {
        let read = self.taken.get(self.first).copied().unwrap_or_default();
        self.waiting >= WAITING && file != self.first && read
    }

    fn is_ready(&self) -> bool {
        let found = self.found.get(&self.first);
        found.is_some_and(|it| it.ended || !it.items.is_empty()) || self.first == self.taken.len()
    }

    fn pull(&mut self) -> Next<T> {
        let mut items = Vec::new();
        while let Some(found) = self.found.get_mut(&self.first) {
            items.append(&mut found.items);
            if !found.ended {
                break;
            }
            self.found.remove(&self.first);
            self.first += 1;
        }
        self.waiting -= items.len();
        Next { items, ended: self.first, last: self.first == self.taken.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn files_are_taken_in_order_and_the_largest_ahead() {
        let board: Board<()> = Board::new(vec![1, 5, 9, 2]);
        let taken: Vec<_> = (0..4).map(|_| board.take().unwrap()).collect();
        assert_eq!(taken, [0, 2, 1, 3]);
        assert_eq!(board.take(), None);
    }

    #[test]
    fn what_is_found_ahead_waits_for_its_turn() {
        let board = Board::new(vec![1, 1]);
        board.put(1, 'b');
        board.end(1);
        board.put(0, 'a');
        let next = board.next(SOON);
        assert_eq!((next.items, next.ended, next.last), (vec!['a'], 0, false));
        board.end(0);
        let next = board.next(SOON);
        assert_eq!((next.items, next.ended, next.last), (vec!['b'], 2, true));
        assert!(board.next(SOON).items.is_empty());
    }

    #[test]
    fn a_full_board_takes_what_has_its_turn() {
        let board = Board::new(vec![1, 1]);
        assert_eq!(board.take(), Some(0));
        (0..WAITING).for_each(|_| board.put(1, ()));
        assert!(board.lock().must_wait(1));
        board.put(0, ());
        board.end(0);
        assert_eq!(board.next(SOON).items.len(), WAITING + 1);
        assert!(!board.lock().must_wait(1));
    }

    #[test]
    fn no_files_are_told_at_once() {
        let board: Board<()> = Board::new(Vec::new());
        assert_eq!(board.take(), None);
        assert!(board.next(SOON).last);
    }
}
