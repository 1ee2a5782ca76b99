//! Settings of continuous integration by their direction: what is run and what starts it may
//! grow, and no failure may be hidden.
//!
//! Lines are compared, not files: a comment, a line that moved, a workflow under another name
//! is nothing. A new file counts only if it hides a failure.

use std::collections::BTreeMap;

use super::commands::{covers, hides, is_wider};
use super::finding::Finding;
use super::rule;
use crate::decide::expression::Expression;

/// Keys that say nothing of what is run.
const FREE: &[&str] = &[
    "name",
    "description",
    "timeout-minutes",
    "timeout",
    "runs-on",
    "cache",
    "python-version",
    "node-version",
    "go-version",
    "java-version",
    "ruby-version",
    "toolchain",
    "fetch-depth",
    "key",
    "restore-keys",
    "concurrency",
    "group",
    "cancel-in-progress",
    "permissions",
    "contents",
    "id",
    "components",
    "cache-dependency-path",
    "retention-days",
    "packages",
    "id-token",
    "distribution",
    "version",
];

/// Keys by which less is run than without them.
const NARROWS: &[&str] = &[
    "if",
    "paths",
    "branches",
    "tags",
    "types",
    "paths-ignore",
    "branches-ignore",
    "tags-ignore",
    "only",
    "except",
    "rules",
    "when",
    "changes",
];

/// A file of settings, as it was and as it is.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) path: String,
    pub(super) before: Option<String>,
    pub(super) now: Option<String>,
}

/// A line that says something, and where it stands.
#[derive(Clone, Debug)]
struct Line<'s> {
    file: &'s Settings,
    at: usize,
    key: String,
    text: String,
}

/// The findings in all these files together.
pub(super) fn findings(files: &[Settings]) -> Vec<Finding> {
    let mut pools: BTreeMap<&str, Vec<&Settings>> = BTreeMap::new();
    for file in files {
        // A workflow is one under any name; other settings are found by theirs.
        let pool = if is_workflow(&file.path) { "" } else { file.path.as_str() };
        pools.entry(pool).or_default().push(file);
    }
    pools.into_values().filter_map(|files| weaker(&files)).collect()
}

fn is_workflow(path: &str) -> bool {
    let mut parts = path.rsplitn(2, '/');
    let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    folder.ends_with("/workflows") && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// The first line by which less is run, or a failure hidden.
fn weaker(files: &[&Settings]) -> Option<Finding> {
    let all = |text: fn(&Settings) -> Option<&String>| {
        let lines =
            files.iter().flat_map(|file| lines(file, text(file).map_or("", String::as_str)));
        lines.collect::<Vec<_>>()
    };
    let (mut gone, mut new) = (all(|file| file.before.as_ref()), all(|file| file.now.as_ref()));
    gone.retain(|line| {
        let same = new.iter().position(|other| other.text == line.text);
        same.map(|at| new.remove(at)).is_none()
    });
    let hidden = new.iter().find(|line| {
        let is_new_file = line.file.before.is_none();
        let narrows = !is_new_file
            && NARROWS.contains(&line.key.as_str())
            && !gone.iter().any(|old| old.key == line.key);
        hides(&line.text) || narrows && !always(&line.text)
    });
    if let Some(line) = hidden {
        return Some(finding(line.file, "was changed").at(line.at, &line.text));
    }
    let lost = gone.iter().find(|line| !is_free(line, &new))?;
    let how = if lost.file.now.is_none() { "is gone" } else { "was changed" };
    let found = finding(lost.file, how);
    Some(if lost.file.now.is_none() { found } else { found.at(lost.at, &lost.text) })
}

fn finding(file: &Settings, how: &str) -> Finding {
    let how = if file.before.is_none() { "is new" } else { how };
    let finding = rule::CI.finding(&file.path);
    let message = format!("{}: it {how}", finding.message);
    Finding { message, ..finding }
}

fn always(text: &str) -> bool {
    ["always()", "!cancelled()", "success()"].iter().any(|word| text.contains(word))
}

/// The lines that say something, without comments, quotes and the marks of lists.
fn lines<'s>(file: &'s Settings, text: &str) -> Vec<Line<'s>> {
    static COMMENT: Expression = Expression::new(r"^\s*(?:#|//)|\s#\s");
    let found = text.lines().enumerate().filter_map(|(at, line)| {
        let code = COMMENT.find(line).map_or(line, |comment| &line[..comment.start]);
        let code = code.trim().trim_start_matches("- ").replace(['"', '\''], "");
        let text = code.split_whitespace().collect::<Vec<_>>().join(" ");
        let key = text.split_once(':').map_or("", |(key, _)| key).to_ascii_lowercase();
        (!text.is_empty() && text != "-").then_some(Line { file, at, key, text })
    });
    found.collect()
}

