//! Remembers what a tool call is until its result comes.

use std::collections::VecDeque;

use super::out::{Out, clip};

/// Calls that are remembered; results that come later stay unreported.
const MAX_CALLS: usize = 256;

/// The longest command line that is kept, in bytes.
pub(super) const MAX_COMMAND: usize = 4096;

/// The calls whose results are awaited.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: VecDeque<Call>,
}

#[derive(Debug)]
struct Call {
    id: String,
    tool: String,
    command: Option<String>,
}

impl Calls {
    /// A call began. `command` is the command line, if the tool is a shell.
    pub(super) fn started(&mut self, id: &str, tool: &str, command: Option<&str>) {
        if self.calls.len() == MAX_CALLS {
            self.calls.pop_front();
        }
        let command = command.map(|command| clip(command, MAX_COMMAND).to_owned());
        self.calls.push_back(Call { id: id.to_owned(), tool: tool.to_owned(), command });
    }

    /// The tool of a call that has not ended.
    pub(super) fn tool(&self, id: &str) -> Option<&str> {
        self.calls.iter().rfind(|call| call.id == id).map(|call| call.tool.as_str())
    }

    /// The call's command came to its end, and its result is still awaited.
    /// Without an exit code nothing can be reported.
    pub(super) fn ran(&mut self, id: &str, code: Option<i32>, out: &mut Out<'_>) {
        let call = self.calls.iter_mut().rfind(|call| call.id == id);
        let command = call.and_then(|call| call.command.take());
        if let (Some(command), Some(exit_code)) = (command, code) {
            out.ran(command, exit_code);
        }
    }

    /// The call's result came.
    pub(super) fn ended(&mut self, id: &str, code: Option<i32>, out: &mut Out<'_>) {
        self.ran(id, code, out);
        if let Some(at) = self.calls.iter().rposition(|call| call.id == id) {
            self.calls.remove(at);
        }
    }
}
