//! The files that are put back, left out and let go, in real repositories.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use gate_core::decide::policy::Policy;

use super::*;
use crate::cancellation::Cancellation;
use crate::workspace::Workspace;
use crate::worktree::tests::fixture::Fixture;

/// A repository whose baseline has a source, two tests, what they rest on and the settings
/// of their runner.
fn project() -> (Fixture, Baseline) {
    let fixture = Fixture::empty();
    for (name, text) in [
        ("src/sum.py", "def add(a, b): return a + b\n"),
        ("tests/test_a.py", "def test_a(): assert add(1, 1) == 2\n"),
        ("tests/test_b.py", "def test_b(): assert add(2, 2) == 4\n"),
        ("tests/conftest.py", "limit = 1\n"),
        ("pytest.ini", "[pytest]\n"),
    ] {
        fixture.write(name, text);
    }
    fixture.commit();
    let time = "2026-01-02T03:04:05Z";
    let baseline = Baseline::take(&Policy::default(), &fixture.site, time).unwrap().unwrap();
    (fixture, baseline)
}

fn context(
    fixture: &Fixture,
    baseline: &Baseline,
    allow: &[Allowance],
) -> (WorkTree, CheckContext) {
    let cancel = Cancellation::default();
    let (tree, cx) = crate::checks::verified_tests::open_context(
        &Policy::default(),
        &fixture.site,
        baseline,
        &cancel,
    )
    .unwrap();
    (tree, CheckContext { allow: allow.into(), ..cx })
}

fn path_allowance(glob: &str) -> Allowance {
    Allowance { path: Some(glob.to_owned()), test: None, rule: None, reason: String::new() }
}

/// The names of the overlaid files of the tree as it stands.
#[track_caller]
fn check_overlaid(
    (fixture, baseline): &(Fixture, Baseline),
    allow: &[Allowance],
    expected: &[&str],
) {
    let (tree, cx) = context(fixture, baseline, allow);
    let overlay = Overlay::new(&cx, &tree).unwrap().unwrap();
    let replacements = overlay.replacements(&tree, &BTreeSet::new()).unwrap();
    let laid = replacements.iter().filter(|file| !file.is_new());
    assert_eq!(laid.map(Replacement::name).collect::<Vec<_>>(), expected);
}

#[test]
fn without_a_baseline_nothing_is_laid_over() {
    let (fixture, baseline) = project();
    let (tree, cx) = context(&fixture, &baseline, &[]);
    let cx = CheckContext { options: Arc::default(), ..cx };
    assert!(Overlay::new(&cx, &tree).unwrap().is_none());
}

#[test]
fn edited_and_removed_tests_go_back_and_sources_and_new_tests_stay() {
    let project = project();
    let fixture = &project.0;
    check_overlaid(&project, &[], &[]);
    fixture.write("src/sum.py", "edited\n");
    fixture.write("tests/test_new.py", "new\n");
    check_overlaid(&project, &[], &[]);
    fixture.write("tests/test_a.py", "edited\n");
    fixture.remove("tests/test_b.py");
    fixture.write("tests/conftest.py", "limit = 2\n");
    check_overlaid(&project, &[], &["tests/conftest.py", "tests/test_a.py", "tests/test_b.py"]);
}

#[test]
fn settings_of_a_runner_go_back_and_new_ones_go_away() {
    let project = project();
    project.0.write("pytest.ini", "x\n");
    project.0.write("tests/pytest.ini", "x\n");
    check_overlaid(&project, &[], &["pytest.ini", "tests/pytest.ini"]);
}

#[test]
fn a_test_that_was_only_moved_does_not_go_back() {
    let project = project();
    let [from, to] = ["tests/test_a.py", "tests/test_z.py"].map(|name| project.0.path(name));
    fs::rename(from, to).unwrap();
    check_overlaid(&project, &[], &[]);
}

#[test]
fn the_operator_lets_files_change_by_path_alone() {
    let project = project();
    let both = ["tests/test_a.py", "tests/test_b.py"];
    both.iter().for_each(|name| project.0.write(name, "edited\n"));
    check_overlaid(&project, &[path_allowance("tests/test_a.py")], &both[1..]);
    check_overlaid(&project, &[path_allowance("tests/**")], &[]);
    let for_a_test = Allowance { test: Some("test_a".to_owned()), ..path_allowance("tests/**") };
    check_overlaid(&project, &[for_a_test], &both);
    let for_a_rule = Allowance { rule: Some("test-gone".to_owned()), ..path_allowance("tests/**") };
    check_overlaid(&project, &[for_a_rule], &both);
}

#[test]
fn an_allowance_that_cannot_be_read_is_an_error() {
    let (fixture, baseline) = project();
    let (tree, cx) = context(&fixture, &baseline, &[path_allowance("../tests")]);
    let error = Overlay::new(&cx, &tree).err().unwrap().to_string();
    assert!(error.contains("glob `../tests`: expected a path inside"), "{error}");
}

