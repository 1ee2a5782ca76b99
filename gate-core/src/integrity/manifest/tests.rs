//! What of a manifest is set back, and what stays the tree's.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn same(path: &str, baseline: &str, tree: &str) {
    assert_eq!(merged_text(path, baseline, tree), None, "{path}: {tree}");
}

#[track_caller]
fn merged_text(path: &str, baseline: &str, tree: &str) -> Option<String> {
    match merge_manifest(path, baseline.as_bytes(), tree.as_bytes()) {
        MergedManifest::Same => None,
        MergedManifest::Text(text) => Some(String::from_utf8(text).unwrap()),
        MergedManifest::Unmergeable => panic!("{path}: {tree}"),
    }
}

/// The merged manifest means the same as this one.
#[track_caller]
fn becomes(baseline: &str, tree: &str, expected: &str) {
    let text = merged_text("a/Cargo.toml", baseline, tree).unwrap_or_else(|| tree.to_owned());
    let read = |text: &str| toml::from_str::<Table>(text).unwrap();
    assert_eq!(read(&text), read(expected), "{tree}");
}

const CRATE: &str =
    "[package]\nname = \"a\"\nversion = \"1.0.0\"\n\n[dependencies]\nserde = \"1\"\n";

#[test]
fn a_crate_takes_no_test_out_of_the_run() {
    for more in [
        "[lib]\ntest = false",
        "[lib]\nharness = false",
        "[lib]\ndoctest = false",
        "[profile.test]\nopt-level = 3",
        "[[test]]\nname = \"it\"\npath = \"tests/other.rs\"",
        "[package.metadata.nextest]\na = 1",
    ] {
        let merged = merged_text("Cargo.toml", CRATE, &format!("{CRATE}\n{more}\n")).unwrap();
        assert!(!merged.contains(more.rsplit('\n').next().unwrap()), "{merged}");
    }
    let auto = CRATE.replace("version", "autotests = false\nversion");
    becomes(CRATE, &auto, CRATE);
    becomes(&auto, CRATE, &auto);
    let asserts = format!("{CRATE}[profile.dev]\nopt-level = 1\n");
    becomes(&asserts, &format!("{asserts}overflow-checks = false\n"), &asserts);
    let with_target = format!("{CRATE}[[test]]\nname = \"it\"\nharness = true\n");
    becomes(&with_target, &with_target.replace("true", "false"), &with_target);
    let program =
        |more: &str| format!("{CRATE}[[bin]]\nname = \"a\"\npath = \"src/main.rs\"\n{more}");
    becomes(CRATE, &program("test = false\n"), &program(""));
    becomes(&program("test = true\n"), &program("test = false\n"), &program("test = true\n"));
}

#[test]
fn lists_of_what_is_run_have_the_items_of_both() {
    let pyproject = |paths: &str| format!("[tool.pytest.ini_options]\ntestpaths = [{paths}]\n");
    let merged = merged_text("pyproject.toml", &pyproject("\"a\""), &pyproject("\"b\"")).unwrap();
    assert!(merged.contains("\"a\"") && merged.contains("\"b\""), "{merged}");
    let cfg = |paths: &str| format!("[tool:pytest]\ntestpaths = {paths}\naddopts = -q\n");
    let merged = merged_text("setup.cfg", &cfg("a"), &cfg("b").replace("-q", "-k x")).unwrap();
    assert!(merged.contains("a\n    b") && merged.contains("addopts = -q"), "{merged}");
}

#[test]
fn what_a_crate_is_made_of_stays_the_tree_s() {
    for more in [
        "rand = \"0.9\"\n",
        "[features]\nfast = []\n",
        "[[bin]]\nname = \"b\"\npath = \"src/bin/b.rs\"\n",
        "[[bench]]\nname = \"b\"\nharness = false\n",
        "[lib]\npath = \"src/a.rs\"\ncrate-type = [\"cdylib\"]\n",
        "[profile.release]\nlto = true\n",
        "[lints.clippy]\nall = \"deny\"\n",
        "[dev-dependencies]\nproptest = \"1\"\n",
    ] {
        same("Cargo.toml", CRATE, &format!("{CRATE}{more}"));
    }
    let edited = format!("{CRATE}rand = \"0.9\"\n[lib]\nname = \"b\"\ntest = false\n");
    becomes(CRATE, &edited, &edited.replace("test = false\n", ""));
}

