//! Test runners that are installed in the tree, links out of it, and submodules.

use gate_platform::symlink;

use super::*;
use crate::cancellation::Cancellation;

const PACKAGES: &str = ".venv/lib/python3.13/site-packages";

/// A project with a runner of Python and two of node, installed and ignored.
fn installed() -> Fixture {
    let fixture = Fixture::empty();
    fixture.write(".gitignore", ".venv\nnode_modules\n");
    fixture.write("package.json", "{}\n");
    let lock = "{\"node_modules/@jest/core\": {\n  \"version\": \"29.7.0\"}}\n";
    fixture.write("package-lock.json", lock);
    fixture.write("pyproject.toml", "[project]\nname = \"own\"\n");
    fixture.write("src/own.py", "x = 1\n");
    fixture.commit();
    fixture.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    for (file, text) in [
        ("pytest/__init__.py", "main\n"),
        ("_pytest/python.py", "call\n"),
        ("_pytest/__pycache__/python.pyc", "1"),
        ("pytest-8.0.dist-info/RECORD", ""),
        ("requests/__init__.py", "get\n"),
        ("distutils-precedence.pth", "import os\n"),
    ] {
        fixture.write(&format!("{PACKAGES}/{file}"), text);
    }
    for name in ["expect", "left-pad", "@jest/core"] {
        let manifest = "{\"version\": \"29.0.0\"}\n";
        fixture.write(&format!("node_modules/{name}/package.json"), manifest);
        fixture.write(&format!("node_modules/{name}/build/index.js"), "toBe\n");
    }
    fixture
}

/// The outcome and the findings after a change of what is installed. Work was done too.
fn after(change: impl FnOnce(&Fixture)) -> (Outcome, Vec<String>) {
    let fixture = installed();
    let policy = policy("[checks.integrity]\n");
    let baseline = take(&fixture, &policy);
    fixture.write("src/own.py", "x = 2\n");
    change(&fixture);
    let evidence = evidence(&fixture, &policy, Some(baseline), &Cancellation::default());
    (evidence.outcome, rules(&evidence))
}

#[track_caller]
fn passes(found: &[&str], change: impl FnOnce(&Fixture)) {
    let found: Vec<_> = found.iter().map(|file| format!("harness-changed: {file}")).collect();
    assert_eq!(after(change), (Outcome::Pass, found));
}

#[track_caller]
fn refuses(file: &str, change: impl FnOnce(&Fixture)) {
    let found = vec![format!("harness-changed: {file}")];
    assert_eq!(after(change), (Outcome::Tamper, found));
}

#[test]
fn files_of_a_runner_may_not_be_edited() {
    let file = |name: &str| format!("{PACKAGES}/{name}");
    refuses(&file("_pytest"), |fixture| fixture.write(&file("_pytest/python.py"), "pass\n"));
    refuses(&file("pytest"), |fixture| fixture.write(&file("pytest/more.py"), ""));
    refuses("node_modules/expect", |fixture| {
        fixture.write("node_modules/expect/build/index.js", "() => {}\n");
    });
    refuses("node_modules/@jest/core", |fixture| {
        fixture.write("node_modules/@jest/core/build/index.js", "() => {}\n");
        // A manifest that says more excuses no other bytes of the same version.
        fixture.write("package.json", "{\"private\": true}\n");
    });
}

#[test]
fn another_version_needs_a_manifest_or_a_lock_file() {
    refuses("node_modules/expect", |fixture| {
        fixture.write("node_modules/expect/package.json", "{\"version\": \"30.0.0\"}\n");
    });
}

#[test]
fn what_python_loads_at_every_start_may_not_be_added() {
    for name in ["sitecustomize.py", "usercustomize.py", "zz.pth"] {
        let file = format!("{PACKAGES}/{name}");
        refuses(&file, |fixture| fixture.write(&file, "import own\n"));
    }
    let plugin = format!("{PACKAGES}/evil-1.dist-info/entry_points.txt");
    refuses(&format!("{PACKAGES}/evil [pytest11]"), |fixture| {
        fixture.write(&plugin, "[pytest11]\nevil = evil\n");
    });
}

#[test]
fn a_plug_in_that_the_works_own_manifest_explains_waits_for_a_person() {
    let plugin = format!("{PACKAGES}/more-1.dist-info/entry_points.txt");
    let name = format!("harness-changed: {PACKAGES}/more [pytest11]");
    let declares = "[project]\nname = \"own\"\ndependencies = [\"more\"]\n";
    let install = |fixture: &Fixture| fixture.write(&plugin, "[pytest11]\nmore = more\n");
    let found = after(|fixture| {
        install(fixture);
        fixture.write("pyproject.toml", declares);
    });
    assert_eq!(found, (Outcome::Fail, vec![name.clone()]));
    // One that the baseline's manifest names is only installed.
    let fixture = installed();
    fixture.write("pyproject.toml", declares);
    fixture.commit();
    let policy = policy("[checks.integrity]\n");
    let baseline = take(&fixture, &policy);
    install(&fixture);
    assert_eq!(examined(&fixture, &policy, &baseline), (Outcome::Pass, vec![name]));
}