#[test]
fn new_tests_and_new_files_that_load_by_themselves_are_left_out() {
    let (fixture, baseline) = project();
    for name in ["tests/test_new.py", "conftest.py", "tests/helper.py", "src/more.py"] {
        fixture.write(name, "new\n");
    }
    let (tree, cx) = context(&fixture, &baseline, &[]);
    let overlay = Overlay::new(&cx, &tree).unwrap().unwrap();
    let replacements = overlay.replacements(&tree, &BTreeSet::new()).unwrap();
    assert!(replacements.iter().all(|file| file.is_new()));
    let names: Vec<_> = replacements.iter().map(Replacement::name).collect();
    assert_eq!(names, ["conftest.py", "tests/helper.py", "tests/test_new.py"]);
}

#[test]
fn what_was_built_before_is_not_used_if_code_that_builds_was_changed() {
    let (fixture, baseline) = project();
    let has_changed_build_code = || {
        let (tree, cx) = context(&fixture, &baseline, &[]);
        Overlay::new(&cx, &tree).unwrap().unwrap().has_changed_build_code(&tree)
    };
    fixture.write("src/lib.rs", "\n");
    fixture.write("macros/src/lib.rs", "\n");
    fixture.write("macros/Cargo.toml", "[package]\nname = \"m\"\n");
    assert!(!has_changed_build_code());
    fixture.write("macros/Cargo.toml", "[lib]\nproc-macro = true\n");
    assert!(has_changed_build_code());
    fixture.remove("macros");
    fixture.write("sub/build.rs", "\n");
    assert!(has_changed_build_code());
}

#[test]
fn a_file_with_a_new_name_was_moved() {
    let (fixture, baseline) = project();
    fixture.write("tests/test_a.py", "edited\n");
    fixture.write("tests/test_new.py", "new\n");
    fs::rename(fixture.path("tests/test_b.py"), fixture.path("tests/test_c.py")).unwrap();
    let (tree, cx) = context(&fixture, &baseline, &[]);
    let overlay = Overlay::new(&cx, &tree).unwrap().unwrap();
    let moved: Vec<_> = overlay.moved_files().collect();
    assert_eq!(moved, [(Path::new("tests/test_b.py"), Path::new("tests/test_c.py"))]);
}

/// Brings a workspace up to a layout; the files of the project in it.
fn laid(
    fixture: &Fixture,
    baseline: &Baseline,
    lay: impl FnOnce(&Overlay<'_>, &WorkTree, &mut Layout),
) -> BTreeMap<String, String> {
    let (tree, cx) = context(fixture, baseline, &[]);
    let overlay = Overlay::new(&cx, &tree).unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let opened = Workspace::open(&fixture.site, tree.root(), &cx.cancel);
    let workspace = runtime.block_on(opened).unwrap().unwrap();
    let snapshot = Arc::clone(&cx.tree);
    let mut layout = workspace.layout(&snapshot).unwrap();
    lay(&overlay, &tree, &mut layout);
    // A snapshot from outside of git: the workspace needs no repository here.
    workspace.sync(&layout, &Fixture::plain().snapshot(), &fixture.site).unwrap();
    let files = layout.files().into_iter().filter(|file| file.extension().is_some());
    let read = |file: PathBuf| {
        let text = fs::read_to_string(workspace.root().join(&file)).unwrap();
        (file.display().to_string(), text.lines().next().unwrap_or_default().to_owned())
    };
    files.map(read).collect()
}

fn files(expected: &[(&str, &str)]) -> BTreeMap<String, String> {
    expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

const SOURCE: &str = "def add(a, b): return a + b";
const TEST_A: &str = "def test_a(): assert add(1, 1) == 2";
const TEST_B: &str = "def test_b(): assert add(2, 2) == 4";

#[test]
fn a_workspace_holds_what_each_question_needs() {
    let (fixture, baseline) = project();
    fixture.write("src/sum.py", "work\n");
    fixture.write("tests/test_a.py", "edited\n");
    fixture.remove("tests/test_b.py");
    fixture.write("tests/test_new.py", "new\n");
    let common = [("pytest.ini", "[pytest]"), ("tests/conftest.py", "limit = 1")];
    let check = |lay: &dyn Fn(&Overlay<'_>, &WorkTree, &mut Layout), own: &[(&str, &str)]| {
        assert_eq!(laid(&fixture, &baseline, lay), files(&[&common[..], own].concat()));
    };
    check(
        &|overlay, tree, layout| {
            overlay
                .replacements(tree, &BTreeSet::new())
                .unwrap()
                .iter()
                .for_each(|file| file.lay(layout));
        },
        &[("src/sum.py", "work"), ("tests/test_a.py", TEST_A), ("tests/test_b.py", TEST_B)],
    );
    check(
        &|overlay, tree, layout| overlay.lay_baseline(tree, layout).unwrap(),
        &[("src/sum.py", SOURCE), ("tests/test_a.py", TEST_A), ("tests/test_b.py", TEST_B)],
    );
    let one = [PathBuf::from("tests/test_new.py")];
    check(
        &|overlay, tree, layout| overlay.put_back_files(tree, layout, &one).unwrap(),
        &[("src/sum.py", "work"), ("tests/test_a.py", "edited")],
    );
}
