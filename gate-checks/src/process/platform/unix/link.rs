//! The protocol between gate and a supervisor, over the socket that is the supervisor's
//! standard input.
//!
//! The supervisor writes a [`JobReport`] a line, as JSON. gate writes single bytes:
//! [`BEGIN`] starts a job that waits for it. After that, any byte and the end of the
//! stream end the job: [`KILL_NOW`] without grace, [`END_LEFT`] only the processes that an
//! ended job left running. The end of the stream counts, so that a job also ends if gate
//! is killed.

use serde::{Deserialize, Serialize};

/// Starts the waiting job.
pub(super) const BEGIN: u8 = b'+';

/// Ends the job.
pub(super) const END: u8 = b'.';

/// Ends the job without grace.
pub(super) const KILL_NOW: u8 = b'!';

/// Ends the processes that an ended job left running.
pub(super) const END_LEFT: u8 = b',';

/// A line of the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobReport {
    /// The job waits for [`BEGIN`]. Only with a grace in the order.
    Ready {
        /// Process of the job.
        pid: i32,
    },
    /// The waiting job runs now.
    Began,
    /// The job itself has ended, but processes that it started have not: they stay until
    /// they end, or gate ends them. Only with a grace in the order.
    Left,
    /// The job could not be started.
    NotStarted {
        /// Reason for a person.
        error: String,
    },
    /// The processes of the job used more memory than the order allows. Nothing of it is left.
    OverMemory {
        /// The limit, in bytes.
        limit: u64,
    },
    /// Nothing of the job is left.
    Ended {
        /// Exit code of the job itself, if it exited.
        code: Option<i32>,
        /// Signal that killed it, if one did.
        signal: Option<i32>,
        /// Names of the processes that it left running and that were ended.
        #[serde(rename = "left")]
        leftovers: Vec<String>,
    },
}

impl JobReport {
    /// The line without its end.
    pub(super) fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line; `None` if it is no report.
    pub(super) fn parse(line: &str) -> Option<Self> {
        serde_json::from_str(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::JobReport;

    #[test]
    fn every_report_is_read_as_it_is_written() {
        let reports = [
            JobReport::Ready { pid: 7 },
            JobReport::Began,
            JobReport::Left,
            JobReport::NotStarted { error: "no such file\nor folder".to_owned() },
            JobReport::OverMemory { limit: 4_000_000_000 },
            JobReport::Ended { code: None, signal: Some(9), leftovers: vec!["sleep".to_owned()] },
        ];
        for report in reports {
            assert!(!report.to_line().contains('\n'));
            assert_eq!(JobReport::parse(&report.to_line()), Some(report));
        }
    }

    #[test]
    fn noise_is_nothing() {
        assert_eq!(JobReport::parse("{\"ended\":"), None);
        assert_eq!(JobReport::parse("started"), None);
    }
}
