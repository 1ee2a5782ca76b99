//! `gate man` and `gate completions`.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::common::DONE;
use super::help;
use crate::failure::Failure;
use crate::render::print;

/// The beginnings of parts of a help's end, each with its section of the manual.
const SECTIONS: [(&str, &str); 4] = [
    ("Examples:", "EXAMPLES"),
    ("Exit codes:", "EXIT STATUS"),
    ("Exit code:", "EXIT STATUS"),
    ("Settings:", "FILES OF AGENTS"),
];

/// A manual page, in roff.
pub(super) fn page(name: Option<&str>) -> Result<u8, Failure> {
    let mut page = Vec::new();
    render(command(name)?, &mut page).map_err(|error| Failure::output(&error))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(DONE)
}

fn command(name: Option<&str>) -> Result<Command, Failure> {
    let mut gate = help::command();
    let Some(name) = name else { return Ok(gate) };
    gate.build();
    let subcommand = gate.find_subcommand(name).cloned();
    subcommand
        .ok_or_else(|| Failure::usage("unknown-command", format!("gate has no command `{name}`")))
}

fn render(command: Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let is_gates_page = command.get_name() == "gate";
    let help_end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_subcommands = command.has_subcommands();
    let man = Man::new(command);
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if has_subcommands {
        man.render_subcommands_section(page)?;
    }
    let mut roff = Roff::new();
    for (title, text) in sections(&help_end) {
        add_section(&mut roff, title, &text);
    }
    if is_gates_page {
        add_section(&mut roff, "EXIT STATUS", help::EXIT_CODES);
    }
    add_section(&mut roff, "FILES", help::FILES);
    add_section(&mut roff, "ENVIRONMENT", help::ENVIRONMENT);
    let related_pages = if is_gates_page { "gate-check(1), gate-run(1)" } else { "gate(1)" };
    add_section(&mut roff, "SEE ALSO", related_pages);
    roff.to_writer(page)
}

/// The text below a command's options, cut into sections: each with its title.
fn sections(help_end: &str) -> Vec<(&'static str, String)> {
    let mut sections: Vec<(&'static str, String)> = Vec::new();
    for line in help_end.lines() {
        let beginning = SECTIONS.iter().find(|(start, _)| line.starts_with(start));
        let text = match beginning {
            Some((start, title)) => {
                sections.push((title, String::new()));
                line[start.len()..].trim_start()
            }
            None => line,
        };
        // Lines before the first title have none.
        if sections.is_empty() {
            sections.push(("NOTES", String::new()));
        }
        // A title alone on its line begins with the line below it.
        if let Some((_, body)) = sections.last_mut()
            && !(body.is_empty() && text.is_empty())
        {
            body.push_str(text);
            body.push('\n');
        }
    }
    sections
}

/// A section whose lines stay as they are.
fn add_section(roff: &mut Roff, title: &str, text: &str) {
    roff.control("SH", [title]).control("nf", []);
    for line in text.trim_end().lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

/// The completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "gate", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_sections_that_a_reader_looks_for() {
        for name in [None, Some("check"), Some("ledger")] {
            let mut page = Vec::new();
            render(command(name).unwrap(), &mut page).unwrap();
            let page = String::from_utf8(page).unwrap();
            let titles: Vec<_> =
                page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
            for title in ["NAME", "SYNOPSIS", "FILES", "ENVIRONMENT", "\"SEE ALSO\""] {
                assert!(titles.contains(&title), "{name:?}: {titles:?}");
            }
            assert!(name.is_none() || titles.contains(&"EXAMPLES"), "{name:?}: {titles:?}");
            let has_codes = titles.contains(&"\"EXIT STATUS\"");
            assert!(name == Some("ledger") || has_codes, "{name:?}: {titles:?}");
        }
    }

    #[test]
    fn the_end_of_a_help_is_cut_at_its_titles() {
        let end = "It is so.\n\nExamples:\n  gate on\n\nExit codes: 0 done,\n5 not done";
        let expected = [
            ("NOTES", "It is so.\n\n"),
            ("EXAMPLES", "  gate on\n\n"),
            ("EXIT STATUS", "0 done,\n5 not done\n"),
        ];
        assert_eq!(sections(end), expected.map(|(title, text)| (title, text.to_owned())));
    }
}
