//! The clients that `gate setup` puts gate into, and the test stop of each.

use gate_checks::{Finding, Level};

use crate::agent::Agent;
use crate::failure::Failure;
use crate::install::{self, HookProgram, InstallOptions, Plan, Roots, Scope};
use crate::render::{Mark, Page};

/// All projects of this user. One without gate.toml is not held up.
const SCOPE: Scope = Scope::User;

/// The outcome for one client.
pub(super) struct ClientSetup {
    pub(super) agent: Agent,
    /// The page for a person.
    pub(super) text: String,
    /// A test stop was refused, and nothing is left to do.
    pub(super) is_well: bool,
    /// `gate uninstall` takes the client's hooks back.
    pub(super) can_undo: bool,
}

/// The agents that are named, else those that are here.
pub(super) fn selected_agents(named_agents: &[Agent], roots: &Roots) -> Vec<Agent> {
    let selected = Agent::ALL.into_iter().filter(|agent| match named_agents {
        [] => install::is_here(*agent, roots),
        _ => named_agents.contains(agent),
    });
    selected.collect()
}

/// Installs the hooks of one client, and proves that they refuse a stop. A failure is shown,
/// and ends nothing: another client may be well.
pub(super) fn set_up(agent: Agent, roots: &Roots) -> ClientSetup {
    let mut page = Page::new();
    let other_source = install::other_source(agent, roots);
    let has_other_source = other_source.is_some();
    let installation = match other_source {
        Some(source) => Ok(format!("has gate by {source}")),
        None => write_hooks(agent, roots),
    };
    let can_undo = installation.is_ok() && !has_other_source;
    let inspection = installation.and_then(|text| {
        page.marked(Mark::Good, agent.name(), &text);
        install::inspect(agent, roots)
    });
    let is_well = match inspection {
        Ok(inspection) => {
            let findings = inspection.findings;
            findings.iter().for_each(|finding| show_finding(&mut page, finding));
            findings.iter().all(|finding| finding.level != Level::Problem)
        }
        Err(failure) => {
            page.marked(Mark::Bad, agent.name(), &failure.message);
            failure.hint.iter().for_each(|hint| page.detail(&format!("do: {hint}")));
            false
        }
    };
    ClientSetup { agent, text: page.into_text(), is_well, can_undo }
}

/// Writes the hooks, if they are not there as this version writes them.
fn write_hooks(agent: Agent, roots: &Roots) -> Result<String, Failure> {
    let program = &HookProgram::new(roots)?;
    let options = InstallOptions { agent, scope: SCOPE, roots, program, trust: false, fix: false };
    let plan = Plan::install(&options)?;
    plan.apply()?;
    let files: Vec<_> = plan.steps.iter().map(|step| step.file.display().to_string()).collect();
    let state = if plan.is_change() { "hooks written to" } else { "hooks are in" };
    Ok(format!("{state} {}", files.join(", ")))
}

/// Shows the test stop, and each finding that is left to the person.
fn show_finding(page: &mut Page, finding: &Finding) {
    let mark = match finding.level {
        Level::Problem => Mark::Bad,
        Level::Note => Mark::Unsure,
        Level::Ok if finding.code == "stop-blocked" => Mark::Good,
        Level::Ok => return,
    };
    page.marked(mark, "", &finding.message);
    finding.hint.iter().for_each(|hint| page.detail(&format!("do: {hint}")));
}
