//! Commands that agents run, and what each shows.

use super::*;

#[track_caller]
fn check(line: &str, expected: &str) {
    let inspected = inspect(line);
    let found = match &inspected.check {
        None if inspected.other.is_some() => "?",
        None => "-",
        Some(Check { code_shows_pass, code_shows_failure, .. }) => {
            match (code_shows_pass, code_shows_failure) {
                (true, true) => "both",
                (true, false) => "pass",
                (false, true) => "failure",
                (false, false) => "nothing",
            }
        }
    };
    assert_eq!(found, expected, "{line}");
}

#[test]
fn runs_of_known_runners_are_checks() {
    for line in [
        "cargo test",
        "cargo +nightly nextest run",
        "python3 -m pytest -q",
        "uv run pytest",
        "npx vitest run",
        "CI=1 timeout 60 go test ./...",
        "bash -c 'cd a && pytest'",
        "bash -lc 'cd a && cargo test'",
        "node --test",
        "poetry run pytest tests/",
        "powershell -Command \"Set-Location 'c:\\a'; npx vitest run\"",
        "for i in 1 2; do pytest -q; done",
        "python3 -m unittest",
    ] {
        check(line, "both");
    }
}

#[test]
fn what_else_runs_may_check_something() {
    for line in [
        "npm test",
        "make check",
        "./scripts/run-tests.sh",
        "npx tsc --noEmit",
        "cargo build",
        "cargo clippy -- -D warnings",
        "docker compose exec app pytest -q",
        "ssh host 'cd a && make test'",
        "python a.py --demo",
        "cd a && ./b; git status",
    ] {
        check(line, "?");
    }
}

#[test]
fn what_only_looks_checks_nothing() {
    for line in [
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "echo cargo test",
        "git add tests && git commit -m 'cargo test'",
        "ls test | head -3; cd a",
        "pytest --version",
        "pytest --collect-only",
        "git stash && cargo test; git stash pop",
        "A=1 && cat $A",
        "git commit -m \"$(cat <<'EOF'\nRun \"npm test\"\nnpm test\nEOF\n)\"",
        "",
    ] {
        check(line, "-");
    }
}

#[test]
fn an_exit_code_is_the_checks_where_nothing_hides_it() {
    check("cd a && cargo test", "both");
    check("cargo build && cargo test", "pass");
    check("cargo test && git commit -m a", "pass");
    check("cargo test | tail -3", "nothing");
    check("set -o pipefail; cargo test | tail -3", "both");
    check("cargo test || true", "nothing");
    check("cargo test; echo $?", "nothing");
    check("cargo test && cargo clippy", "pass");
    check("npm ci && npx vitest", "pass");
    check("npm ci; npx vitest", "both");
    check("set -e\npytest\nls", "pass");
}

#[test]
fn files_are_written_by_commands() {
    let writes = |line: &str| inspect(line).writes;
    assert_eq!(writes("cat > a.py <<'EOF'\nx > y\nEOF"), ["a.py"]);
    assert_eq!(writes("sed -i 's/a/b/' src/a.rs"), ["src/a.rs"]);
    assert_eq!(writes("make test > /tmp/out 2>/dev/null"), [""; 0]);
    assert_eq!(writes("mv a.py b.py"), ["b.py"]);
    assert_eq!(writes("cp old/a.py src/"), ["src/a.py"]);
    assert_eq!(writes("cp target/a ~/.local/bin/a"), [""; 0]);
    assert_eq!(writes("make 2>&1 | tee build.txt"), ["build.txt"]);
    assert_eq!(writes("echo a | sudo tee /etc/a.conf"), ["/etc/a.conf"]);
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
fn a_commit_runs_hooks_unless_they_are_left_out() {
    assert!(inspect("git add -A && git commit -qm a").runs_hooks && inspect("git push").runs_hooks);
    assert!(!inspect("git push --no-verify").runs_hooks && !inspect("git status").runs_hooks);
}

#[test]
fn a_long_command_line_is_looked_at_once() {
    // Each check would be compared with all others: an hour and more.
    let line = format!("{}pytest -q", "set -e; go test; ".repeat(30_000));
    let inspected = inspect(&line);
    assert_eq!(inspected.check.map(|check| check.command).as_deref(), Some("pytest -q"));
}
