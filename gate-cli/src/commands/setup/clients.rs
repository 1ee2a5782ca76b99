//! The clients that `gate setup` puts gate into, and the test stop of each.

use gate_checks::{Finding, Level};

use crate::agent::Agent;
use crate::failure::Failure;
use crate::install::{self, HookProgram, InstallOptions, Plan, Roots, Scope};
use crate::render::{Mark, Page};

/// For whom gate is installed. A project without gate.toml is not held up by it.
const SCOPE: Scope = Scope::User;

/// The outcome for one client.
pub(super) struct SetUp {
    pub(super) agent: Agent,
    /// The page for a person.
    pub(super) text: String,
    /// True if a test stop was refused, and nothing is left to do.
    pub(super) is_well: bool,
    /// True if `gate uninstall` takes its hooks back.
    pub(super) can_undo: bool,
}

/// The agents that are named, else those that are here.
pub(super) fn wanted(named: &[Agent], roots: &Roots) -> Vec<Agent> {
    let wanted = Agent::ALL.into_iter().filter(|agent| match named {
        [] => install::is_here(*agent, roots),
        named => named.contains(agent),
    });
    wanted.collect()
}

/// Installs the hooks of one client, and proves that they refuse a stop. A failure is shown,
/// and ends nothing: another client may be well.
pub(super) fn set_up(agent: Agent, roots: &Roots) -> SetUp {
    let mut page = Page::new();
    let source = install::other_source(agent, roots);
    let is_of_others = source.is_some();
    let done = match source {
        Some(source) => Ok(format!("has gate by {source}")),
        None => hooks(agent, roots),
    };
    let can_undo = done.is_ok() && !is_of_others;
    let proven = done.and_then(|done| {
        page.marked(Mark::Good, agent.name(), &done);
        Ok(install::inspect(agent, roots)?.findings)
    });
    let is_well = match proven {
        Ok(findings) => {
            findings.iter().for_each(|finding| show(&mut page, finding));
            findings.iter().all(|finding| finding.level != Level::Problem)
        }
        Err(failure) => {
            page.marked(Mark::Bad, agent.name(), &failure.message);
            failure.hint.iter().for_each(|hint| page.detail(&format!("do: {hint}")));
            false
        }
    };
    SetUp { agent, text: page.into_text(), is_well, can_undo }
}

/// Writes the hooks, if they are not there as this version writes them.
fn hooks(agent: Agent, roots: &Roots) -> Result<String, Failure> {
    let program = &HookProgram::new(roots)?;
    let options = InstallOptions { agent, scope: SCOPE, roots, program, trust: false, fix: false };
    let plan = Plan::install(&options)?;
    plan.apply()?;
    let files: Vec<_> = plan.steps.iter().map(|step| step.file.display().to_string()).collect();
    let did = if plan.is_change() { "hooks written to" } else { "hooks are in" };
    Ok(format!("{did} {}", files.join(", ")))
}

/// Shows the test stop, and each finding that is left to the person.
fn show(page: &mut Page, finding: &Finding) {
    let mark = match finding.level {
        Level::Problem => Mark::Bad,
        Level::Note => Mark::Unsure,
        Level::Ok if finding.code == "stop-blocked" => Mark::Good,
        Level::Ok => return,
    };
    page.marked(mark, "", &finding.message);
    finding.hint.iter().for_each(|hint| page.detail(&format!("do: {hint}")));
}
