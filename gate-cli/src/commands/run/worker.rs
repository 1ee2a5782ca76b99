//! The agent of a loop: the command that a person gives, or a preset.

use std::path::Path;

use gate_checks::worktree::WorkTree;
use gate_core::config::{Origin, Resolved};
use gate_transcript::Forced;

use super::args::Run;
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::runner::{AgentStart, PresetContext, agent_start, preset_agents};
use crate::trust::Trust;

/// An agent, and how it is started.
pub(super) struct Worker {
    pub(super) name: String,
    /// The format of the agent's output; `None` if gate has to find it out.
    pub(super) format: Option<Forced>,
    pub(super) start: AgentStart,
}

/// The agent of the command behind `--`, or of the preset that `--agent` names.
pub(super) fn worker(
    invocation: &Invocation,
    args: &Run,
    settings: &Resolved,
    trust: &Trust,
) -> Result<Worker, Failure> {
    if let (Some(agent), true) = (args.agent, args.command.is_empty()) {
        return preset(invocation, args, agent, settings, trust);
    }
    let words = args.command.iter().map(|word| word.to_string_lossy().into_owned());
    let start = AgentStart { argv: words.collect(), ..AgentStart::default() };
    let program = start.argv.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let name = match args.agent {
        Some(agent) => agent.name().to_owned(),
        None => program.to_string_lossy().into_owned(),
    };
    Ok(Worker { name, format: args.agent, start })
}

/// An agent that gate knows how to start.
pub(super) fn preset(
    invocation: &Invocation,
    args: &Run,
    agent: Forced,
    settings: &Resolved,
    trust: &Trust,
) -> Result<Worker, Failure> {
    let name = agent.name();
    let agent_settings = settings.run.agents.get(name);
    let agent_args = agent_settings.and_then(|agent| agent.args.as_deref()).unwrap_or_default();
    let key = format!("run.agents.{name}.args");
    let is_of_project = settings.settings().iter().any(|setting| {
        setting.key == key && matches!(setting.origin, Origin::Project(_) | Origin::File(_))
    });
    // Whoever can change the project's settings could let the agent do more than `--allow` says.
    if !agent_args.is_empty() && is_of_project {
        trust.admit_words(&key)?;
    }
    let tree = WorkTree::open(&invocation.site()?).ok();
    let git = tree.and_then(|tree| tree.git_folder());
    let context = PresetContext { policy: &settings.policy, git: git.as_deref(), args: agent_args };
    let start = agent_start(name, args.allow, &context).ok_or_else(|| {
        let names = preset_agents().collect::<Vec<_>>().join(", ");
        let message = format!("gate does not know how to start {name}; it can start {names}");
        Failure::usage("agent-unknown", message).hint("give its command behind `--`")
    })?;
    Ok(Worker { name: name.to_owned(), format: Some(agent), start })
}
