//! The help: commands by group, examples, topics.

use clap::{Command, CommandFactory};

use super::cli::Cli;
use crate::render::fitted;

pub(crate) const ENVIRONMENT: &str = include_str!("help/environment.txt");
pub(crate) const EXIT_CODES: &str = include_str!("help/exit-codes.txt");
pub(crate) const FILES: &str = include_str!("help/files.txt");

/// The words of each command behind `gate`, and indented below them lines for a shell.
const EXAMPLES: &str = concat!("\n", include_str!("help/examples.txt"));

/// Topics of `gate help`, each with its text.
const TOPICS: [(&str, &str); 4] = [
    ("exit-codes", EXIT_CODES),
    ("environment", ENVIRONMENT),
    ("signals", include_str!("help/signals.txt")),
    ("trust", include_str!("help/trust.txt")),
];

/// The commands by group, in the order of the help.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Check",
        &[
            "setup",
            "check",
            "ci",
            "run",
            "goal",
            "init",
            "install",
            "uninstall",
            "doctor",
            "prompt",
            "demo",
        ],
    ),
    ("Look", &["last", "explain", "log", "report", "audit", "replay", "tune", "scan", "status"]),
    ("Control", &["trust", "approve", "baseline", "stop", "off", "on", "breaker", "seal", "wrong"]),
    ("Teams", &["work", "bus", "fact", "handoff", "exit"]),
    ("Plumbing", &["config", "ledger", "prune", "hook", "completions", "man", "help"]),
];

/// The command line with examples, and with the commands in groups.
pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    let groups = group_lists(&command);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         Topics of `gate help`: exit-codes, environment, signals, trust\n",
    );
    with_examples(command, "").help_template(template)
}

/// The text of a topic.
pub(crate) fn topic(name: &str) -> Option<&'static str> {
    TOPICS.iter().find(|(topic, _)| *topic == name).map(|(_, text)| *text)
}

/// The commands by group, in lines that fit a terminal.
fn group_lists(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{title}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let line = format!("  {name:<12} {}\n", about.cloned().unwrap_or_default());
            text.push_str(&fitted(&line));
        }
        text.push('\n');
    }
    text
}

/// The command and its subcommands with their examples; `path` holds the words that lead to it.
fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<_> =
        command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let subpath = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |subcommand| with_examples(subcommand, &subpath))
    });
    let Some((_, examples)) = EXAMPLES.split_once(&format!("\n{path}\n")) else { return command };
    let lines = examples.lines().take_while(|line| line.starts_with(' '));
    let examples: String = lines.map(|line| format!("{line}\n")).collect();
    let notes = command.get_after_help().map(|notes| format!("\n{notes}")).unwrap_or_default();
    command.after_help(format!("Examples:\n{examples}{notes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        let shown = |inner: &&Command| inner.get_name() != "help" && !inner.is_hide_set();
        for inner in command.get_subcommands().filter(shown) {
            let path = format!("{path} {}", inner.get_name()).trim().to_owned();
            leaves(inner, &path, found);
            found.push(path);
        }
    }

    #[test]
    fn each_command_has_examples_and_a_place_in_the_help() {
        let mut all = Vec::new();
        let mut command = Cli::command();
        command.build();
        leaves(&command, "", &mut all);
        for path in &all {
            assert!(EXAMPLES.lines().any(|line| line == path), "no example: gate {path}");
            let grouped = GROUPS.iter().any(|(_, names)| names.contains(&path.as_str()));
            assert!(grouped || path.contains(' '), "no group: gate {path}");
        }
        for path in EXAMPLES.lines().skip(1).filter(|line| !line.starts_with(' ')) {
            assert!(all.iter().any(|known| known == path), "no command: gate {path}");
        }
    }

    #[test]
    fn examples_are_command_lines_that_gate_understands() {
        let mut path = "";
        for line in EXAMPLES.lines() {
            if !line.starts_with(' ') {
                path = line;
                continue;
            }
            let line = line.split(" #").next().unwrap();
            let at = line.find("gate ").unwrap();
            let end = line[at..].find([';', '|', '>', '<']).map_or(line.len(), |end| at + end);
            let words = shlex::split(&line[at..end]).unwrap();
            let parsed = command().try_get_matches_from(words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            assert!(line.contains(&format!("gate {path}")), "{line}");
        }
    }

    #[test]
    fn the_first_help_fits_a_terminal() {
        let help = command().term_width(80).render_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for (title, _) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
        }
    }
}
