//! What an approval, or none, means for one decision.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_checks::{CheckSite, Program, programs, worktree};
use gate_core::Policy;
use gate_core::config::{Layer, Resolved};
use gate_core::decide::memory::RunState;

use super::approvals::{Approval, Approvals};
use super::text::Text as Settings;
use super::texts::Texts;
use super::told::{self, Differs};
use super::{NOT_TRUSTED, given, settings_in_force};
use crate::failure::Failure;
use crate::settings::{FILE, Places, Selection};

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
    /// Where they decide in the place of others that nobody approved: how those differ.
    stands_in: Option<String>,
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
    /// That other settings stand there by now, which nobody approved, and what a person
    /// does about that.
    pub(crate) changed: Option<String>,
    /// Where settings may stand here, the nearest first.
    spots: Vec<String>,
    /// How they differ from what was approved, in a line; for settings that are not.
    differs: String,
}

impl Trust {
    /// Of the settings in these layers.
    pub(crate) fn of(places: &Places, layers: &[Layer]) -> Self {
        Self::holding(places, Settings::of(layers))
    }

    fn holding(places: &Places, held: Settings) -> Self {
        let (places, seen) = (places.clone(), OnceCell::new());
        Self { places, held, stands_in: None, lasts: false, seen }
    }

    /// What decides in the place of settings that differ from the approved ones; none
    /// where they do not, and where the approved text is not kept.
    ///
    /// # Errors
    ///
    /// A `GATE_TRUST` that cannot be read (code 2).
    pub(crate) fn in_its_place(&self) -> Result<Option<(Layer, Self)>, Failure> {
        let looked = self.look()?;
        if looked.standing != Standing::Changed {
            return Ok(None);
        }
        let said = looked.differs;
        Ok(self.approved_text()?.map(|layer| (layer.clone(), self.standing_in(&layer, said))))
    }

    fn standing_in(&self, layer: &Layer, said: String) -> Self {
        let held = Settings::of(std::slice::from_ref(layer));
        Self { stands_in: Some(said), ..Self::holding(&self.places, held) }
    }

