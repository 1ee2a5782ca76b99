//! Checks that outlive a deadline: a process of their own runs them again, on a
//! copy of the tree, and the next gathering waits for what comes of it.
//!
//! A check of a project has one *order* at most: a file that the carrier has as
//! its standard input, and holds locked as long as it runs. A newer order takes
//! its place, and a carrier that sees this ends. What it found out stands in a
//! file beside the order, and both name the key of what they are about: the
//! tree, the check's settings and surroundings, gate's version. What has
//! another key, or cannot be read, is as good as nothing.

mod carrier;
mod order;
mod place;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::decide::evidence::{Evidence, Outcome};
use tokio::time::sleep;

use crate::cache::Work;
use crate::site::Site;
use crate::store;

pub use carrier::carry_on;
use order::{Order, Tried};
use place::Place;

/// How often a carrier is looked at that still runs.
const LOOK: Duration = Duration::from_millis(50);

/// After this time nobody asks for what was left behind.
const OLD: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What is known of the checks of one work tree that outlived a deadline.
#[derive(Debug)]
pub(crate) struct Late {
    folder: Option<PathBuf>,
    /// Whether earlier records are left alone.
    fresh: bool,
    /// Whether there is a deadline: who has none does not wait for others.
    waits: bool,
}

/// What there is of an earlier run.
#[derive(Debug)]
pub(crate) enum Earlier {
    /// Nothing that could be of use.
    Nothing,
    /// What it came to.
    Ended(Box<Evidence>),
    /// It still runs, and nobody waits for it any more.
    Running,
}

impl Late {
    /// What is kept inside a work tree's folder of the state.
    pub(crate) fn new(tree: Option<&Path>, fresh: bool, waits: bool) -> Self {
        Self { folder: tree.map(|tree| tree.join("late")), fresh, waits }
    }

    /// What there is of an earlier run of exactly this work, which is waited for
    /// until the work is cancelled. What has become useless is removed, and a
    /// carrier whose order is gone ends.
    pub(crate) async fn earlier(&self, work: &Work<'_>) -> Earlier {
        let Some(place) = self.place(work) else { return Earlier::Nothing };
        if self.fresh {
            place.clear();
            return Earlier::Nothing;
        }
        let (key, check) = (work.of_copy(), work.check.id().as_str());
        loop {
            let runs = place.runs(&key);
            // It writes first, and ends then.
            if let Some(evidence) = place.take(&key, check) {
                place.clear();
                return Earlier::Ended(Box::new(told(evidence)));
            }
            match (runs, self.waits) {
                (true, true) if work.cx.cancel.is_cancelled() => return Earlier::Running,
                (true, true) => sleep(LOOK).await,
                (true, false) => return Earlier::Nothing,
                (false, _) => break,
            }
        }
        place.clear();
        Earlier::Nothing
    }

    /// Has the work done by a carrier.
    ///
    /// # Errors
    ///
    /// Why it cannot be, as the end of a sentence.
    pub(crate) fn carry(&self, work: &Work<'_>) -> Result<(), String> {
        let site = &work.cx.site;
        let place = self.place(work).ok_or("nothing is kept here that it could go on from")?;
        let carrier = site.carrier.as_ref().ok_or("nothing here can go on with it")?;
        let order = Order {
            key: work.of_copy(),
            place,
            check: work.check.id().as_str().to_owned(),
            settings: work.policy.clone(),
            digest: work.cx.tree.digest.clone(),
            site: Site::clone(site),
            about: work.cx.about.as_ref().clone(),
            tried: work.check.is_tried().then(|| tried(work)).transpose()?,
        };
        if let Some(folder) = &self.folder {
            store::keep_newest(folder, 0, OLD);
        }
        order.hand_to(carrier).map_err(|error| format!("it cannot go on: {error}"))
    }

    fn place(&self, work: &Work<'_>) -> Option<Place> {
        let folder = self.folder.as_ref()?;
        Some(Place::new(folder, &work.cx.site.project, work.check.id()))
    }
}

/// What a check is tried with; the baseline is kept for its carrier.
fn tried(work: &Work<'_>) -> Result<Tried, String> {
    let allow = work.cx.allow.to_vec();
    let Some(baseline) = &work.cx.baseline else { return Ok(Tried { baseline: None, allow }) };
    let name = format!("late {}", work.of_copy());
    let kept = baseline.keep(&work.cx.site, Some(&name));
    kept.map_err(|error| format!("its baseline cannot be kept: {error}"))?;
    Ok(Tried { baseline: Some(name), allow })
}

fn told(evidence: Evidence) -> Evidence {
    let summary = &evidence.summary;
    let summary = format!("{summary}; it ran on a copy of the tree, after an earlier stop");
    let summary = match evidence.outcome {
        Outcome::Pass => summary,
        // Whoever wonders why it does not fail at hand should look there.
        _ => format!("{summary}; what git ignores was not in it"),
    };
    Evidence { summary, ..evidence }
}
