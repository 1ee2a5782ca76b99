//! Whose turn it is: blocks are sifted by any thread and taken in their order.

use std::collections::VecDeque;
use std::io;
use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use gate_core::read::{Far, Sifted};

/// How many blocks a thread may be ahead.
const AHEAD: u64 = 4;

/// What the threads share that sift a file.
pub(super) struct Turns {
    state: Mutex<State>,
    /// Somebody waits here for a block to be sifted.
    tasks: Condvar,
    /// The one who takes the blocks waits here for the next of them.
    ready: Condvar,
    blocks: u64,
    ahead: u64,
}

struct State {
    far: Far,
    /// The first block that nobody has begun.
    begun: u64,
    /// The first block that was not taken.
    taken: u64,
    /// What was said about the blocks from that one on.
    said: VecDeque<Option<Said>>,
    /// Lists to be filled again.
    spare: Vec<Sifted>,
    /// Whether nobody waits for blocks any more.
    over: bool,
    /// Whether a thread is gone that had begun a block.
    lost: bool,
}

/// A block to be sifted.
pub(super) struct Task {
    pub(super) block: u64,
    pub(super) far: Far,
    /// What it is to be sifted into.
    pub(super) sifted: Sifted,
}

/// The lines of a block, sifted, and where they begin and end.
pub(super) struct Block {
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) sifted: Sifted,
}

/// What a thread says about a block; nothing where a line is too long.
type Said = io::Result<Option<Block>>;

/// What is next for the one who takes the blocks.
pub(super) enum Next {
    /// To take this one.
    Ready(Said),
    /// To sift this one.
    Task(Task),
    /// Nothing: all were taken.
    End,
    /// Nothing: who began the next block is gone.
    Lost,
}

impl Turns {
    /// All blocks are still to be sifted, by so many threads.
    pub(super) fn new(far: Far, blocks: u64, threads: u64) -> Self {
        let state = State {
            far,
            begun: 0,
            taken: 0,
            said: VecDeque::new(),
            spare: Vec::new(),
            over: false,
            lost: false,
        };
        Self {
            state: Mutex::new(state),
            tasks: Condvar::new(),
            ready: Condvar::new(),
            blocks,
            ahead: AHEAD * threads,
        }
    }

    /// For another thread, which ends when there is nothing to be sifted any more.
    pub(super) fn begin(&self) -> Begun<'_> {
        Begun(self)
    }

    /// Nobody begins another block once this is dropped.
    pub(super) fn over(&self) -> Over<'_> {
        Over(self)
    }

    /// The next block to be sifted, as soon as there is one; nothing at the end.
    pub(super) fn wait_for_task(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.over || state.begun == self.blocks {
                return None;
            }
            if let Some(task) = self.task(&mut state) {
                return Some(task);
            }
            state = self.tasks.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A block is sifted.
    pub(super) fn say(&self, block: u64, said: Said) {
        let mut state = self.lock();
        let place = (block - state.taken) as usize;
        if let Some(room) = state.said.get_mut(place) {
            *room = Some(said);
        }
        drop(state);
        if place == 0 {
            self.ready.notify_one();
        }
    }

    /// What the one who takes the blocks does next.
    pub(super) fn next(&self) -> Next {
        let mut state = self.lock();
        loop {
            if state.taken == self.blocks {
                return Next::End;
            }
            if let Some(said) = state.said.front_mut().and_then(Option::take) {
                return Next::Ready(said);
            }
            if let Some(task) = self.task(&mut state) {
                return Next::Task(task);
            }
            if state.lost {
                return Next::Lost;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next block was taken: its list, which may be filled again, and what is
    /// looked for now, where that is known.
    pub(super) fn taken(&self, spare: Option<Sifted>, far: Option<Far>) {
        let mut state = self.lock();
        state.said.pop_front();
        state.taken += 1;
        state.spare.extend(spare);
        if let Some(far) = far {
            state.far = far;
        }
        drop(state);
        self.tasks.notify_one();
    }

    fn task(&self, state: &mut State) -> Option<Task> {
        let block = state.begun;
        if block == self.blocks || block >= state.taken + self.ahead {
            return None;
        }
        state.begun += 1;
        state.said.push_back(None);
        let sifted = state.spare.pop().unwrap_or_default();
        Some(Task { block, far: state.far.clone(), sifted })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a thread has beside the one who takes; a panic of it is told to that one.
pub(super) struct Begun<'t>(&'t Turns);

impl Deref for Begun<'_> {
    type Target = Turns;

    fn deref(&self) -> &Turns {
        self.0
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().lost = true;
            self.0.ready.notify_one();
        }
    }
}

/// The one who takes the blocks is there.
pub(super) struct Over<'t>(&'t Turns);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.tasks.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use gate_core::decide::indicator::PatternSet;
    use gate_core::{Policy, Scanner};
    use memchr::memchr;

    use super::super::HEAD;
    use super::*;

    /// Turns over so many blocks.
    fn turns(blocks: u64) -> Turns {
        let patterns = PatternSet::new(&Policy::default().patterns).unwrap();
        let mut scanner = Scanner::new(&patterns, None);
        let lines = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n".repeat(2_000);
        let end = HEAD + memchr(b'\n', &lines.as_bytes()[HEAD - 1..]).unwrap();
        scanner.push(&lines.as_bytes()[..end]);
        Turns::new(scanner.far().unwrap(), blocks, 2)
    }

    #[test]
    fn blocks_come_in_their_order() {
        let turns = turns(2);
        let (Next::Task(first), Some(second)) = (turns.next(), turns.begin().wait_for_task())
        else {
            panic!("two blocks are to be sifted");
        };
        assert_eq!((first.block, second.block), (0, 1));
        turns.say(1, Err(io::ErrorKind::Other.into()));
        turns.say(0, Ok(None));
        assert!(matches!(turns.next(), Next::Ready(Ok(None))));
        turns.taken(None, None);
        assert!(matches!(turns.next(), Next::Ready(Err(_))));
        turns.taken(None, None);
        assert!(matches!(turns.next(), Next::End));
        assert!(turns.begin().wait_for_task().is_none());
    }

    #[test]
    fn nobody_waits_for_a_block_that_is_lost() {
        let turns = turns(2);
        thread::scope(|scope| {
            let gone = scope.spawn(|| {
                let begun = turns.begin();
                let _task = begun.wait_for_task();
                panic!("a bug");
            });
            gone.join().unwrap_err();
        });
        assert!(matches!(turns.next(), Next::Task(_)));
        assert!(matches!(turns.next(), Next::Lost));
    }

    #[test]
    fn nobody_begins_a_block_that_is_not_taken() {
        let turns = turns(100);
        for block in 0..2 * AHEAD {
            assert_eq!(turns.begin().wait_for_task().map(|task| task.block), Some(block));
        }
        drop(turns.over());
        assert!(turns.begin().wait_for_task().is_none());
    }
}