    /// The text that was approved here, as settings of the file that held it.
    fn approved_text(&self) -> Result<Option<Layer>, Failure> {
        let Some(texts) = Texts::of(&self.places) else { return Ok(None) };
        let top = self.places.top();
        let approved = self.nearest(&top).into_iter();
        let mut approved = approved.flat_map(|(folder, all)| {
            all.into_iter().map(move |it| (it.digest, folder.join(FILE)))
        });
        let layer = approved.find_map(|(digest, file)| texts.layer(&digest, &file));
        let given = given::digests(&self.places)?;
        let mut given = given
            .iter()
            .filter_map(|digest| texts.layer(digest, &top.join(texts.read(digest)?.place)));
        Ok(layer.or_else(|| given.next()))
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

    /// The folder of the project, by the settings that decide.
    ///
    /// # Errors
    ///
    /// A settings file that may be there and cannot be looked at.
    pub(crate) fn project(&self) -> Result<PathBuf, Failure> {
        let folder = self.held.file.as_deref().and_then(Path::parent);
        match folder.filter(|_| self.stands_in.is_some()) {
            Some(folder) => Ok(folder.to_owned()),
            None => self.places.project(),
        }
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
        if self.lasts {
            return Ok(Looked { changed: self.swapped()?, ..held });
        }
        let changed = self.stands_in.clone();
        Ok(self.seen.get_or_init(|| Looked { changed, ..held }).clone())
    }

    /// How the settings on the disk differ by now from those that decide, where nobody
    /// approved them.
    fn swapped(&self) -> Result<Option<String>, Failure> {
        if self.held.is_named() {
            return Ok(None);
        }
        let now = match Settings::now(&self.places) {
            Ok(now) if now.says_as(&self.held) => return Ok(None),
            Ok(now) => self.stands(&now)?,
            Err(mistake) => {
                let file = mistake.file.clone().unwrap_or_else(|| FILE.to_owned());
                return Ok(Some(told::mistaken(file.as_ref(), &self.places.folder, &mistake)));
            }
        };
        Ok((now.standing != Standing::Approved).then_some(now.differs))
    }

    /// The settings that the operator has approved since these began to decide; none
    /// where these still do.
    ///
    /// # Errors
    ///
    /// A `GATE_TRUST` that cannot be read (code 2).
    pub(crate) fn approved_since(&self) -> Result<Option<(Resolved, Self)>, Failure> {
        if !self.lasts || self.held.is_named() {
            return Ok(None);
        }
        let Ok((resolved, now)) = settings_in_force(&self.places, &Selection::default()) else {
            return Ok(None);
        };
        let is_new = !now.held.says_as(&self.held) && now.look()?.standing == Standing::Approved;
        Ok(is_new.then_some((resolved, now)))
    }

    /// Keeps the text of settings that are approved and whose text is not kept yet: by
    /// `GATE_TRUST`, or by an older gate. Where that fails, it is not there later.
    pub(crate) fn keep_text(&self, looked: &Looked) {
        let texts = Texts::of(&self.places).filter(|texts| !texts.has(&looked.digest));
        let is_approved = looked.standing == Standing::Approved && !self.held.is_named();
        let Some(texts) = texts.filter(|_| is_approved) else { return };
        let top = self.places.top();
        if let Some(kept) = self.held.kept(&worktree::identity(&top), &top) {
            let _ = texts.keep(&looked.digest, &kept);
        }
    }

    /// That the checks of a policy may be started outside of any decision.
    ///
    /// # Errors
    ///
    /// Settings that are not approved (code 2).
    pub(crate) fn admit(&self, policy: &Policy, site: &CheckSite) -> Result<(), Failure> {
        let looked = self.look()?;
        match &looked.changed {
            Some(changed) => Err(untrusted(changed.clone(), &looked)),
            None => self.admit_deciding(policy, site),
        }
    }

    /// That the checks of a policy may be started for decisions, also where what was
    /// approved decides in the place of what stands there.
    ///
    /// # Errors
    ///
    /// Settings that are not approved (code 2).
    pub(crate) fn admit_deciding(&self, policy: &Policy, site: &CheckSite) -> Result<(), Failure> {
        let looked = self.look()?;
        let programs = programs(policy, site);
        match looked.standing {
            Standing::Approved => Ok(()),
            Standing::Never if programs.is_empty() => Ok(()),
            standing => Err(looked.refused(standing, &programs)),
        }
    }

    /// That words of these settings may be given to a program.
    ///
    /// # Errors
    ///
    /// Settings that are not approved (code 2).
    pub(crate) fn admit_words(&self, key: &str) -> Result<(), Failure> {
        let looked = self.look()?;
        if looked.standing == Standing::Approved || looked.changed.is_some() {
            return Ok(());
        }
        let message =
            format!("{key} would be given to the agent, and the settings are not approved");
        Err(Failure::usage(NOT_TRUSTED, message).hint("`gate trust` shows them, and approves them"))
    }

    /// Whether something was approved here, whatever stands here now.
    pub(crate) fn was_approved(places: &Places) -> bool {
        let trust = Self::of(places, &[]);
        trust.nearest(&places.top()).is_some()
    }

    fn stands(&self, text: &Settings) -> Result<Looked, Failure> {
        let top = self.places.top();
        let given = given::digests(&self.places)?;
        let nearest = self.nearest(&top);
        let own = text.file.as_deref().and_then(Path::parent);
        let of_own = nearest.iter().filter(|(folder, _)| Some(folder.as_path()) == own);
        let mut of_own = of_own.flat_map(|(_, all)| all);
        let here = text.digest(&top);
        // What decides in the place of others was approved under the name of that time.
        let is_renamed = |it: &&Approval| it.digest == text.digest_of(&it.project, &top);
        let found = of_own
            .clone()
            .find(|it| it.digest == here)
            .or_else(|| of_own.find(is_renamed).filter(|_| self.stands_in.is_some()));
        let is_approved = text.is_named() || found.is_some() || given.contains(&here);
        let standing = match (is_approved || self.is_given(text, &given), &nearest) {
            (true, _) => Standing::Approved,
            (false, None) if given.is_empty() => Standing::Never,
            (false, _) => Standing::Changed,
        };
        let digest = found.map_or(here, |it| it.digest.clone());
        let differs = told::differing(&Differs {
            file: text.file.as_deref(),
            approved: nearest.as_ref().map(|(folder, _)| folder.join(FILE)).as_deref(),
            is_renamed: nearest.iter().flat_map(|(_, all)| all).any(|it| is_renamed(&it)),
            from: &self.places.folder,
        });
        let newest = || nearest.as_ref()?.1.first();
        let approval = found.or_else(newest).cloned();
        let folder = nearest.as_ref().map(|(folder, _)| folder.clone());
        Ok(Looked {
            digest,
            file: text.file.clone(),
            standing,
            approved: folder.zip(approval),
            changed: None,
            spots: self.folders(&top).map(|folder| spot(folder, &top)).collect(),
            differs,
        })
    }

    /// Whether a text that decides in the place of others is one that `GATE_TRUST`
    /// named, whatever the project was known by.
    fn is_given(&self, text: &Settings, given: &[String]) -> bool {
        let Some(texts) = Texts::of(&self.places).filter(|_| self.stands_in.is_some()) else {
            return false;
        };
        let top = self.places.top();
        let known_by =
            given.iter().filter_map(|digest| Some((digest, texts.read(digest)?.project)));
        known_by.into_iter().any(|(digest, project)| *digest == text.digest_of(&project, &top))
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

    /// Why nothing counts in a run that goes on: its settings are others than it went
    /// by, nobody approved them, and there is no approved text to decide in their place.
    pub(crate) fn tampered(&self, run: Option<&RunState>, standing: Standing) -> Option<String> {
        let was = run.and_then(|run| run.settings.as_ref());
        let other = match standing {
            Standing::Approved => false,
            Standing::Never => was.is_some_and(|was| *was != self.digest),
            Standing::Changed => run.is_some(),
        };
        other.then(|| format!("in the middle of a run, {}", self.differs))
    }

    /// That these settings are not approved.
    pub(crate) fn refused(&self, standing: Standing, programs: &[Program]) -> Failure {
        let starts = told::programs(programs);
        let message = match (standing, &self.file) {
            (Standing::Never, Some(file)) => {
                format!("nobody has approved {}{starts}", file.display())
            }
            _ => self.differs.clone(),
        };
        untrusted(message, self)
    }
}

fn untrusted(message: String, looked: &Looked) -> Failure {
    let file = looked.file.as_ref().map(|file| file.display().to_string());
    let failure = Failure { file, ..Failure::usage(NOT_TRUSTED, message) };
    failure.hint("look at what it starts, and approve it: gate trust")
}
