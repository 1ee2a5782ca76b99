//! Approves the project's settings, or withdraws the approval.

use std::path::{Path, PathBuf};

use gate_checks::worktree;
use gate_core::config;
use jiff::Timestamp;

use super::approvals::{Approval, Approvals};
use super::approved_texts::ApprovedTexts;
use super::settings_text::SettingsText;
use crate::failure::Failure;
use crate::settings::{self, Places, Selection};

/// Settings to approve.
#[derive(Clone, Debug)]
pub(crate) struct Approved {
    pub(crate) digest: String,
    /// The settings file; `None` if it is gone. To approve that withdraws the approval.
    pub(crate) file: Option<PathBuf>,
    /// The file's path within the project, or empty.
    pub(crate) place: String,
    /// The project's name in its settings.
    id: Option<String>,
    /// The project's topmost folder.
    top: PathBuf,
    text: SettingsText,
}

impl Approved {
    /// Reads the settings. Fails on settings with mistakes.
    pub(crate) fn read(places: &Places) -> Result<Self, Failure> {
        let layers = settings::layers(places, &Selection::default())?;
        let id = config::resolve(&layers, None)?.policy.project.id;
        let (text, top) = (SettingsText::from_layers(&layers), places.top());
        let (digest, place) = (text.digest(), text.place(&top));
        Ok(Self { digest, file: text.file.clone(), place, id, top, text })
    }

    /// Writes the approval. Withdraws those of folders below the settings, whose own
    /// settings are gone.
    pub(crate) fn store(&self, places: &Places, by: &str) -> Result<(), Failure> {
        let approvals = approvals(places)?;
        let settings_folder = self.file.as_deref().and_then(Path::parent);
        for folder in places.folder.ancestors() {
            if Some(folder) == settings_folder {
                break;
            }
            approvals.withdraw(folder)?;
            if folder == self.top {
                break;
            }
        }
        let Some(settings_folder) = settings_folder else { return Ok(()) };
        if let Some(texts) = ApprovedTexts::new(places, &self.place) {
            texts.store(&self.digest, &self.text.text)?;
        }
        approvals.store(&Approval {
            v: 1,
            digest: self.digest.clone(),
            project: worktree::identity(&self.top),
            place: self.place.clone(),
            folder: settings_folder.display().to_string(),
            id: self.id.clone(),
            time: Timestamp::now().to_string(),
            by: by.to_owned(),
        })
    }
}

/// Approves the project's settings as `gate trust` does, and returns their digest: for a
/// program that sets up a project. It shows nothing and leaves no record in the ledger;
/// the caller answers for the settings.
///
/// # Errors
///
/// Settings with mistakes, a folder that cannot be written.
pub fn approve(places: &Places) -> Result<String, Failure> {
    let approved = Approved::read(places)?;
    approved.store(places, "library")?;
    Ok(approved.digest)
}

/// Withdraws the approval of these settings. Returns `false` if they had none.
pub(crate) fn withdraw(places: &Places) -> Result<bool, Failure> {
    let project = places.project()?;
    approvals(places)?.withdraw(&project)
}

fn approvals(places: &Places) -> Result<Approvals, Failure> {
    Approvals::new(places).ok_or_else(|| {
        let message = "there is no place for approvals: neither XDG_DATA_HOME nor HOME is set";
        Failure::internal("trust-unwritable", message)
            .hint("set one of them, or approve with GATE_TRUST")
    })
}
