//! `gate doctor`: what is missing or wrong here, and whether checks can fail.

use gate_checks::{Finding, Level, Site, examine, examine_surroundings, self_test};
use gate_core::Policy;

use super::{DONE, Here, known_check, print};
use crate::args::Doctor;
use crate::failure::Failure;
use crate::render;
use crate::schema::DoctorRecord;
use crate::settings;

/// Exit code where something is wrong.
const WRONG: u8 = 1;

pub(super) fn run(here: &Here, args: &Doctor) -> Result<u8, Failure> {
    let policy = settings::resolve(&here.places, &args.settings.selection())?.policy;
    if let Some(name) = &args.only {
        known_check(&policy, name)?;
    }
    let site = Site { ignore: policy.tree_ignore.clone(), ..here.site()? };
    let record = examined(args, &policy, &site)?;
    print(&if args.json { render::json(&record)? } else { render::doctor_card(&record) })?;
    Ok(if record.ok { DONE } else { WRONG })
}

fn examined(args: &Doctor, policy: &Policy, site: &Site) -> Result<DoctorRecord, Failure> {
    let mut gate = examine_surroundings(policy, site);
    gate.push(of_settings(args, site));
    let wanted = |name: Option<&str>| match (&args.only, name) {
        (Some(only), Some(name)) => only == name,
        _ => true,
    };
    let mut others = examine(policy, site);
    others.retain(|finding| wanted(finding.check.as_deref()));
    let proofs = if args.self_test {
        let events = if args.json { gate_checks::Events::nobody() } else { render::progress() };
        self_test(policy, site, args.only.as_deref(), events)?
    } else {
        Vec::new()
    };
    Ok(DoctorRecord::new(gate, others, proofs))
}

/// Where the settings come from; that they can be read is known here.
fn of_settings(args: &Doctor, site: &Site) -> Finding {
    let project = site.project.join("gate.toml");
    let file = args.settings.config.as_ref().unwrap_or(&project);
    if args.settings.config.is_some() || file.is_file() {
        let message = format!("the settings are those of {}", file.display());
        return Finding::new(Level::Ok, "settings", message);
    }
    let message = "the project has no gate.toml: the defaults hold";
    Finding::new(Level::Note, "settings-default", message).hint("gate init")
}
