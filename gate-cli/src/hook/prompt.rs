//! A prompt begins an agent's turn: changes from now on belong to that turn. A prompt
//! can also be a command of the operator to gate.

use std::path::Path;
use std::time::{Duration, SystemTime};

use gate_core::decide::feedback::is_feedback;
use gate_core::decide::situation::Presence;
use serde_json::{Value, json};

use super::operator_command::OperatorCommand;
use super::turn_context::PersonsPrompt;
use super::typed;
use super::{HookCall, TurnContext, client, session};
use crate::agent::{Agent, IN_RUN};
use crate::approval::approve_typed;
use crate::clients::facts;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::{Goal, Memory, Scope, chosen_goals};
use crate::operator::Operator;
use crate::render::local_time;
use crate::request::Asker;
use crate::settings::Selection;
use crate::{secrets, test_approval, trust};

const STORE_TIMEOUT: Duration = Duration::from_secs(2);

impl HookCall<'_> {
    /// Begins a turn: notes the tree, so that changes from now on are the turn's. A person's prompt
    /// takes the tree as it is; another one only if its session has no baseline. Then obeys a
    /// command of the operator, and returns the reply to it.
    ///
    /// Fails on settings that cannot be used and on a store that cannot be written.
    pub(crate) fn begin_turn(
        &self,
        invocation: &Invocation,
    ) -> Result<Option<PromptAnswer>, Failure> {
        let text = self.event.prompt_text.as_deref().unwrap_or_default();
        // Some clients report gate's own refusal, or the end of a background task, as a
        // prompt: neither is the person's.
        let is_from_client = text.trim_start().starts_with("<task-notification")
            || facts(self.agent).hook.sends_empty_prompts && text.is_empty();
        if is_feedback(text) || is_from_client || invocation.places.variable(IN_RUN).is_some() {
            return Ok(None);
        }
        let command = OperatorCommand::parse(text);
        // A question to gate changes nothing, so it begins no turn.
        match command.clone() {
            Some(OperatorCommand::Status) => return Ok(Some(PromptAnswer::Status)),
            Some(OperatorCommand::Last) => return Ok(Some(PromptAnswer::Last)),
            Some(OperatorCommand::Goals) => return Ok(Some(PromptAnswer::Goals)),
            Some(OperatorCommand::GoalWithCommand(typed)) => {
                let message = command_refused(&typed);
                return Ok(Some(PromptAnswer::Reply(prompt_reply(self.agent, &message))));
            }
            _ => {}
        }
        let Self { event, start, .. } = self;
        let is_from_person = start.presence != Presence::Nobody;
        let is_nested = start.is_nested();
        let mut turn = TurnContext::open(invocation, self.agent, event, None);
        let prompt = match turn.as_ref().is_some_and(TurnContext::has_unchecked_changes) {
            true => PersonsPrompt::AfterUncheckedChanges,
            false => PersonsPrompt::AfterCheckedChanges,
        };
        let baseline_taken = self.take_baseline(invocation, is_from_person.then_some(prompt));
        // A tool of the agent made this prompt up. If it began a turn, the changes so far
        // would escape the checks.
        if is_nested && turn.as_ref().is_some_and(TurnContext::is_persons_session) {
            baseline_taken?;
            return Ok(None);
        }
        let doubt = match &command {
            Some(command) if command.needs_person() => {
                typed::doubt(self, turn.as_ref().and_then(|turn| turn.session.as_ref()))
            }
            _ => None,
        };
        let is_obeyed = doubt.is_none();
        // The first prompt after a red stop brings the advice on it, and no later one.
        let mut advice = None;
        if let Some(turn) = &mut turn {
            let project = invocation.places.project()?;
            turn.begin(&project, |session| {
                session.state.is_nested = is_nested;
                session.state.transcript.clone_from(&event.transcript);
                session.state.needs_exit |=
                    is_obeyed && command == Some(OperatorCommand::OnForSession);
                session.state.prompted_at = session::millis_since_1970();
                advice = session.state.advice.take();
                session.state.no_prompt_tree =
                    baseline_taken.as_ref().err().map(|failure| failure.message.clone());
            });
        }
        let mut context: Vec<_> = advice.into_iter().collect();
        if let Some(session) = event.run() {
            let mut memory = memory(invocation)?;
            if is_from_person {
                memory.close_at_prompt(&session)?;
            }
            if command.is_none() && facts(self.agent).hook.adds_context {
                context.extend(self.new_goals(invocation, &mut memory, &session)?);
            }
        }
        let answer = match (command, doubt) {
            (Some(command), Some(doubt)) => Some(command.not_obeyed(text, &doubt)),
            (Some(command), None) => Some(self.obey(invocation, command)?),
            (None, _) => None,
        };
        // Reported last: the operator's command works without a baseline, too.
        baseline_taken?;
        Ok(match answer {
            Some(message) => Some(PromptAnswer::Reply(prompt_reply(self.agent, &message))),
            None if !context.is_empty() && facts(self.agent).hook.adds_context => {
                Some(PromptAnswer::Reply(added_context(&context.join("\n"))))
            }
            None => None,
        })
    }

    fn obey(&self, invocation: &Invocation, command: OperatorCommand) -> Result<String, Failure> {
        // No client calls its hook within a check, so there the prompt is made up.
        invocation.above_checks(self.event.prompt_text.as_deref().unwrap_or_default().trim())?;
        match command {
            OperatorCommand::Off(length) => {
                let millis =
                    length.map(|length| u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
                let ends_at = memory(invocation)?.set_switch(true, millis)?.until;
                let end = ends_at.map_or_else(|| "`gate on`".to_owned(), |time| local_time(&time));
                Ok(format!("gate is off until {end}: agents stop here without being judged"))
            }
            OperatorCommand::On => {
                memory(invocation)?.set_switch(false, None)?;
                Ok("gate is on: stops are checked here".to_owned())
            }
            OperatorCommand::OnForSession => {
                Ok("gate: this session ends with a checked exit".to_owned())
            }
            // `begin_turn` has answered these.
            OperatorCommand::Status
            | OperatorCommand::Last
            | OperatorCommand::Goals
            | OperatorCommand::GoalWithCommand(_) => Ok(String::new()),
            OperatorCommand::Goal(text) => self.give_goal(invocation, &text),
            OperatorCommand::DropGoals(text) => self.drop_goals(invocation, text.as_deref()),
            OperatorCommand::Trust => approve_typed(invocation),
            OperatorCommand::Approve(words) => {
                test_approval::approve_typed(invocation, &words, STORE_TIMEOUT)
            }
        }
    }

    fn give_goal(&self, invocation: &Invocation, text: &str) -> Result<String, Failure> {
        let mut memory = memory(invocation)?;
        let goal = memory.new_goal(text, Vec::new(), self.scope());
        memory.give_goal(&goal, &Operator::from_process())?;
        Ok(format!(
            "gate: the goal of this session is: {}. The agent is told; no stop is refused for it. A goal that is checked has a command, and is given in a terminal: gate goal \"TEXT\" -- COMMAND",
            goal.text
        ))
    }

    fn drop_goals(&self, invocation: &Invocation, text: Option<&str>) -> Result<String, Failure> {
        let mut memory = memory(invocation)?;
        let began_in = self.first_project(invocation);
        let asker = Asker { run: self.event.run(), began_in, ..Asker::default() };
        let goals = memory.goals_for(&asker)?;
        let dropped = match chosen_goals(&goals, text) {
            Ok(dropped) => dropped,
            Err(failure) => return Ok(format!("gate: {}", failure.message)),
        };
        let words: Vec<_> = dropped.iter().map(|goal| goal.text.clone()).collect();
        memory.drop_goals(&dropped, &Operator::from_process())?;
        Ok(format!("gate: dropped: {}", words.join("; ")))
    }

    /// The goals for a session that its agent has not been told yet, a line each.
    fn new_goals(
        &self,
        invocation: &Invocation,
        memory: &mut Memory,
        session: &str,
    ) -> Result<Vec<String>, Failure> {
        let places = &invocation.places;
        let began_in = self.first_project(invocation);
        let asker = Asker { run: Some(session.to_owned()), began_in, ..Asker::default() };
        let mut lines: Vec<_> = memory.goals_for(&asker)?.iter().map(Goal::line).collect();
        lines.retain(|line| {
            let key = format!("{session} {line}");
            session::is_new_message(places.state.as_deref(), &places.top(), &key)
        });
        Ok(lines.iter().map(|line| secrets::masked(line)).collect())
    }

    /// A goal that is typed here is for this session.
    fn scope(&self) -> Scope {
        self.event.run().map_or(Scope::Tree, Scope::Session)
    }
}

