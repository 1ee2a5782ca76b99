//! What an approval, or none, means for one decision.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_checks::{Program, Site, programs, worktree};
use gate_core::config::Layer;
use gate_core::decide::memory::RunState;
use gate_core::{Policy, text};

use super::approvals::{Approval, Approvals};
use super::text::Text as Settings;
use super::{NOT_TRUSTED, given};
use crate::failure::Failure;
use crate::settings::{FILE, Places};

/// How many programs an error names.
const NAMED: usize = 5;

/// Whether settings are the operator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// They are approved.
    Approved,
    /// Nobody ever approved any here.
    Never,
    /// Others were approved: an earlier text, one further up, or one that is gone.
    Changed,
}

/// The settings that decisions are made under, and who answers for them.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    places: Places,
    held: Settings,
    /// Whether decisions follow each other under it, and the disk is looked at anew.
    lasts: bool,
    seen: OnceCell<Looked>,
}

/// How they stand at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Looked {
    /// The digest of what they say.
    pub(crate) digest: String,
    /// Their file; none where there is none.
    pub(crate) file: Option<PathBuf>,
    /// Whether they are the operator's.
    pub(crate) standing: Standing,
    /// What was approved where something was, the nearest.
    pub(crate) approved: Option<(PathBuf, Approval)>,
    /// Where settings may stand here, the nearest first.
    spots: Vec<String>,
    /// Whether the project is known by another name than when the same was approved.
    is_renamed: bool,
    /// Whether other settings stand on the disk by now, that nobody approved.
    is_swapped: bool,
}

impl Trust {
    /// Of the settings in these layers.
    pub(crate) fn of(places: &Places, layers: &[Layer]) -> Self {
        let held = Settings::of(layers);
        Self { places: places.clone(), held, lasts: false, seen: OnceCell::new() }
    }

    /// For decisions that follow each other: what stands on the disk is held against
    /// what they are made under.
    pub(crate) fn lasting(self) -> Self {
        Self { lasts: true, seen: OnceCell::new(), ..self }
    }

    /// Where it looks.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// How the settings stand now.
    ///
    /// # Errors
    ///
    /// A `GATE_TRUST` that cannot be read (code 2).
    pub(crate) fn look(&self) -> Result<Looked, Failure> {
        if let Some(seen) = self.seen.get() {
            return Ok(seen.clone());
        }
        let held = self.stands(&self.held)?;
        if !self.lasts {
            return Ok(self.seen.get_or_init(|| held).clone());
        }
        let is_same = |now: &Settings| *now == self.held || self.held.is_named();
        let is_swapped = match Settings::now(&self.places) {
            Ok(now) if is_same(&now) => false,
            Ok(now) => self.stands(&now)?.standing != Standing::Approved,
            Err(_) => !self.held.is_named(),
        };
        Ok(Looked { is_swapped, ..held })
    }

    /// That the checks of a policy may be started outside of any decision.
    ///
    /// # Errors
    ///
    /// Settings that are not approved (code 2).
    pub(crate) fn admit(&self, policy: &Policy, site: &Site) -> Result<(), Failure> {
        let looked = self.look()?;
        let programs = programs(policy, site);
        match looked.standing {
            Standing::Approved if !looked.is_swapped => Ok(()),
            Standing::Never if programs.is_empty() => Ok(()),
            standing => Err(looked.refused(standing, &programs)),
        }
    }

    /// Whether something was approved here, whatever stands here now.
    pub(crate) fn was_approved(places: &Places) -> bool {
        let trust = Self::of(places, &[]);
        trust.nearest(&places.top()).is_some()
    }

    fn stands(&self, text: &Settings) -> Result<Looked, Failure> {
        let top = self.places.top();
        let digest = text.digest(&top);
        let given = given::digests(&self.places)?;
        let approved = self.nearest(&top);
        let own = text.file.as_deref().and_then(Path::parent);
        let by_file = approved.iter().any(|(folder, all)| {
            Some(folder.as_path()) == own && all.iter().any(|it| it.digest == digest)
        });
        let is_renamed = approved.iter().any(|(folder, all)| {
            Some(folder.as_path()) == own
                && all.iter().any(|it| it.digest == text.digest_of(&it.project, &top))
        });
        let standing = match (text.is_named() || by_file || given.contains(&digest), &approved) {
            (true, _) => Standing::Approved,
            (false, None) if given.is_empty() => Standing::Never,
            (false, _) => Standing::Changed,
        };
        let spots = self.folders(&top).map(|folder| spot(folder, &top)).collect();
        let approved = approved.and_then(|(folder, all)| Some((folder, all.into_iter().next()?)));
        let file = text.file.clone();
        Ok(Looked { digest, file, standing, approved, spots, is_renamed, is_swapped: false })
    }

