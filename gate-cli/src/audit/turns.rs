//! The turns of a transcript: what an agent changed, what it ran, and what it claimed.

use gate_core::decide::indicator::{Counter, PatternSet};
use gate_core::decide::policy::SignalPolicy;
use gate_core::decide::signal::{Signal, Status};
use gate_transcript::{Boundary, Call, Event, Fact, FinalTurn, Role, Sink, Usage, Wording};

use super::command::{CheckKind, Inspection, inspect};
use super::files::{is_prose, is_test};
use super::output::Output;
use super::{ClaimSupport, Way};

/// Tools that change files, in lower case; that of a client may have a prefix.
const EDITS: [&str; 26] = [
    "edit",
    "write",
    "multiedit",
    "notebookedit",
    "apply_patch",
    "applypatch",
    "write_file",
    "replace",
    "edit_file",
    "create",
    "create_file",
    "str_replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "insert",
    "file_change",
    "writefile",
    "editfile",
    "patch",
    "search_replace",
    "replace_in_file",
    "write_to_file",
    "text_editor",
    "edittoolcall",
    "writetoolcall",
    "strreplacefile",
];

/// Words in the names of tools that may check something by themselves.
const CHECKERS: [&str; 9] =
    ["test", "diagnostic", "build", "playwright", "browser", "chrome", "task", "agent", "lint"];

/// Texts that take a test out of a run.
const SKIPS: [&str; 12] = [
    "@pytest.mark.skip",
    "@unittest.skip",
    "pytest.skip(",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "xit(",
    "xdescribe(",
    "#[ignore",
    "t.Skip(",
    "@Disabled",
    "@Ignore",
];

/// A turn that changed files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The claim; none if the agent made none.
    pub(super) claim: Option<Claim>,
    pub(super) standing: ClaimSupport,
    /// The check that decides the standing.
    pub(super) command: Option<String>,
    /// Line of that check's result.
    pub(super) command_line: Option<u64>,
    pub(super) way: Way,
    /// The files that were changed.
    pub(super) files: Vec<String>,
}

/// A claim that the work is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Line of the input.
    pub(super) line: u64,
    pub(super) text: String,
    /// The whole last message.
    pub(super) message: String,
}

/// A check that was run.
struct Run {
    kind: CheckKind,
    command: String,
    line: u64,
    passed: Option<bool>,
}

/// A command whose result is awaited.
struct Pending {
    command: String,
    inspected: Inspection,
    line: u64,
    output: Option<Output>,
    code: Option<i32>,
    /// Its output has begun.
    answered: bool,
    /// Another call was made before its output came: nobody knows whose output it is.
    shared: bool,
}

/// Follows a transcript and keeps its turns.
pub(super) struct Turns<'p> {
    patterns: &'p PatternSet,
    policy: &'p SignalPolicy,
    last: FinalTurn,
    counter: Counter<'p>,
    pub(super) found: Vec<Turn>,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
    /// All turns, whatever they did.
    pub(super) turns: u64,
    pending: Vec<Pending>,
    /// Of the turns so far.
    before: Vec<Run>,
    /// In this turn up to the last edit, and since then.
    stale: Vec<Run>,
    since: Vec<Run>,
    /// Something ran since the last edit that may have checked the work.
    ran_other: bool,
    /// The same up to the last edit.
    ran_other_before: bool,
    /// The files of the last call, if that was an edit: it may still fail.
    editing: Vec<String>,
    files: Vec<String>,
    way: Way,
    spoke: bool,
}

impl<'p> Turns<'p> {
    pub(super) fn new(patterns: &'p PatternSet, policy: &'p SignalPolicy) -> Self {
        Self {
            patterns,
            policy,
            last: FinalTurn::default(),
            counter: Counter::new(patterns),
            found: Vec::new(),
            model: None,
            usage: Usage::default(),
            turns: 0,
            pending: Vec::new(),
            before: Vec::new(),
            stale: Vec::new(),
            since: Vec::new(),
            ran_other: false,
            ran_other_before: false,
            editing: Vec::new(),
            files: Vec::new(),
            way: Way::default(),
            spoke: false,
        }
    }

