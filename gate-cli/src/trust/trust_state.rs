//! The settings that decide, and their state: approved, changed since, or never approved.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate_checks::{CheckSite, Program, programs, worktree};
use gate_core::Policy;
use gate_core::config::{self, Layer, Resolved};
use gate_core::decide::run_state::RunState;

use super::approvals::{Approval, Approvals};
use super::approved_texts::ApprovedTexts;
use super::message::{self, Difference};
use super::settings_text::SettingsText;
use super::{NOT_TRUSTED, digest};
use crate::failure::Failure;
use crate::settings::{FILE, Places, Selection, layers, layers_with};

/// Reads and resolves all settings as they are written, approved or not.
///
/// # Errors
///
/// A file that cannot be read or resolved.
pub(crate) fn settings_as_written(
    places: &Places,
    selection: &Selection,
) -> Result<(Resolved, Trust), Failure> {
    let layers = layers(places, selection)?;
    let resolved = config::resolve(&layers, selection.task_type.as_deref())?;
    Ok((resolved, Trust::new(places, &layers)))
}

/// Reads and resolves the settings that decide: if the project's differ from those
/// that the operator approved, or cannot be used, the approved ones.
///
/// # Errors
///
/// A file that cannot be read or resolved, a `GATE_TRUST` that cannot be understood.
pub(crate) fn settings_in_force(
    places: &Places,
    selection: &Selection,
) -> Result<(Resolved, Trust), Failure> {
    let written = settings_as_written(places, selection);
    // Whoever names a file approves it.
    if selection.config.is_some() {
        return written;
    }
    let replacement = match &written {
        Ok((_, trust)) => trust.replacement()?,
        Err(mistake) => Trust::replacement_of_mistake(places, mistake)?,
    };
    // An approved layer that cannot be used any more decides nothing.
    replacement.and_then(|replacement| replacement.resolve(places, selection)).map_or(written, Ok)
}

/// The approved settings, which decide instead of those on the disk.
pub(crate) struct Replacement {
    layer: Layer,
    trust: Trust,
}

impl Replacement {
    /// The settings with the approved layer in place of the project's; `None` if it cannot be used.
    fn resolve(self, places: &Places, selection: &Selection) -> Option<(Resolved, Trust)> {
        let layers = layers_with(places, selection, Some(self.layer)).ok()?;
        let resolved = config::resolve(&layers, selection.task_type.as_deref()).ok()?;
        Some((resolved, self.trust))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrustState {
    Approved,
    /// Nobody ever approved settings here.
    Never,
    /// Other settings were approved: an earlier text, settings in a folder above, or settings that
    /// are gone.
    Changed,
}

/// The settings that decide, and the folders in which their approval is looked up.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    places: Places,
    settings: SettingsText,
    /// The difference of the settings on the disk, as a sentence, if an approved text decides instead of
    /// them.
    replaced: Option<String>,
    /// Several decisions share this value. Then the disk is read for each.
    is_lasting: bool,
    cached: OnceCell<TrustReport>,
}

/// The state of the settings at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TrustReport {
    pub(crate) digest: String,
    /// The settings file, if there is one.
    pub(crate) file: Option<PathBuf>,
    pub(crate) state: TrustState,
    /// The approval in the nearest folder that has one.
    pub(crate) approved: Option<NearestApproval>,
    /// The next step of a person, as a sentence, if the disk has other settings that nobody approved.
    pub(crate) changed: Option<String>,
    /// Paths within the project at which settings count here, the nearest first.
    candidates: Vec<String>,
    /// A sentence on how the settings differ from the approved ones.
    difference: String,
}

/// An approval, with the folder in which it counts. Its own folder may be in another work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearestApproval {
    pub(crate) folder: PathBuf,
    pub(crate) approval: Approval,
}

/// The approvals that count in a folder.
#[derive(Default)]
struct FolderApprovals {
    folder: PathBuf,
    approvals: Vec<Approval>,
}

impl Trust {
    pub(crate) fn new(places: &Places, layers: &[Layer]) -> Self {
        Self::from_settings(places, SettingsText::from_layers(layers))
    }

    fn from_settings(places: &Places, settings: SettingsText) -> Self {
        let (places, cached) = (places.clone(), OnceCell::new());
        Self { places, settings, replaced: None, is_lasting: false, cached }
    }

