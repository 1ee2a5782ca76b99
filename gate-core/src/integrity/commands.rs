//! The direction of a changed command: at least as much is run, and no failure is hidden.

use crate::decide::expression::Expression;

/// Options that select what is run: without one of them more is run.
const SELECTS: &[&str] = &[
    "-p",
    "--package",
    "--lib",
    "--bin",
    "--bins",
    "--test",
    "--tests",
    "--doc",
    "--example",
    "-k",
    "-m",
    "-t",
    "-g",
    "-o",
    "-c",
    "-i",
    "-x",
    "--grep",
    "--filter",
    "--project",
    "--only",
    "--shard",
    "--testNamePattern",
    "--run",
    "-run",
    "--config",
    "--rootdir",
    "--noconftest",
    "--maxfail",
    "--lf",
    "--changed",
    "--findRelatedTests",
    "--selectProjects",
    "--no-run",
];

/// Options by which as much is run as without them: all that begins with one of these.
const HARMLESS: &[&str] = &[
    "-W",
    "-I",
    "-O1",
    "-O2",
    "-O3",
    "-std",
    "-j",
    "--verbose",
    "--quiet",
    "--color",
    "--durations",
    "--workspace",
    "--all",
    "--locked",
    "--frozen",
    "--offline",
    "--no-fail-fast",
    "--cov",
    "--strict",
    "--tb",
    "--ci",
    "--runInBand",
    "--jobs",
];

/// The same, for programs that mean no other thing by them: `make -n` runs nothing.
const HARMLESS_FOR: &[(&str, &[&str])] = &[
    ("pytest", &["-v", "-vv", "-q", "-s", "-n", "-ra", "-rA"]),
    ("cargo", &["-v", "-vv", "-q"]),
    ("go", &["-v", "-race", "-cover"]),
    ("clippy", &["--", "-D", "-Dwarnings"]),
    ("eslint", &["--max-warnings=0"]),
    ("jest", &["--errorOnDeprecated"]),
    ("mocha", &["--forbid-only", "--forbid-pending", "--fail-zero", "--check-leaks"]),
];

/// Options of these that take the next word.
const TAKES_A_WORD: &[&str] = &["-j", "-n", "-D", "--color", "--jobs", "--durations"];

/// Programs that look for tests by themselves.
const RUNNERS: &[&str] = &["pytest", "py.test", "jest", "vitest", "mocha", "ava", "tap"];

/// Looks for what makes a command leave something out, or pass whatever fails.
pub(super) fn hides(text: &str) -> bool {
    static HIDES: Expression = Expression::new(
        r"\|\||;\s*(?:true|:|exit\s+0)\b|^\s*-\s*exit\s+0|^\s*exit\s+0|\bset\s+\+\w*e|continue-on-error:\s*[^f\s]|allow_failure:\s*[^f\s]|\bif:\s*\W*(?:false|0)\b|passWithNoTests|pass-with-no-tests|--if-present|\s-k[ =\x22']|--deselect|--ignore|--exclude|--skip\b|\s-m[ =]*\W?not\b|skip-?tests|maven\.test\.skip|testFailureIgnore|ignoreFailures|--no-verify|ADDOPTS|PathIgnorePatterns|\s-t[ =\x22']|-run[ =]|--co\b|--collect-only|--list-tests|when:\s*\W*(?:never|manual)\b|fail_ci_if_error:\s*f|catchError|returnStatus|\|\s*(?:tee|cat|true|grep)\b|--exit-zero|--exit-0|--no-run|\bSKIP=|\btrap\b",
    );
    HIDES.is_match(text)
}

/// The new command runs at least what the old one ran.
pub(super) fn is_wider(was: &str, now: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let clean = |text: &str| words(text.trim_start_matches('@')).join(" ");
    let (was, now) = (clean(was), clean(now));
    if was == now {
        return true;
    }
    if now.starts_with('-') || hides(&now) {
        return false;
    }
    // What hid a failure may go.
    let was = was.trim_start_matches('-').split("||").next().unwrap_or_default();
    let (old, new) = (words(was), words(&now));
    if old.first() != new.first() {
        return false;
    }
    let old_paths = old.iter().filter(|word| is_path(word)).count();
    // Runners run all that they find if no path is given.
    let no_path = !new.iter().any(|word| is_path(word))
        && old.iter().any(|word| RUNNERS.contains(&word.as_str()));
    let kept = |word: &String| {
        new.contains(word)
            || is_path(word) && (no_path || new.iter().any(|other| covers(other, word)))
            || SELECTS.contains(&word.as_str())
    };
    let lost = old.iter().filter(|word| !kept(word));
    // What an old option selected by may go with it.
    let selected = old
        .windows(2)
        .filter(|pair| SELECTS.contains(&pair[0].as_str()) && !new.contains(&pair[0]));
    let selected: Vec<_> = selected.map(|pair| &pair[1]).collect();
    let mut lost = lost.filter(|word| !selected.contains(word) && !hides(&format!(" {word} ")));
    if lost.next().is_some() {
        return false;
    }
    let is_own = |word: &String| {
        HARMLESS_FOR.iter().any(|(program, options)| {
            old.iter().any(|old| old == program) && options.contains(&word.as_str())
        })
    };
    let mut is_value = false;
    new.iter().all(|word| {
        let follows = std::mem::replace(&mut is_value, TAKES_A_WORD.contains(&word.as_str()));
        old.contains(word)
            || HARMLESS.iter().any(|option| word.starts_with(option))
            || is_own(word)
            || follows && word.chars().all(char::is_alphanumeric)
            || is_path(word) && old_paths > 0
    })
}

