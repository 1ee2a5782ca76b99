//! Locks on files that other programs lock as well (`flock`).

use std::fs::{File, TryLockError};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Timeout for a lock. Each holder needs milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first and the longest wait between two tries.
const PAUSE: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// The kind of a file's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lock {
    /// Nobody else has it.
    Alone,
    /// Others read it as well.
    Shared,
}

impl Lock {
    /// Locks a file until it is closed.
    ///
    /// # Errors
    ///
    /// A lock that somebody else does not let go.
    pub(super) fn take(self, file: &File) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        let mut pause = PAUSE[0];
        loop {
            let tried = match self {
                Self::Alone => file.try_lock(),
                Self::Shared => file.try_lock_shared(),
            };
            match tried {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    let message = "somebody else holds its lock for longer than 30 s";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
                Err(TryLockError::WouldBlock) => sleep(pause),
            }
            pause = (pause * 2).min(PAUSE[1]);
        }
    }
}