    /// The approved settings, if those on the disk differ from them. `None` if they do not, or if
    /// gate does not have the approved text.
    ///
    /// Fails on a bad `GATE_TRUST` (code 2).
    fn replacement(&self) -> Result<Option<Replacement>, Failure> {
        let report = self.report()?;
        if report.state != TrustState::Changed {
            return Ok(None);
        }
        self.approved_replacement(report.difference)
    }

    /// The approved settings in the place of the project's, which have a mistake, by themselves or
    /// together with those of the user or the machine. `None` if gate does not have the approved text.
    ///
    /// Fails on a bad `GATE_TRUST` (code 2).
    fn replacement_of_mistake(
        places: &Places,
        mistake: &Failure,
    ) -> Result<Option<Replacement>, Failure> {
        let Some(project) = places.project_file()? else { return Ok(None) };
        let file = mistake.file.as_ref().map_or(project, PathBuf::from);
        let difference = message::mistake(&file, &places.folder, mistake);
        Self::new(places, &[]).approved_replacement(difference)
    }

    /// The approved text, which decides instead of the settings on the disk; `difference` says how
    /// those differ. `None` if gate does not have the text.
    fn approved_replacement(&self, difference: String) -> Result<Option<Replacement>, Failure> {
        let Some(layer) = self.approved_text()? else { return Ok(None) };
        let settings = SettingsText::from_layers(std::slice::from_ref(&layer));
        let replaced = Some(difference);
        let trust = Self { replaced, ..Self::from_settings(&self.places, settings) };
        Ok(Some(Replacement { layer, trust }))
    }

    /// The approved text as a layer of the file that it was read from.
    fn approved_text(&self) -> Result<Option<Layer>, Failure> {
        let top = self.places.top();
        // Read before anything else, so that a bad value is always an error.
        let environment_digests = digest::digests_from_environment(&self.places)?;
        let FolderApprovals { folder, approvals } =
            self.nearest_approvals(&top).unwrap_or_default();
        let text = |digest: &str, place: &str, folder: &Path| {
            ApprovedTexts::new(&self.places, place)?.layer(digest, &folder.join(FILE))
        };
        for approval in approvals {
            if let Some(layer) = text(&approval.digest, &approval.place, &folder) {
                return Ok(Some(layer));
            }
        }
        Ok(self.folders(&top).find_map(|folder| {
            let place = settings_place(folder, &top);
            environment_digests.iter().find_map(|digest| text(digest, &place, folder))
        }))
    }

