//! The turns of a transcript: what an agent changed, what it ran, and what it claimed.

use gate_transcript::{
    Answer, Boundary, Call, Ending, Event, Fact, FinalTurn, Role, Sink, Text, Usage, Wording,
};

use super::Way;
use super::claim::{Claim, ClaimFinder};
use super::command::inspect;
use super::step::{Action, Step};
use super::support::{ClaimBasis, Support};

/// Words in the names of tools that may check something by themselves.
const CHECKERS: [&str; 8] =
    ["test", "diagnostic", "playwright", "browser", "chrome", "puppeteer", "preview", "lint"];

/// The names of tools that start a sub-agent.
const SUB_AGENTS: [&str; 4] = ["task", "agent", "dispatch_agent", "delegate"];

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
pub(crate) struct Turn {
    /// None if the agent claimed nothing.
    pub claim: Option<Claimed>,
    pub way: Way,
}

/// A claim, and what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub claim: Claim,
    pub standing: ClaimBasis,
    /// The files that were changed.
    pub files: Vec<String>,
}

/// The writer of a prompt, as far as it has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    Person,
    /// A client or another agent: the turn goes on.
    Program,
}

/// Follows a transcript and keeps its turns.
pub(crate) struct Turns<'p> {
    claims: &'p ClaimFinder<'p>,
    open: OpenTurn,
    pub found: Vec<Turn>,
    pub model: Option<String>,
    pub usage: Usage,
    /// All turns, whatever they did.
    pub turns: u64,
    /// A turn has changed a file outside of folders for scratch files.
    works_elsewhere: bool,
    /// A prompt begins: the turn ends, unless a program wrote it.
    prompt: Option<Writer>,
}

/// A turn that goes on.
#[derive(Default)]
struct OpenTurn {
    last: FinalTurn,
    /// The last words before a hook's feedback or a compaction, after which the agent may say
    /// nothing more.
    interrupted: Option<FinalTurn>,
    /// The calls that matter, in their order.
    steps: Vec<Step>,
    /// Calls that ask for the output of a step that runs in the background, by their ids.
    polls: Vec<(String, usize)>,
    /// The steps whose answer comes.
    answering: Vec<usize>,
    /// The last call is the last step.
    is_last: bool,
    way: Way,
    spoke: bool,
}

impl<'p> Turns<'p> {
    pub(crate) fn new(claims: &'p ClaimFinder<'p>) -> Self {
        Self {
            claims,
            open: OpenTurn::default(),
            found: Vec::new(),
            model: None,
            usage: Usage::default(),
            turns: 0,
            works_elsewhere: false,
            prompt: None,
        }
    }

    /// Ends the turn, and begins the next one.
    pub(crate) fn end(&mut self) {
        let OpenTurn { mut last, interrupted, steps, mut way, spoke, .. } =
            std::mem::take(&mut self.open);
        if last.words().next().is_none() {
            last = interrupted.unwrap_or_default();
        }
        self.turns += u64::from(spoke);
        let has_answers = steps.iter().any(|step| step.is_answered);
        let awaited = steps.iter().rfind(|step| has_answers && step.awaits_agent());
        let awaited = awaited.map(|step| step.line);
        let support = Support::new(steps, self.works_elsewhere);
        self.works_elsewhere |= support.works_elsewhere();
        if support.files.is_empty() {
            return;
        }
        last.finish();
        way.tests_edited = support.tests_edited;
        // Words before the last edit, or before the work of a sub-agent that has not ended, are no
        // report: the turn was cut off.
        let goes_on = |line| line < support.last_edit || awaited.is_some_and(|call| line <= call);
        let claim = self.claims.find(&last).filter(|claim| !goes_on(claim.line));
        let claim = claim.map(|claim| {
            let standing = support.standing();
            Claimed { claim, standing, files: support.files }
        });
        self.found.push(Turn { claim, way });
    }

    /// Ends the turn if a prompt came.
    fn begin(&mut self) {
        if self.prompt.take() == Some(Writer::Person) {
            self.end();
        }
    }

    fn fact(&mut self, fact: Fact) {
        let open = &mut self.open;
        match fact {
            Fact::Model(model) => self.model = Some(model),
            Fact::Usage(usage) => self.usage = usage,
            Fact::Denial { .. } => {
                open.way.denied += 1;
                open.answers(|step| step.is_denied = true);
            }
            Fact::ToolFailure { output, .. } => open.answers(|step| step.failed(&output)),
            Fact::Command { exit_code, line, .. } => {
                open.answers(|step| (step.code, step.line) = (Some(exit_code), line));
            }
            Fact::Session(_) | Fact::Error { .. } | Fact::Limit { .. } => {}
        }
    }
}

impl OpenTurn {
    /// The turn goes on, or ends here without another word.
    fn interrupt(&mut self) {
        if self.last.words().next().is_some() {
            self.interrupted = Some(std::mem::take(&mut self.last));
        }
    }

    /// Changes the steps whose answer comes.
    fn answers(&mut self, change: impl Fn(&mut Step)) {
        for at in &self.answering {
            change(&mut self.steps[*at]);
        }
    }

