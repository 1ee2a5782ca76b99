//! The text of the settings that need an approval: the project's, or those that the
//! operator named.

use std::path::{Path, PathBuf};

use gate_core::config::{Layer, Origin};
use gate_platform::RealPath;

use super::digest::digest_of_settings;
use crate::failure::Failure;
use crate::settings::{self, MACHINE_FILE, Places, Selection};

/// The canonical text of missing settings.
const MISSING: &str = "null";

#[derive(Clone, Debug)]
pub(crate) struct SettingsText {
    /// The settings file; `None` if there is no such file.
    pub(crate) file: Option<PathBuf>,
    pub(super) text: String,
    /// The canonical text, without comments and layout.
    canonical: String,
    /// The operator named the file, which approves it.
    is_named: bool,
}

impl SettingsText {
    /// The project's settings, or the file that the operator named instead.
    pub(crate) fn from_layers(layers: &[Layer]) -> Self {
        let named_layer = layers.iter().find_map(|layer| match layer.origin() {
            Origin::Project(file) => Some((layer, file, false)),
            Origin::File(file) => Some((layer, file, true)),
            _ => None,
        });
        let Some((layer, file, is_named)) = named_layer else {
            let (text, canonical) = (String::new(), MISSING.to_owned());
            return Self { file: None, text, canonical, is_named: false };
        };
        let text = layer.text().unwrap_or_default().to_owned();
        let canonical = layer.spelled().unwrap_or_default();
        let is_named = is_named || is_system_file(file, Path::new(MACHINE_FILE), &canonical);
        Self { file: Some(file.clone()), text, canonical, is_named }
    }

    /// Compares without comments and layout.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        (&self.file, &self.canonical) == (&other.file, &other.canonical)
    }

    /// Reads the settings on the disk.
    pub(crate) fn read(places: &Places) -> Result<Self, Failure> {
        Ok(Self::from_layers(&settings::layers(places, &Selection::default())?))
    }

    /// The operator named the file: by `--config`, or as the machine's own.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// The file's path within the project; empty if there is none.
    pub(crate) fn place(&self, top: &Path) -> String {
        let Some(file) = &self.file else { return String::new() };
        file.strip_prefix(top).unwrap_or(file).display().to_string()
    }

    pub(crate) fn digest(&self) -> String {
        digest_of_settings(&self.canonical)
    }
}

/// A project's file is the machine's own, or a link to it.
fn is_system_file(file: &Path, system_file: &Path, canonical: &str) -> bool {
    let is_same = system_file.is_file()
        && file.real_path().is_ok_and(|target| Some(target) == system_file.real_path().ok());
    // The contents are compared too: the link may have led elsewhere when it was read.
    is_same && read_canonical(system_file).as_deref() == Some(canonical)
}

fn read_canonical(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    Layer::parse(Origin::Machine(file.to_owned()), &text).ok()?.spelled()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_link_to_the_machines_settings_is_theirs_and_a_copy_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("machine"), "breaker.no_exit = 7\n").unwrap();
        std::fs::copy(path("machine"), path("copy")).unwrap();
        gate_platform::symlink(path("machine"), path("link")).unwrap();
        gate_platform::symlink(path("copy"), path("link-to-copy")).unwrap();
        let text = "breaker.no_exit = 7 # the same\n";
        let layer = Layer::parse(Origin::Project(path("link")), text).unwrap();
        let canonical = layer.spelled().unwrap();
        let is_system = |name| is_system_file(&path(name), &path("machine"), &canonical);
        assert!(is_system("machine") && is_system("link"));
        assert!(!is_system("copy") && !is_system("link-to-copy") && !is_system("missing"));
        assert!(!is_system_file(&path("link"), &path("machine"), "{}"));
        assert!(!is_system_file(&path("link"), &path("missing"), &canonical));
    }

    #[test]
    fn empty_settings_are_not_missing_settings() {
        let folder = Path::new("/nowhere");
        let empty = Layer::parse(Origin::Project(folder.join("gate.toml")), "").unwrap();
        let (empty, absent) = (SettingsText::from_layers(&[empty]), SettingsText::from_layers(&[]));
        assert_eq!(
            (empty.place(folder).as_str(), absent.place(folder).as_str()),
            ("gate.toml", "")
        );
        assert_ne!(empty.digest(), absent.digest());
    }
}
