//! Command lines that this version does not have: those of earlier versions, and words that people
//! try.

use std::ffi::OsString;

/// Commands and options of earlier versions, each with what serves instead. A longer one stands
/// before those that it begins with.
const GONE: [(&str, &str); 15] = [
    (
        "receipt",
        "`gate explain --md` prints a decision, `gate check --junit FILE` writes its checks",
    ),
    ("metrics", "`gate report --json` has the counters, and so has the SQL view `gate_decisions`"),
    ("db check", "`gate ledger verify` checks the store, too"),
    ("db migrate", "`gate doctor --fix` does that"),
    ("db copy", "`gate ledger backup FILE` or `pg_dump` copies a store"),
    ("db", "`gate ledger verify` checks the store, `gate doctor --fix` migrates it"),
    ("ledger restore", "put `gate.db*` aside, the backup in its place, then `gate ledger accept`"),
    ("prune --records", "decisions stay in the store; `gate ledger export` prints them"),
    ("lock", "without `gate trust` no changed setting decides"),
    ("notify test", "`gate doctor --self-test` sends a test message"),
    ("version", "use `gate --version`"),
    ("replay --sweep", "`gate tune --labels FILE` shows the verdicts under each threshold"),
    ("replay --csv", "`gate replay --json` prints one object a row"),
    ("runs", "`gate status` shows the loops, `gate status --watch` each second"),
    ("init --criteria", "write `[[criteria]]` into gate.toml; `gate criteria` shows which are met"),
];

/// Words that people try, each with the command that does this.
const MEANT: [(&str, &str); 12] = [
    ("why", "explain"),
    ("resume", "run --task"),
    ("start", "run"),
    ("ps", "status"),
    ("ls", "status"),
    ("accept", "approve"),
    ("allow", "approve"),
    ("undo", "uninstall"),
    ("remove", "uninstall"),
    ("kill", "stop"),
    ("pause", "off"),
    ("history", "log"),
];

/// One line that says what serves instead of a command line that cannot be understood; none if it
/// is neither an earlier version's nor a word that people try.
pub(super) fn instead(args: &[OsString]) -> Option<String> {
    let words: Vec<_> = args.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    let words: Vec<_> = words.iter().map(AsRef::as_ref).take_while(|word| *word != "--").collect();
    let mut words = words.as_slice();
    loop {
        words = match words {
            ["-C" | "--color", _, rest @ ..] | ["help", rest @ ..] => rest,
            [option, rest @ ..] if option.starts_with('-') => rest,
            _ => break,
        };
    }
    if let Some((name, instead)) = gone(words) {
        return Some(format!("`gate {name}` is gone: {instead}"));
    }
    let word = words.first()?;
    let (_, command) = MEANT.into_iter().find(|(tried, _)| tried == word)?;
    Some(format!("there is no `gate {word}`: use `gate {command}`"))
}

fn gone(words: &[&str]) -> Option<(&'static str, &'static str)> {
    GONE.into_iter().find(|(name, _)| {
        let mut parts = name.split(' ').enumerate();
        parts.all(|(index, part)| match part.starts_with("--") {
            true => words.iter().any(|word| word.split('=').next() == Some(part)),
            false => words.get(index) == Some(&part),
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::cli::Cli;

    fn said(line: &str) -> Option<String> {
        instead(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_line_of_an_earlier_version_names_what_serves_instead() {
        for (name, instead) in GONE {
            let text = said(&format!("gate -C x {name} more")).unwrap();
            assert_eq!(text, format!("`gate {name}` is gone: {instead}"));
        }
        assert!(said("gate db vacuum").unwrap().starts_with("`gate db` is gone"));
        assert!(said("gate replay --sweep=x y").is_some());
        for options in ["-Cx", "--color never", "--color=never -C x", "help"] {
            assert!(said(&format!("gate {options} lock")).unwrap().starts_with("`gate lock`"));
        }
        assert_eq!(said("gate replay logs"), None);
        assert_eq!(said("gate run -- lock"), None);
    }

    #[test]
    fn what_is_named_instead_is_there() {
        let named = GONE.iter().flat_map(|(_, instead)| instead.split("`gate ").skip(1));
        let lines = named.filter_map(|text| text.split('`').next()).map(str::to_owned);
        let meant = MEANT.iter().map(|(_, command)| (*command).to_owned());
        for line in lines.chain(meant) {
            let line = line.replace("run --task", "run --task t --agent codex --prompt p");
            let words = ["gate"].into_iter().chain(line.split(' '));
            let parsed = Cli::command().try_get_matches_from(words);
            let is_version = line == "--version";
            let needs_more = |error: &clap::Error| {
                matches!(
                    error.kind(),
                    clap::error::ErrorKind::MissingRequiredArgument
                        | clap::error::ErrorKind::InvalidValue
                )
            };
            assert!(
                is_version || parsed.is_ok() || parsed.is_err_and(|error| needs_more(&error)),
                "{line}"
            );
        }
        for (word, _) in MEANT {
            assert!(Cli::command().find_subcommand(word).is_none(), "{word}");
        }
    }
}
