//! Watching an agent while it runs: its output for the person, its time, runs that it
//! has delegated, and whoever wants it to end.

use std::time::{Duration, Instant};

use gate_checks::process::{Session, SessionEnd};
use gate_core::decide::memory::Spent;
use jiff::Timestamp;

use super::attempt::Ran;
use super::{Loop, delegated};
use crate::governance::RunFolder;
use crate::memory::StoppedBy;
use crate::record::Record;

/// How often it is looked.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How often it is looked whether runs that an agent has delegated go on.
const LOOK: Duration = Duration::from_millis(500);

/// The most that is shown at once, in bytes.
const BLOCK: u64 = 64 << 10;

/// One thing that happens in a loop.
#[derive(Clone, Copy)]
pub(crate) enum Event<'e> {
    /// The loop begins: how the agent is started, and what to know of what is allowed.
    Starts { command: &'e str, note: Option<&'e str> },
    /// An iteration begins, after so long; what the loop has used so far.
    Begins { iteration: u64, elapsed: Duration, spent: Option<&'e Spent> },
    /// The agent printed this.
    Printed(&'e [u8]),
    /// A check began or ended.
    Check(&'e gate_checks::Event),
    /// The agent ended.
    Ended { iteration: u64, ran: &'e Ran },
    /// Gate said this of the iteration.
    Judged { iteration: u64, record: &'e Record },
    /// The loop waits until then.
    Waits { until: Timestamp, why: &'e str },
}

/// Who shows what happens.
pub(crate) trait Live {
    fn tell(&self, event: Event<'_>);
}

/// Why an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Nobody ended it.
    ByItself,
    /// It took too long, or was silent for too long.
    TimedOut,
    /// Somebody wants the loop to stop.
    Stopped(StoppedBy),
}

/// What came of the runs that an agent had delegated when it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Delegated {
    /// There was none.
    #[default]
    None,
    /// They ended, and were waited for.
    Ended,
    /// They took too long, and were ended.
    TimedOut,
}

/// Watches a session until nothing of it is left.
pub(super) fn over(
    mut session: Session,
    folder: &RunFolder,
    of: &Loop<'_>,
) -> (SessionEnd, Ended, Delegated) {
    let mut output = Output::default();
    let began = Instant::now();
    let mut ended = Ended::ByItself;
    let mut left = Left::default();
    loop {
        let over = session.wait_for(TICK);
        output.show(folder, of);
        if let Some(over) = over {
            return (over, ended, left.delegated);
        }
        if ended != Ended::ByItself {
            continue;
        }
        let why = match session.is_left() {
            true => of.outside.ends().map(Ended::Stopped),
            false => why(of, began, output.heard),
        };
        match why {
            Some(why) => {
                ended = why;
                session.stop();
            }
            None if session.is_left() => left.look(&mut session, folder, of),
            None => {}
        }
    }
}

/// What an agent that has ended has left running.
#[derive(Default)]
struct Left {
    since: Option<Instant>,
    looked: Option<Instant>,
    /// Whether it was told to end.
    told: bool,
    delegated: Delegated,
}

impl Left {
    /// Lets runs that the agent has delegated go on, as long as the order says, and ends
    /// what is none.
    fn look(&mut self, session: &mut Session, folder: &RunFolder, of: &Loop<'_>) {
        let since = *self.since.get_or_insert_with(Instant::now);
        if self.told || self.looked.is_some_and(|at| at.elapsed() < LOOK) {
            return;
        }
        self.looked = Some(Instant::now());
        if !delegated::go_on(of.task, &folder.id(), session) {
            self.told = true;
            session.end_left();
            return;
        }
        self.delegated = Delegated::Ended;
        if since.elapsed() >= of.order.children {
            self.told = true;
            self.delegated = Delegated::TimedOut;
            // With the whole grace: a loop writes down how its runs ended.
            session.stop();
        }
    }
}

/// Why the agent has to end now.
fn why(of: &Loop<'_>, began: Instant, heard: Instant) -> Option<Ended> {
    let is_over = |limit: Option<Duration>, since: Instant| {
        limit.is_some_and(|limit| since.elapsed() >= limit)
    };
    if let Some(by) = of.outside.ends() {
        return Some(Ended::Stopped(by));
    }
    let timed_out = is_over(of.order.timeout, began) || is_over(of.order.idle, heard);
    timed_out.then_some(Ended::TimedOut)
}

/// What an agent prints, as it stands in its files.
struct Output {
    /// How much of the standard output was shown.
    shown: u64,
    /// How long both were.
    length: u64,
    /// When they last grew.
    heard: Instant,
}

impl Default for Output {
    fn default() -> Self {
        Self { shown: 0, length: 0, heard: Instant::now() }
    }
}

impl Output {
    /// Shows what is new. A file that is gone shows nothing.
    fn show(&mut self, folder: &RunFolder, of: &Loop<'_>) {
        let now = folder.printed();
        if now != self.length {
            (self.length, self.heard) = (now, Instant::now());
        }
        let next = |shown| folder.printed_from(shown, BLOCK).filter(|bytes| !bytes.is_empty());
        while let Some(bytes) = next(self.shown) {
            self.shown += bytes.len() as u64;
            of.live.tell(Event::Printed(&bytes));
        }
    }
}
