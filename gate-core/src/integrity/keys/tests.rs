//! What in manifests is guarded, and what is free.

mod stricter;

use super::*;

/// The rules that a change of a manifest hits, with the key.
fn found(path: &str, before: &str, now: &str) -> Vec<String> {
    let command =
        |line: &str| (String::new(), line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let commands = [command("make suite"), command("npm run unit")];
    let found = findings(path, (before, now), &commands);
    let key = |it: &Finding| it.message.split('`').nth(1).unwrap_or(&it.message).to_owned();
    found.iter().map(|found| format!("{} {}", found.rule, key(found))).collect()
}

#[track_caller]
fn blocked(path: &str, before: &str, now: &str, expected: &[&str]) {
    assert_eq!(found(path, before, now), expected, "{path}: {now}");
}

#[track_caller]
fn free(path: &str, before: &str, now: &str) {
    blocked(path, before, now, &[]);
}

#[test]
fn cargo() {
    const PLAIN: &str =
        "[package]\nname = \"a\"\nversion = \"1.0.0\"\n\n[dependencies]\nserde = \"1\"\n";
    let with = |more: &str| format!("{PLAIN}\n{more}");
    for (more, key) in [
        ("[lib]\ntest = false", "manifest-key lib.test"),
        ("[lib]\nharness = false", "manifest-key lib.harness"),
        ("[[test]]\nname = \"a\"\nharness = false", "manifest-key test a.harness"),
        ("[profile.test]\npanic = \"abort\"", "manifest-key profile.test"),
        ("[workspace]\nexclude = [\"b\"]", "manifest-key workspace.exclude \"b\""),
        (
            "[patch.crates-io]\nserde = { path = \"fake\" }",
            "dependency-replaced patch.crates-io.serde.path",
        ),
        ("[lints.clippy]\nall = \"allow\"", "lint-settings lints.clippy.all"),
    ] {
        blocked("Cargo.toml", PLAIN, &with(more), &[key]);
    }
    let auto = PLAIN.replace("version", "autotests = false\nversion");
    blocked("Cargo.toml", PLAIN, &auto, &["manifest-key package.autotests"]);
    let fake = PLAIN.replace("\"1\"", "{ path = \"fake\" }");
    blocked("a/Cargo.toml", PLAIN, &fake, &["dependency-replaced dependencies.serde"]);
    let one = "[workspace]\nmembers = [\"a\", \"b\"]\n";
    blocked(
        "Cargo.toml",
        one,
        &one.replace(", \"b\"", ""),
        &["manifest-key workspace.members \"b\""],
    );
    blocked("Cargo.toml", one, "members = [", &["manifest-key a manifest cannot be read any more"]);
    free("Cargo.toml", PLAIN, &PLAIN.replace("\"1\"", "\"1.2\""));
    free("Cargo.toml", PLAIN, &with("[dev-dependencies]\nx = { path = \"x\" }"));
    free("Cargo.toml", PLAIN, &with("[[bench]]\nname = \"b\"\nharness = false"));
    free("Cargo.toml", PLAIN, &with("[[test]]\nname = \"b\"\npath = \"tests/b.rs\""));
    free("Cargo.toml", PLAIN, &with("[lints.clippy]\nall = \"deny\""));
    free("Cargo.toml", one, &one.replace("\"b\"", "\"b\", \"c\""));
    free("Cargo.toml", "", PLAIN);
    let other = with("[[test]]\nname = \"b\"\npath = \"tests/other.rs\"");
    blocked("Cargo.toml", PLAIN, &other, &["manifest-key test b.path"]);
}

#[test]
fn package_json() {
    let package = |scripts: &str, more: &str| {
        format!("{{\"scripts\": {{{scripts}}}, \"dependencies\": {{\"a\": \"^1.0.0\"}}{more}}}")
    };
    let scripts = "\"test\": \"npm run part && jest\", \"part\": \"tsc\", \"dev\": \"vite\"";
    let before = package(scripts, "");
    let with = |from: &str, to: &str| package(&scripts.replace(from, to), "");
    blocked("package.json", &before, &with("jest", "jest a"), &["manifest-key scripts.test"]);
    blocked("package.json", &before, &with("tsc", "true"), &["manifest-key scripts.part"]);
    let more = with("\"dev\"", "\"pretest\": \"exit 0\", \"dev\"");
    blocked("package.json", &before, &more, &["manifest-key scripts.pretest"]);
    let jest = package(scripts, ", \"jest\": {\"testPathIgnorePatterns\": [\"bad\"]}");
    blocked("package.json", &before, &jest, &["manifest-key jest.testPathIgnorePatterns"]);
    let file = before.replace("^1.0.0", "file:./fake");
    blocked("package.json", &before, &file, &["dependency-replaced dependencies.a"]);
    blocked("package.json", &before, "{", &["manifest-key a manifest cannot be read any more"]);
    free("package.json", &before, &with("vite", "vite --host"));
    free("package.json", &before, &with("jest", "jest --verbose"));
    free("package.json", &before, &with("\"dev\"", "\"lint\": \"eslint .\", \"dev\""));
    let globs = |list: &str| package(scripts, &format!(", \"jest\": {{\"testMatch\": [{list}]}}"));
    free("package.json", &globs("\"src/*.js\""), &globs("\"src/**/*.js\", \"lib/**\""));
    blocked(
        "package.json",
        &globs("\"src/**/*.js\""),
        &globs("\"src/*.js\""),
        &["manifest-key jest.testMatch"],
    );
    free("package.json", &before, &with("\"dev\"", "\"test:slow\": \"jest slow\", \"dev\""));
    free("package.json", &before, &before.replace("^1.0.0", "^2.0.0"));
    free("package.json", &before, &with("\"dev\"", "\"lint\": \"eslint .\", \"dev\""));
    let called = package("\"test\": \"npm run lint && jest\"", "");
    let lint = package("\"test\": \"npm run lint && jest\", \"lint\": \"true\"", "");
    blocked("package.json", &called, &lint, &["manifest-key scripts.lint"]);
    blocked(
        "package.json",
        &package("", ""),
        &package("\"test\": \"true\"", ""),
        &["manifest-key scripts.test"],
    );
    let unit = package("\"unit\": \"vitest\"", "");
    let less = package("\"unit\": \"vitest one\"", "");
    blocked("package.json", &unit, &less, &["manifest-key scripts.unit"]);
}

#[test]
fn python() {
    let before = "[project]\nname = \"a\"\ndependencies = [\"b\"]\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n";
    let with = |more: &str| format!("{before}{more}\n");
    for (more, key) in [
        ("addopts = \"-k 'not bad'\"", "manifest-key tool.pytest.ini_options.addopts"),
        ("[tool.coverage.report]\nfail_under = 10", "manifest-key tool.coverage.report.fail_under"),
        ("[tool.ruff.lint]\nignore = [\"E501\"]", "lint-settings tool.ruff.lint.ignore \"E501\""),
        (
            "[[tool.mypy.overrides]]\nmodule = \"x\"\n[tool.mypy]\nignore_errors = true",
            "lint-settings tool.mypy.ignore_errors ignore_errors",
        ),
    ] {
        blocked("pyproject.toml", before, &with(more), &[key]);
    }
    free("pyproject.toml", before, &with("markers = [\"slow\"]"));
    free("pyproject.toml", before, &before.replace("\"b\"", "\"b>=2\", \"c\""));
    free("pyproject.toml", before, &with("[tool.ruff]\nline-length = 100"));
    assert_eq!(python_dependencies("pyproject.toml", before), ["b"]);
    let lines = "# x\nPyYAML>=6\n-r other.txt\nmy-lib[extra]==1 ; python_version > '3'\n";
    assert_eq!(python_dependencies("requirements-dev.txt", lines), ["pyyaml", "my_lib"]);
    let tox = "[testenv]\ncommands = pytest\n[flake8]\nmax-line-length = 99\n";
    blocked(
        "tox.ini",
        tox,
        &tox.replace("pytest", "pytest\n  -k a"),
        &["manifest-key testenv.commands"],
    );
    blocked(
        "setup.cfg",
        tox,
        &tox.replace("max-line-length = 99", "ignore = E1"),
        &["lint-settings flake8.ignore E1"],
    );
    free("setup.cfg", tox, &tox.replace("99", "120"));
}

#[test]
fn recipes() {
    let make = "FLAGS = -v\n.PHONY: suite\nsuite: build\n\tpytest $(FLAGS)\nbuild:\n\tcc a.c\ndocs:\n\tmkdocs\n";
    for (from, to, key) in [
        ("pytest", "-pytest", "manifest-key target suite"),
        ("pytest $(FLAGS)", "pytest $(FLAGS) || true", "manifest-key target suite"),
        ("cc a.c", "true", "manifest-key target build"),
        ("-v", "-k a", "manifest-key FLAGS"),
        ("FLAGS = -v", "FLAGS = -v\nMAKEFLAGS = -i", "manifest-key MAKEFLAGS"),
        ("docs:", ".IGNORE:\ndocs:", "manifest-key .IGNORE"),
    ] {
        blocked("Makefile", make, &make.replace(from, to), &[key]);
    }
    free("Makefile", make, &make.replace("mkdocs", "mkdocs build"));
    free("Makefile", make, &format!("{make}clean:\n\trm -f a\n"));
    free("Makefile", make, &make.replace("\tpytest", "\t@pytest -v"));
    let sources = "SRCS = a.c\ntest:\n\tcc $(SRCS)\n";
    free("Makefile", sources, &sources.replace("a.c", "a.c b.c"));
    free("mk/sources.mk", "SRCS = a.c\n", "SRCS = a.c b.c\n");
    blocked("mk/flags.mk", "FLAGS =\n", "FLAGS = -v -k a\n", &["manifest-key FLAGS"]);
    let more = format!("{make}export PYTEST_ADDOPTS += --co\n");
    blocked("Makefile", make, &more, &["manifest-key PYTEST_ADDOPTS"]);
    assert_eq!(idle_targets(make), ["build", "docs"]);
    let just = "test:\n  cargo test\nfmt:\n  cargo fmt\n";
    blocked(
        "justfile",
        just,
        &just.replace("cargo test", "cargo test a"),
        &["manifest-key target test"],
    );
    free("justfile", just, &just.replace("cargo fmt", "cargo fmt --all"));
    let task = "version: '3'\ntasks:\n  test:\n    deps: [unit]\n    cmds:\n      - true\n  unit:\n    cmds:\n      - go test\n  run:\n    cmds: [a]\n";
    blocked(
        "Taskfile.yml",
        task,
        &task.replace("go test", "go vet"),
        &["manifest-key target unit"],
    );
    free("Taskfile.yml", task, &task.replace("[a]", "[b]"));
}

#[test]
fn other_builds() {
    let pom = "<project>\n<version>1</version>\n<plugin>\n<artifactId>maven-surefire-plugin</artifactId>\n</plugin>\n</project>\n";
    let skip = pom.replace(
        "</artifactId>",
        "</artifactId>\n<configuration><skipTests>true</skipTests></configuration>",
    );
    assert_eq!(found("pom.xml", pom, &skip).len(), 2);
    free("pom.xml", pom, &pom.replace("<version>1", "<version>2"));
    let gradle = "dependencies {\n  implementation 'a:b:1'\n}\ntest {\n  useJUnitPlatform()\n}\n";
    let exclude = gradle.replace("useJUnitPlatform()", "useJUnitPlatform()\n  exclude '**/Bad*'");
    assert_eq!(found("build.gradle", gradle, &exclude), ["manifest-key exclude '**/Bad*'#1"]);
    free("build.gradle", gradle, &gradle.replace("a:b:1", "a:b:2"));
    let module = "module a\n\nrequire b v1.0.0\n";
    blocked(
        "go.mod",
        module,
        &format!("{module}replace b => ./fake\n"),
        &["dependency-replaced replace b"],
    );
    free("go.mod", module, &module.replace("v1.0.0", "v1.1.0"));
    free("go.mod", module, &format!("{module}require c v0.0.0\nreplace c => ./c\n"));
    let vite = "export default {\n  base: '/',\n  test: {\n    globals: true,\n  },\n}\n";
    assert_eq!(
        found("vite.config.ts", vite, &vite.replace("globals: true", "exclude: ['a']")).len(),
        2
    );
    free("vite.config.ts", vite, &vite.replace("'/'", "'/a'"));
}

#[test]
fn a_repository_s_settings() {
    let plain = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = a\n";
    let of = |text: &str| decisive(".git/config", text.as_bytes());
    let found = |now: &str| of(plain) != of(now);
    for line in [
        "[core]\n\thooksPath = x",
        "[core]\n\tfsmonitor = y",
        "[filter \"a\"]\n\tclean = b",
        "[include]\n\tpath = c",
    ] {
        assert!(found(&format!("{plain}{line}\n")), "{line}");
    }
    for line in [
        "[branch \"a\"]\n\tremote = origin",
        "[user]\n\tname = a",
        "[core]\n\tautocrlf = true",
        "[core]\n\thooksPath = .husky/_",
    ] {
        assert!(!found(&format!("{plain}{line}\n")), "{line}");
    }
}

#[test]
fn what_a_client_keeps_by_itself_is_free() {
    let only = |path: &str, before: &str, now: &str| {
        only_permissions(path, Some(before.as_bytes()), Some(now.as_bytes()))
    };
    let local = ".claude/settings.local.json";
    let hooks = r#"{"hooks":{"Stop":[1]},"permissions":{"allow":[]}}"#;
    assert!(only(local, hooks, &hooks.replace("[]", "[\"Bash(ls)\"]")));
    assert!(only(local, "{}", r#"{"model":"x"}"#));
    assert!(only(".claude/settings.json", hooks, &hooks.replace("[]", "[\"Bash(ls)\"]")));
    assert!(only_permissions(local, None, Some(br#"{"permissions":{}}"#)));
    assert!(!only(local, hooks, r#"{"permissions":{"allow":[]}}"#));
    assert!(!only(local, "{}", r#"{"disableAllHooks":true}"#));
    assert!(!only(".claude/settings.json", "{}", r#"{"model":"x"}"#));
    assert!(!only(local, hooks, "{"));
    assert!(!only(".claude/hooks/a.sh", "a", "b"));
}
