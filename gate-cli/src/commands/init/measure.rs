//! Measures a proposed check by running it once.

use std::io::{IsTerminal, Write};
use std::path::Path;

use gate_checks::project::{Detected, Proposal};
use gate_checks::{CheckSite, Checks, GatherOptions, gather};
use gate_core::Policy;
use gate_core::config::{Layer, Origin, resolve};

use super::measured::Measured;
use super::text;
use crate::context::Here;
use crate::failure::Failure;
use crate::render;

/// Runs the checks that are about to be written, and takes their times.
pub(super) struct Stopwatch {
    policy: Policy,
    site: CheckSite,
}

impl Stopwatch {
    /// For checks of the project whose settings this file has, or is going to have.
    pub(super) fn new(here: &Here, file: &Path, detected: &Detected) -> Result<Self, Failure> {
        let text = text::settings(detected, &Default::default());
        let layer = Layer::parse(Origin::Project(file.to_owned()), &text)?;
        let project = file.parent().unwrap_or(&here.places.folder).to_owned();
        let site = CheckSite { project, slots: None, ..here.site()? };
        Ok(Self { policy: resolve(&[layer], None)?.policy, site })
    }

    /// None if nothing could be run.
    pub(super) fn measure(&self, proposal: &Proposal) -> Option<Measured> {
        announce(proposal);
        let mut wanted = GatherOptions::default();
        wanted.checks = Checks::Only(proposal.check.clone());
        wanted.events = render::progress();
        wanted.fresh = true;
        let gathered = gather(&self.policy, self.site.clone(), &wanted).ok()?;
        let evidence =
            gathered.evidence.into_iter().find(|evidence| evidence.check == proposal.check)?;
        Some(Measured::new(evidence))
    }
}

/// Prints a line about the check that runs, if no progress is shown.
fn announce(proposal: &Proposal) {
    let stderr = std::io::stderr();
    if !stderr.is_terminal() {
        let line = format!("running {}: {}\n", proposal.check, proposal.command.join(" "));
        let _ = anstream::stderr().lock().write_all(line.as_bytes());
    }
}