    /// For several decisions: each compares these settings with those on the disk.
    pub(crate) fn lasting(self) -> Self {
        Self { is_lasting: true, cached: OnceCell::new(), ..self }
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    /// The project's folder, by the settings that decide.
    ///
    /// Fails on a settings file whose existence cannot be determined.
    pub(crate) fn project(&self) -> Result<PathBuf, Failure> {
        match self.settings.file.as_deref().and_then(Path::parent) {
            Some(folder) if self.replaced.is_some() => Ok(folder.to_owned()),
            _ => self.places.project(),
        }
    }

    /// Fails on a bad `GATE_TRUST` (code 2).
    pub(crate) fn report(&self) -> Result<TrustReport, Failure> {
        if let Some(report) = self.cached.get() {
            return Ok(report.clone());
        }
        let report = self.report_on(&self.settings)?;
        if self.is_lasting {
            return Ok(TrustReport { changed: self.unapproved_change()?, ..report });
        }
        let changed = self.replaced.clone();
        Ok(self.cached.get_or_init(|| TrustReport { changed, ..report }).clone())
    }

    /// A sentence on how the settings on the disk differ from those that decide, if nobody
    /// approved them.
    fn unapproved_change(&self) -> Result<Option<String>, Failure> {
        if self.settings.is_named() {
            return Ok(None);
        }
        let report = match SettingsText::read(&self.places) {
            Ok(settings) if settings.equals(&self.settings) => return Ok(None),
            Ok(settings) => self.report_on(&settings)?,
            Err(mistake) => {
                let file = mistake.file.clone().unwrap_or_else(|| FILE.to_owned());
                let text = message::mistake(file.as_ref(), &self.places.folder, &mistake);
                return Ok(Some(text));
            }
        };
        Ok((report.state != TrustState::Approved).then_some(report.difference))
    }

    /// Other settings that the operator has approved since this value was made.
    ///
    /// Fails on a bad `GATE_TRUST` (code 2).
    pub(crate) fn approved_since(&self) -> Result<Option<(Resolved, Self)>, Failure> {
        if !self.is_lasting || self.settings.is_named() {
            return Ok(None);
        }
        // Settings that cannot be used now end no loop: those that it began with go on deciding.
        let Ok((resolved, trust)) = settings_in_force(&self.places, &Selection::default()) else {
            return Ok(None);
        };
        let is_new =
            !trust.settings.equals(&self.settings) && trust.report()?.state == TrustState::Approved;
        Ok(is_new.then_some((resolved, trust)))
    }

    // Settings approved by `GATE_TRUST`, or by an older gate, have no stored text yet. A
    // failure is ignored: without the text a later change only blocks instead of falling
    // back to it.
    pub(crate) fn store_text(&self, report: &TrustReport) {
        let place = self.settings.place(&self.places.top());
        let Some(texts) = ApprovedTexts::new(&self.places, &place) else { return };
        let is_approved = report.state == TrustState::Approved && !self.settings.is_named();
        if is_approved && report.file.is_some() && !texts.has(&report.digest) {
            let _ = texts.store(&report.digest, &self.settings.text);
        }
    }

    /// Fails (code 2) unless gate may start the checks of a policy outside of a decision.
    pub(crate) fn admit(&self, policy: &Policy, site: &CheckSite) -> Result<(), Failure> {
        let report = self.report()?;
        match &report.changed {
            Some(changed) => Err(untrusted(changed.clone(), &report)),
            None => self.admit_deciding(policy, site),
        }
    }

    /// Fails (code 2) unless gate may start the checks of a policy for a decision. An
    /// approved text may decide instead of the settings on the disk.
    pub(crate) fn admit_deciding(&self, policy: &Policy, site: &CheckSite) -> Result<(), Failure> {
        let report = self.report()?;
        let programs = programs(policy, site);
        match report.state {
            TrustState::Approved => Ok(()),
            // A check without a command starts nothing, and is inconclusive.
            TrustState::Never if programs.iter().all(|program| program.argv.is_empty()) => Ok(()),
            state => Err(report.refusal(state, &programs)),
        }
    }

    /// Fails (code 2) unless gate may pass a text of these settings to a program.
    pub(crate) fn admit_words(&self, key: &str) -> Result<(), Failure> {
        let report = self.report()?;
        if report.state == TrustState::Approved || report.changed.is_some() {
            return Ok(());
        }
        let message =
            format!("{key} would be given to the agent, and the settings are not approved");
        Err(Failure::usage(NOT_TRUSTED, message).hint("`gate trust` shows them, and approves them"))
    }

    /// Some settings were approved here, even if they are gone.
    pub(crate) fn was_approved(places: &Places) -> bool {
        Self::approved_project(places).is_some()
    }

    /// The project's identity when settings were approved here; `None` if no settings were. It names
    /// the ledger: by another origin an agent could otherwise begin another history.
    pub(crate) fn approved_project(places: &Places) -> Option<String> {
        let trust = Self::new(places, &[]);
        let nearest = trust.nearest_approvals(&places.top())?;
        nearest.approvals.into_iter().next().map(|approval| approval.project)
    }

    fn report_on(&self, text: &SettingsText) -> Result<TrustReport, Failure> {
        let top = self.places.top();
        let environment_digests = digest::digests_from_environment(&self.places)?;
        let nearest = self.nearest_approvals(&top);
        let folder = nearest.as_ref().map(|nearest| nearest.folder.as_path());
        let approvals = nearest.as_ref().map_or([].as_slice(), |nearest| &nearest.approvals);
        let digest = text.digest();
        // An approval of a folder above is none of settings that stand in their place.
        let is_own_folder = folder == text.file.as_deref().and_then(Path::parent);
        let approval = approvals.iter().find(|approval| is_own_folder && approval.digest == digest);
        let is_approved =
            text.is_named() || approval.is_some() || environment_digests.contains(&digest);
        let state = match is_approved {
            true => TrustState::Approved,
            false if nearest.is_none() && environment_digests.is_empty() => TrustState::Never,
            false => TrustState::Changed,
        };
        let difference = message::difference(&Difference {
            file: text.file.as_deref(),
            approved: folder.map(|folder| folder.join(FILE)).as_deref(),
            person_folder: &self.places.folder,
        });
        let nearest_approval = approval.or(approvals.first()).cloned();
        Ok(TrustReport {
            digest,
            file: text.file.clone(),
            state,
            approved: folder
                .zip(nearest_approval)
                .map(|(folder, approval)| NearestApproval { folder: folder.to_owned(), approval }),
            changed: None,
            candidates: self.folders(&top).map(|folder| settings_place(folder, &top)).collect(),
            difference,
        })
    }

    /// The nearest folder with approved settings, and their approvals.
    fn nearest_approvals(&self, top: &Path) -> Option<FolderApprovals> {
        let all_approvals = Approvals::new(&self.places)?;
        let in_project = all_approvals.in_project(&worktree::identity(top));
        self.folders(top).find_map(|folder| {
            let mut approvals: Vec<_> = all_approvals.in_folder(folder).into_iter().collect();
            // Settings that are approved in another work tree of the project are approved here, too.
            // Beside an approval of this tree they are as long as that tree exists.
            let place = settings_place(folder, top);
            let has_own = !approvals.is_empty();
            let of_other_trees = in_project.iter().filter(|approval| {
                let tree = Path::new(&approval.folder);
                approval.place == place && (!has_own || tree != folder && tree.is_dir())
            });
            approvals.extend(of_other_trees.cloned());
            let is_approved = !approvals.is_empty();
            is_approved.then(|| FolderApprovals { folder: folder.to_owned(), approvals })
        })
    }

    /// The folders whose settings count here, the nearest first.
    fn folders<'t>(&'t self, top: &'t Path) -> impl Iterator<Item = &'t Path> {
        let mut folders = Vec::new();
        for folder in self.places.folder.ancestors() {
            folders.push(folder);
            if folder == top {
                break;
            }
        }
        folders.into_iter()
    }
}

/// The path of a folder's settings within the project.
fn settings_place(folder: &Path, top: &Path) -> String {
    folder
        .join(FILE)
        .strip_prefix(top)
        .map_or_else(|_| FILE.to_owned(), |place| place.display().to_string())
}

impl TrustReport {
    // The ledger remembers approvals as well. If the file of an approval is lost, the
    // settings must not look as if nobody had ever approved any.
    pub(crate) fn state_with(&self, remembered: &BTreeMap<String, String>) -> TrustState {
        match self.state {
            TrustState::Never
                if self.candidates.iter().any(|place| remembered.contains_key(place)) =>
            {
                TrustState::Changed
            }
            state => state,
        }
    }

