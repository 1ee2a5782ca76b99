//! Settings of test runners of which one value is stricter than another.

use std::collections::BTreeMap;

use crate::integrity::lines;

/// Switches that are stricter while they are on, by the runner.
const ON: &[(&str, &[&str])] = &[
    (
        "pytest",
        &[
            "strict",
            "strict_config",
            "strict_markers",
            "strict_parametrization_ids",
            "strict_xfail",
            "xfail_strict",
        ],
    ),
    ("coverage", &["branch"]),
    ("jest", &["errorOnDeprecated"]),
    ("vitest", &["requireAssertions"]),
    (
        "mocha",
        &[
            "checkLeaks",
            "check-leaks",
            "failZero",
            "fail-zero",
            "forbidOnly",
            "forbid-only",
            "forbidPending",
            "forbid-pending",
        ],
    ),
    ("nyc", &["check-coverage", "per-file"]),
    ("c8", &["check-coverage", "per-file"]),
    ("playwright", &["forbidOnly"]),
];

/// Switches that are stricter while they are off.
const OFF: &[(&str, &[&str])] = &[
    ("jest", &["passWithNoTests"]),
    ("vitest", &["allowOnly", "dangerouslyIgnoreUnhandledErrors", "passWithNoTests"]),
];

/// Thresholds of coverage.
const THRESHOLDS: &[(&str, &[&str])] = &[
    ("coverage", &["fail_under"]),
    ("jest", &["branches", "functions", "lines", "statements"]),
    ("vitest", &["branches", "functions", "lines", "statements"]),
    ("nyc", &["branches", "functions", "lines", "statements"]),
    ("c8", &["branches", "functions", "lines", "statements"]),
];

/// Options of pytest by which as much is run as without them, and which are no weaker.
const HARMLESS: &[&str] = &["-v", "-vv", "-q", "-ra", "-rA", "--strict", "--durations", "--tb"];

/// The runner whose key this is: `tool.pytest.ini_options.addopts`, `tool:pytest.addopts`,
/// `coverage:run.branch`.
pub(super) fn runner(name: &str) -> &str {
    let name = name.strip_prefix("tool").map_or(name, |rest| rest.trim_start_matches(['.', ':']));
    name.split(['.', ':']).next().unwrap_or(name)
}

/// The key is no weaker with the new value than with the old one. An absent key has no value: its
/// default is neither the weakest nor the strictest.
pub(super) fn is_no_weaker(name: &str, was: Option<&str>, now: Option<&str>) -> bool {
    let (runner, key) = (runner(name), name.rsplit('.').next().unwrap_or(name));
    match key {
        "addopts" if runner == "pytest" => options_are_no_weaker(was, now),
        "filterwarnings" if runner == "pytest" => warnings_fail_no_less(was, now),
        // A threshold of its own takes a path out of the one for all files.
        _ if was.is_none() && name.contains("coverageThreshold") && !name.contains(".global.") => {
            false
        }
        _ => match (rank(runner, key, was), rank(runner, key, now)) {
            (Some(was), Some(now)) => now >= was,
            _ => false,
        },
    }
}

/// The place of a value among those of its key: the higher, the stricter.
fn rank(runner: &str, key: &str, value: Option<&str>) -> Option<f64> {
    if is_listed(THRESHOLDS, runner, key) {
        // Below zero it is a number of lines, and no share.
        let share = value.map_or(Ok(0.0), |value| value.trim_matches('"').parse::<f64>());
        return share.ok().filter(|share| *share >= 0.0);
    }
    let stricter = match (is_listed(ON, runner, key), is_listed(OFF, runner, key)) {
        (true, _) => 1.0,
        (_, true) => -1.0,
        _ => return None,
    };
    match value.map(|value| value.trim_matches('"').to_ascii_lowercase()).as_deref() {
        None => Some(0.0),
        Some("true" | "yes" | "on" | "1") => Some(stricter),
        Some("false" | "no" | "off" | "0") => Some(-stricter),
        Some(_) => None,
    }
}

