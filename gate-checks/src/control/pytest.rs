//! A control for pytest.

use std::path::{Path, PathBuf};

use gate_core::integrity::{Language, code_alone};

use super::names::{ControlName, FailureKind};
use super::pytest_settings::Settings;
use super::test_tree::{Draft, Namer, TestTree, file_name};

/// A file beside the project's other tests, below the folder that the command or the settings name;
/// if the command names files, an addition to the first of them. Also additions to the project's
/// files of tests.
pub(super) fn drafts(tree: &TestTree<'_>, new_name: Namer<'_>) -> Vec<Draft> {
    let settings = Settings::in_folder(tree.cwd);
    let (raise, assertion) = (new_name(FailureKind::Raise), new_name(FailureKind::Assertion));
    let raises = format!(
        "def {}():\n    raise RuntimeError(\"{}\")\n",
        settings.function(&raise.snake()),
        raise.actual_value()
    );
    let text = format!("{raises}\n\n{}", failing_test(&settings, &assertion));
    let named_paths = tree.named_paths();
    let configured_paths = settings.paths.iter().map(|path| tree.cwd.join(path));
    let searched_paths: Vec<_> =
        named_paths.iter().cloned().chain(configured_paths).filter(|path| path.exists()).collect();
    let file = named_paths.iter().find(|path| path.is_file() && file_name(path).ends_with(".py"));
    let main = if let Some(file) = file {
        Draft::new(file.clone(), format!("\n\n{text}"), [raise, assertion])
    } else {
        let top = searched_paths.iter().find(|path| path.is_dir());
        let folder = test_folder(tree, top.map_or(tree.cwd, PathBuf::as_path));
        Draft::new(folder.join(settings.file(&raise.snake())), text, [raise, assertion])
    };
    let mut drafts = vec![main];
    if settings.reads_style || tree.args.iter().any(|word| reads_style(word)) {
        return drafts;
    }
    drafts.extend(tree.additions(tree.cwd, |file, text| {
        let is_searched =
            searched_paths.is_empty() || searched_paths.iter().any(|path| file.starts_with(path));
        if !(is_searched && is_test_file(file) && takes_a_test(text, &settings)) {
            return None;
        }
        let test_name = new_name(FailureKind::Inside);
        let text = format!("{}\n\n{}", missing_line_end(text), failing_test(&settings, &test_name));
        Some(Draft::new(file.to_owned(), text, [test_name]))
    }));
    drafts
}

/// A test whose `assert` does not hold.
fn failing_test(settings: &Settings, name: &ControlName) -> String {
    format!(
        "def {}():\n    assert \"{}\".lower() == \"{}\"\n",
        settings.function(&name.snake()),
        name.actual_value(),
        name.expected_value()
    )
}

/// The end of a text's last line, if it has none.
pub(super) fn missing_line_end(text: &str) -> &'static str {
    if text.ends_with('\n') || text.is_empty() { "" } else { "\n" }
}

/// Names a plug-in that judges how a file is written: a planted test could break its rules.
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

/// The file of tests runs a test at its end as it runs its own ones.
fn takes_a_test(text: &str, settings: &Settings) -> bool {
    // Each of them may leave out all tests of the file.
    const LEAVE_OUT: [&str; 4] = ["pytestmark", "importorskip", "allow_module_level", "__test__"];
    let code = code_alone(text, Language::Python);
    // A function's name begins as the settings say, and goes on with anything.
    let pattern = settings.function("*");
    let prefix = pattern.split('*').next().unwrap_or_default();
    let heads = [format!("def {prefix}"), format!("async def {prefix}"), "class ".to_owned()];
    let has_test = code.lines().any(|line| heads.iter().any(|head| line.starts_with(head)));
    has_test && !LEAVE_OUT.iter().any(|word| code.contains(word))
}

/// The folder of tests in or below a folder.
fn test_folder(tree: &TestTree<'_>, top: &Path) -> PathBuf {
    let test_file = tree.nearest(top, is_test_file);
    let usual = top.join("tests");
    match test_file.and_then(|file| file.parent().map(Path::to_owned)) {
        Some(folder) => folder,
        None if usual.is_dir() => usual,
        None => top.to_owned(),
    }
}

fn is_test_file(file: &Path) -> bool {
    let name = file_name(file);
    name.ends_with("_test.py") || (name.starts_with("test_") && name.ends_with(".py"))
}
