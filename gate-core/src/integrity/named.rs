//! Files that the settings of tests name: set-up files, plug-ins, included make files, included data.

use crate::decide::expression::Expression;

/// A file that may name other files which its tests load.
pub fn may_name_files(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_make = matches!(name, "Makefile" | "makefile" | "GNUmakefile") || name.ends_with(".mk");
    is_make
        || matches!(name, "conftest.py" | "package.json")
        || name.ends_with(".rs")
        || name.contains(".config.")
        || name.starts_with(".mocharc")
}

/// The paths that a file of settings or tests names as what its tests load, as they are written: with
/// slashes, relative to its own folder or to the project's.
pub fn files_named_by_tests(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit('.').next().unwrap_or(name);
    let mut files = match (name, ending) {
        ("Makefile" | "makefile" | "GNUmakefile", _) | (_, "mk") => files_of_makefile(text),
        (_, "rs") => included_files(text),
        ("conftest.py", _) => pytest_plugins(text),
        (_, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "json" | "yml" | "yaml") => {
            set_up_files(text)
        }
        _ => Vec::new(),
    };
    for file in &mut files {
        *file = file.trim_start_matches("<rootDir>/").trim_start_matches("./").to_owned();
    }
    // Only make, or a runner, knows what a variable or a pattern stands for.
    files.retain(|file| !file.is_empty() && !file.contains(['$', '*']));
    files
}

/// The makefiles that one includes, and the scripts that its recipes call.
fn files_of_makefile(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let is_include = matches!(words.clone().next(), Some("include" | "-include" | "sinclude"));
        if is_include {
            files.extend(words.skip(1).map(str::to_owned));
        } else if line.starts_with(['\t', ' ']) {
            // make takes these signs in front of a command for itself.
            let programs = words.by_ref().map(|word| word.trim_start_matches(['@', '-', '+']));
            let scripts = programs.filter(|word| word.ends_with(".sh") || word.ends_with(".bash"));
            files.extend(scripts.map(str::to_owned));
        }
    }
    files
}

/// The files that a test of Rust has compiled into it: `include!`, `include_str!`, `include_bytes!`.
fn included_files(text: &str) -> Vec<String> {
    let files = text.split("include").skip(1).filter_map(|piece| {
        let kind = ["_str", "_bytes"].iter().find_map(|kind| piece.strip_prefix(kind));
        let arguments = kind.unwrap_or(piece).strip_prefix('!')?;
        arguments.trim_start_matches(['(', ' ', '\n']).strip_prefix('"')?.split('"').next()
    });
    files.map(str::to_owned).collect()
}

/// The modules that conftest.py has pytest load, as files.
fn pytest_plugins(text: &str) -> Vec<String> {
    let Some((_, assignment)) = text.split_once("pytest_plugins") else { return Vec::new() };
    let list = assignment.split([']', ')']).next().unwrap_or_default();
    // Every second piece stands between quotes.
    let modules = list.split(['"', '\'']).skip(1).step_by(2);
    modules.map(|module| format!("{}.py", module.replace('.', "/"))).collect()
}

/// The files that a runner of JavaScript loads before tests.
fn set_up_files(text: &str) -> Vec<String> {
    static KEYS: Expression = Expression::new(
        r#"\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|snapshotSerializers|resolver|transform|runner|require|reporters?)["']?\s*[:=]"#,
    );
    let mut files = Vec::new();
    let mut remaining = text;
    while let Some(key) = KEYS.find(remaining) {
        remaining = &remaining[key.end..];
        let value_end = match remaining.trim_start().chars().next() {
            Some('[') => remaining.find(']'),
            Some('{') => remaining.find('}'),
            _ => remaining.find(['\n', ',']),
        };
        let value = &remaining[..value_end.unwrap_or(remaining.len())];
        // Every second piece stands between quotes; a list in YAML may have none.
        let quoted = value.split(['"', '\'', '`']).skip(1).step_by(2);
        files.extend(quoted.map(str::to_owned));
        let entries = value.lines().filter_map(|line| line.trim().strip_prefix("- "));
        files.extend(entries.map(str::to_owned));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::files_named_by_tests;

    #[test]
    fn what_tests_load_by_name() {
        for (path, text, expected) in [
            (
                "vitest.config.js",
                "test: { setupFiles: ['./setup.js', \"b.ts\"] }",
                &["setup.js", "b.ts"][..],
            ),
            (
                "package.json",
                r#"{"main": "lib.js", "jest": {"globalSetup": "<rootDir>/up.js"}}"#,
                &["up.js"],
            ),
            (
                "jest.config.js",
                "module.exports = {\n  transform: { '^.+$': './t.js' },\n}",
                &["t.js"],
            ),
            (
                "Makefile",
                "-include mk/flags.mk\ntest:\n\t@ci/run.sh --all\n\tpytest app.py\n",
                &["mk/flags.mk", "ci/run.sh"],
            ),
            (
                "tests/a.rs",
                "const A: &str = include_str!(\"../data/a.json\");",
                &["../data/a.json"],
            ),
            ("conftest.py", "pytest_plugins = ['lib.fixtures']\n", &["lib/fixtures.py"]),
            ("tests/test_a.py", "open('a.json')\n", &[]),
        ] {
            assert_eq!(files_named_by_tests(path, text), expected, "{path}");
        }
    }
}
