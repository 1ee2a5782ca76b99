//! The settings that somebody has to answer for: the project's, or those that the
//! operator named.

use std::path::{Path, PathBuf};

use gate_checks::worktree;
use gate_core::config::{Layer, Origin};

use super::digest;
use super::texts::Kept;
use crate::failure::Failure;
use crate::settings::{self, Places, Selection};

/// The machine's own settings, which only its operator can write.
const SYSTEM: &str = "/etc/gate/gate.toml";

/// What stands for settings that are not there.
const NOTHING: &str = "null";

/// The settings as they were read.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Their file; none where there is none.
    pub(crate) file: Option<PathBuf>,
    /// What the file says.
    text: String,
    /// All of that, in one spelling.
    spelled: String,
    /// Whether the operator named the file: that approves it.
    is_named: bool,
}

impl Text {
    /// The project's settings among all layers, or those in their place.
    pub(crate) fn of(layers: &[Layer]) -> Self {
        let found = layers.iter().find_map(|layer| match layer.origin() {
            Origin::Project(file) => Some((layer, file, false)),
            Origin::File(file) => Some((layer, file, true)),
            _ => None,
        });
        let Some((layer, file, is_named)) = found else {
            let (text, spelled) = (String::new(), NOTHING.to_owned());
            return Self { file: None, text, spelled, is_named: false };
        };
        let text = layer.text().unwrap_or_default().to_owned();
        let spelled = layer.spelled().unwrap_or_default();
        let is_named = is_named || is_of_machine(file, Path::new(SYSTEM), &spelled);
        Self { file: Some(file.clone()), text, spelled, is_named }
    }

    /// Whether others are the same, comments and layout apart.
    pub(crate) fn says_as(&self, other: &Self) -> bool {
        (&self.file, &self.spelled) == (&other.file, &other.spelled)
    }

    /// What is kept of them for a project that is known by this name; none where they
    /// are not there.
    pub(super) fn kept(&self, project: &str, top: &Path) -> Option<Kept> {
        self.file.as_ref()?;
        let (project, text) = (project.to_owned(), self.text.clone());
        Some(Kept { project, place: self.place(top), text })
    }

    /// As they stand on the disk now.
    ///
    /// # Errors
    ///
    /// Settings that cannot be read any more.
    pub(crate) fn now(places: &Places) -> Result<Self, Failure> {
        Ok(Self::of(&settings::layers(places, &Selection::default())?))
    }

    /// Whether the operator named them by the way in which they were found.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// Where the settings stand in the project; empty where there are none.
    pub(crate) fn place(&self, top: &Path) -> String {
        let Some(file) = &self.file else { return String::new() };
        file.strip_prefix(top).unwrap_or(file).display().to_string()
    }

    /// The digest of what they say.
    pub(crate) fn digest(&self, top: &Path) -> String {
        self.digest_of(&worktree::identity(top), top)
    }

    /// The digest of what they say, in a project that is known by this name.
    pub(super) fn digest_of(&self, project: &str, top: &Path) -> String {
        digest::of(project, &self.place(top), &self.spelled)
    }
}

/// Whether a project's file is the machine's, or a link to it. It is held against
/// what the machine's file says, for a link may lead elsewhere a moment later.
fn is_of_machine(file: &Path, machine: &Path, spelled: &str) -> bool {
    let same = || file.canonicalize().is_ok_and(|file| Some(file) == machine.canonicalize().ok());
    let says = || {
        let text = std::fs::read_to_string(machine).ok()?;
        Layer::parse(Origin::Project(machine.to_owned()), &text).ok()?.spelled()
    };
    machine.is_file() && same() && says().as_deref() == Some(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_link_to_the_machines_settings_is_theirs_and_a_copy_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("machine"), "breaker.no_exit = 7\n").unwrap();
        std::fs::copy(at("machine"), at("copy")).unwrap();
        std::os::unix::fs::symlink(at("machine"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("copy"), at("other")).unwrap();
        let text = "breaker.no_exit = 7 # the same\n";
        let layer = Layer::parse(Origin::Project(at("link")), text).unwrap();
        let spelled = layer.spelled().unwrap();
        let of = |name| is_of_machine(&at(name), &at("machine"), &spelled);
        assert!(of("machine") && of("link"));
        assert!(!of("copy") && !of("other") && !of("missing"));
        assert!(!is_of_machine(&at("link"), &at("machine"), "{}"));
        assert!(!is_of_machine(&at("link"), &at("missing"), &spelled));
    }

    #[test]
    fn what_says_nothing_is_not_what_is_not_there() {
        let folder = Path::new("/nowhere");
        let empty = Layer::parse(Origin::Project(folder.join("gate.toml")), "").unwrap();
        let (empty, absent) = (Text::of(&[empty]), Text::of(&[]));
        assert_eq!(
            (empty.place(folder).as_str(), absent.place(folder).as_str()),
            ("gate.toml", "")
        );
        assert_ne!(empty.digest(folder), absent.digest(folder));
    }
}