    /// The reason why nothing counts in a run: its settings have changed, nobody approved
    /// them, and there is no approved text to decide instead.
    pub(crate) fn tampered(&self, run: Option<&RunState>, state: TrustState) -> Option<String> {
        let run_digest = run.and_then(|run| run.settings.as_ref());
        let is_tampered = match state {
            TrustState::Approved => false,
            TrustState::Never => run_digest.is_some_and(|digest| *digest != self.digest),
            TrustState::Changed => run.is_some(),
        };
        is_tampered.then(|| format!("in the middle of a run, {}", self.difference))
    }

    /// The error for settings that are not approved.
    pub(crate) fn refusal(&self, state: TrustState, programs: &[Program]) -> Failure {
        let message = match (state, &self.file) {
            (TrustState::Never, Some(file)) => {
                let starts = message::programs(programs);
                format!("{} is not approved yet{starts}", file.display())
            }
            (TrustState::Never, None) => {
                let starts = message::programs(programs);
                let problem = "the settings of the machine or the user configure checks, and this project \
                            has no approved gate.toml";
                return untrusted(format!("{problem}{starts}"), self)
                    .hint("`gate init` writes a gate.toml and approves it");
            }
            _ => self.difference.clone(),
        };
        untrusted(message, self)
    }
}

fn untrusted(message: String, report: &TrustReport) -> Failure {
    let file = report.file.as_ref().map(|file| file.display().to_string());
    let failure = Failure { file, ..Failure::usage(NOT_TRUSTED, message) };
    failure.hint("look at what it starts, and approve it: gate trust")
}
