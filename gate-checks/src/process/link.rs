//! What a supervisor tells gate: one JSON object a line, over the socket that
//! is the supervisor's standard input.
//!
//! Gate tells the supervisor little: [`BEGIN`] lets a job begin that waits for it.
//! After that any byte, or the end of the stream, means that the job has to end;
//! [`AT_ONCE`] means that it has no grace any more, and [`LEFT`] that what it has left
//! running has to end, with a short one.

use serde::{Deserialize, Serialize};

/// The job may begin.
pub(super) const BEGIN: u8 = b'+';

/// The job has to end.
pub(super) const END: u8 = b'.';

/// The job has to end at once.
pub(super) const AT_ONCE: u8 = b'!';

/// What a job that has ended has left running has to end.
pub(super) const LEFT: u8 = b',';

/// One line of the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    /// The job waits for the word to begin; told only where its grace was said.
    Ready {
        /// Its process.
        pid: i32,
    },
    /// The job that waited runs.
    Began,
    /// The job itself has ended, and processes that it started have not: they stay until
    /// they end, or gate wants them to. Told only where its grace was said.
    Left,
    /// The job could not be started.
    NotStarted {
        /// Why.
        error: String,
    },
    /// Nothing of the job is left.
    Ended {
        /// The exit code of the job itself, where it exited.
        code: Option<i32>,
        /// The signal that ended it, where one did.
        signal: Option<i32>,
        /// Names of processes that it left running, and that were ended.
        left: Vec<String>,
    },
}

impl Told {
    /// The line without its end.
    pub(super) fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line; none where it is not one of ours.
    pub(super) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Told;

    #[test]
    fn what_is_told_is_understood() {
        let all = [
            Told::Ready { pid: 7 },
            Told::Began,
            Told::Left,
            Told::NotStarted { error: "no such file\nor folder".to_owned() },
            Told::Ended { code: None, signal: Some(9), left: vec!["sleep".to_owned()] },
        ];
        for told in all {
            assert!(!told.line().contains('\n'));
            assert_eq!(Told::parse(&told.line()), Some(told));
        }
    }

    #[test]
    fn noise_is_nothing() {
        assert_eq!(Told::parse("{\"ended\":"), None);
        assert_eq!(Told::parse("started"), None);
    }
}
