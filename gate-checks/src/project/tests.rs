//! What is proposed for which folder.

mod edges;

use std::fs;

use tempfile::TempDir;

use super::{Detected, detect_with};

/// A folder with these files; a name that ends in `/` is a folder, one that
/// begins with `!` may be executed.
pub(super) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name.trim_start_matches('!'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.ends_with('/') {
            fs::create_dir_all(&path).unwrap();
        } else {
            fs::write(&path, text).unwrap();
        }
        if name.starts_with('!') {
            make_executable(&path);
        }
    }
    folder
}

#[cfg(unix)]
fn make_executable(path: &std::path::Path) {
    use gate_platform::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn detected(files: &[(&str, &str)], missing: &[&str]) -> Detected {
    detect_with(folder(files).path(), false, &|program| !missing.contains(&program))
}

/// Each proposal as `name: words`, with the folder before the words and `?`
/// behind the name of an optional one.
pub(super) fn lines(detected: &Detected) -> Vec<String> {
    let line = |proposal: &super::Proposal| {
        let mark = if proposal.optional { "?" } else { "" };
        let cwd = proposal.cwd.as_ref().map(|cwd| format!("({cwd}) ")).unwrap_or_default();
        format!("{}{mark}: {cwd}{}", proposal.check, proposal.command.join(" "))
    };
    detected.proposals.iter().map(line).collect()
}

/// All programs are there, and there is nothing to note.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let detected = detected(files, &[]);
    assert_eq!(lines(&detected), expected);
    assert_eq!(detected.notes, [""; 0]);
}

/// What is proposed, and a part of the only note.
#[track_caller]
fn check_noted(files: &[(&str, &str)], missing: &[&str], expected: &[&str], note: &str) {
    let detected = detected(files, missing);
    assert_eq!(lines(&detected), expected);
    assert_eq!(detected.notes.len(), 1, "{:?}", detected.notes);
    assert!(detected.notes[0].contains(note), "{:?}", detected.notes);
}

#[test]
fn nothing_is_found_in_nothing() {
    check(&[], &[]);
    check(&[("README.md", "# cargo test"), ("src/", ""), ("Cargo.toml/", "")], &[]);
    assert_eq!(detect_with("no/such/folder".as_ref(), false, &|_| true).proposals, []);
}

const CLIPPY: &str = "lint?: cargo clippy --all-targets -- -D warnings";
const ALL_CLIPPY: &str = "lint?: cargo clippy --workspace --all-targets -- -D warnings";
const PACKAGE: (&str, &str) = ("Cargo.toml", "[package]\nname = \"a\"\n");

#[test]
fn cargo() {
    check(&[PACKAGE], &["tests: cargo test", "build: cargo build", CLIPPY]);
    let workspace = [("Cargo.toml", "[workspace]\nmembers = []\n")];
    let all = ["tests: cargo test --workspace", "build: cargo build --workspace", ALL_CLIPPY];
    check(&workspace, &all);
    check_noted(&[("Cargo.toml", "[broken")], &[], &all, "Cargo.toml is no valid TOML");
}

#[test]
fn nextest_only_where_it_is_wanted_and_there() {
    let files = [PACKAGE, (".config/nextest.toml", "")];
    let expected = ["tests: cargo nextest run", "build: cargo build", CLIPPY];
    check_noted(&files, &[], &expected, "documentation tests");
    let detected = detected(&files, &["cargo-nextest"]);
    assert_eq!(lines(&detected)[0], "tests: cargo test");
}

/// A package.json with these scripts, and other members.
fn package(scripts: &str, more: &str) -> String {
    format!("{{\"scripts\":{{{scripts}}}{more}}}")
}

