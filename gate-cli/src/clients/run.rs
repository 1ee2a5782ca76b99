//! The facts of starting an agent without a person in front of it, and of its permissions.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The command line that `gate run --agent` starts. `{prompt}` stands for the prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunFacts {
    /// The program and its fixed arguments.
    pub(crate) start: Vec<String>,
    /// Arguments after all options.
    #[serde(default)]
    pub(crate) end: Vec<String>,
    /// Permits to edit files.
    #[serde(default)]
    pub(crate) edits: Grant,
    /// Permits to edit files and to commit; as for edits if not given.
    pub(crate) checks: Option<Grant>,
    /// Permits everything that the client can allow.
    #[serde(default)]
    pub(crate) all: Grant,
    /// Permits single commands in addition to `checks`. `None` if `checks` permits them all.
    pub(crate) commands: Option<CommandGrant>,
    /// Limits of `--allow` with this client.
    pub(crate) note: Option<String>,
}

/// Arguments and variables that permit something.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Grant {
    /// `{git}` stands for git's own folder.
    pub(crate) args: Vec<String>,
    pub(crate) variables: BTreeMap<String, String>,
}

/// The client's way to permit single commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum CommandGrant {
    /// One flag for each command. In the value, `{command}` stands for the command, and
    /// `{program}` for its program alone, but for git with its subcommand.
    Flag { name: String, value: String },
    /// A variable with rules in JSON.
    Rules(String),
}
