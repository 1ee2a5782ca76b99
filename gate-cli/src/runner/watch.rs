//! Watching an agent while it runs: its output for the person, its time, and
//! whoever wants it to end.

use std::time::{Duration, Instant};

use gate_checks::process::{Over, Session};
use jiff::Timestamp;

use super::attempt::Ran;
use super::{Loop, StoppedBy};
use crate::governance::RunFolder;
use crate::record::Record;

/// How often it is looked.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// The most that is shown at once, in bytes.
const BLOCK: u64 = 64 << 10;

/// Who is shown what happens.
pub(crate) trait Live {
    /// The agent printed this.
    fn printed(&self, bytes: &[u8]);
    /// A run ended.
    fn ended(&self, iteration: u64, ran: &Ran);
    /// Gate said this of it.
    fn judged(&self, iteration: u64, record: &Record);
    /// The loop waits for a limit to end.
    fn waits(&self, until: Timestamp);
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

/// Watches a session until nothing of it is left.
pub(super) fn over(mut session: Session, folder: &RunFolder, of: &Loop<'_>) -> (Over, Ended) {
    let mut output = Output::default();
    let began = Instant::now();
    let mut ended = Ended::ByItself;
    loop {
        let over = session.wait_for(TICK);
        output.show(folder, of);
        if let Some(over) = over {
            return (over, ended);
        }
        if ended == Ended::ByItself
            && let Some(why) = why(of, began, output.heard)
        {
            ended = why;
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
            of.live.printed(&bytes);
        }
    }
}
