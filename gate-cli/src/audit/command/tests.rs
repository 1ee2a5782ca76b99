//! Commands that agents run, and what each shows.

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    let inspected = inspect(line);
    let found = match &inspected.check {
        None => "-".to_owned(),
        Some(Check { kind, code_shows_pass, code_shows_failure, .. }) => {
            let shows = match (code_shows_pass, code_shows_failure) {
                (true, true) => "both",
                (true, false) => "pass",
                (false, true) => "failure",
                (false, false) => "nothing",
            };
            format!("{kind:?} {shows}")
        }
    };
    assert_eq!(found, expected, "{line}");
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
        "mix test test/a_test.exs",
        "npx hardhat test",
        "npm.cmd test",
        "powershell -Command \"Set-Location 'c:\\a'; npx vitest run\"",
        "ssh host 'cd a && make test'",
        "mise run test:unit",
        "mise --cd a run test",
        "tool exec --with=3 -- corepack pnpm node --run test",
        "tool x -- bats a.bats",
        "for i in 1 2; do pytest -q; done",
        "./gradlew :app:testDebugUnitTest",
        "nix develop --command 'make test'",
        "nix develop -c bash -lc 'cd a && cargo test'",
        ".\\venv\\Scripts\\pytest",
        "docker run --rm -v \"$PWD:/w\" ghcr.io/a/pytest:8 .",
    ] {
        check(line, "Test both");
    }
    check("npm run build", "Build both");
    check("npx tsc --noEmit", "Build both");
    check("make", "Build both");
    check("npx next build", "Build both");
    check("npm run check", "Build both");
    check("swift build -c release", "Build both");
    check("docker compose build", "Build both");
    check("docker build -t app-test ./app", "Build both");
    check("cargo clippy -- -D warnings", "Lint both");
    check("ruff check .", "Lint both");
    check("cargo fmt --check", "Lint both");
    check("bin/rubocop app", "Lint both");
    check("bash -n a.sh", "Lint both");
    check("ruby -c a.rb", "Lint both");
    for line in ["tool lint", "tool a lint", "npx --yes a-lint@latest a.yml", "a-validator a.json"]
    {
        check(line, "Lint both");
    }
    for line in
        ["tool check --fix", "nix flake check", "a-rebuild build --flake .#b", "node build.js"]
    {
        check(line, "Build both");
    }
    check("python3 tools/validate_week.py", "Build both");
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
        "bin/rails runner 'Test.count; build'",
        "bash fetch_test_photos.sh",
        "npm install test-kit",
        "ruff format .",
        "command -v shellcheck",
        "npm ci",
        "tool add test",
        "tool list --name test",
        "tool fmt",
        "go run -tags test ./a",
        "python tools/build_index.py",
        "pytest --collect-only",
        "git stash && npm test; git stash pop",
        "/tmp/app-test",
        "scripts/check-prerequisites.sh --json",
        "npm run check:env",
        "jq -r .name a.json",
        "docker rm -f app-test",
        "$DIR/app-test.exe debug",
        "git commit -m \"$(cat <<'EOF'\nRun \"npm test\"\nnpm test\nEOF\n)\"",
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
    check("npm ci && npm test", "Test pass");
    check("npm ci; npm test", "Test both");
    check("set -e\nnpm test\nls", "Test pass");
}

#[test]
fn texts_show_the_end_if_the_code_is_hidden() {
    let texts = |line: &str| {
        let check = inspect(line).check.unwrap();
        (check.pass_text, check.failure_text, check.code_text)
    };
    let words = |text: &str| Some(text.to_owned());
    assert_eq!(texts("make test && echo OK || echo BAD"), (words("OK"), words("BAD"), None));
    assert_eq!(texts("make test; echo \"exit: $?\""), (None, None, words("exit: $?")));
    assert_eq!(texts("make test | tail -3; echo $?"), (None, None, None));
    let piped = "make test | tail; echo ${PIPESTATUS[0]}";
    assert_eq!(texts(piped), (None, None, words("${PIPESTATUS[0]}")));
    assert_eq!(texts("npx tsc | grep src/a || echo clean"), (words("clean"), None, None));
    assert_eq!(texts("make test | grep -q 'all passed' || echo BAD"), (None, words("BAD"), None));
}

#[test]
fn silence_shows_the_end_of_some_checks() {
    let is_silent = |line: &str| inspect(line).check.unwrap().is_silent;
    assert!(is_silent("npx tsc --noEmit 2>&1 | head -20") && is_silent("bash -n a.sh"));
    assert!(!is_silent("npx tsc --noEmit | grep src") && !is_silent("pytest -q | tail -3"));
    assert!(is_silent("cargo build 2>&1 | grep -E '^error' | head"));
    assert!(is_silent("go test ./... | grep -vE '^ok|no test files' | head"));
    assert!(!is_silent("make test | grep -i error"));
    let check = inspect("npx tsc | head -5; echo '--- types'; ls").check.unwrap();
    assert_eq!(check.end_text.as_deref(), Some("--- types"));
}