    /// Ends the turn, and begins the next one.
    pub(super) fn end(&mut self) {
        self.settle(true);
        let counter = std::mem::replace(&mut self.counter, Counter::new(self.patterns));
        let mut last = std::mem::take(&mut self.last);
        last.finish();
        let files = std::mem::take(&mut self.files);
        let way = std::mem::take(&mut self.way);
        self.turns += u64::from(std::mem::take(&mut self.spoke));
        if !files.is_empty() {
            let claim = claim(&last, counter, self.policy);
            let (standing, run) = self.standing();
            self.found.push(Turn {
                claim,
                standing,
                command: run.map(|run| run.command.clone()),
                command_line: run.map(|run| run.line),
                way,
                files,
            });
        }
        self.before.append(&mut self.stale);
        self.before.append(&mut self.since);
        self.ran_other_before |= self.ran_other;
    }

    /// The check behind a claim that is made now.
    fn standing(&self) -> (ClaimSupport, Option<&Run>) {
        let tests = self.since.iter().any(|run| run.kind == CheckKind::Test);
        let counting = || self.since.iter().filter(|run| !tests || run.kind == CheckKind::Test);
        // The last run of each command counts.
        let last: Vec<_> = counting()
            .enumerate()
            .filter(|(at, run)| {
                !counting().skip(at + 1).any(|later| same_check(&later.command, &run.command))
            })
            .map(|(_, run)| run)
            .collect();
        if let Some(failed) = last.iter().rfind(|run| run.passed == Some(false)) {
            return (ClaimSupport::Failed, Some(failed));
        }
        if let Some(passed) = last.iter().rfind(|run| run.passed == Some(true)) {
            return (ClaimSupport::PassedAfter, Some(passed));
        }
        if let Some(unknown) = last.last() {
            return (ClaimSupport::Unknown, Some(unknown));
        }
        if self.ran_other {
            return (ClaimSupport::Unknown, None);
        }
        match self.stale.last().or(self.before.last()) {
            Some(run) => (ClaimSupport::Stale, Some(run)),
            None => (ClaimSupport::None, None),
        }
    }

    fn edited(&mut self, path: &str) {
        self.way.tests_edited |= is_test(path);
        if is_prose(path) {
            return;
        }
        if !self.files.iter().any(|known| known == path) {
            self.files.push(path.to_owned());
        }
        // What ran before is before the last edit now.
        self.stale.append(&mut self.since);
        self.ran_other_before |= std::mem::take(&mut self.ran_other);
    }

    /// Takes the last edit, and the results of commands that have come to their end: all of
    /// them, or those that were answered.
    fn settle(&mut self, all: bool) {
        for file in std::mem::take(&mut self.editing) {
            self.edited(&file);
        }
        let (settled, open): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|one| all || one.answered);
        self.pending = open;
        for one in settled {
            self.settled(one);
        }
    }

    fn settled(&mut self, one: Pending) {
        let Pending { inspected, line, output, code, shared, .. } = one;
        if code.is_none_or(|code| code == 0) {
            inspected.writes.iter().for_each(|file| self.edited(file));
        }
        let Some((kind, command)) = inspected.check else {
            self.ran_other |= inspected.runs_by_hand;
            return;
        };
        let in_background = output.as_ref().is_some_and(|output| output.in_background);
        let said = if shared { None } else { output.and_then(Output::passed) };
        let passed = match (code, said) {
            _ if in_background => None,
            (Some(0), said) if inspected.code_shows_pass => Some(said.unwrap_or(true)),
            (Some(1..), _) if inspected.code_shows_failure => Some(false),
            (_, said) => said,
        };
        self.since.push(Run { kind, command, line, passed });
    }

    fn fact(&mut self, fact: Fact) {
        match fact {
            Fact::Model(model) => self.model = Some(model),
            Fact::Usage(usage) => self.usage = usage,
            Fact::Denial { .. } => {
                self.way.denied += 1;
                self.refused();
            }
            Fact::ToolFailure { output, .. } => self.failed(&output),
            Fact::Command { command, exit_code, line } => {
                let known = self.pending.iter_mut().find(|one| {
                    one.code.is_none() && one.command.starts_with(command.trim_end_matches('…'))
                });
                if let Some(one) = known {
                    (one.code, one.line, one.answered) = (Some(exit_code), line, true);
                }
            }
            Fact::Session(_) | Fact::Error { .. } | Fact::Limit { .. } => {}
        }
    }

    /// The call before failed. Some clients tell no exit code then.
    fn failed(&mut self, output: &str) {
        if !self.editing.is_empty() {
            self.editing.clear();
        } else if let [one] = self.pending.as_mut_slice()
            && !output.contains("timed out")
        {
            one.code.get_or_insert(1);
        }
    }

    /// The call before was denied: it did nothing.
    fn refused(&mut self) {
        if !self.editing.is_empty() {
            self.editing.clear();
        } else if let [one] = self.pending.as_slice()
            && one.code.is_none()
        {
            self.pending.clear();
        }
    }
}

