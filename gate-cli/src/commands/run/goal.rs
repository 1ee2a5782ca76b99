//! The goal of a loop.

use gate_core::Policy;

use super::RunCommand;
use super::args::{Run, RunGoal};
use crate::failure::Failure;
use crate::gate::Gate;
use crate::invocation::Invocation;
use crate::memory::{Scope, command_words};
use crate::operator::Operator;
use crate::request::Asker;
use crate::trust::Trust;

impl RunCommand<'_> {
    /// Gives the goal of the command line, and returns all goals of the loop, a line each.
    pub(super) fn goals(&self, gate: &Gate, asker: &Asker) -> Result<Vec<String>, Failure> {
        let RunGoal { goal, goal_command } = &self.args.goal;
        if let (Some(text), Some(mut memory)) = (goal, gate.memory()) {
            let command = goal_command.as_deref().map(command_words).unwrap_or_default();
            let scope = match (&asker.task, &asker.run) {
                (Some(task), _) => Scope::Task(task.clone()),
                (None, Some(run)) => Scope::Run(run.clone()),
                (None, None) => Scope::Tree,
            };
            let goal = memory.new_goal(text, command, scope);
            memory.give_goal(&goal, &Operator::from_process())?;
        }
        let gate = gate.with_goals(asker)?;
        Ok(gate.map(|gate| gate.goal_lines()).unwrap_or_default())
    }
}

/// Admits the goal of the command line from a person alone. Returns if the loop has a goal with a
/// command: this one, or one that was given before.
///
/// Fails under an agent, and on a store that cannot be read.
pub(super) fn admit(
    invocation: &Invocation,
    args: &Run,
    trust: &Trust,
    policy: &Policy,
) -> Result<bool, Failure> {
    if args.goal.goal.is_some() {
        invocation.operator("gate run --goal")?;
    }
    let asker = Asker { task: args.task.clone(), ..Asker::default() };
    let mut memory = invocation.memory_under(trust, policy)?;
    let has_command = memory.goals_for(&asker)?.iter().any(|goal| !goal.command.is_empty());
    Ok(args.goal.goal_command.is_some() || has_command)
}