#[test]
fn files_are_written_by_commands() {
    let writes = |line: &str| inspect(line).writes;
    assert_eq!(writes("cat > a.py <<'EOF'\nx > y\nEOF"), ["a.py"]);
    assert_eq!(writes("sed -i 's/a/b/' src/a.rs"), ["src/a.rs"]);
    assert_eq!(writes("make test > /tmp/out 2>/dev/null"), [""; 0]);
    assert_eq!(writes("mv a.py b.py"), ["b.py"]);
    assert_eq!(writes("cp target/a ~/.local/bin/a"), [""; 0]);
    assert_eq!(writes("make 2>&1 | tee build.txt"), ["build.txt"]);
    assert_eq!(writes("echo a | sudo tee /etc/a.conf"), ["/etc/a.conf"]);
    assert_eq!(writes("ssh host 'cat > /etc/b.conf' < b"), ["/etc/b.conf"]);
    assert_eq!(writes("docker exec vpn vpn ssh a@b 'tee /etc/c.conf'"), ["/etc/c.conf"]);
    assert_eq!(writes("cd /tmp/x && echo a > b.rb"), [""; 0]);
    assert_eq!(writes("dir > NUL"), [""; 0]);
    assert_eq!(writes("perl -pi -e 's/a/b/' c.pl"), ["c.pl"]);
    assert_eq!(writes("perl -Mstrict -e 'print 1' c.pl"), [""; 0]);
    assert_eq!(writes("Set-Content -Path a.bat -Value 'x'"), ["a.bat"]);
    assert_eq!(writes("Get-Content a.md | Set-Content -Encoding UTF8 a.cs"), ["a.cs"]);
    assert_eq!(writes("$p = 'a.cs'; 'x' | Out-File $p"), ["a.cs"]);
    assert_eq!(writes("apply_patch <<'P'\n*** Begin Patch\n*** Update File: a.rs\nP"), ["a.rs"]);
}

#[test]
fn a_line_of_any_length_is_looked_at_once() {
    let line = "Set-Content $a x; bash -c 'nix -c bash -c b'; ".repeat(20_000);
    assert_eq!(inspect(&format!("$a = 'a.cs'; {line}")).writes.len(), 20_000);
}

#[test]
fn commands_in_commands_are_looked_at_up_to_a_bound() {
    check(&format!("foo{}", " x".repeat(1_000)), "-");
    check(&format!("make{}", " -c".repeat(100_000)), "-");
    check(&format!("find .{}", " -exec find .".repeat(30_000)), "-");
    check("find . -exec env -i npx -- pytest -q {} +", "Test both");
    check(&format!("pnpm exec pytest{}", " a.py".repeat(50_000)), "Test both");
}

#[test]
fn files_are_written_by_scripts_in_a_command() {
    let writes = |line: &str| inspect(line).writes;
    assert_eq!(writes("python3 - <<'E'\nopen('a.py', 'w').write(x)\nE"), ["a.py"]);
    assert_eq!(writes("python3 -c \"print(open('a.py').read())\""), [""; 0]);
    assert_eq!(writes("python3 - <<'E'\nopen('a.md', 'w').write(x)\nE"), [""; 0]);
    let code = "python3 - <<'E'\np = Path('a.md')\np.write_text(t.replace('v1.b', 'v2.b'))\nE";
    assert_eq!(writes(code), [""; 0]);
    assert_eq!(writes("python3 -c \"open('/w/a b.csv', 'w').write(x)\""), ["/w/a b.csv"]);
    assert_eq!(writes("node -e \"fs.writeFileSync('a.json', x)\""), ["a.json"]);
}

#[test]
fn what_gets_around_is_seen() {
    assert!(inspect("git commit --no-verify -m a").leaves_hooks_out);
    assert!(!inspect("git commit -m 'without --no-verify'").leaves_hooks_out);
    assert!(inspect("git log --all -p").looks_up_history);
    assert!(!inspect("git log -3").looks_up_history);
}

#[test]
fn a_script_whose_name_says_nothing_may_check() {
    assert_eq!(inspect("bash tools/all.sh").scripts, ["tools/all.sh"]);
    assert_eq!(inspect("bash tools/update-context.sh; npm run dev").scripts, [""; 0]);
    for line in ["gh run watch 7", "npm run deploy"] {
        assert_eq!(inspect(line).scripts.len(), 1, "{line}");
    }
    assert_eq!(inspect("$engine --headless --import").scripts, ["$engine"]);
    assert_eq!(inspect("node /tmp/check.mjs").scripts, ["/tmp/check.mjs"]);
    let writes = "python3 -c \"json.dump(x, open('a.json', 'w')); json.load(open('a.json'))\"";
    assert_eq!(inspect(writes).scripts, [writes]);
    assert_eq!(inspect("python app.py; ./app --demo; bash -c 'echo'").scripts, [""; 0]);
}

#[test]
fn one_off_code_checks_what_it_asserts() {
    for line in ["python -c 'import a; a.validate()'", "python3 -c 'import a\nassert a.b() == 3'"] {
        let check = inspect(line).check.unwrap();
        assert!(check.is_one_off && check.kind == CheckKind::Lint, "{line}");
    }
    check("node -e 'console.log(/a/.test(b))'", "-");
}

#[test]
fn a_commit_runs_hooks_unless_they_are_left_out() {
    assert!(inspect("git add -A && git commit -qm a").runs_hooks && inspect("git push").runs_hooks);
    assert!(!inspect("git push --no-verify").runs_hooks && !inspect("git status").runs_hooks);
}

#[test]
fn a_long_command_line_is_looked_at_once() {
    // Each check would be compared with all others: an hour and more.
    let line = format!("{}pytest -q", "set -e; tsc; ".repeat(30_000));
    let inspected = inspect(&line);
    assert_eq!(inspected.check.map(|check| check.command).as_deref(), Some("pytest -q"));
}