#[test]
fn a_workspace_leaves_no_member_of_the_baseline_out() {
    let workspace = "[workspace]\nmembers = [\"a\", \"b\"]\n";
    same("Cargo.toml", workspace, "[workspace]\nmembers = [\"a\", \"b\", \"c\"]\n");
    becomes(workspace, &format!("{workspace}default-members = [\"a\"]\n"), workspace);
    becomes(workspace, &format!("{workspace}exclude = [\"b\"]\n"), workspace);
    let chosen = |list: &str| format!("{workspace}default-members = [{list}]\n");
    becomes(&chosen("\"a\", \"b\""), &chosen("\"b\""), &chosen("\"a\", \"b\""));
    same("Cargo.toml", &chosen("\"a\""), &chosen("\"a\", \"b\""));
    // The package is no member any more.
    let moved = "[workspace]\nmembers = [\"x\"]\ndefault-members = [\"x\"]\n";
    same("Cargo.toml", &chosen("\"a\""), moved);
}

#[test]
fn a_package_keeps_its_scripts_and_runners() {
    let baseline = r#"{
  "name": "a",
  "exports": {".": {"types": "./a.d.ts", "import": "./a.js", "default": "./a.cjs"}},
  "scripts": {"build": "tsc", "test": "npm run suite && vitest", "suite": "node run.js", "serve": "node s.js"},
  "jest": {"moduleNameMapper": {"b": "1", "a": "2"}}
}
"#;
    let tree = r#"{
  "exports": {".": {"import": "./b.js", "default": "./a.cjs"}},
  "name": "a",
  "babel": {"plugins": ["./fake"]},
  "scripts": {"build": "tsc -b", "test": "true", "suite": "true", "pretest": "node x.js", "test:new": "vitest new", "serve": "node t.js"},
  "jest": {"moduleNameMapper": {"a": "2", "b": "1"}},
  "dependencies": {"c": "1"}
}
"#;
    let expected = r#"{
  "exports": {".": {"import": "./b.js", "default": "./a.cjs"}},
  "name": "a",
  "scripts": {
    "build": "tsc -b",
    "test": "npm run suite && vitest",
    "suite": "node run.js",
    "test:new": "vitest new",
    "serve": "node t.js"
  },
  "jest": {"moduleNameMapper": {"b": "1", "a": "2"}},
  "dependencies": {"c": "1"}
}
"#;
    assert_eq!(merged_text("package.json", baseline, tree).unwrap(), expected);
    same("package.json", baseline, &baseline.replace("tsc", "tsc -b").replace("  ", "\t"));
    same(
        "package.json",
        r#"{"scripts": {}}"#,
        r#"{"scripts": {"lint": "eslint ."}, "type": "module"}"#,
    );
    let unit = r#"{"scripts": {"unit": "c8 mocha"}}"#;
    let weaker = r#"{"scripts": {"unit": "c8 mocha --grep nothing", "unit": "echo"}}"#;
    assert_eq!(
        merged_text("package.json", unit, weaker).unwrap(),
        "{\n  \"scripts\": {\n    \"unit\": \"c8 mocha\"\n  }\n}\n"
    );
    let removed = merged_text("package.json", unit, "{}").unwrap();
    assert!(removed.contains("c8 mocha"), "{removed}");
    let deno = r#"{"tasks": {"test": "deno test"}, "imports": {}}"#;
    let merged = merged_text(
        "deno.json",
        deno,
        r#"{"tasks": {"test": "true"}, "test": {"exclude": ["a"]}}"#,
    );
    assert_eq!(merged.unwrap(), "{\n  \"tasks\": {\n    \"test\": \"deno test\"\n  }\n}\n");
}

#[test]
fn python_keeps_its_runners() {
    let baseline = "[project]\nname = \"a\"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\nmarkers = [\"slow\"]\n";
    let path = "pyproject.toml";
    let read = |text: &str| toml::from_str::<Table>(text).unwrap();
    for more in [
        "testpaths = [\"x\"]\n",
        "[tool.coverage.run]\nomit = [\"a\"]\n",
        "[project.entry-points.pytest11]\nx = \"a.b\"\n",
        "[tool.pytest-watch]\nx = 1\n",
        "[tool.hatch.envs.test.scripts]\ntest = \"true\"\n",
    ] {
        let merged = merged_text(path, baseline, &format!("{baseline}{more}")).unwrap();
        assert_eq!(read(&merged)["tool"]["pytest"], read(baseline)["tool"]["pytest"]);
        assert!(!merged.contains(more.lines().last().unwrap()), "{merged}");
    }
    same(
        path,
        baseline,
        &baseline.replace("[]", "[\"b\"]").replace("\"slow\"", "\"slow\", \"new\""),
    );
    same(path, baseline, &format!("{baseline}log_cli = true\n[tool.ruff]\nline-length = 9\n"));
    let edited = baseline.replace("-q", "-k none").replace("\"slow\"", "\"new\"");
    let merged = read(&merged_text(path, baseline, &edited).unwrap());
    assert_eq!(merged, read(&baseline.replace("\"slow\"", "\"new\"")));
    let removed = merged_text(path, baseline, "[project]\nname = \"a\"\n").unwrap();
    assert!(removed.contains("addopts = \"-q\""), "{removed}");
}

