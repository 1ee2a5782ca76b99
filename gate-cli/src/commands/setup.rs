//! `gate setup`: checks, approval, hooks, and one test stop, in one command.

mod clients;

use std::path::Path;

use gate_checks::project::detect_with_ci;
use gate_checks::worktree::WorkTree;
use gate_core::text::shell_word;

use super::common::{DONE, agreed, can_ask, no_home, no_project};
use super::{init, trust};
use crate::agent::Agent;
use crate::approval::{self, TrustRecord};
use crate::failure::Failure;
use crate::install::{self, HookProgram, Roots};
use crate::invocation::Invocation;
use crate::render::{Mark, Page, print};
use crate::settings::{self, Places, Selection};
use clap::Args;
use clients::ClientSetup;

pub(crate) const CODES: &str = "\
Exit codes: 0 all is set up, 1 something is left to do, 2 no project or nothing that can be
read, 5 not done";

#[derive(Debug, Args)]
pub(crate) struct Setup {
    /// The agents; those that are found here if not given.
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<Agent>,
    /// Do not run the checks that are found to see how long they take.
    #[arg(long)]
    pub(crate) no_run: bool,
}

/// Exit code if something is left to do.
const UNFINISHED: u8 = 1;

pub(super) fn run(invocation: &Invocation, args: &Setup) -> Result<u8, Failure> {
    let roots = Roots::new(&invocation.places)?;
    let invocation = &project(invocation)?;
    let is_new = invocation.places.project_file()?.is_none();
    let repair = if is_new {
        let checks = init::write_settings(invocation, args.no_run)?;
        print(&checks.page().into_text())?;
        checks.repair()
    } else {
        let policy = settings::resolve(&invocation.places, &Selection::default())?.policy;
        (!policy.requires_behaviour()).then(|| init::NAME_TESTS.to_owned())
    };
    let record = ask_for_approval(invocation)?;
    print(&settings_row(&record, is_new))?;
    let mut clients = Vec::new();
    for agent in clients::selected_agents(&args.agents, &roots) {
        let client = clients::set_up(agent, &roots);
        print(&client.text)?;
        clients.push(client);
    }
    let missing_step = if record.approved { repair } else { Some(APPROVE.to_owned()) };
    let are_clients_well = !clients.is_empty() && clients.iter().all(|client| client.is_well);
    let is_done = missing_step.is_none() && are_clients_well;
    let file = record.file.as_deref().unwrap_or_default();
    let next_step = missing_step.unwrap_or_else(|| next_step(invocation, file, &clients));
    let mut page = Page::new();
    program_row(&mut page, &roots)?;
    let undo = undo(&clients, &record, is_new);
    if !undo.is_empty() {
        page.row("undo", &undo);
    }
    page.row("next", &next_step);
    print(&page.into_text())?;
    Ok(if is_done { DONE } else { UNFINISHED })
}

/// The project that the command was called in: the folder whose gate.toml counts; else the
/// folder itself, if something is found to check in it; else the repository's root.
///
/// # Errors
///
/// A home folder, or one in which nothing can be checked.
fn project(invocation: &Invocation) -> Result<Invocation, Failure> {
    let places = &invocation.places;
    if places.project_file()?.is_some() {
        return Ok(Invocation { places: places.clone() });
    }
    let detected = detect_with_ci(&places.folder);
    let folder = match detected.proposals.is_empty() {
        true => places.top(),
        false => places.folder.clone(),
    };
    no_home(places, &folder)?;
    if detected.proposals.is_empty() && !detected.repository {
        let folder = folder.display();
        return Err(no_project(&format!(
            "{folder} is no project: it is in no git repository, and no known tool builds or \
             tests it"
        )));
    }
    Ok(Invocation { places: Places { folder, ..places.clone() } })
}

/// The step that is left if nobody has approved the settings.
const APPROVE: &str =
    "read gate.toml, then approve it with `gate trust`: until then gate starts nothing of it";

/// Settings that this command has not written are shown to a person, who may approve them.
fn ask_for_approval(invocation: &Invocation) -> Result<TrustRecord, Failure> {
    let mut record = approval::record(invocation)?;
    if !record.approved
        && can_ask()
        && let Ok(operator) = invocation.operator("gate trust")
    {
        print(&approval::settings_card(&record))?;
        if agreed("approve that?")? {
            trust::approve_shown(invocation, &record, &operator)?;
            record.approved = true;
        }
    }
    Ok(record)
}

fn settings_row(record: &TrustRecord, is_new: bool) -> String {
    let file = record.file.as_deref().unwrap_or_default();
    let (mark, state) = match (record.approved, is_new) {
        (true, true) => (Mark::Good, "is written and approved"),
        (true, false) => (Mark::Good, "is there and approved"),
        (false, _) => (Mark::Unsure, "is not approved"),
    };
    let mut page = Page::new();
    page.marked(mark, "gate.toml", &format!("{file} {state}"));
    if !is_new {
        record.starts.iter().for_each(|starts| {
            page.detail(&format!("{}: {}", starts.check, starts.argv.join(" ")));
        });
    }
    page.into_text()
}

/// Renews the copy of gate, and shows a note if `gate` is not in PATH, as after a call from a
/// package's cache.
fn program_row(page: &mut Page, roots: &Roots) -> Result<(), Failure> {
    let program = HookProgram::new(roots)?;
    program.renew_copy()?;
    let file = program.path;
    if !install::is_in_path(roots) && file.is_file() {
        let folder = file.parent().unwrap_or(&file).display();
        let text = format!("is not in PATH: export PATH=\"$PATH:{folder}\"");
        page.marked(Mark::Unsure, "gate", &text);
    }
    Ok(())
}

/// The commands that undo what this one did.
fn undo(clients: &[ClientSetup], record: &TrustRecord, is_new: bool) -> String {
    let hooked_clients = clients.iter().filter(|client| client.can_undo);
    let mut steps: Vec<_> =
        hooked_clients.map(|client| format!("gate uninstall {}", client.agent.name())).collect();
    if is_new && let Some(file) = &record.file {
        steps.push(format!("rm {}", shell_word(file)));
    }
    steps.join("; ")
}

/// The one step that is left if all checks can pass.
fn next_step(invocation: &Invocation, file: &str, clients: &[ClientSetup]) -> String {
    let first_agent = clients.first().map(|client| client.agent.name());
    match (first_agent, clients.iter().find(|client| !client.is_well)) {
        (None, _) => "no client of an agent is found here: name one (`gate setup claude-code`), \
                      or let gate run yours: `gate run --prompt PROMPT.md -- AGENT ARGS…`"
            .to_owned(),
        (_, Some(client)) => {
            let agent = client.agent.name();
            format!("put right what is marked, then `gate doctor --agent {agent}`")
        }
        (Some(agent), None) if is_uncommitted(invocation, Path::new(file)) => format!(
            "git add gate.toml && git commit -m 'Add gate.toml'; then work with {agent} as always"
        ),
        (Some(agent), None) => {
            format!("work with {agent} as always; `gate` shows what was decided")
        }
    }
}

/// Git counts gate.toml as a change of the agent's.
fn is_uncommitted(invocation: &Invocation, file: &Path) -> bool {
    let tree = invocation.site().ok().and_then(|site| WorkTree::open(&site).ok());
    let Some(tree) = tree.filter(|tree| tree.git_folder().is_some()) else { return false };
    let Ok(name) = file.strip_prefix(tree.root()) else { return false };
    tree.was_committed(name).is_ok_and(|was_committed| !was_committed)
}