fn is_listed(table: &[(&str, &[&str])], runner: &str, key: &str) -> bool {
    table.iter().any(|(name, keys)| *name == runner && keys.contains(&key))
}

/// The words of a value: of a list of TOML, or of a line.
fn words(value: Option<&str>) -> Vec<String> {
    let value = value.unwrap_or_default();
    let text = serde_json::from_str::<Vec<String>>(value).map(|list| list.join(" "));
    let text = text.unwrap_or_else(|_| value.trim_matches('"').to_owned());
    text.split_whitespace().map(str::to_owned).collect()
}

/// All old options are there in their order, and the new ones leave nothing out.
fn options_are_no_weaker(was: Option<&str>, now: Option<&str>) -> bool {
    let was = words(was);
    let mut old = was.iter().peekable();
    let now = words(now);
    let mut new = now.iter();
    while let Some(word) = new.next() {
        let is_warning = word == "-W" && old.peek() != Some(&word);
        let fits = if old.peek() == Some(&word) {
            old.next().is_some()
        } else if is_warning {
            new.next().is_some_and(|filter| filter.starts_with("error"))
        } else {
            word.starts_with("-Werror") || HARMLESS.iter().any(|option| is_option(word, option))
        };
        if !fits {
            return false;
        }
    }
    old.all(|word| HARMLESS.iter().any(|option| is_option(word, option) && *option != "--strict"))
}

/// `--tb` and `--tb=short`; of `--strict` also `--strict-markers`.
fn is_option(word: &str, option: &str) -> bool {
    word.strip_prefix(option).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with('=') || matches!(rest, "-markers" | "-config")
    })
}

/// Of two filters that fit a warning the later one holds: those that are new make it an error,
/// those that are gone ignored it.
fn warnings_fail_no_less(was: Option<&str>, now: Option<&str>) -> bool {
    let [was, now] = [was, now].map(|value| {
        let value = value.unwrap_or_default();
        let list = serde_json::from_str::<Vec<String>>(value);
        list.unwrap_or_else(|_| value.lines().map(|line| line.trim().to_owned()).collect())
    });
    let mut old = was.iter().filter(|filter| !filter.is_empty());
    for filter in now.iter().filter(|filter| !filter.is_empty()) {
        if filter.starts_with("error") && !was.contains(filter) {
            continue;
        }
        let found = old.find(|old| *old == filter || !old.starts_with("ignore"));
        if found != Some(filter) {
            return false;
        }
    }
    old.all(|gone| gone.starts_with("ignore"))
}

/// Only lines of a runner's settings in JavaScript differ that set a switch or a threshold, and
/// none of them is weaker.
pub(super) fn lines_are_no_weaker(path: &str, before: &str, now: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).trim_start_matches('.');
    let runner = match name.split('.').next() {
        Some("jest") => "jest",
        Some("vitest" | "vite") => "vitest",
        Some("mocharc") => "mocha",
        Some("playwright") => "playwright",
        _ => return false,
    };
    let difference = lines::lines(before, now);
    let was = settings(before, &difference.removed);
    let is = settings(now, &difference.added);
    let (Some(was), Some(is)) = (was, is) else { return false };
    was.keys().chain(is.keys()).all(|key| {
        let [was, is] = [&was, &is].map(|settings| settings.get(key).map(String::as_str));
        is_no_weaker(&format!("{runner}.{key}"), was, is)
    })
}

/// The settings in these lines; `None` if a line holds something else, or sets a key once more.
fn settings(text: &str, numbers: &[usize]) -> Option<BTreeMap<String, String>> {
    let mut settings = BTreeMap::new();
    for number in numbers {
        let line = text.lines().nth(*number).unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (key, value) = setting(line)?;
        if settings.insert(key, value).is_some() {
            return None;
        }
    }
    Some(settings)
}

/// The key and the value of a line `key: value,`.
fn setting(line: &str) -> Option<(String, String)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    Some((key.to_owned(), value.trim().trim_end_matches(',').to_owned()))
}
