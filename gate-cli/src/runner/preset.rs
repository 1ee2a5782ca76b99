//! Command lines that start agents without a person in front of them, and the
//! permissions that they give.
//!
//! The flags are facts of the clients. They were tried with the latest version that
//! `clients.toml` has of the client; without one they follow its documentation.

use std::path::Path;

use clap::ValueEnum;
use gate_core::Policy;
use gate_core::decide::policy::CheckPolicy;
use gate_core::text::shell_word;
use serde_json::json;

use crate::clients::{CommandGrant, Grant, run_facts};

/// The permissions of an agent that `--agent` starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allow {
    /// The client's own settings decide.
    None,
    /// Edit files.
    Edits,
    /// Edit files, run the project's checks, `git add` and `git commit`.
    Checks,
    /// Everything that its client can allow.
    All,
}

/// Placeholder for git's own folder.
const GIT_FOLDER: &str = "{git}";

/// Placeholder for a command.
const COMMAND: &str = "{command}";

/// Placeholder for a command's program alone, but git with its subcommand.
const PROGRAM: &str = "{program}";

/// Commands that `checks` permits in addition to those of the project's checks.
const GIT_COMMANDS: [&str; 2] = ["git add", "git commit"];

/// Programs that run any program: to permit their names alone would permit everything.
const INTERPRETERS: [&str; 22] = [
    "sh", "bash", "dash", "zsh", "fish", "env", "sudo", "xargs", "nice", "timeout", "python",
    "python3", "node", "deno", "ruby", "perl", "php", "npx", "bunx", "uvx", "uv", "poetry",
];

/// Characters with a meaning in the rules of a client, or that separate shell commands.
const UNSAFE_CHARS: [char; 14] =
    ['(', ')', ',', '\n', '*', '"', '\'', '`', '$', '|', ';', '&', '<', '>'];

/// The command line of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentStart {
    /// The program and its arguments; `{prompt}` stands for the prompt.
    pub(crate) argv: Vec<String>,
    /// Variables in addition to gate's own.
    pub(crate) variables: Vec<(String, String)>,
    /// A note for the person on the permissions.
    pub(crate) note: Option<&'static str>,
}

/// The project's part of an agent's command line.
pub(crate) struct PresetContext<'p> {
    /// The settings, with the commands of the checks.
    pub(crate) policy: &'p Policy,
    /// Git's own folder.
    pub(crate) git: Option<&'p Path>,
    /// The person's own arguments (`[run.agents.NAME] args`).
    pub(crate) args: &'p [String],
}

/// The command line of an agent with these permissions; `None` for an agent without a preset.
pub(crate) fn agent_start(
    agent: &str,
    allow: Allow,
    context: &PresetContext<'_>,
) -> Option<AgentStart> {
    let (_, facts) = run_facts().find(|(name, _)| *name == agent)?;
    let mut start = AgentStart { note: facts.note.as_deref(), ..AgentStart::default() };
    start.argv.extend(facts.start.iter().cloned());
    match allow {
        Allow::None => start.note = None,
        Allow::Edits => start.grant(&facts.edits, context),
        Allow::Checks => {
            start.grant(facts.checks.as_ref().unwrap_or(&facts.edits), context);
            if let Some(grant) = &facts.commands {
                start.grant_commands(grant, &allowed_commands(context.policy));
            }
        }
        Allow::All => {
            start.note = None;
            start.grant(&facts.all, context);
        }
    }
    start.argv.extend(context.args.iter().cloned());
    start.argv.extend(facts.end.iter().cloned());
    Some(start)
}

/// The names of the agents with a preset.
pub(crate) fn preset_agents() -> impl Iterator<Item = &'static str> {
    run_facts().map(|(name, _)| name)
}

impl AgentStart {
    fn grant(&mut self, grant: &Grant, context: &PresetContext<'_>) {
        let mut words = grant.args.iter().peekable();
        while let Some(word) = words.next() {
            if words.next_if(|next_word| *next_word == GIT_FOLDER).is_some() {
                // Without git there is no folder, so the flag before it goes too.
                if let Some(folder) = context.git {
                    self.argv.extend([word.clone(), folder.display().to_string()]);
                }
            } else {
                self.argv.push(word.clone());
            }
        }
        let variables = grant.variables.iter();
        self.variables.extend(variables.map(|(name, value)| (name.clone(), value.clone())));
    }

    fn grant_commands(&mut self, grant: &CommandGrant, commands: &[String]) {
        match grant {
            CommandGrant::Flag { name, value } => {
                let mut rules = Vec::new();
                for command in commands {
                    let program = match command.split(' ').next().unwrap_or_default() {
                        // `git` alone would permit `git push`.
                        "git" => command,
                        program => program,
                    };
                    let rule = match value.contains(PROGRAM) {
                        true => value.replace(PROGRAM, program),
                        false => value.replace(COMMAND, command),
                    };
                    if !rules.contains(&rule) {
                        self.argv.extend([name.clone(), rule.clone()]);
                        rules.push(rule);
                    }
                }
            }
            CommandGrant::Rules(variable) => {
                let rules = commands.iter().map(|command| (format!("{command}*"), json!("allow")));
                let rules: serde_json::Map<_, _> = rules.collect();
                let permissions = json!({ "edit": "allow", "bash": rules });
                self.variables.push((variable.clone(), permissions.to_string()));
            }
        }
    }

    /// The command line as typed in a shell.
    pub(crate) fn shell_line(&self) -> String {
        let variables =
            self.variables.iter().map(|(name, value)| format!("{name}={}", shell_word(value)));
        let argv = self.argv.iter().map(|word| shell_word(word));
        variables.chain(argv).collect::<Vec<_>>().join(" ")
    }
}

/// The prefixes of command lines that an agent needs for its work.
fn allowed_commands(policy: &Policy) -> Vec<String> {
    let mut commands = GIT_COMMANDS.map(str::to_owned).to_vec();
    for command in policy.checks.values().filter_map(command_prefix) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    commands
}

/// The program and its subcommand, without options, so that an agent may run one test
/// alone. An interpreter's command stays whole. `None` if a client could misread it.
fn command_prefix(check: &CheckPolicy) -> Option<String> {
    let words: Vec<_> = check.command.iter().map(String::as_str).collect();
    let (program, arguments) = words.split_first()?;
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let first_option = arguments.iter().position(|word| word.starts_with('-'));
    // `python -m pytest`: the module is the program.
    let is_module = arguments.first() == Some(&"-m") && arguments.len() > 1;
    let length = match first_option.unwrap_or(arguments.len()) {
        _ if check.shell => words.len(),
        0 if is_module => 3,
        0 if INTERPRETERS.contains(&&*name) => words.len(),
        subcommand_length => subcommand_length + 1,
    };
    let text = match check.shell {
        true => words.join(" "),
        false => words[..length].iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    };
    Some(text).filter(|text| !text.contains(UNSAFE_CHARS))
}

#[cfg(test)]
mod tests;
