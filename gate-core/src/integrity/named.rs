//! Files that the settings of tests name: set-up files, plug-ins, included make files, included data.

use crate::decide::expression::Expression;

/// True for a file that may name others which its tests load.
pub fn names_files(path: &str) -> bool {
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
pub fn named_by_tests(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit('.').next().unwrap_or(name);
    let mut named = match (name, ending) {
        ("Makefile" | "makefile" | "GNUmakefile", _) | (_, "mk") => in_makefile(text),
        (_, "rs") => included(text),
        ("conftest.py", _) => plugins(text),
        (_, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "json" | "yml" | "yaml") => set_up(text),
        _ => Vec::new(),
    };
    for word in &mut named {
        *word = word.trim_start_matches("<rootDir>/").trim_start_matches("./").to_owned();
    }
    named.retain(|word| !word.is_empty() && !word.contains(['$', '*']));
    named
}

/// The makefiles that one includes, and the scripts that its recipes call.
fn in_makefile(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let first = words.clone().next().unwrap_or_default();
        if matches!(first, "include" | "-include" | "sinclude") {
            named.extend(words.skip(1).map(str::to_owned));
        } else if line.starts_with(['\t', ' ']) {
            let scripts = words.by_ref().map(|word| word.trim_start_matches(['@', '-', '+']));
            let scripts = scripts.filter(|word| word.ends_with(".sh") || word.ends_with(".bash"));
            named.extend(scripts.map(str::to_owned));
        }
    }
    named
}

/// The files that a test of Rust has compiled into it.
fn included(text: &str) -> Vec<String> {
    let parts = text.split("include").skip(1).filter_map(|part| {
        let rest =
            part.strip_prefix("_str").or_else(|| part.strip_prefix("_bytes")).unwrap_or(part);
        let rest = rest.strip_prefix('!')?.trim_start_matches(['(', ' ', '\n']);
        rest.strip_prefix('"')?.split('"').next()
    });
    parts.map(str::to_owned).collect()
}

/// The modules that conftest.py has pytest load, as files.
fn plugins(text: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once("pytest_plugins") else { return Vec::new() };
    let list = rest.split([']', ')']).next().unwrap_or_default();
    let quoted = list.split(['"', '\'']).skip(1).step_by(2);
    quoted.map(|module| format!("{}.py", module.replace('.', "/"))).collect()
}

/// The files that a runner of JavaScript loads before tests.
fn set_up(text: &str) -> Vec<String> {
    static KEYS: Expression = Expression::new(
        r#"\b(?:setupFiles\w*|globalSetup|globalTeardown|testEnvironment|snapshotSerializers|resolver|transform|runner|require|reporters?)["']?\s*[:=]"#,
    );
    let mut named = Vec::new();
    let mut rest = text;
    while let Some(found) = KEYS.find(rest) {
        rest = &rest[found.end..];
        let end = match rest.trim_start().chars().next() {
            Some('[') => rest.find(']'),
            Some('{') => rest.find('}'),
            _ => rest.find(['\n', ',']),
        };
        let list = &rest[..end.unwrap_or(rest.len())];
        let quoted = list.split(['"', '\'', '`']).skip(1).step_by(2);
        named.extend(quoted.map(str::to_owned));
        let items = list.lines().filter_map(|line| line.trim().strip_prefix("- "));
        named.extend(items.map(str::to_owned));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::named_by_tests;

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
            assert_eq!(named_by_tests(path, text), expected, "{path}");
        }
    }
}
