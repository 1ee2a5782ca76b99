//! A control for pytest.

use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::place::Place;
use super::place::name;
use super::pytest_settings::Settings;

/// A file beside the project's other tests, below the folder that the command or the
/// settings name; where the command names files, an addition to the first of them.
pub(super) fn draft(place: &Place<'_>, id: &str) -> Option<Draft> {
    let settings = Settings::in_folder(place.cwd);
    let text = function(&settings.function(id));
    let named = place.paths();
    if let Some(file) = named.iter().find(|path| path.is_file() && name(path).ends_with(".py")) {
        return Some(Draft { file: file.clone(), text: format!("\n\n{text}") });
    }
    let set = settings.paths.iter().map(|path| place.cwd.join(path));
    let top = named.into_iter().chain(set).find(|path| path.is_dir());
    let folder = folder(place, &top.unwrap_or_else(|| place.cwd.to_owned()));
    Some(Draft { file: folder.join(settings.file(id)), text })
}

fn function(name: &str) -> String {
    format!("def {name}():\n    raise AssertionError(\"gate's control has to fail\")\n")
}

/// The folder of tests in or below a folder.
pub(super) fn folder(place: &Place<'_>, top: &Path) -> PathBuf {
    let beside = place.nearest(top, is_test);
    let beside = beside.and_then(|file| file.parent().map(Path::to_owned));
    let usual = top.join("tests");
    match beside {
        Some(folder) => folder,
        None if usual.is_dir() => usual,
        None => top.to_owned(),
    }
}

fn is_test(file: &Path) -> bool {
    let name = name(file);
    name.ends_with("_test.py") || (name.starts_with("test_") && name.ends_with(".py"))
}