#[test]
fn installing_is_no_tampering() {
    passes(&[], |fixture| {
        fixture.write("node_modules/right-pad/index.js", "pad\n");
        fixture.write("node_modules/left-pad/build/index.js", "pad\n");
        fixture.write("node_modules/.package-lock.json", "{}\n");
        fixture.write(&format!("{PACKAGES}/requests/__init__.py"), "post\n");
        fixture.write(&format!("{PACKAGES}/_pytest/__pycache__/python.pyc"), "2");
        fixture.write(&format!("{PACKAGES}/own.pth"), "/somewhere/src\n");
    });
    // The project itself, to be edited.
    passes(&[&format!("{PACKAGES}/__editable__.own-1.pth")], |fixture| {
        let record = format!("{PACKAGES}/own-1.dist-info");
        fixture.write(&format!("{PACKAGES}/__editable__.own-1.pth"), "import finder\n");
        fixture.write(&format!("{record}/RECORD"), "__editable__.own-1.pth,sha256=x,1\n");
        let origin = "{\"dir_info\": {\"editable\": true}, \"url\": \"file:///own\"}";
        fixture.write(&format!("{record}/direct_url.json"), origin);
    });
    // Another version, and the manifest or the lock file says so.
    passes(&["node_modules/@jest/core"], |fixture| {
        fixture.write("node_modules/@jest/core/package.json", "{\"version\": \"29.7.0\"}\n");
    });
    passes(&["node_modules/expect"], |fixture| {
        fixture.write("node_modules/expect/package.json", "{\"version\": \"30.0.0\"}\n");
        fixture.write("package-lock.json", "{}\n");
    });
}

#[test]
fn who_had_no_environment_may_install_one() {
    let fixture = installed();
    let policy = policy("[checks.integrity]\n");
    fixture.remove(".venv");
    fixture.remove("node_modules");
    let baseline = take(&fixture, &policy);
    fixture.write("src/own.py", "x = 2\n");
    fixture.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    fixture.write(&format!("{PACKAGES}/pytest/__init__.py"), "main\n");
    fixture.write(&format!("{PACKAGES}/distutils-precedence.pth"), "import os\n");
    let evidence = evidence(&fixture, &policy, Some(baseline), &Cancellation::default());
    assert_eq!((evidence.outcome, rules(&evidence)), (Outcome::Pass, Vec::new()));
}

#[test]
fn a_link_out_of_the_tree_is_no_source() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("own.py"), "x = 1\n").unwrap();
    let linked = |name: &str, target: &Path| {
        let (outcome, rules) = after(|fixture| {
            let path = fixture.path(name);
            if path.exists() {
                fixture.remove(name);
            }
            symlink(target, path).unwrap();
        });
        (outcome, rules)
    };
    let found = |name: &str| (Outcome::Fail, vec![format!("link-leaves-tree: {name}")]);
    assert_eq!(linked("src/own.py", &outside.path().join("own.py")), found("src/own.py"));
    assert_eq!(linked("src", outside.path()), found("src"));
    let passed = (Outcome::Pass, Vec::new());
    let unseen = (Outcome::Fail, vec!["not-compared: src/other.py".to_owned()]);
    assert_eq!(linked("src/other.py", Path::new("own.py")), unseen);
    assert_eq!(linked("notes", outside.path()), passed);
}

/// Commits a test of the submodule with this text.
fn commit_in_submodule(fixture: &Fixture, text: &str) {
    fixture.write("libs/x/tests/test_a.py", text);
    fixture.git_in(&fixture.path("libs/x"), &["add", "-A"]);
    fixture.git_in(&fixture.path("libs/x"), &["commit", "-qm", "moved"]);
}

fn examined(fixture: &Fixture, policy: &Policy, baseline: &Baseline) -> (Outcome, Vec<String>) {
    let evidence = evidence(fixture, policy, Some(baseline.clone()), &Cancellation::default());
    (evidence.outcome, rules(&evidence))
}

const MOVED: &str = "submodule-moved: libs/x";

#[test]
fn a_submodule_that_moved_is_named() {
    let fixture = Fixture::with_submodule();
    let policy = policy("[checks.integrity]\n");
    let baseline = Baseline::from_history(&fixture.site, "2026-01-02T03:04:05Z").unwrap().unwrap();
    commit_in_submodule(&fixture, "def test_a():\n    assert 1\n");
    let named = (Outcome::Pass, vec![MOVED.to_owned()]);
    assert_eq!(examined(&fixture, &policy, &baseline), named);
    let taken = take(&fixture, &policy);
    fixture.write("a", "later\n");
    assert_eq!(examined(&fixture, &policy, &taken), (Outcome::Pass, Vec::new()));
    commit_in_submodule(&fixture, "def test_a():\n    pass\n");
    assert_eq!(examined(&fixture, &policy, &taken), named);
}