/// The answer to a goal with a command.
fn command_refused(typed: &str) -> String {
    format!(
        "gate: no goal was given. A client cannot prove that a person typed a prompt, so no command is taken here. Type it in a terminal: {typed}"
    )
}

fn memory(invocation: &Invocation) -> Result<Memory, Failure> {
    let id =
        trust::settings_in_force(&invocation.places, &Selection::default())?.0.policy.project.id;
    Memory::open_within(&invocation.places, id.as_deref(), STORE_TIMEOUT)
}

/// The answer to a prompt.
pub(crate) enum PromptAnswer {
    /// JSON for the client.
    Reply(Value),
    /// The text of `gate status`.
    Status,
    /// The text of `gate last`.
    Last,
    /// The open goals.
    Goals,
}

/// A text that the model reads together with the prompt.
fn added_context(text: &str) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": "UserPromptSubmit", "additionalContext": text } })
}

/// Keeps the prompt from the model, if the client can do that.
pub(crate) fn prompt_reply(agent: Agent, message: &str) -> Value {
    if client(agent).facts().blocks_prompts {
        return json!({ "decision": "block", "reason": message });
    }
    json!({ "systemMessage": message })
}

/// The file was last written before the session's last prompt.
pub(super) fn is_older_than_prompt(file: &Path, session: &session::Session) -> bool {
    let modified_at = std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let written_at = modified_at.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    written_at
        .zip(session.state.prompted_at)
        .is_some_and(|(written_at, prompted_at)| written_at.as_millis() < u128::from(prompted_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_the_operator_keeps_the_prompt_from_the_model_where_that_is_possible() {
        for agent in Agent::ALL {
            let expected = if facts(agent).hook.blocks_prompts {
                json!({ "decision": "block", "reason": "gate is on" })
            } else {
                json!({ "systemMessage": "gate is on" })
            };
            assert_eq!(prompt_reply(agent, "gate is on"), expected, "{}", agent.name());
        }
    }
}
