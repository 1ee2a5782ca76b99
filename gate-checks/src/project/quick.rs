//! The quick part of a suite, as the project itself names it.

use super::folder::Folder;
use super::proposal::{Aim, Findings, Proposal, QuickPart};
use super::{node, recipes};

/// Files in which a project of Python declares the markers of its tests.
const MARKER_FILES: [&str; 6] =
    ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "conftest.py", "tests/conftest.py"];

/// Names of scripts, targets and recipes that run a quick part, the most telling first.
const NAMES: [&str; 10] = [
    "test:quick",
    "test:fast",
    "test:unit",
    "test-quick",
    "test-fast",
    "quicktest",
    "test-unit",
    "unit-test",
    "unittest",
    "unit",
];

/// The quick part of a proposal's tests; `None` if the project names none.
pub(super) fn quick_part(folder: &Folder<'_>, proposal: &Proposal) -> Option<QuickPart> {
    if proposal.aim != Aim::Tests {
        return None;
    }
    let subfolder = proposal.cwd.as_ref().map(|cwd| folder.below(cwd));
    let folder = subfolder.as_ref().unwrap_or(folder);
    let with_words = |words: &[&str], evidence: String| {
        let added = words.iter().map(|&word| word.to_owned());
        let command = proposal.command.iter().cloned().chain(added).collect();
        Some(QuickPart { command, evidence })
    };
    let has_word = |word: &str| proposal.command.iter().any(|listed| listed == word);
    match proposal.tool {
        "pytest" if !chooses_by_marker(&proposal.command) => {
            let file = MARKER_FILES.into_iter().find(|file| declares_slow(folder, file))?;
            with_words(&["-m", "not slow"], format!("the marker `slow` in {file}"))
        }
        "cargo" if !has_word("--") && !has_word("--lib") && folder.has_file("src/lib.rs") => {
            with_words(&["--lib"], "src/lib.rs".to_owned())
        }
        "go" if !has_word("-short") && has_short_tests(folder) => {
            let [go, test, arguments @ ..] = proposal.command.as_slice() else { return None };
            let command = [&[go.clone(), test.clone(), "-short".to_owned()], arguments].concat();
            Some(QuickPart { command, evidence: "testing.Short in its tests".to_owned() })
        }
        "make" | "just" => {
            let targets = recipes::names(folder, proposal.tool);
            let name = NAMES.into_iter().find(|name| targets.contains(*name))?;
            let mut command = proposal.command.clone();
            name.clone_into(command.last_mut()?);
            Some(QuickPart { command, evidence: format!("`{name}` beside it") })
        }
        "npm" | "pnpm" | "yarn" | "bun" => {
            let name = NAMES.into_iter().find(|name| node::has_script(folder, name))?;
            let command = [proposal.tool, "run", name].map(str::to_owned).to_vec();
            Some(QuickPart { command, evidence: format!("scripts.{name} in package.json") })
        }
        _ => None,
    }
}

/// `-m` behind pytest, and not the one that starts it.
fn chooses_by_marker(command: &[String]) -> bool {
    let arguments = command.iter().skip_while(|word| !word.ends_with("pytest"));
    arguments.skip(1).any(|word| word == "-m")
}

/// `slow: tests that take long`, in a list of markers.
fn declares_slow(folder: &Folder<'_>, file: &str) -> bool {
    let text = folder.text(file, &mut Findings::default()).unwrap_or_default();
    let mut lines = text.lines().map(|line| line.trim_start_matches([' ', '\t', '"', '\'']));
    text.contains("markers") && lines.any(names_slow)
}

fn names_slow(line: &str) -> bool {
    let text = line.split_once("markers").map_or(line, |(_, text)| text);
    let text = text.trim_start_matches([' ', '=', '[', ',', '"', '\'']);
    text.strip_prefix("slow")
        .is_some_and(|text| text.starts_with([':', '"', '\'']) || text.is_empty())
}

/// A test in the folder, or in a folder below it, asks if the run is to be short.
fn has_short_tests(folder: &Folder<'_>) -> bool {
    let below = folder.names(".").into_iter().filter(|name| folder.path.join(name).is_dir());
    let mut folders = std::iter::once(".".to_owned()).chain(below);
    folders.any(|name| {
        let below = folder.below(&name);
        let tests = below.names(".").into_iter().filter(|file| file.ends_with("_test.go"));
        tests
            .filter_map(|file| below.text(&file, &mut Findings::default()))
            .any(|text| text.contains("testing.Short()"))
    })
}

#[cfg(test)]
mod tests {
    use crate::project::detect_with;
    use crate::project::tests::folder;

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Option<&str>) {
        let detected = detect_with(folder(files).path(), true, &|_| true);
        let quick = detected.proposals[0].quick.as_ref();
        let command = quick.map(|quick| quick.command.join(" "));
        assert_eq!(command.as_deref(), expected, "{:?}", detected.proposals[0]);
    }

    #[test]
    fn a_project_names_its_quick_part() {
        let slow = "python3 -m pytest -m not slow";
        check(
            &[("pytest.ini", "[pytest]\nmarkers =\n    gui\n    slow: takes long\n")],
            Some(slow),
        );
        check(
            &[("pyproject.toml", "[tool.pytest.ini_options]\nmarkers = [\"slow: takes long\"]\n")],
            Some(slow),
        );
        let added = "config.addinivalue_line(\"markers\", \"slow: takes long\")\n";
        check(&[("conftest.py", added)], Some(slow));
        check(&[("pytest.ini", "[pytest]\nmarkers =\n    slowest: no\n")], None);
        let package = r#"{"scripts":{"test":"make all","test:unit":"node u.js","test:fast":"vitest --watch"}}"#;
        check(&[("package.json", package)], Some("npm run test:unit"));
        check(&[("Makefile", ".PHONY: test\ntest: unit\n\tx\nunit:\n\ty\n")], Some("make -s unit"));
        check(&[("justfile", "test:\n  x\nunit:\n  y\n")], Some("just unit"));
        check(&[("Cargo.toml", "[package]\n"), ("src/lib.rs", "")], Some("cargo test --lib"));
        check(&[("Cargo.toml", "[package]\n"), ("src/main.rs", "")], None);
        let test = "func TestA(t *testing.T) {\n\tif testing.Short() {\n";
        check(&[("go.mod", ""), ("a/a_test.go", test)], Some("go test -short ./..."));
        check(&[("go.mod", ""), ("a_test.go", "")], None);
    }
}
