//! A control for pytest.

use std::path::{Path, PathBuf};

use gate_core::integrity::{Language, code_alone};

use super::names::{Kind, Name};
use super::place::{Draft, Namer, Place, name as name_of};
use super::pytest_settings::Settings;

/// A file beside the project's other tests, below the folder that the command or the settings name;
/// if the command names files, an addition to the first of them. Also additions to the project's
/// files of tests.
pub(super) fn drafts(place: &Place<'_>, name: Namer<'_>) -> Vec<Draft> {
    let settings = Settings::in_folder(place.cwd);
    let (raise, assertion) = (name(Kind::Raise), name(Kind::Assertion));
    let raises = format!(
        "def {}():\n    raise RuntimeError(\"{}\")\n",
        settings.function(&raise.snake()),
        raise.got()
    );
    let text = format!("{raises}\n\n{}", asserts(&settings, &assertion));
    let named = place.paths();
    let set = settings.paths.iter().map(|path| place.cwd.join(path));
    let searched: Vec<_> = named.iter().cloned().chain(set).filter(|path| path.exists()).collect();
    let file = named.iter().find(|path| path.is_file() && name_of(path).ends_with(".py"));
    let main = if let Some(file) = file {
        Draft::new(file.clone(), format!("\n\n{text}"), [raise, assertion])
    } else {
        let top = searched.iter().find(|path| path.is_dir());
        let folder = folder(place, top.map_or(place.cwd, PathBuf::as_path));
        Draft::new(folder.join(settings.file(&raise.snake())), text, [raise, assertion])
    };
    let mut drafts = vec![main];
    if settings.reads_style || place.args.iter().any(|word| reads_style(word)) {
        return drafts;
    }
    drafts.extend(place.inside(place.cwd, |file, text| {
        let is_searched = searched.is_empty() || searched.iter().any(|path| file.starts_with(path));
        if !(is_searched && is_test(file) && takes_a_test(text, &settings)) {
            return None;
        }
        let own = name(Kind::Inside);
        let text = format!("{}\n\n{}", line_end(text), asserts(&settings, &own));
        Some(Draft::new(file.to_owned(), text, [own]))
    }));
    drafts
}

/// A test whose `assert` does not hold.
fn asserts(settings: &Settings, name: &Name) -> String {
    format!(
        "def {}():\n    assert \"{}\".lower() == \"{}\"\n",
        settings.function(&name.snake()),
        name.got(),
        name.wanted()
    )
}

/// The end of a text's last line, if it has none.
pub(super) fn line_end(text: &str) -> &'static str {
    if text.ends_with('\n') || text.is_empty() { "" } else { "\n" }
}

/// True for words of plug-ins that judge how a file is written.
pub(super) fn reads_style(text: &str) -> bool {
    const PLUGINS: [&str; 9] = [
        "--black",
        "--flake8",
        "--ruff",
        "--pylint",
        "--mypy",
        "--pycodestyle",
        "--isort",
        "--codestyle",
        "--pydocstyle",
    ];
    PLUGINS.iter().any(|plugin| text.contains(plugin))
}

/// True for a file of tests that runs a test at its end as it runs its own ones.
fn takes_a_test(text: &str, settings: &Settings) -> bool {
    // Each of them may leave out all tests of the file.
    const LEAVE_OUT: [&str; 4] = ["pytestmark", "importorskip", "allow_module_level", "__test__"];
    let code = code_alone(text, Language::Python);
    // A function's name begins as the settings say, and goes on with anything.
    let function = settings.function("*");
    let function = function.split('*').next().unwrap_or_default();
    let begins = [format!("def {function}"), format!("async def {function}"), "class ".to_owned()];
    let has_test = code.lines().any(|line| begins.iter().any(|begin| line.starts_with(begin)));
    has_test && !LEAVE_OUT.iter().any(|word| code.contains(word))
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
    let name = name_of(file);
    name.ends_with("_test.py") || (name.starts_with("test_") && name.ends_with(".py"))
}
