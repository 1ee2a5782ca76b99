//! `gate install`: puts gate in front of an agent's stop.

mod args;

use std::fmt::Write as _;

pub(crate) use self::args::{Install, ScopeArgs};
use super::common::{DONE, agreed, can_ask};
use crate::agent::Agent;
use crate::failure::Failure;
use crate::install::{self, CopyStep, HookProgram, InstallOptions, Plan, Roots, Scope, Step};
use crate::invocation::Invocation;
use crate::render::print_text;

pub(super) fn run(invocation: &Invocation, args: &Install) -> Result<u8, Failure> {
    let roots = Roots::for_scope(&invocation.places, args.scope.scope())?;
    let agents = match args.agent {
        Some(agent) => vec![agent],
        None => ask(&roots, args)?,
    };
    for agent in agents {
        install(&roots, args, agent)?;
    }
    Ok(DONE)
}

fn install(roots: &Roots, args: &Install, agent: Agent) -> Result<(), Failure> {
    let scope = args.scope.scope();
    if args.trust && agent != Agent::Codex {
        let message = format!("--trust is for codex alone, not for {}", agent.name());
        return Err(Failure::usage("usage", message));
    }
    let name = agent.name();
    if scope != Scope::Managed
        && let Some(source) = install::other_source(agent, roots)
    {
        return print_text(&format!(
            "{name} has gate in front of its stop already, by {source}: nothing was changed\n{}",
            script_hint(agent)
        ));
    }
    let program = &HookProgram::new(roots)?;
    let options = InstallOptions { agent, scope, roots, program, trust: args.trust, fix: args.fix };
    let plan = Plan::install(&options)?;
    if !args.dry_run {
        roots.prepare()?;
        plan.apply()?;
    }
    print_text(&answer(agent, scope, &plan, args))
}

fn answer(agent: Agent, scope: Scope, plan: &Plan, args: &Install) -> String {
    let name = agent.name();
    let mut text = changes(plan, args.dry_run);
    if !plan.is_change() {
        let _ = writeln!(text, "{name} has gate in front of its stop already: nothing was changed");
    }
    if !args.trust
        && let Some(next) = install::next_step(agent, scope)
    {
        let _ = writeln!(text, "next: {next}");
    }
    if !args.dry_run {
        let _ = writeln!(text, "test: gate doctor --agent {name}");
        let sudo = if scope == Scope::Managed { "sudo " } else { "" };
        let _ = writeln!(text, "undo: {sudo}gate uninstall {name} --{}", scope.name());
        text.push_str(&script_hint(agent));
    }
    text
}

/// The line with a command for scripts that shows if the work is done: the client's own exit code
/// does not.
fn script_hint(agent: Agent) -> String {
    let line = install::headless_script(agent);
    line.map(|line| format!("in a script (code 0: done): {line}\n")).unwrap_or_default()
}

/// The files that change, and how.
pub(super) fn changes(plan: &Plan, dry_run: bool) -> String {
    let mut text = String::new();
    if let CopyStep::Write(program) = &plan.copy {
        let verb = if dry_run { "would write" } else { "wrote" };
        let file = program.path.display();
        let _ = writeln!(text, "{verb} {file}\n  a copy of this program, for the hooks to call");
    }
    for step in plan.steps.iter().filter(|step| step.is_change()) {
        text.push_str(&describe_step(step, dry_run));
    }
    if let CopyStep::Remove(copy) = &plan.copy {
        let verb = if dry_run { "would remove" } else { "removed" };
        let _ = writeln!(text, "{verb} {}: no hook calls it any more", copy.display());
    }
    text
}

fn describe_step(step: &Step, dry_run: bool) -> String {
    let verb = match (&step.old_bytes, &step.new_bytes, dry_run) {
        (None, _, false) => "wrote",
        (None, _, true) => "would write",
        (_, None, false) => "removed",
        (_, None, true) => "would remove",
        (_, _, false) => "changed",
        (_, _, true) => "would change",
    };
    let mut text = format!("{verb} {}\n", step.file.display());
    text.push_str(&gate_card::diff(
        &step.file,
        step.old_bytes.as_deref(),
        step.new_bytes.as_deref(),
    ));
    if !dry_run && let Some(backup) = step.backup() {
        let _ = writeln!(text, "backup: {}", backup.display());
    }
    text
}

/// The agents that a person at a terminal wants, of those that are here.
fn ask(roots: &Roots, args: &Install) -> Result<Vec<Agent>, Failure> {
    let found_agents: Vec<_> =
        Agent::ALL.into_iter().filter(|agent| install::is_here(*agent, roots)).collect();
    if found_agents.is_empty() || !can_ask() {
        return Err(unnamed_agent(&found_agents, args.scope.scope()));
    }
    let mut chosen_agents = Vec::new();
    for agent in found_agents {
        if agreed(&format!("put gate in front of the stop of {}?", agent.name()))? {
            chosen_agents.push(agent);
        }
    }
    Ok(chosen_agents)
}

fn unnamed_agent(found_agents: &[Agent], scope: Scope) -> Failure {
    let (message, hint) = match found_agents {
        [] => (
            "no agent is found here: no program in PATH, no settings".to_owned(),
            format!("name one: {}", names(&Agent::ALL)),
        ),
        [first, ..] => (
            format!("the agent has to be named; found here: {}", names(found_agents)),
            format!("gate install {} --{}", first.name(), scope.name()),
        ),
    };
    Failure::usage("agent-unnamed", message).hint(hint)
}

fn names(agents: &[Agent]) -> String {
    agents.iter().map(|agent| agent.name()).collect::<Vec<_>>().join(", ")
}
