//! Those that are tried by themselves read what all of them together read.

use super::*;

#[test]
fn a_command_that_is_read_alone_is_the_same() {
    for line in [
        "check -",
        "check -q --no-checks --no-state out.log",
        "check --while --agent-exit-code -1 --iteration 7 --config a.toml out.log",
        "check --format claude --only tests --json -- --while",
        "scan --json a.log b.log --exit-threshold 3",
        "check",
        "check --help",
        "check --only tests --no-checks out.log",
        "check --version out.log",
        "check --iteration 0 out.log",
        "scan",
        "scan --quiet out.log",
        "hook claude --deadline 2s",
        "hook",
        "-C sub check out.log",
        "last",
        "",
    ] {
        let args: Vec<_> =
            ["gate"].into_iter().chain(line.split_whitespace()).map(OsString::from).collect();
        let shown = |read: Result<Cli, clap::Error>| match read {
            Ok(cli) => format!("{cli:?}"),
            Err(error) => error.render().to_string(),
        };
        assert_eq!(shown(Cli::read(&args)), shown(Cli::try_parse_from(&args)), "{line}");
    }
}