#[test]
fn sections_about_tests_are_set_back() {
    let baseline = "[metadata]\nname = a\n\n[testenv]\ndeps = pytest\ncommands =\n    pytest\n    mypy a\n\n[flake8]\nignore = E1\n";
    let path = "tox.ini";
    same(
        path,
        baseline,
        &baseline.replace("deps = pytest", "deps = pytest, b").replace("E1", "E2"),
    );
    let tree = baseline.replace("    pytest\n", "    true\n").replace("name = a", "Name = B");
    let merged = merged_text(path, baseline, &tree).unwrap();
    assert!(merged.starts_with("[metadata]\nName = B\n\n[testenv]\n"), "{merged}");
    assert!(merged.contains("commands = \n    pytest\n    mypy a\n"), "{merged}");
    assert!(merged.ends_with("[flake8]\nignore = E1\n"), "{merged}");
    let new = format!("{baseline}\n[tool:pytest]\naddopts = -k none\n");
    assert_eq!(merged_text("setup.cfg", baseline, &new).unwrap(), format!("{baseline}\n"));
    let old = merged_text("setup.cfg", &new, baseline).unwrap();
    assert!(old.ends_with("[tool:pytest]\naddopts = -k none\n\n"), "{old}");
    let points = "[options.entry_points]\nconsole_scripts =\n    a = a:main\n";
    let plugin = format!("{points}pytest11 =\n    b = a.b\n");
    assert!(!merged_text("setup.cfg", points, &plugin).unwrap().contains("a.b"));
}

#[test]
fn what_cannot_be_merged_says_so() {
    for (path, baseline, tree) in [
        ("Makefile", "test:\n\tpytest\n", "test:\n\ttrue\n"),
        ("build.gradle", "", "test { enabled = false }\n"),
        ("Cargo.toml", CRATE, "[package"),
        ("package.json", "{", "{}"),
        ("deno.jsonc", "{}", "{} // a"),
    ] {
        let merged = merge_manifest(path, baseline.as_bytes(), tree.as_bytes());
        assert_eq!(merged, MergedManifest::Unmergeable, "{path}");
    }
    assert_eq!(merge_manifest("Cargo.toml", b"", b"\xff"), MergedManifest::Unmergeable);
    assert_eq!(merge_manifest("go.mod", b"a", b"b"), MergedManifest::Same);
}

const PATHS: [&str; 8] = [
    "Cargo.toml",
    "a/package.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "deno.json",
    "go.mod",
    "Makefile",
];

proptest! {
    #[test]
    fn any_two_texts_are_answered(
        path in prop::sample::select(&PATHS),
        one in "[\\PC\\n]{0,80}",
        other in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        merge_manifest(path, one.as_bytes(), &other);
        merge_manifest(path, &other, one.as_bytes());
        prop_assert_eq!(merge_manifest(path, &other, &other), MergedManifest::Same);
    }

    #[test]
    fn sections_of_any_text_stay_as_they_are(text in "(\\[[a-z:]{1,6}\\]\\n|[a-z]{1,3} ?= ?[a-z]\\n|  [a-z]\\n|\\n|#[a-z]\\n){0,12}") {
        let more = format!("{text}\n# more\n");
        same("setup.cfg", &text, &more);
    }

    #[test]
    fn merging_once_more_changes_nothing(one in PARTS, other in PARTS) {
        if let Some(merged) = merged_text("tox.ini", &one, &other) {
            prop_assert_eq!(merged_text("tox.ini", &one, &merged), None, "{}", merged);
        }
    }
}

/// Pieces of settings.
const PARTS: &str = "(\\[(testenv|pytest|a|tox)\\]\\n|(deps|commands|b) = [a-c]\\n){0,8}";

#[test]
fn a_target_with_a_recipe_and_without_phony_may_be_idle() {
    let text = ".PHONY: lint\nX := a: b\ntest: build\n\tpytest\nlint:\n\truff\nall: test\n\
                ci: ; make test\nout/a.txt:\n\ttouch $@\n";
    assert_eq!(idle_targets(text), ["ci", "test"]);
}