/// A line that is gone, and by which not less is run.
fn is_free(line: &Line<'_>, new: &[Line<'_>]) -> bool {
    if FREE.contains(&line.key.as_str()) || hides(&line.text) || line.key.ends_with("-ignore") {
        return true;
    }
    let value =
        |text: &str| text.split_once(':').map_or(text, |(_, value)| value).trim().to_owned();
    let was = value(&line.text);
    if line.key == "uses" {
        let action = |text: &str| text.split('@').next().unwrap_or_default().to_owned();
        return new.iter().any(|now| now.key == "uses" && action(&now.text) == action(&line.text));
    }
    let items = |text: &str| {
        let inner = text.trim_start_matches('[').trim_end_matches(']');
        let items = inner.split(',').map(|item| item.trim().trim_end_matches(':').to_owned());
        items.filter(|item| !item.is_empty()).collect::<Vec<_>>()
    };
    let same_key = new.iter().filter(|now| now.key == line.key);
    let mut same_key = same_key.map(|now| value(&now.text));
    if line.key == "on" || NARROWS.contains(&line.key.as_str()) && line.key != "if" {
        let spread = new.iter().flat_map(|now| items(&now.text)).collect::<Vec<_>>();
        let old_items = items(&was);
        return old_items.iter().all(|old| spread.iter().any(|now| covers(now, old)))
            || same_key.any(|now| {
                old_items.iter().all(|old| items(&now).iter().any(|new| covers(new, old)))
            });
    }
    if line.key.is_empty() && was.contains('*') {
        return new.iter().any(|now| now.key.is_empty() && covers(&now.text, &was));
    }
    same_key.any(|now| is_wider(&was, &now))
        || new.iter().any(|now| now.key.is_empty() && is_wider(&was, &now.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CI: &str = "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - name: tests\n        run: pytest tests/unit\n";

    fn found(files: &[(&str, Option<&str>, Option<&str>)]) -> Vec<String> {
        let own = |text: &Option<&str>| text.map(str::to_owned);
        let files = files.iter().map(|(path, before, now)| Settings {
            path: (*path).to_owned(),
            before: own(before),
            now: own(now),
        });
        let files: Vec<_> = files.collect();
        findings(&files).iter().map(Finding::place).collect()
    }

    const PATH: &str = ".github/workflows/ci.yml";

    #[track_caller]
    fn edited(from: &str, to: &str, expected: &[&str]) {
        let now = CI.replace(from, to);
        assert_ne!(now, CI, "{from}");
        assert_eq!(found(&[(PATH, Some(CI), Some(&now))]), expected, "{to}");
    }

    #[test]
    fn what_runs_as_much_is_nothing() {
        for (from, to) in [
            ("name: ci\n", "# All of it.\nname: everything\n"),
            ("checkout@v4", "checkout@v5"),
            ("pytest tests/unit", "pytest tests"),
            ("pytest tests/unit", "pytest -v tests/unit  # all"),
            ("[push]", "[push, pull_request]"),
            ("on: [push]\n", "on:\n  push:\n  pull_request:\n"),
            ("        run: pytest", "        run: ruff check\n      - run: pytest"),
            ("ubuntu-latest", "ubuntu-24.04"),
            ("      - name: tests\n        run:", "      - run:"),
        ] {
            edited(from, to, &[]);
        }
        let other = ".github/workflows/tests.yml";
        assert_eq!(found(&[(PATH, Some(CI), None), (other, None, Some(CI))]), [""; 0]);
        let deploy = "on:\n  push:\n    branches: [main]\njobs:\n  deploy:\n    if: github.ref == 'refs/heads/main'\n    steps:\n      - run: ./deploy\n";
        assert_eq!(found(&[(".github/workflows/deploy.yml", None, Some(deploy))]), [""; 0]);
        let globs = "on:\n  push:\n    paths:\n      - 'src/*.py'\njobs: {}\n";
        let wider = globs.replace("src/*.py", "src/**/*.py");
        assert_eq!(found(&[(PATH, Some(globs), Some(&wider))]), [""; 0]);
        assert_eq!(found(&[(PATH, Some(&wider), Some(globs))]), [format!("{PATH}:4")]);
    }

    #[test]
    fn what_runs_less_or_hides_a_failure_is_found() {
        for (from, to, line) in [
            ("pytest tests/unit", "pytest tests/unit || true", 9),
            ("pytest tests/unit", "pytest tests/unit -k fast", 9),
            ("pytest tests/unit", "pytest tests/unit/a", 9),
            ("pytest tests/unit", "true", 9),
            ("        run: pytest tests/unit\n", "", 9),
            ("[push]", "[workflow_dispatch]", 2),
            ("  test:\n", "  test:\n    if: false\n", 5),
            ("  test:\n", "  test:\n    if: github.actor == 'x'\n", 5),
            ("    steps", "    continue-on-error: true\n    steps", 6),
            ("on: [push]", "on:\n  push:\n    branches: [none]", 4),
        ] {
            edited(from, to, &[&format!("{PATH}:{line}")]);
        }
        assert_eq!(found(&[(PATH, Some(CI), None)]), [PATH]);
        let away = ".github/workflows/ci.yml.off";
        assert_eq!(found(&[(PATH, Some(CI), None), (away, None, Some(CI))]), [PATH]);
        let soft = "on: push\njobs: {a: {continue-on-error: true}}\n";
        assert_eq!(found(&[(PATH, None, Some(soft))]), [format!("{PATH}:2")]);
    }
}
