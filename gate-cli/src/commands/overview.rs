//! `gate` alone: what is set up here, and the one next step.

use std::io::IsTerminal;

use super::common::DONE;
use super::{MISUSED, init, status};
use crate::failure::Failure;
use crate::install::HookedClients;
use crate::invocation::Invocation;
use crate::render::{Mark, Page, print};
use crate::settings::Selection;
use crate::trust::{self, TrustState};

/// A person at a terminal gets code 0. To a script nothing was decided: a loop that calls
/// gate with an empty argument must not take that for the end.
pub(super) fn run(invocation: &Invocation) -> Result<u8, Failure> {
    let mut page = Page::new();
    let next_step = match invocation.places.project_file()? {
        Some(file) => {
            page.head(Mark::None, "gate", &file.parent().unwrap_or(&file).display().to_string());
            page.blank();
            add_project(&mut page, invocation)?
        }
        None => add_introduction(&mut page, invocation),
    };
    page.row("next", &next_step);
    page.blank();
    page.text("gate --help lists the commands.");
    print(&page.into_text())?;
    Ok(if std::io::stdout().is_terminal() { DONE } else { MISUSED })
}

/// Shows what gate does where nothing is set up. Returns the next step.
fn add_introduction(page: &mut Page, invocation: &Invocation) -> String {
    let folder = invocation.places.top();
    page.text("gate decides if a coding agent may stop: it runs your checks itself.");
    page.blank();
    page.marked(Mark::Unsure, "gate.toml", &format!("none in {}", folder.display()));
    if folder.join(".git").exists() {
        "`gate setup`, or `gate demo` to see first what gate does".to_owned()
    } else {
        "cd into a project, then `gate setup`; `gate demo` shows what gate does".to_owned()
    }
}

/// Shows the parts of a project that is set up. Returns the next step: the first part that is
/// missing.
fn add_project(page: &mut Page, invocation: &Invocation) -> Result<String, Failure> {
    let (settings, trust) = trust::settings_as_written(&invocation.places, &Selection::default())?;
    let state = trust.report()?.state;
    let runs_tests = settings.policy.requires_behaviour();
    let (_, in_force) = trust::settings_in_force(&invocation.places, &Selection::default())?;
    let status = status::status(invocation, settings.policy, &in_force)?;
    let hooks = HookedClients::read(&invocation.places);
    let mut next_steps = Vec::new();

    let checks: Vec<_> = status.plan.iter().map(|check| check.check.as_str()).collect();
    if checks.is_empty() {
        page.marked(Mark::Unsure, "checks", "none at a stop");
        next_steps.push("`gate init --merge` finds the project's checks");
    } else if !runs_tests {
        let text = format!("{}; none runs tests", checks.join(", "));
        page.marked(Mark::Unsure, "checks", &text);
        next_steps.push(init::NAME_TESTS);
    } else {
        page.marked(Mark::Good, "checks", &checks.join(", "));
    }
    if state == TrustState::Approved {
        page.marked(Mark::Good, "approval", "gate.toml is approved");
    } else {
        let text = match state {
            TrustState::Changed => "gate.toml changed since",
            _ => "nobody approved gate.toml",
        };
        page.marked(Mark::Unsure, "approval", text);
        // Without an approval nothing of the settings starts, so it comes before all other steps.
        next_steps.insert(0, "`gate trust` shows what gate.toml starts, and approves it");
    }
    let installed = hooks.installed.join(", ");
    if hooks.are_outdated {
        let text = format!("{installed}; not as this version writes them");
        page.marked(Mark::Unsure, "hooks", &text);
        next_steps.push("`gate doctor --fix` brings the hooks up to date");
    } else if !installed.is_empty() {
        page.marked(Mark::Good, "hooks", &installed);
    } else if hooks.untrusted.is_empty() {
        page.marked(Mark::Unsure, "hooks", "in no agent's settings");
        next_steps.push("`gate setup` puts gate in front of your agent's stop");
    }
    for agent in &hooks.untrusted {
        let text = format!("{agent}: does not run until you have reviewed it");
        page.marked(Mark::Unsure, "hooks", &text);
        // Codex is the only client that asks for a review.
        next_steps.push("`gate doctor --agent codex` says how to review it");
    }
    if status.off {
        page.marked(Mark::Unsure, "off", "agents stop here without being checked");
        next_steps.push("`gate on` switches the hooks on again");
    }
    for open in &status.open {
        page.marked(Mark::Bad, "stopped", open.message.as_deref().unwrap_or(&open.whose));
        next_steps.push("`gate breaker status` says why, and how to go on");
    }
    match &status.shown_last {
        None => page.row("last", "nothing was decided here yet"),
        Some((mark, last)) => page.marked(*mark, "last", last),
    }
    if status.shown_last.is_some_and(|(mark, _)| mark == Mark::Bad) {
        next_steps.push("`gate last` shows what is missing");
    }
    let next_step = next_steps.first().unwrap_or(&"work with your agent as always");
    Ok((*next_step).to_owned())
}