#[test]
fn node_by_its_package_manager() {
    let package = package(r#""test":"ava","build":"tsc","lint":"eslint ."#, "")
        .replace("eslint .", "eslint .\"");
    let for_all = |manager: &str| {
        [("tests", "test"), ("build", "build"), ("lint", "lint")]
            .map(|(check, script)| format!("{check}: {manager} run {script}"))
    };
    for (lock, manager) in [
        ("", "npm"),
        ("package-lock.json", "npm"),
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
    ] {
        let mut files = vec![("package.json", package.as_str())];
        files.extend((!lock.is_empty()).then_some((lock, "")));
        assert_eq!(lines(&detected(&files, &[])), for_all(manager), "{lock}");
    }
    let named = package.replace("{\"scripts\"", "{\"packageManager\":\"pnpm@9.1.0\",\"scripts\"");
    let files = [("package.json", named.as_str()), ("yarn.lock", "")];
    assert_eq!(lines(&detected(&files, &[])), for_all("pnpm"));
    let files = [("package.json", package.as_str()), ("yarn.lock", ""), ("bun.lock", "")];
    assert_eq!(detected(&files, &[]).notes, ["of yarn.lock, bun.lock the first is believed"]);
}

#[test]
fn node_runners_are_called_directly_where_a_script_is_nothing_else() {
    for (script, lock, command) in [
        ("jest", "yarn.lock", "yarn run jest"),
        ("jest", "package-lock.json", "npx --no-install jest"),
        ("vitest", "pnpm-lock.yaml", "pnpm exec vitest run"),
        ("vitest run", "bun.lock", "bunx --no-install vitest run"),
        ("node --test", "package-lock.json", "node --test"),
        ("jest --ci", "package-lock.json", "npm run test"),
        ("mocha --exit 'a b.js'", "yarn.lock", "yarn run mocha --exit a b.js"),
        ("nyc mocha", "package-lock.json", "npx --no-install nyc mocha"),
        ("npx mocha test", "package-lock.json", "npx mocha test"),
        ("react-scripts test", "package-lock.json", "npm run test -- --watchAll=false"),
        ("react-scripts test", "yarn.lock", "yarn run test --watchAll=false"),
    ] {
        let package = package(&format!("\"test\":\"{script}\""), "");
        check(&[("package.json", &package), (lock, "")], &[&format!("tests: {command}")]);
    }
}

#[test]
fn node_without_a_test_script_of_its_own() {
    let placeholder = r#""test":"echo \"Error: no test specified\" && exit 1""#;
    check(&[("package.json", &package(placeholder, ""))], &[]);
    check(&[("package.json", &package("\"test\":\" \"", ""))], &[]);
    check(&[("package.json", "{}")], &[]);
    let watching = package("\"test\":\"jest --watch\"", "");
    check_noted(&[("package.json", &watching)], &[], &[], "never ends");
    check_noted(
        &[("Makefile", "test: a\n\t@ptw\nlint:\n\truff .\n")],
        &[],
        &["lint: make -s lint"],
        "target test",
    );
    check(&[("Makefile", "test:\n\tpytest\nwatch:\n\tptw\n")], &["tests: make -s test"]);
    check_noted(&[("justfile", "test:\n    cargo watch -x test\n")], &[], &[], "recipe test");
    let building = package("\"build\":\"tsc -w\",\"lint\":\"eslint .\"", "");
    let lint = ["lint: npm run lint"];
    check_noted(
        &[("package.json", &building)],
        &[],
        &lint,
        "scripts.build in package.json watches",
    );
    let installed = package(placeholder, r#","devDependencies":{"vitest":"^3"}"#);
    let files = [("package.json", installed.as_str()), ("node_modules/", "")];
    check(&files, &["tests: npx --no-install vitest run"]);
    let missing = "node_modules is missing: `npm install`";
    check_noted(&files[..1], &[], &["tests: npx --no-install vitest run"], missing);
}

#[test]
fn node_workspaces() {
    let root = r#"{"workspaces":["packages/*"]}"#;
    let tested = package("\"test\":\"jest\"", "");
    let files = |manager| {
        [
            ("package.json", root),
            ("packages/a/package.json", tested.as_str()),
            ("packages/b/package.json", "{}"),
            (manager, ""),
        ]
    };
    check(&files("package-lock.json"), &["tests: npm run test --workspaces --if-present"]);
    check(&files("bun.lock"), &["tests: bun run --filter * test"]);
    check_noted(&files("yarn.lock"), &[], &[], "yarn needs a script in the root");
    let pnpm = [
        ("package.json", "{}"),
        ("pnpm-workspace.yaml", "packages:\n  - 'apps/**'\n"),
        ("pnpm-lock.yaml", ""),
        ("apps/web/package.json", &tested),
    ];
    check(&pnpm, &["tests: pnpm --recursive run test"]);
    check(&[("package.json", root), ("packages/a/package.json", "{}")], &[]);
}

#[test]
fn node_types() {
    let files = |package| [("package.json", package), ("tsconfig.json", ""), ("node_modules/", "")];
    let typescript = r#"{"devDependencies":{"typescript":"5"}}"#;
    check(&files(typescript), &["typecheck?: npx --no-install tsc --noEmit"]);
    let scripted = package("\"type-check\":\"tsc\"", r#","devDependencies":{"typescript":"5"}"#);
    check(&files(&scripted), &["typecheck: npm run type-check"]);
    check(&files("{}"), &[]);
}

#[test]
fn a_broken_package_json_is_noted() {
    check_noted(&[("package.json", "{")], &[], &[], "package.json is no valid JSON object");
    check_noted(&[("package.json", "[]")], &[], &[], "package.json is no valid JSON object");
    check(&[("package.json", "{\"scripts\":3,\"workspaces\":1,\"packageManager\":{}}")], &[]);
}

#[test]
fn pytest_by_its_settings_and_files() {
    for (file, text) in [
        ("pyproject.toml", "[tool.pytest.ini_options]\n"),
        ("pyproject.toml", "[tool.pytest]\n"),
        ("pytest.ini", ""),
        ("setup.cfg", "[tool:pytest]\n"),
        ("tox.ini", "[tox]\n[pytest]\n"),
        ("conftest.py", ""),
        ("tests/conftest.py", ""),
        ("tests/test_a.py", "def test_a(): pass\n"),
        ("a_test.py", "import pytest, unittest\n"),
        ("a_test.py", "import unittest\n"),
        ("pyproject.toml", "[dependency-groups]\ndev = [\"pytest>=8\"]\n"),
        ("requirements-dev.txt", "pytest==8.0\n"),
    ] {
        check(&[(file, text)], &["tests: python3 -m pytest"]);
    }
    check(
        &[
            ("setup.cfg", "[metadata]\n"),
            ("tox.ini", "[tox]\n"),
            ("requirements.txt", "pytest-cov\n"),
        ],
        &[],
    );
}

#[test]
fn python_by_its_lock_file() {
    let tests = ("tests/test_a.py", "");
    for (lock, command) in [
        ("uv.lock", "uv run pytest"),
        ("poetry.lock", "poetry run pytest"),
        ("pdm.lock", "pdm run pytest"),
        ("Pipfile.lock", "pipenv run pytest"),
    ] {
        check(&[tests, (lock, "")], &[&format!("tests: {command}")]);
    }
    let detected = detected(&[tests], &["python3"]);
    assert_eq!(lines(&detected), ["tests: python -m pytest"]);
}

#[test]
fn unittest_where_tests_use_nothing_else() {
    let text = "import unittest\n";
    check(&[("test_a.py", text)], &["tests: python3 -m unittest discover"]);
    check(
        &[("tests/test_a.py", text), ("tests/__init__.py", "")],
        &["tests: python3 -m unittest discover -s tests -t ."],
    );
    check(&[("test_server.py", "import sys\nprint(sys.argv)\n")], &[]);
    check(&[("tests/test_a.py", text)], &["tests: python3 -m unittest discover -s tests"]);
    check(&[("test_a.py", text), ("uv.lock", "")], &["tests: uv run python -m unittest discover"]);
}

#[test]
fn python_tools_by_their_settings() {
    let project = ("pyproject.toml", "[tool.ruff]\n[tool.mypy]\n[tool.pytest]\n");
    let expected = ["tests: python3 -m pytest", "lint: ruff check", "typecheck?: mypy ."];
    check(&[project], &expected);
    let missing = ["tests: python3 -m pytest", "lint?: ruff check", "typecheck?: mypy ."];
    check_noted(&[project], &["ruff"], &missing, "ruff is not installed");
    check_noted(&[("pyproject.toml", "[")], &[], &[], "pyproject.toml is no valid TOML");
}

#[test]
fn go() {
    let build = "build: go build -o /dev/null ./...";
    check(&[("go.mod", "module a\n")], &["tests: go test ./...", build, "lint: go vet ./..."]);
    let work = [("go.work", "use (\n\t./a\n\t./b/\n)\n"), ("a/go.mod", "")];
    let packages = "./a/... ./b/...";
    check(
        &work,
        &[
            &format!("tests: go test {packages}"),
            &format!("build: go build -o /dev/null {packages}"),
            &format!("lint: go vet {packages}"),
        ],
    );
}

#[test]
fn maven_and_gradle_by_their_wrappers() {
    let maven = |program: &str| {
        let before = format!("{program} --batch-mode --no-transfer-progress");
        [format!("tests: {before} test"), format!("build: {before} -DskipTests package")]
    };
    let gradle = |program: &str| {
        let before = format!("{program} --no-daemon --console=plain");
        [format!("tests: {before} cleanTest test"), format!("build: {before} assemble")]
    };
    let lines = |files: &[(&str, &str)]| lines(&detected(files, &[]));
    assert_eq!(lines(&[("pom.xml", "")]), maven("mvn"));
    assert_eq!(lines(&[("pom.xml", ""), ("!mvnw", "")]), maven("./mvnw"));
    assert_eq!(lines(&[("build.gradle", "")]), gradle("gradle"));
    assert_eq!(lines(&[("settings.gradle.kts", ""), ("!gradlew", "")]), gradle("./gradlew"));
    assert_eq!(lines(&[("pom.xml", ""), ("build.gradle", "")]), gradle("gradle"));
    let with_wrapper = detected(&[("pom.xml", ""), ("mvnw", "")], &[]);
    assert_eq!(
        with_wrapper.notes,
        ["mvnw may not be executed, so that mvn is taken: chmod +x mvnw"]
    );
    let without_maven = detected(&[("pom.xml", "")], &["mvn"]);
    assert_eq!(without_maven.notes, ["mvn is not installed: maven needs it"]);
    assert!(
        without_maven.proposals.iter().all(|proposal| !proposal.optional),
        "tests are wanted all the same"
    );
}

#[test]
fn dotnet() {
    let solution = ("a.sln", "Project = \"a.Tests\"");
    check(
        &[solution],
        &["tests: dotnet test a.sln --nologo", "build: dotnet build a.sln --nologo"],
    );
    check_noted(&[("a.sln", "a")], &[], &["build: dotnet build a.sln --nologo"], "names no tests");
    let project = ("b.csproj", "<PackageReference Include=\"Microsoft.NET.Test.Sdk\" />");
    let both = ["tests: dotnet test b.csproj --nologo", "build: dotnet build b.csproj --nologo"];
    check(&[project], &both);
    let solutions = [solution, ("b.slnx", "")];
    let first = ["tests: dotnet test a.sln --nologo", "build: dotnet build a.sln --nologo"];
    check_noted(&solutions, &[], &first, "of a.sln, b.slnx the first");
}

#[test]
fn bats() {
    check(&[("test/a.bats", "")], &["tests: bats test"]);
    check(&[("tests/a.bats", ""), ("test/a.bats", "")], &["tests: bats test tests"]);
    check(&[("tests/unit/a.bats", "")], &["tests: bats --recursive tests"]);
    check(&[("test/bats/a.bats", ""), ("test/a.sh", "")], &[]);
}

#[test]
fn make_and_just() {
    let rules = "build lint:\n\techo\ncheck:\n\techo\n";
    let make = ["tests: make -s check", "build: make -s build", "lint: make -s lint"];
    check(&[("Makefile", rules)], &make);
    let both = format!("{rules}.PHONY: test\ntest:\n\techo\n");
    check(&[("Makefile", &both), ("test/", "")], &["tests: make -s test", make[1], make[2]]);
    check_noted(&[("GNUmakefile", "test:\n"), ("test/", "")], &[], &[], "`test` is also a file");
    for file in ["justfile", "Justfile", ".justfile"] {
        check(&[(file, "test:\n  echo\ncheck:\n  echo\n")], &["tests: just test"]);
    }
    check(
        &[("Makefile", "lint:\n"), ("justfile", "test:\nlint:\n")],
        &["tests: just test", "lint: make -s lint"],
    );
}

#[test]
fn a_tool_that_knows_the_language_comes_before_make() {
    let makefile = ("Makefile", "test build lint:\n\techo\n");
    check(&[PACKAGE, makefile], &["tests: cargo test", "build: cargo build", CLIPPY]);
    let package = package("\"build\":\"tsc\"", "");
    let files = [("package.json", package.as_str()), makefile];
    check(&files, &["tests: make -s test", "build: npm run build", "lint?: make -s lint"]);
}

#[test]
fn two_ecosystems_have_checks_of_their_own() {
    let package = package("\"test\":\"ava\",\"lint\":\"eslint\"", "");
    let files = [PACKAGE, ("package.json", &package), ("tests/test_a.py", "")];
    let expected = [
        "tests: cargo test",
        "tests-node: npm run test",
        "tests-python: python3 -m pytest",
        "build: cargo build",
        "lint: npm run lint",
        "lint-rust?: cargo clippy --all-targets -- -D warnings",
    ];
    check(&files, &expected);
}

#[test]
fn folders_below_where_the_root_has_no_tests() {
    let package = package("\"test\":\"ava\"", "");
    let files = [
        ("back end/Cargo.toml", ""),
        ("back end/tests/test_a.py", ""),
        ("frontend/package.json", package.as_str()),
        (".hidden/Cargo.toml", ""),
        ("node_modules/package.json", &package),
        ("docs/a/package.json", &package),
    ];
    let expected = [
        "tests: (back end) cargo test",
        "tests-back-end: (back end) python3 -m pytest",
        "tests-frontend: (frontend) npm run test",
        "build: (back end) cargo build",
    ];
    check(&files, &expected);
    check(
        &[PACKAGE, ("web/package.json", &package)],
        &["tests: cargo test", "build: cargo build", CLIPPY],
    );
    let evidence = detected(&files, &[]).proposals.pop().unwrap().evidence;
    assert_eq!(evidence, "back end: Cargo.toml");
    check_noted(&[("a/package.json", "{")], &[], &[], "a: package.json is no valid JSON");
}

#[test]
fn names_of_checks_differ_and_fit_into_settings() {
    let names = ["a b", "a-b", "a.b", "ä-b"].map(|name| format!("{name}/Cargo.toml"));
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let checks: Vec<_> =
        detected(&files, &[]).proposals.into_iter().map(|proposal| proposal.check).collect();
    let mut apart = checks.clone();
    apart.sort();
    apart.dedup();
    assert_eq!((apart.len(), checks.len()), (8, 8), "{checks:?}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    assert!(checks.iter().all(|name| name.chars().all(fits)), "{checks:?}");
}

#[test]
fn repositories_are_known_by_a_folder_or_a_file() {
    for (file, inside) in [(".git/HEAD", true), (".git", true), ("git", false)] {
        assert_eq!(detected(&[(file, "")], &[]).repository, inside, "{file}");
    }
    let outer = folder(&[(".git/HEAD", ""), ("a/b/c", "")]);
    assert!(detect_with(&outer.path().join("a/b"), false, &|_| true).repository);
}

#[test]
fn files_with_criteria_are_found() {
    let open = "- [ ] a\n";
    for file in ["fix_plan.md", ".ralph/fix_plan.md", "PRD.md", "IMPLEMENTATION_PLAN.md"] {
        assert_eq!(detected(&[(file, open)], &[]).criteria, [file]);
    }
    for file in ["prd.json", ".beads/issues.jsonl"] {
        assert_eq!(detected(&[(file, "")], &[]).criteria, [file]);
    }
    let specs = [("specs/1/tasks.md", "# none\n"), ("specs/2/tasks.md", "1. [x] T001 a\n")];
    assert_eq!(detected(&specs, &[]).criteria, ["specs/*/tasks.md"]);
    let none = [("PRD.md", "# Goal\n[ ] a\n"), ("specs/1/tasks.md", ""), (".beads/x.jsonl", "{}")];
    assert_eq!(detected(&none, &[]).criteria, [""; 0]);
}
