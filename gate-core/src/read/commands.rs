//! Remembers which command a tool call runs until its result comes.

use std::collections::VecDeque;

use super::Fact;
use super::out::{Out, clip};

/// How many calls are remembered; results that come later stay unreported.
const MAX_CALLS: usize = 256;

/// The longest command line that is kept, in bytes.
pub(super) const MAX_COMMAND: usize = 4096;

/// The calls whose results are awaited.
#[derive(Debug, Default)]
pub(super) struct Commands {
    calls: VecDeque<(String, String)>,
}

impl Commands {
    /// A call with this id runs this command.
    pub(super) fn started(&mut self, id: &str, command: &str) {
        if self.calls.len() == MAX_CALLS {
            self.calls.pop_front();
        }
        self.calls.push_back((id.to_owned(), clip(command, MAX_COMMAND).to_owned()));
    }

    /// The call's result came; without an exit code nothing can be reported.
    pub(super) fn ended(&mut self, id: &str, code: Option<i32>, line: u64, out: &mut Out<'_>) {
        let Some(at) = self.calls.iter().rposition(|(call, _)| call == id) else {
            return;
        };
        let command = self.calls.remove(at).map(|(_, command)| command);
        if let (Some(command), Some(exit_code)) = (command, code) {
            out.fact(Fact::Command { command, exit_code, line });
        }
    }
}
