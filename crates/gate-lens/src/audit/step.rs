//! A call in a turn that matters to its claim, and its answer.

use gate_transcript::Ending;

use super::command::{Check, Inspection};
use super::output::{CheckEnd, CheckResult, Output, TIMED_OUT};

/// Words by which clients say that a command was stopped.
const STOPPED: [&str; 4] = ["timed out", "interrupted", "aborted", "cancelled"];

/// Words by which clients say that a sub-agent works beside the turn.
const LAUNCHED: [&str; 3] = ["agent launched", "in the background", "the following subagents"];

/// Programs that run hooks, and marks of their lists, in their own lines.
const FRAMES: [&str; 7] = [
    "husky",
    "lefthook",
    "lint-staged",
    "Running tasks for staged files",
    "pre-commit hook",
    "[COMPLETED] ",
    "[FAILED] ",
];

/// A call.
pub(crate) struct Step {
    pub id: String,
    /// Line of the answer, or of the call if none came.
    pub line: u64,
    pub action: Action,
    pub ending: Ending,
    /// The exit code that the client shows.
    pub code: Option<i32>,
    pub is_denied: bool,
    /// Other calls have the same answer: its exit code may be theirs.
    pub is_shared: bool,
    /// It was stopped: how it would have ended is not known.
    was_stopped: bool,
    /// It was answered.
    pub is_answered: bool,
    /// The output of its command, and the kind of that.
    output: Option<Output>,
    kind: OutputKind,
    /// Hooks ran in it that may have checked the work.
    pub hooks_may_check: bool,
}

/// The command that wrote an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputKind {
    /// A test runner that is known.
    Check,
    /// A command that shows a log.
    Log,
    /// Another one, which may check the work.
    Other,
}

/// An act of the agent, as the audit counts it.
pub(crate) enum Action {
    /// It changes files.
    Edit(Vec<String>),
    /// It runs a command.
    Command(Box<Inspection>),
    /// It may have checked the work: a browser, a tool of a client's.
    Other,
    /// A sub-agent, which may go on beside the turn, and check the work at any time.
    SubAgent { in_background: bool },
}

impl Action {
    /// A command that checks something, or writes a file, or may do either.
    pub(crate) fn command(inspected: Inspection) -> Option<Self> {
        let Inspection { check, other, log, writes, runs_hooks, .. } = &inspected;
        let matters = check.is_some()
            || other.is_some()
            || log.is_some()
            || !writes.is_empty()
            || *runs_hooks;
        matters.then(|| Self::Command(Box::new(inspected)))
    }
}

impl Step {
    pub(crate) fn new(id: &str, line: u64, action: Action) -> Self {
        let (kind, check) = match &action {
            Action::Command(inspected) => {
                let shown =
                    |command: &String| Check { command: command.clone(), ..Check::default() };
                match (&inspected.check, &inspected.log) {
                    (Some(check), _) => (OutputKind::Check, Some(check.clone())),
                    (None, Some(log)) => (OutputKind::Log, Some(shown(log))),
                    (None, None) => (OutputKind::Other, inspected.other.as_ref().map(shown)),
                }
            }
            Action::Edit(_) | Action::Other | Action::SubAgent { .. } => (OutputKind::Other, None),
        };
        Self {
            id: id.to_owned(),
            line,
            action,
            ending: Ending::Unmarked,
            code: None,
            is_denied: false,
            is_shared: false,
            was_stopped: false,
            hooks_may_check: false,
            is_answered: false,
            output: check.map(Output::new),
            kind,
        }
    }

    /// Takes the beginning of its answer.
    pub(crate) fn answered(&mut self, line: u64) {
        (self.is_answered, self.line) = (true, line);
        // An answer without a text is one too.
        self.output("");
    }

    /// Takes a part of what it has written.
    pub(crate) fn output(&mut self, text: &str) {
        if let Action::SubAgent { in_background } = &mut self.action {
            *in_background |= LAUNCHED.iter().any(|words| text.contains(words));
        }
        if let Some(output) = &mut self.output {
            output.text(text);
        }
        if matches!(&self.action, Action::Command(inspected) if inspected.runs_hooks) {
            self.hooks_may_check |= hooks_ran(text);
        }
    }

    /// The client marks it as failed.
    pub(crate) fn failed(&mut self, output: &str) {
        self.ending = Ending::Failed;
        self.was_stopped |= STOPPED.iter().any(|words| output.contains(words));
    }

    /// The step started a run in the background.
    pub(crate) fn is_in_background(&self) -> bool {
        self.output.as_ref().is_some_and(Output::is_in_background)
    }

    /// A text names the background run that the step started.
    pub(crate) fn is_awaited_in(&self, text: &str) -> bool {
        self.output.as_ref().is_some_and(|output| output.is_awaited_in(text))
    }

    /// Nothing was changed, or not as it should be.
    pub(crate) fn has_failed(&self) -> bool {
        self.code.map_or(self.ending == Ending::Failed, |code| code != 0)
    }

    /// It runs a command whose output may tell how tests ended.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// The command that its output is of.
    pub(crate) fn command(&self) -> Option<&str> {
        self.output.as_ref().map(|output| output.check.command.as_str())
    }

    /// The check that it ran.
    pub(crate) fn check(&self) -> Option<&Check> {
        self.output_as(OutputKind::Check).map(|output| &output.check)
    }

    /// The result of its check; hidden without one.
    pub(crate) fn result(&self) -> CheckResult {
        let code = match (self.code, self.ending) {
            _ if self.is_shared => None,
            _ if self.was_stopped => Some(TIMED_OUT),
            (Some(code), _) => Some(code),
            (None, Ending::Succeeded) => Some(0),
            (None, Ending::Failed) => Some(1),
            (None, Ending::Unmarked) => None,
        };
        let hidden = CheckResult { end: CheckEnd::Hidden, tests: None };
        self.output.as_ref().map_or(hidden, |output| output.result(code))
    }

    /// The number of passed tests in a log that it shows; none if the log shows no run, or a failure.
    pub(crate) fn logged_passes(&self) -> Option<u64> {
        self.output_as(OutputKind::Log).and_then(Output::shown_passes)
    }

    /// Of a command that is no known runner: the tests that its output reports all passed, or one
    /// failed; `None` if it reports no tests, or not all.
    pub(crate) fn reported(&self) -> Option<bool> {
        self.output_as(OutputKind::Other).and_then(Output::reported)
    }

    /// The call of a sub-agent that has not ended.
    pub(crate) fn awaits_agent(&self) -> bool {
        matches!(self.action, Action::SubAgent { .. }) && !self.is_answered
    }

    fn output_as(&self, kind: OutputKind) -> Option<&Output> {
        if self.kind == kind { self.output.as_ref() } else { None }
    }
}

/// An output of git shows that hooks of the repository ran. They may have checked the work: a
/// transcript does not show which commands they start.
fn hooks_ran(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let is_result = ["Passed", "Failed"].iter().any(|end| line.ends_with(&format!("...{end}")));
        is_result || FRAMES.iter().any(|frame| line.contains(frame))
    })
}

#[cfg(test)]
mod tests {
    use super::hooks_ran;

    #[test]
    fn hooks_are_seen_by_the_lines_of_what_runs_them() {
        for text in ["Lint......Passed", "[COMPLETED] eslint --fix", "lefthook v1\nok"] {
            assert!(hooks_ran(text), "{text}");
        }
        assert!(!hooks_ran("[main 1a2b3c4] Add a flag: all tests passed\n 1 file changed"));
    }
}