/// True for two runs of one check: the program and what it is told are the same, options
/// apart.
fn same_check(a: &str, b: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        line.split(' ').filter(|word| !word.starts_with('-')).take(2).map(str::to_owned).collect()
    };
    words(a) == words(b)
}

/// The claim in the agent's last message.
fn claim(last: &FinalTurn, counter: Counter<'_>, policy: &SignalPolicy) -> Option<Claim> {
    let message = last.words().next()?;
    let signal = Signal::read(last, policy).without_token();
    let hits = counter.finish(|_| true);
    let by_hit = || hits.first().map(|hit| (hit.line, hit.excerpt.clone()));
    let (line, text) = match signal.status {
        Status::Complete => (signal.line.unwrap_or(message.line), "an explicit signal".to_owned()),
        Status::Absent | Status::Invalid => by_hit()?,
        Status::Continue | Status::Blocked => return None,
    };
    Some(Claim { line, text, message: message.text.clone() })
}

impl Sink for Turns<'_> {
    fn event(&mut self, event: Event<'_>) {
        match &event {
            Event::Boundary(Boundary::Prompt | Boundary::Objective | Boundary::HookFeedback, _) => {
                self.end();
            }
            Event::Text(text) if text.role == Role::Tool => {
                let single = self.pending.len() == 1;
                for one in &mut self.pending {
                    // In the line of the call stand its arguments.
                    if text.line > one.line || one.answered {
                        one.answered = true;
                        if single && let Some(output) = &mut one.output {
                            output.text(text.text);
                        }
                    }
                }
            }
            Event::Text(text) if text.role == Role::Assistant => {
                self.spoke = true;
                self.settle(false);
            }
            _ => {}
        }
        self.last.event(&event);
        self.counter.event(&event);
        if let Event::Fact(fact) = event {
            self.fact(fact);
        }
    }

    fn says(&self, what: Wording, text: &str) -> bool {
        gate_core::trouble::says(what, text)
    }

    fn called(&mut self, call: &Call<'_>) {
        self.settle(false);
        let tool = call.tool.to_ascii_lowercase();
        let name = tool.rsplit(['.', ':']).next().unwrap_or(&tool);
        if call.command.is_none() && EDITS.contains(&name) {
            self.way.tests_skipped |=
                SKIPS.iter().any(|skip| call.texts.iter().any(|text| text.contains(skip)));
            self.editing = super::files::paths(call);
            return;
        }
        for one in &mut self.pending {
            one.shared = true;
        }
        let Some(command) = call.command else {
            self.ran_other |= CHECKERS.iter().any(|word| name.contains(word));
            return;
        };
        let inspected = inspect(command);
        self.way.no_verify |= inspected.leaves_hooks_out;
        self.way.history |= inspected.looks_up_history;
        let output = inspected.check.as_ref().map(|(kind, _)| Output::new(*kind));
        let shared = !self.pending.is_empty();
        self.pending.push(Pending {
            command: command.to_owned(),
            inspected,
            line: call.line,
            output,
            code: None,
            answered: false,
            shared,
        });
    }
}
