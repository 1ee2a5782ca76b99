//! Command lines that this version does not have: those of earlier versions, and words that people
//! try.

use std::ffi::OsString;

/// Commands and options of earlier versions, each with what serves instead. A longer one stands
/// before those that it begins with.
const GONE: [(&str, &str); 16] = [
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
    ("init --criteria", "write `[[criteria]]` into gate.toml; `gate goal` shows which are met"),
    ("criteria", "`gate goal` shows goals and criteria, and runs their commands"),
];

/// Words that people try, each with the command that does this.
const TRIED_WORDS: [(&str, &str); 12] = [
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

/// One line that says what serves instead of a command line that cannot be understood; `None` if
/// that is neither an earlier version's nor a word that people try.
pub(super) fn advice(args: &[OsString]) -> Option<String> {
    let texts: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
    // Behind `--` stand the words of an agent's command.
    let gate_args: Vec<_> =
        texts.iter().map(AsRef::as_ref).take_while(|arg| *arg != "--").collect();
    let mut words = gate_args.as_slice();
    // The options before a command say nothing about it.
    loop {
        words = match words {
            ["-C" | "--color", _, tail @ ..] | ["help", tail @ ..] => tail,
            [option, tail @ ..] if option.starts_with('-') => tail,
            _ => break,
        };
    }
    if let Some((name, advice)) = removed_command(words) {
        return Some(format!("`gate {name}` is gone: {advice}"));
    }
    let word = words.first()?;
    let (_, command) = TRIED_WORDS.into_iter().find(|(tried, _)| tried == word)?;
    Some(format!("there is no `gate {word}`: use `gate {command}`"))
}

/// The command or option of an earlier version, with what serves instead. An option may stand
/// anywhere behind its command.
fn removed_command(words: &[&str]) -> Option<(&'static str, &'static str)> {
    GONE.into_iter().find(|(name, _)| {
        name.split(' ').enumerate().all(|(index, name_word)| {
            if name_word.starts_with("--") {
                words.iter().any(|word| word.split('=').next() == Some(name_word))
            } else {
                words.get(index) == Some(&name_word)
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::commands::cli::Cli;

    fn advice_for(line: &str) -> Option<String> {
        advice(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_line_of_an_earlier_version_names_what_serves_instead() {
        for (name, instead) in GONE {
            let text = advice_for(&format!("gate -C x {name} more")).unwrap();
            assert_eq!(text, format!("`gate {name}` is gone: {instead}"));
        }
        assert!(advice_for("gate db vacuum").unwrap().starts_with("`gate db` is gone"));
        assert!(advice_for("gate replay --sweep=x y").is_some());
        for options in ["-Cx", "--color never", "--color=never -C x", "help"] {
            assert!(
                advice_for(&format!("gate {options} lock")).unwrap().starts_with("`gate lock`")
            );
        }
        assert_eq!(advice_for("gate replay logs"), None);
        assert_eq!(advice_for("gate run -- lock"), None);
    }

    #[test]
    fn what_is_named_instead_is_there() {
        let named = GONE.iter().flat_map(|(_, instead)| instead.split("`gate ").skip(1));
        let lines = named.filter_map(|text| text.split('`').next()).map(str::to_owned);
        let meant = TRIED_WORDS.iter().map(|(_, command)| (*command).to_owned());
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
        for (word, _) in TRIED_WORDS {
            assert!(Cli::command().find_subcommand(word).is_none(), "{word}");
        }
    }
}