    /// Takes a text that a tool has written.
    fn output(&mut self, text: &str) {
        self.answers(|step| step.output(text));
        let is_notice = self.answering.is_empty() && text.contains("<task-notification>");
        if is_notice && self.steps.iter().any(Step::is_in_background) {
            let awaited = self.steps.iter_mut().filter(|step| step.is_awaited_in(text));
            awaited.for_each(|step| step.output(text));
        }
    }

    fn called(&mut self, call: &Call<'_>) {
        self.answering.clear();
        let is_awaited = |step: &Step| call.texts.iter().any(|text| step.is_awaited_in(text));
        if let Some(awaited) = self.steps.iter().rfind(|step| is_awaited(step)) {
            // A script may have started several.
            let started = self.steps.iter().enumerate().filter(|(_, step)| step.id == awaited.id);
            self.polls.extend(started.map(|(at, _)| (call.id.to_owned(), at)));
        }
        let action = self.action(call);
        self.is_last = action.is_some();
        self.steps.extend(action.map(|action| Step::new(call.id, call.line, action)));
    }

    fn answered(&mut self, answer: &Answer<'_>) {
        self.answering.clear();
        if answer.id.is_empty() {
            self.answering.extend(self.is_last.then(|| self.steps.len() - 1));
        } else {
            let called = self.steps.iter().enumerate().filter(|(_, step)| step.id == answer.id);
            self.answering.extend(called.map(|(at, _)| at));
            let polls = self.polls.iter().filter(|(id, _)| id == answer.id);
            self.answering.extend(polls.map(|(_, at)| *at));
        }
        let is_poll = self.polls.iter().any(|(id, _)| id == answer.id);
        let is_shared = self.answering.len() > 1;
        let (ending, line) = (answer.ending, answer.line);
        self.answers(|step| {
            step.is_shared |= is_shared;
            step.answered(line);
            // A call that asks for output does not end as the command does.
            step.ending = if is_poll { Ending::Unmarked } else { ending };
        });
    }

    fn action(&mut self, call: &Call<'_>) -> Option<Action> {
        let tool = call.tool.to_ascii_lowercase();
        let name = tool.rsplit(['.', ':']).next().unwrap_or(&tool);
        let name = name.rsplit("__").next().unwrap_or(name);
        if is_edit(name) {
            if call.command == Some("view") {
                return None;
            }
            self.way.tests_skipped |=
                SKIPS.iter().any(|skip| call.texts.iter().any(|text| text.contains(skip)));
            return Some(Action::Edit(super::files::paths(call)));
        }
        let Some(command) = call.command else {
            if SUB_AGENTS.contains(&name) || tool.contains("agent") {
                return Some(Action::SubAgent { in_background: false });
            }
            let may_check = CHECKERS.iter().any(|word| tool.contains(word));
            return may_check.then_some(Action::Other);
        };
        let inspected = inspect(command);
        self.way.no_verify |= inspected.leaves_hooks_out;
        self.way.history |= inspected.looks_up_history;
        Action::command(inspected)
    }
}

/// True for a text of a prompt. What the client adds to a person's words may stand before them.
fn is_prompt(text: &Text<'_>) -> bool {
    matches!(text.role, Role::User | Role::System)
}

/// True for a message of another agent.
fn is_of_agent(prompt: &str) -> bool {
    prompt.trim_start().starts_with("<teammate-message")
}

/// True for the name of a tool that changes files, in lower case.
fn is_edit(tool: &str) -> bool {
    let name = tool.strip_suffix("toolcall").unwrap_or(tool);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    matches!(name, "write" | "create" | "insert" | "patch" | "edit_block")
        || name.ends_with("edit")
        || has(&["replace", "apply_patch", "applypatch", "apply_diff"])
        || (has(&["file", "notebook", "editor"])
            && has(&["write", "create", "insert", "edit", "change"]))
}

impl Sink for Turns<'_> {
    fn event(&mut self, event: Event<'_>) {
        match &event {
            Event::Boundary(Boundary::Prompt, _) => {
                self.begin();
                self.open.interrupt();
                self.prompt = Some(Writer::Person);
            }
            Event::Boundary(Boundary::Objective, _) => self.end(),
            Event::Boundary(Boundary::Compaction | Boundary::HookFeedback, _) => {
                self.open.interrupt();
            }
            Event::Text(text) if self.prompt.is_some() && is_prompt(text) => {
                let is_by_program = text.role == Role::System || is_of_agent(text.text);
                if !is_by_program {
                    self.end();
                }
                self.prompt = is_by_program.then_some(Writer::Program);
            }
            Event::Text(text) if text.role == Role::Tool => {
                self.begin();
                self.open.output(text.text);
            }
            Event::Text(text) => {
                self.begin();
                self.open.spoke |= text.role == Role::Assistant;
                self.open.answering.clear();
            }
            _ => {}
        }
        self.open.last.event(&event);
        if let Event::Fact(fact) = event {
            self.fact(fact);
        }
    }

    fn has_wording(&self, wording: Wording, text: &str) -> bool {
        gate_core::trouble::has_wording(wording, text)
    }

    fn called(&mut self, call: &Call<'_>) {
        self.begin();
        self.open.called(call);
    }

    fn answered(&mut self, answer: &Answer<'_>) {
        self.begin();
        self.open.answered(answer);
    }
}
