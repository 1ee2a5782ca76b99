//! The examples of the book run: the consoles of a page one after another in a scratch project, as
//! somebody would type them. Settings and JSON are read.
//!
//! `[..]` stands for anything in a line, and a line `...` for any lines.
#![cfg(unix)]

use std::time::Duration;

use serde_json::Value;

use super::page::{Fence, Part, Step, parts};
use super::{SOURCES, pages, read};
use crate::needs::{needs, root};
use crate::support::{Run, gate};

/// A page starts several test runners, one after the other.
const PATIENCE: Duration = Duration::from_secs(600);

/// Stands before and after the output of each command.
const MARK: char = '\u{1e}';

/// The languages of fences. A misspelt one would be tried by nothing.
const LANGUAGES: [&str; 11] = [
    "bash",
    "console",
    "json",
    "markdown",
    "python",
    "rust",
    "rust,no_run",
    "sh",
    "text",
    "toml",
    "yaml",
];

/// One test for each page with a console.
macro_rules! tried {
    ($($test:ident: $page:literal,)*) => {
        $(#[test] fn $test() { try_page($page); })*
        const TRIED: &[&str] = &[$($page,)*];
    };
}

tried! {
    start: "start.md",
    audit: "howto/audit.md",
    bulk: "howto/bulk.md",
    changed_tests: "howto/changed-tests.md",
    ci: "howto/ci.md",
    claude_code: "howto/claude-code.md",
    criteria: "howto/criteria.md",
    decide_first: "howto/decide-first.md",
    disk_space: "howto/disk-space.md",
    goal: "howto/goal.md",
    loop_python: "howto/loop-python.md",
    metrics: "howto/metrics.md",
    monorepo: "howto/monorepo.md",
    night: "howto/night.md",
    notify: "howto/notify.md",
    own_check: "howto/own-check.md",
    projects: "howto/projects.md",
    python: "howto/python.md",
    ralph: "howto/ralph.md",
    replay: "howto/replay.md",
    runbook: "howto/runbook.md",
    rust: "howto/rust.md",
    sealed: "howto/sealed.md",
    store: "howto/store.md",
    tests_first: "howto/tests-first.md",
    typescript: "howto/typescript.md",
}

/// The code blocks of all pages in a language, each with its page.
fn fences(language: &str) -> Vec<(String, Fence)> {
    let all = pages().into_iter().flat_map(|page| {
        let parts = parts(&read(&page)).into_iter();
        parts.map(move |part| (page.clone(), part)).collect::<Vec<_>>()
    });
    let fences = all.filter_map(|(page, part)| match part {
        Part::Fence(fence) if fence.language == language => Some((page, fence)),
        _ => None,
    });
    fences.collect()
}

/// A script that does what the page does, and the steps whose output it marks.
fn script(parts: Vec<Part>) -> (String, Vec<Step>) {
    // `$?` is that of the command before, as in a terminal.
    let mut script = "exec 2>&1\ncode=0\nstatus() { return \"$code\"; }\n".to_owned();
    let mut steps = Vec::new();
    for part in parts {
        match part {
            Part::Setup(lines) => script.push_str(&format!(
                "(set -eu\n{lines}) >../setup.log 2>&1 || {{ echo 'the setup failed:'; cat ../setup.log; }}\n"
            )),
            Part::Fence(Fence { file: Some(file), text, .. }) => script.push_str(&format!(
                "mkdir -p \"$(dirname '{file}')\"\ncat >'{file}' <<'END OF FILE'\n{text}END OF FILE\n"
            )),
            Part::Fence(fence) if fence.language == "console" => {
                for step in fence.steps() {
                    let command = &step.command;
                    script.push_str(&format!(
                        "printf '\\036'\nstatus\n{command}code=$?\nprintf '\\036'\n"
                    ));
                    steps.push(step);
                }
            }
            Part::Fence(_) | Part::Needs(_) => {}
        }
    }
    (script, steps)
}

/// A folder of the user's own, which the scratch project has to share.
fn users(variable: &str, in_home: &str) -> String {
    let home = || format!("{}/{in_home}", std::env::var("HOME").unwrap());
    std::env::var(variable).unwrap_or_else(|_| home())
}

fn try_page(page: &str) {
    let parts = parts(&read(page));
    let mut words = parts.iter().flat_map(|part| match part {
        Part::Needs(words) => words.as_slice(),
        _ => &[],
    });
    if !needs("bash") || !words.all(|word| needs(word)) {
        return;
    }
    let (script, steps) = script(parts);
    let mut run = Run::new("bash").args(["-c", &script]).with_gate_in_path();
    run = run.patience(PATIENCE);
    for (name, value) in [
        ("BOOK", root().display().to_string()),
        ("CARGO_HOME", users("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", users("RUSTUP_HOME", ".rustup")),
        ("GATE_NODE_MODULES", std::env::var("GATE_NODE_MODULES").unwrap_or_default()),
    ] {
        run = run.env(name, value);
    }
    for role in ["AUTHOR", "COMMITTER"] {
        run = run.env(&format!("GIT_{role}_NAME"), "A").env(&format!("GIT_{role}_EMAIL"), "a@b.c");
    }
    let ran = run.run();
    let pieces: Vec<_> = ran.stdout.split(MARK).collect();
    for stray in pieces.iter().step_by(2) {
        assert_eq!(stray.trim(), "", "{SOURCES}/{page}: {}", ran.stdout);
    }
    let outputs: Vec<_> = pieces.iter().copied().skip(1).step_by(2).collect();
    assert_eq!(outputs.len(), steps.len(), "{SOURCES}/{page}: {}{}", ran.stdout, ran.stderr);
    // A backslash is none of a path's.
    let assert = snapbox::Assert::new().normalize_paths(false);
    for (step, output) in steps.iter().zip(outputs) {
        let shown = |output: &str| format!("$ {}{output}", step.command);
        assert.eq(without_times(&shown(output)), shown(&step.expected));
    }
}

/// The text without the times of checks, such as ` (1.2s)`: gate prints those that are long, and
/// how long a check takes is up to the machine.
fn without_times(text: &str) -> String {
    let mut parts = text.split(" (");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let time = part.split_once(')').filter(|(time, _)| {
            time.ends_with('s') && time.chars().all(|c| c.is_ascii_digit() || ". ms".contains(c))
        });
        match time {
            Some((_, rest)) => kept.push_str(rest),
            None => kept.push_str(&format!(" ({part}")),
        }
    }
    kept
}

#[test]
fn times_of_checks_are_left_out() {
    let text = "tests (1.2s), lint (143ms), build (1m 2s); a (note), b (s3)";
    assert_eq!(without_times(text), "tests, lint, build; a (note), b (s3)");
}

#[test]
fn every_page_with_a_console_is_tried() {
    for (page, fence) in fences("console") {
        assert!(TRIED.contains(&page.as_str()), "{page}:{}: name it in `tried!`", fence.line);
    }
}

#[test]
fn every_page_about_a_task_has_an_example_that_runs() {
    for page in pages().into_iter().filter(|page| page.starts_with("howto/")) {
        // A database is shared by machines, and the loop in Rust is a doctest of gate-cli.
        let elsewhere = ["howto/fleet.md", "howto/loop-rust.md"].contains(&page.as_str());
        assert!(elsewhere || TRIED.contains(&page.as_str()), "{page} has no console");
    }
}

#[test]
fn fences_have_a_language_that_is_known() {
    for page in pages() {
        for part in parts(&read(&page)) {
            if let Part::Fence(Fence { language, line, .. }) = part {
                assert!(LANGUAGES.contains(&language.as_str()), "{page}:{line}: {language:?}");
            }
        }
    }
}

#[test]
fn settings_in_the_book_are_understood() {
    let all = fences("toml");
    assert!(all.len() > 10, "the book shows hardly any settings");
    for (page, fence) in all {
        let ran = gate("config show").settings(&fence.text).run();
        assert_eq!(ran.ended(), Some(0), "{page}:{}: {}", fence.line, ran.stderr);
    }
}

#[test]
fn json_in_the_book_is_read() {
    for (page, fence) in fences("json") {
        for value in serde_json::Deserializer::from_str(&fence.text).into_iter::<Value>() {
            assert!(value.is_ok(), "{page}:{}: {value:?}", fence.line);
        }
    }
}

/// The crates include the pages with Rust, whose examples are doctests of theirs.
#[test]
fn rust_in_the_book_is_a_doctest() {
    for (page, _) in fences("rust") {
        let include = format!("include_str!(\"../../{SOURCES}/{page}\")");
        let crates = ["gate-core", "gate-cli"]
            .map(|krate| std::fs::read_to_string(root().join(krate).join("src/lib.rs")).unwrap());
        assert!(crates.iter().any(|text| text.contains(&include)), "no doctest: {page}");
    }
}
