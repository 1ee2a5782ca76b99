//! The pages that show what the program prints of itself: help, exit codes, environment.

use super::{Failure, Gate};

pub(super) fn page(gate: &Gate) -> Result<String, Failure> {
    let help = gate("--help")?;
    let mut page = format!(
        "# Command line\n\n`gate COMMAND --help` prints the same, and `gate man COMMAND` as a \
         manual page.\n\n{}",
        fence(&help)
    );
    for name in commands(&help) {
        add_sections(&name, gate, &mut page)?;
    }
    Ok(page)
}

/// Adds the help of a command and of those below it.
fn add_sections(command: &str, gate: &Gate, page: &mut String) -> Result<(), Failure> {
    let help = gate(&format!("{command} --help"))?;
    page.push_str(&format!("## gate {command}\n\n{}", fence(&help)));
    if help.contains("\nCommands:\n") {
        for name in commands(&help) {
            add_sections(&format!("{command} {name}"), gate, page)?;
        }
    }
    Ok(())
}

fn fence(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    format!("```text\n{}\n```\n\n", lines.join("\n").trim())
}

/// The names of the commands that a help lists: in groups, or below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("\nOptions:").next().unwrap_or_default();
    let list = list.split_once("\nUsage: ").map_or("", |(_, list)| list);
    let names = list.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split("  ").next()?;
        let is_name = name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-');
        (is_name && !name.is_empty() && name != "help").then(|| name.to_owned())
    });
    names.collect()
}

/// `topic` is what `gate help exit-codes` prints.
pub(super) fn exit_codes(topic: &str) -> String {
    format!(
        "# Exit codes\n\n`gate help exit-codes` prints this. [Decision](../concepts/decision.md) \
         explains the verdicts.\n\n{}",
        fence(topic)
    )
}

/// `topic` is what `gate help environment` prints.
pub(super) fn environment(topic: &str) -> String {
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in topic.lines() {
        // A name is indented by two spaces, and the lines that continue its meaning by more.
        let (name, meaning) = match line.strip_prefix("  ") {
            Some(entry) if !entry.starts_with(' ') => entry.split_once("  ").unwrap_or((entry, "")),
            _ => ("", line),
        };
        if !name.is_empty() {
            rows.push((name.trim().to_owned(), String::new()));
        }
        if let Some((_, words)) = rows.last_mut() {
            *words = format!("{words} {}", meaning.trim()).trim().to_owned();
        }
    }
    let rows = rows.iter().map(|(name, meaning)| {
        let names = name.split(", ").map(|name| format!("`{name}`")).collect::<Vec<_>>();
        format!("| {} | {meaning} |\n", names.join(", "))
    });
    format!(
        "# Environment variables\n\n`gate help environment` prints these.\n\n\
         | variable | meaning |\n| --- | --- |\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn commands_are_found_in_groups_and_below_a_command() {
    let grouped = "About\n\nUsage: gate\n\nCheck:\n  setup        Set up\n  help         Print\n\nLook:\n  log  Show\n\nOptions:\n  -h  help\n";
    assert_eq!(commands(grouped), ["setup", "log"]);
}