/// A path or a glob.
fn is_path(word: &str) -> bool {
    let is_file = word.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..5).contains(&end.len()) && end.chars().all(char::is_alphanumeric)
    });
    !word.starts_with(['-', '$']) && (word.contains(['/', '*']) || is_file)
        || ["test", "tests", "src", "spec", "."].contains(&word)
}

/// One glob or folder holds all that the other holds.
pub(super) fn covers(glob: &str, other: &str) -> bool {
    let base = |glob: &str| {
        let end = glob.find('*').unwrap_or(glob.len());
        glob[..end].trim_end_matches('/').to_owned()
    };
    if glob == other || matches!(glob, "**" | "**/*" | "." | "./...") {
        return true;
    }
    let (own, within) = (base(glob), base(other));
    let is_below = within == own || within.starts_with(&format!("{own}/")) || own.is_empty();
    let end = |glob: &str| glob.rsplit_once('*').map(|(_, end)| end.to_owned());
    let is_deep = glob.contains("**") || !glob.contains('*') || !other.contains("**");
    is_below
        && is_deep
        && end(glob).is_none_or(|end| other.ends_with(&end))
        && !(glob.contains('*')
            && !glob.contains("**")
            && other[own.len()..].trim_start_matches('/').contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_command_runs_all_that_the_other_ran() {
        for (was, now, expected) in [
            ("pytest", "pytest -v", true),
            ("@pytest", "pytest", true),
            ("pytest tests/unit", "pytest tests", true),
            ("pytest tests/unit", "pytest", true),
            ("pytest tests/unit", "pytest tests/unit tests/int", true),
            ("cargo test", "cargo test --workspace --all-features", true),
            ("cargo test -p a", "cargo test", true),
            ("pytest -k 'not slow'", "pytest", false),
            ("pytest || true", "pytest", true),
            ("eslint src/*.js", "eslint 'src/**'", false),
            ("eslint src/*.js", "eslint src/**/*.js", true),
            ("pytest", "pytest tests/unit", false),
            ("pytest", "pytest -k a", false),
            ("pytest", "-pytest", false),
            ("pytest", "pytest || true", false),
            ("pytest", "pytest; exit 0", false),
            ("cargo test", "cargo test --lib", false),
            ("cargo test", "cargo test one", false),
            ("pytest", "pytest -n auto --tb=short", true),
            ("pytest", "pytest --override-ini x=y", false),
            ("jest", "jest -u", false),
            ("make test", "make -n test", false),
            ("python -m pytest", "python -O -m pytest", false),
            ("cc a.c", "cc a.c b.c", true),
            ("sh check.sh", "sh", false),
            ("cargo test", "cargo build", false),
            ("cargo test", "true", false),
            ("jest", "jest --passWithNoTests", false),
            ("pytest --strict-markers", "pytest", false),
            ("cargo clippy", "cargo clippy -- -D warnings", true),
            ("cargo clippy", "cargo clippy -- -A warnings", false),
            ("cargo clippy -- -D warnings", "cargo clippy", false),
            ("cargo clippy; cargo test", "cargo clippy; cargo test warnings", false),
            ("cargo test", "cargo test -- -D warnings", false),
            ("eslint .", "eslint . --max-warnings=0", true),
            ("eslint .", "eslint . --max-warnings=99", false),
            ("mocha", "mocha --forbid-only", true),
            ("mocha --forbid-only", "mocha", false),
        ] {
            assert_eq!(is_wider(was, now), expected, "{was} → {now}");
        }
    }

    #[test]
    fn a_glob_covers_what_it_holds() {
        for (glob, other, expected) in [
            ("**", "src/**", true),
            ("src/**", "src/*.py", true),
            ("src/**/*.py", "src/*.py", true),
            ("src/*.py", "src/**", false),
            ("tests", "tests/unit", true),
            ("docs/**", "src/**", false),
            ("src/*", "src/a/b", false),
            ("main", "main", true),
        ] {
            assert_eq!(covers(glob, other), expected, "{glob} {other}");
        }
    }
}