    /// The nearest folder whose settings were approved, and what was.
    fn nearest(&self, top: &Path) -> Option<(PathBuf, Vec<Approval>)> {
        let approvals = Approvals::of(&self.places)?;
        let of_project = approvals.of_project(&worktree::identity(top));
        self.folders(top).find_map(|folder| {
            // What is approved in another work tree counts where nothing is in this one.
            let elsewhere = || {
                let place = spot(folder, top);
                of_project.iter().filter(|it| it.place == place).cloned().collect()
            };
            let here = approvals.in_folder(folder).map(|it| vec![it]);
            let all: Vec<_> = here.unwrap_or_else(elsewhere);
            (!all.is_empty()).then(|| (folder.to_owned(), all))
        })
    }

    /// The folders whose settings would hold here, the nearest first.
    fn folders<'t>(&'t self, top: &'t Path) -> impl Iterator<Item = &'t Path> {
        let mut all = Vec::new();
        for folder in self.places.folder.ancestors() {
            all.push(folder);
            if folder == top {
                break;
            }
        }
        all.into_iter()
    }
}

/// Where the settings of a folder stand in the project.
fn spot(folder: &Path, top: &Path) -> String {
    folder
        .join(FILE)
        .strip_prefix(top)
        .map_or_else(|_| FILE.to_owned(), |it| it.display().to_string())
}

impl Looked {
    /// How they stand, with what the ledger remembers: an approval that is lost makes
    /// nothing look as if nobody had ever approved anything.
    pub(crate) fn standing_with(&self, remembered: &BTreeMap<String, String>) -> Standing {
        match self.standing {
            Standing::Never if self.spots.iter().any(|it| remembered.contains_key(it)) => {
                Standing::Changed
            }
            standing => standing,
        }
    }

    /// Why nothing of these settings counts in a run that goes on: they are others
    /// than it went by, and nobody approved them. Where they were changed under a loop,
    /// that holds for a run that begins as well.
    pub(crate) fn tampered(&self, run: Option<&RunState>, standing: Standing) -> Option<String> {
        let was = run.and_then(|run| run.settings.as_ref());
        let other = match standing {
            _ if self.is_swapped => true,
            Standing::Approved => false,
            Standing::Never => was.is_some_and(|was| *was != self.digest),
            Standing::Changed => run.is_some(),
        };
        other.then(|| {
            format!(
                "{}, in the middle of a run, and nothing of that holds: what was there has to \
                 be there again, or a person approves it with `gate trust`",
                self.what_changed()
            )
        })
    }

    /// That these settings are not approved.
    pub(crate) fn refused(&self, standing: Standing, programs: &[Program]) -> Failure {
        let message = match (standing, &self.file) {
            (Standing::Never, Some(file)) => format!("nobody has approved {}", file.display()),
            _ => format!("{}, and nobody has approved that", self.what_changed()),
        };
        let failure = Failure::usage(NOT_TRUSTED, message + &shown(programs));
        let file = self.file.as_ref().map(|file| file.display().to_string());
        Failure { file, ..failure }.hint("look at what it starts, and approve it: gate trust")
    }

    fn what_changed(&self) -> String {
        let approved = self.approved.as_ref().map(|(folder, _)| folder.join(FILE));
        match (&self.file, approved) {
            (Some(file), _) if self.is_swapped => {
                format!("{} was changed under the loop, or is gone", file.display())
            }
            (None, _) if self.is_swapped => format!("a {FILE} appeared under the loop"),
            (Some(file), Some(_)) if self.is_renamed => {
                let file = file.display();
                format!(
                    "{file} was approved while the project was known by another name (its origin)"
                )
            }
            (Some(file), Some(approved)) if *file == approved => {
                format!("{} was changed since it was approved", file.display())
            }
            (Some(file), Some(approved)) => {
                let (file, approved) = (file.display(), approved.display());
                format!("{file} stands in the place of {approved}, which was approved")
            }
            (None, Some(approved)) => format!("{} was approved, and is gone", approved.display()),
            (Some(file), None) => format!("{} is not what was approved", file.display()),
            (None, None) => "settings were approved, and there are none".to_owned(),
        }
    }
}

/// The programs, as they would be started.
fn shown(programs: &[Program]) -> String {
    let line = |it: &Program| format!("{}: {:?}", text::clean(&it.check), it.argv);
    let mut lines: Vec<_> = programs.iter().take(NAMED).map(line).collect();
    if programs.len() > NAMED {
        lines.push(format!("{} more", programs.len() - NAMED));
    }
    if lines.is_empty() { String::new() } else { format!("; it would start {}", lines.join(", ")) }
}
