//! The act: an operator approves what the project's settings say, or takes it back.

use std::path::{Path, PathBuf};

use gate_checks::worktree;
use gate_core::config;
use jiff::Timestamp;

use super::approvals::{Approval, Approvals};
use super::text::Text;
use super::texts::Texts;
use crate::failure::Failure;
use crate::settings::{self, Places, Selection};

/// What was approved.
#[derive(Clone, Debug)]
pub(crate) struct Approved {
    /// The digest of what was approved.
    pub(crate) digest: String,
    /// Its file; none where there is none, which takes back what was approved.
    pub(crate) file: Option<PathBuf>,
    /// Where it stands in the project; empty where there is none.
    pub(crate) place: String,
    /// The project's name in its settings.
    id: Option<String>,
    top: PathBuf,
    text: Text,
}

impl Approved {
    /// What would be approved here.
    ///
    /// # Errors
    ///
    /// Settings that do not hold: what cannot be read is not approved.
    pub(crate) fn of(places: &Places) -> Result<Self, Failure> {
        let layers = settings::layers(places, &Selection::default())?;
        let id = config::resolve(&layers, None)?.policy.project_id;
        let (text, top) = (Text::of(&layers), places.top());
        let (digest, place) = (text.digest(&top), text.place(&top));
        Ok(Self { digest, file: text.file.clone(), place, id, top, text })
    }

    /// Keeps it. What was approved nearer than that, and is gone, is taken back.
    ///
    /// # Errors
    ///
    /// No folder for approvals, or one that cannot be written.
    pub(crate) fn keep(&self, places: &Places, by: &str) -> Result<(), Failure> {
        let approvals = approvals(places)?;
        let own = self.file.as_deref().and_then(Path::parent);
        for folder in places.folder.ancestors() {
            if Some(folder) == own {
                break;
            }
            approvals.withdraw(folder)?;
            if folder == self.top {
                break;
            }
        }
        let Some(own) = own else { return Ok(()) };
        let project = worktree::identity(&self.top);
        let kept = self.text.kept(&project, &self.top);
        if let (Some(texts), Some(kept)) = (Texts::of(places), kept) {
            texts.keep(&self.digest, &kept)?;
        }
        approvals.keep(&Approval {
            v: 1,
            digest: self.digest.clone(),
            project,
            place: self.place.clone(),
            folder: own.display().to_string(),
            id: self.id.clone(),
            time: Timestamp::now().to_string(),
            by: by.to_owned(),
        })
    }
}

/// Approves what the project's settings say, as `gate trust` does, and returns the
/// digest: for a program that sets a project up. Nothing is shown, and no record is
/// left in the ledger; whoever calls this answers for the settings.
///
/// # Errors
///
/// Settings that do not hold, a folder that cannot be written.
pub fn approve(places: &Places) -> Result<String, Failure> {
    let approved = Approved::of(places)?;
    approved.keep(places, "library")?;
    Ok(approved.digest)
}

/// Takes back what was approved for these settings, and says whether anything was.
///
/// # Errors
///
/// A folder that cannot be written.
pub(crate) fn withdraw(places: &Places) -> Result<bool, Failure> {
    let project = places.project()?;
    approvals(places)?.withdraw(&project)
}

fn approvals(places: &Places) -> Result<Approvals, Failure> {
    Approvals::of(places).ok_or_else(|| {
        let message = "there is no place for approvals: neither XDG_DATA_HOME nor HOME is set";
        Failure::internal("trust-unwritable", message)
            .hint("set one of them, or approve with GATE_TRUST")
    })
}
