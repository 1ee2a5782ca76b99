//! Findings about one place in which gate is installed.

use gate_checks::{Finding, Level};

use super::{Inspection, Install, InstalledEntry, codex_config};
use crate::agent::Agent;
use crate::install::client::{Switch, Target};
use crate::install::clients::next_step;
use crate::install::json;
use crate::install::scope::Scope;
use crate::install::settings_text::split_mark;
use crate::install::trial::TestStop;
use crate::install::{codex, command, disk, trust};

/// Findings about one place.
pub(super) fn place_findings(
    inspection: Inspection<'_>,
    place: &Install,
    target: &Target,
    entry: &InstalledEntry,
) -> Vec<Finding> {
    let (name, file) = (inspection.agent.name(), &place.file);
    let is_managed = place.scope == Scope::Managed;
    let reinstall = match inspection.plugin {
        Some(plugin) => format!("claude plugin update {plugin}"),
        None if is_managed => format!("sudo gate install {name} --managed"),
        None => format!("gate install {name} --{}", place.scope.name()),
    };
    let fix = match inspection.plugin {
        Some(_) => reinstall.clone(),
        // Only root updates the settings of the machine.
        None if is_managed => reinstall.clone(),
        None => format!("gate doctor --agent {name} --fix"),
    };
    let mut findings = vec![match &place.program {
        Some(program) => {
            let message = format!("for {}, {file} calls {program}", scope_in_words(place.scope));
            Finding::new(Level::Ok, "installed", message)
        }
        None => {
            let program =
                command::called_program(&place.command, inspection.agent).unwrap_or_default();
            let message = format!("{file} calls {program}, and there is no such program");
            Finding::new(Level::Problem, "program-missing", message).hint(fix.clone())
        }
    }];
    if inspection.is_copy_stale(place) {
        let message = "that is a copy of another build than this one: an upgrade has to renew it";
        findings.push(Finding::new(Level::Note, "copy-outdated", message).hint(fix.clone()));
    } else if inspection.plugin.is_none() && inspection.is_fleeting(place) {
        let message = "a package manager may take that program away: the hooks would stop working";
        findings.push(Finding::new(Level::Note, "program-fleeting", message).hint(fix.clone()));
    } else if place.program.is_some() && !place.this_program {
        let message =
            format!("that is another program than this one, {}", inspection.running.display());
        findings.push(Finding::new(Level::Note, "other-program", message).hint(reinstall.clone()));
    }
    if !entry.is_current {
        let message = format!("the entry in {file} is not as this version writes it");
        findings.push(Finding::new(Level::Note, "entry-outdated", message).hint(fix.clone()));
    }
    if entry.prompt == Some(false) {
        let message = format!(
            "{file} does not call gate at each prompt, as an older gate left it: gate does not \
             know what changed since the person asked"
        );
        findings.push(Finding::new(Level::Note, "prompt-missing", message).hint(fix.clone()));
    }
    if place.session_start == Some(false) {
        let message = format!(
            "{file} does not call gate where a session begins: what was there then is not known, \
             and the session is compared with history"
        );
        findings
            .push(Finding::new(Level::Note, "session-start-missing", message).hint(fix.clone()));
    }
    let unread = entry.unread.clone();
    findings.extend(unread.map(|flaw| {
        let message = format!("{file}, line {}: {}", flaw.line, flaw.message);
        Finding::new(Level::Problem, "settings-unread", message).hint(fix)
    }));
    findings.extend(place.test_stop.as_ref().map(TestStop::finding));
    findings.extend(untrusted(inspection, place, target));
    findings
}

fn scope_in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "this user",
        Scope::Project => "this user in this project",
        Scope::Shared => "everybody in this project",
        Scope::Managed => "all users of this machine",
    }
}

/// Findings about trust that the client still asks the person for.
fn untrusted(inspection: Inspection<'_>, place: &Install, target: &Target) -> Vec<Finding> {
    let step = next_step(inspection.agent, place.scope);
    if inspection.agent != Agent::Codex {
        let finding = step.map(|step| Finding::new(Level::Note, "trust-unseen", step));
        return finding.into_iter().collect();
    }
    let mut findings = Vec::new();
    if place.scope == Scope::Managed {
        // Codex runs the hooks of the machine without a review.
    } else if place.trusted == Some(true) {
        findings.push(Finding::new(Level::Ok, "trusted", "codex trusts the hook as it is"));
    } else {
        let message = format!(
            "present but untrusted: codex silently skips the hook in {}",
            target.file.display()
        );
        let finding = Finding::new(Level::Problem, "untrusted", message);
        findings.push(step.into_iter().fold(finding, Finding::hint));
    }
    let text = codex_config(inspection.roots).unwrap_or_default();
    for switch in ["hooks", "codex_hooks"] {
        if trust::is_set(&text, &["features", switch], false) {
            let file = codex::config_file(inspection.roots);
            let message =
                format!("{}: features.{switch} = false: the hook is not run", file.display());
            findings.push(Finding::new(Level::Problem, "hooks-off", message));
        }
    }
    findings
}

/// A setting that switches all hooks off.
pub(super) fn switched_off(switch: &Switch<'_>) -> Option<Finding> {
    let bytes = disk::read(&switch.file).ok()??;
    let text = String::from_utf8(bytes).ok()?;
    let root = json::parse(split_mark(&text).1).ok()??;
    let node = switch.setting.member.iter().try_fold(&root, |node, name| node.get(name))?;
    let value = node.value();
    switch.setting.value.contains(&value).then(|| {
        let (file, path) = (switch.file.display(), switch.setting.member.join("."));
        let message = format!("{file}: {path} = {value}: the hook is not run");
        Finding::new(Level::Problem, "hooks-off", message)
    })
}
