//! Commands that agents run, and what each shows.

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    let inspected = inspect(line);
    let told = match &inspected.check {
        None => "-".to_owned(),
        Some((kind, _)) => {
            let shows = match (inspected.code_shows_pass, inspected.code_shows_failure) {
                (true, true) => "both",
                (true, false) => "pass",
                (false, true) => "failure",
                (false, false) => "nothing",
            };
            format!("{kind:?} {shows}")
        }
    };
    assert_eq!(told, expected, "{line}");
}

#[test]
fn checks_are_known_behind_prefixes() {
    for line in [
        "cargo test",
        "cargo +nightly nextest run",
        "python3 -m pytest -q",
        "uv run pytest",
        "npx vitest run",
        "pnpm --filter web test",
        "npm run test:unit",
        "go test ./...",
        "CI=1 timeout 60 make check",
        "bash -c 'cd a && pytest'",
        "./gradlew test",
        "docker compose exec app pytest -q",
        "python manage.py test",
        "./scripts/run-tests.sh",
        "node --test",
        "bundle exec rspec",
        "poetry run pytest tests/",
        "make -C a test",
        "mvn -q verify",
        "yarn workspace a test",
    ] {
        check(line, "Test both");
    }
    check("npm run build", "Build both");
    check("npx tsc --noEmit", "Build both");
    check("make", "Build both");
    check("cargo clippy -- -D warnings", "Lint both");
    check("ruff check .", "Lint both");
    check("cargo fmt --check", "Lint both");
}

#[test]
fn a_name_alone_is_no_check() {
    for line in [
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "echo cargo test",
        "pip install pytest",
        "git add tests",
        "ls test",
        "npm install",
        "vim test.js",
        "pytest --version",
        "cargo fmt",
        "/tmp/app-test --help",
        "python -c 'import app.tests'",
        "git commit -m 'cargo test'",
        "black a.py",
    ] {
        check(line, "-");
    }
}

#[test]
fn an_exit_code_is_the_checks_where_nothing_hides_it() {
    check("cd a && cargo test", "Test both");
    check("cargo build && cargo test", "Test pass");
    check("cargo test && git commit -m a", "Test pass");
    check("cargo test | tail -3", "Test nothing");
    check("set -o pipefail; cargo test | tail -3", "Test both");
    check("cargo test || true", "Test nothing");
    check("cargo test; echo $?", "Test nothing");
    check("cargo test && cargo clippy", "Test both");
}

#[test]
fn files_are_written_by_commands() {
    let writes = |line: &str| inspect(line).writes;
    assert_eq!(writes("cat > a.py <<'EOF'\nx > y\nEOF"), ["a.py"]);
    assert_eq!(writes("sed -i 's/a/b/' src/a.rs"), ["src/a.rs"]);
    assert_eq!(writes("make test > /tmp/out 2>/dev/null"), [""; 0]);
    assert_eq!(writes("mv a.py b.py"), ["b.py"]);
    assert_eq!(writes("make 2>&1 | tee build.log"), [""; 0]);
}

#[test]
fn what_gets_around_is_seen() {
    assert!(inspect("git commit --no-verify -m a").leaves_hooks_out);
    assert!(!inspect("git commit -m 'without --no-verify'").leaves_hooks_out);
    assert!(inspect("git log --all -p").looks_up_history);
    assert!(!inspect("git log -3").looks_up_history);
    assert!(inspect("python app.py --demo").runs_by_hand);
    assert!(inspect("curl -s http://localhost:3000/").runs_by_hand);
    assert!(!inspect("curl -s https://example.org").runs_by_hand);
}
