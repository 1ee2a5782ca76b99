//! The pages that are generated: from the codes, the command line, the settings and the schemas.
//!
//! `UPDATE=1 cargo test -p gate-cli --test gate -- book::generated` rewrites them.

use std::fs;

use gate_core::decide::reason::{Explanation, ReasonCode, WarningCode};

use super::{SOURCES, json, settings};
use crate::explain::ERROR_PAGES;
use crate::here::files;
use crate::needs::root;
use crate::support::gate;
use crate::tidy::CRATES;

const REWRITE: &str =
    "rewrite it with `UPDATE=1 cargo test -p gate-cli --test gate -- book::generated`";

/// When a reason is a false alarm, for each reason code.
const FALSE_ALARMS: &str = "docs/book/false-alarms.toml";

#[track_caller]
fn compare(page: &str, text: &str) {
    let file = root().join(SOURCES).join(page);
    let text = format!("{}\n", text.trim_end());
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, &text).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == text, "{SOURCES}/{page} is stale: {REWRITE}");
}

/// A table of a document at the repository's root.
fn table(name: &str) -> toml::Table {
    toml::from_str(&fs::read_to_string(root().join(name)).unwrap()).unwrap()
}

/// The parts of an explanation, as [`section`] takes them.
fn texts(page: Explanation) -> [&'static str; 4] {
    [page.what, page.why, page.example, page.next]
}

fn section(code: &str, [what, why, example, next]: [&str; 4]) -> String {
    format!("## {code}\n\n{what}\n\n{why}\n\n*Example:* {example}\n\n**Do this:** {next}\n\n")
}

#[test]
fn reasons() {
    let alarms = table(FALSE_ALARMS);
    let mut text = "# Reasons\n\nA reason says why the verdict is what it is. `gate explain CODE` \
                    prints the first part of a section.\n\n"
        .to_owned();
    for reason in ReasonCode::ALL {
        let code = reason.code();
        let alarm = alarms.get(code).and_then(toml::Value::as_str);
        let alarm = alarm.unwrap_or_else(|| panic!("{FALSE_ALARMS} has no line for {code}"));
        text.push_str(&section(code, texts(reason.explanation())));
        text.push_str(&format!("**False alarm?** {alarm}\n\n"));
    }
    compare("refusals/reasons.md", &text);
    let unknown = alarms
        .keys()
        .filter(|code| ReasonCode::ALL.iter().all(|reason| reason.code() != code.as_str()));
    assert_eq!(unknown.collect::<Vec<_>>(), [""; 0], "{FALSE_ALARMS}");
}

#[test]
fn warnings() {
    let mut text =
        "# Warnings\n\nA warning changes no verdict. It says what is worth a look.\n\n".to_owned();
    for warning in WarningCode::ALL {
        text.push_str(&section(warning.code(), texts(warning.explanation())));
    }
    compare("refusals/warnings.md", &text);
}

#[test]
fn errors() {
    let mut text = "# Errors\n\nAfter an error nothing was decided: the exit code is 2 or 5, and \
                    never that of a pass. With `--json`, `code` of `gate.error.v1` is the \
                    error's code.\n\n"
        .to_owned();
    for (code, page) in table(ERROR_PAGES) {
        let parts = ["what", "why", "example", "next"].map(|key| page[key].as_str().unwrap());
        text.push_str(&section(&code, parts));
    }
    compare("refusals/errors.md", &text);
}

/// The names of the commands that a help lists: in groups, or below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("\nOptions:").next().unwrap_or_default();
    let list = list.split_once("\nUsage: ").map_or("", |(_, rest)| rest);
    let names = list.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split("  ").next()?;
        let is_name = name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        (is_name && !name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

/// The help of a command and of those below it.
fn helped(path: &str, text: &mut String) {
    let help = gate(&format!("{path} --help")).code(0).stdout;
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    text.push_str(&format!("## gate {path}\n\n```text\n{}\n```\n\n", lines.join("\n").trim()));
    if help.contains("\nCommands:\n") {
        for name in commands(&help) {
            helped(&format!("{path} {name}"), text);
        }
    }
}

#[test]
fn command_line() {
    let help = gate("--help").code(0).stdout;
    let lines: Vec<_> = help.lines().map(str::trim_end).collect();
    let mut text = format!(
        "# Command line\n\n`gate COMMAND --help` prints the same, and `gate man COMMAND` as a \
         manual page.\n\n```text\n{}\n```\n\n",
        lines.join("\n").trim()
    );
    for name in commands(&help) {
        helped(&name, &mut text);
    }
    compare("reference/command-line.md", &text);
}

#[test]
fn exit_codes() {
    let topic = gate("help exit-codes").code(0).stdout;
    let text = format!(
        "# Exit codes\n\n`gate help exit-codes` prints this. [Decision](../concepts/decision.md) \
         explains the verdicts.\n\n```text\n{}\n```\n",
        topic.trim_end()
    );
    compare("reference/exit-codes.md", &text);
}

#[test]
fn every_variable_of_the_sources_is_described() {
    let topic = gate("help environment").code(0).stdout;
    let mut found = 0;
    for krate in CRATES {
        for file in files(&root().join(krate).join("src")) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let variables = text.split('"').filter(|text| {
                let name = text.strip_prefix("GATE_").unwrap_or_default();
                !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            });
            for variable in variables {
                assert!(
                    topic.contains(&format!("{variable} ")),
                    "{variable} of {}",
                    file.display()
                );
                found += 1;
            }
        }
    }
    assert!(found >= 8, "{found}");
}

#[test]
fn environment() {
    let topic = gate("help environment").code(0).stdout;
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in topic.lines() {
        let (name, meaning) = match line.strip_prefix("  ") {
            Some(rest) if !rest.starts_with(' ') => rest.split_once("  ").unwrap_or((rest, "")),
            _ => ("", line),
        };
        if !name.is_empty() {
            rows.push((name.trim().to_owned(), String::new()));
        }
        let row = rows.last_mut().expect("a variable before its meaning");
        row.1 = format!("{} {}", row.1, meaning.trim()).trim().to_owned();
    }
    let rows = rows.iter().map(|(name, meaning)| {
        let names = name.split(", ").map(|name| format!("`{name}`")).collect::<Vec<_>>();
        format!("| {} | {meaning} |\n", names.join(", "))
    });
    let text = format!(
        "# Environment variables\n\n`gate help environment` prints these.\n\n\
         | variable | meaning |\n| --- | --- |\n{}",
        rows.collect::<String>()
    );
    compare("reference/environment.md", &text);
}

#[test]
fn settings_reference() {
    let file = root().join("gate-core/src/config/default.toml");
    compare("reference/settings.md", &settings::page(&fs::read_to_string(file).unwrap()));
}

#[test]
fn json_reference() {
    compare("reference/json.md", &json::page());
}

#[test]
fn commands_are_found_in_groups_and_below_a_command() {
    let grouped = "About\n\nUsage: gate\n\nCheck:\n  setup        Set up\n  help         Print\n\nLook:\n  log  Show\n\nOptions:\n  -h  help\n";
    assert_eq!(commands(grouped), ["setup", "log"]);
}
