//! Command lines that start agents without a person in front of them, and the
//! permissions that they give.
//!
//! The flags of a row were tried with the latest version that `crate::clients` has of the
//! client; without one they follow its documentation.

use std::path::Path;

use clap::ValueEnum;
use gate_core::Policy;
use gate_core::decide::policy::CheckPolicy;
use serde_json::json;

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

struct Preset {
    agent: &'static str,
    /// The program and its fixed arguments.
    start: &'static [&'static str],
    /// Arguments after all options.
    end: &'static [&'static str],
    edits: Grant,
    /// In addition to the single commands.
    checks: Grant,
    all: Grant,
    commands: CommandGrant,
    /// Limits of `--allow` with this client.
    note: Option<&'static str>,
}

/// Arguments and variables that permit something.
struct Grant {
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// The client's way to permit single commands.
enum CommandGrant {
    /// The grant for checks permits them all.
    Included,
    /// One flag for each command, with its text between `open` and `close`. With
    /// `name_only`, the text is the program's name alone, except for git.
    Flag { flag: &'static str, open: &'static str, close: &'static str, name_only: bool },
    /// A variable with rules in JSON.
    Rules(&'static str),
}

const fn args(args: &'static [&'static str]) -> Grant {
    Grant { args, variables: &[] }
}

const fn variables(variables: &'static [(&'static str, &'static str)]) -> Grant {
    Grant { args: &[], variables }
}

const NOTHING: Grant = args(&[]);

/// Placeholder for git's own folder.
const GIT_FOLDER: &str = "{git}";

const COARSE: &str = "this client has no permission between none and all: every command is allowed";

const PRESETS: [Preset; 11] = [
    Preset {
        agent: "claude-code",
        start: &["claude", "-p", "--output-format", "stream-json", "--verbose"],
        end: &[],
        edits: args(&["--permission-mode", "acceptEdits"]),
        checks: args(&["--permission-mode", "acceptEdits"]),
        all: args(&["--permission-mode", "bypassPermissions"]),
        commands: CommandGrant::Flag {
            flag: "--allowedTools",
            open: "Bash(",
            close: ":*)",
            name_only: false,
        },
        note: None,
    },
    Preset {
        agent: "codex",
        start: &["codex", "exec", "--json"],
        end: &["-"],
        edits: args(&["--sandbox", "workspace-write"]),
        // Its sandbox lets nobody write git's folder, and so nobody commit.
        checks: args(&["--sandbox", "workspace-write", "--add-dir", GIT_FOLDER]),
        all: args(&["--dangerously-bypass-approvals-and-sandbox"]),
        commands: CommandGrant::Included,
        note: Some("its sandbox allows every command, and none the network"),
    },
    Preset {
        agent: "gemini",
        start: &["gemini", "--output-format", "stream-json"],
        end: &[],
        edits: args(&["--skip-trust", "--approval-mode", "auto_edit"]),
        checks: args(&["--skip-trust", "--approval-mode", "auto_edit"]),
        all: args(&["--skip-trust", "--approval-mode", "yolo"]),
        commands: CommandGrant::Flag {
            flag: "--allowed-tools",
            open: "run_shell_command(",
            close: ")",
            name_only: false,
        },
        note: None,
    },
    Preset {
        agent: "qwen",
        start: &["qwen", "--output-format", "stream-json"],
        end: &[],
        edits: args(&["--approval-mode", "auto-edit"]),
        checks: args(&["--approval-mode", "auto-edit"]),
        all: args(&["--approval-mode", "yolo"]),
        commands: CommandGrant::Flag {
            flag: "--allowed-tools",
            open: "run_shell_command(",
            close: ")",
            name_only: false,
        },
        note: None,
    },
    Preset {
        agent: "copilot",
        start: &["copilot", "-p", "{prompt}", "--output-format", "json"],
        end: &[],
        edits: args(&["--allow-tool", "write"]),
        checks: args(&["--allow-tool", "write"]),
        all: args(&["--allow-all-tools"]),
        commands: CommandGrant::Flag {
            flag: "--allow-tool",
            open: "shell(",
            close: ":*)",
            name_only: true,
        },
        note: None,
    },
    Preset {
        agent: "cursor",
        start: &["cursor-agent", "-p", "--output-format", "stream-json"],
        end: &["{prompt}"],
        edits: args(&["--force"]),
        checks: args(&["--force"]),
        all: args(&["--force"]),
        commands: CommandGrant::Included,
        note: Some(COARSE),
    },
    Preset {
        agent: "opencode",
        start: &["opencode", "run", "--format", "json"],
        end: &["{prompt}"],
        edits: variables(&[("OPENCODE_PERMISSION", r#"{"edit":"allow"}"#)]),
        checks: NOTHING,
        all: args(&["--auto"]),
        commands: CommandGrant::Rules("OPENCODE_PERMISSION"),
        note: None,
    },
    Preset {
        agent: "amp",
        start: &["amp", "-x", "--stream-json"],
        end: &[],
        edits: NOTHING,
        checks: NOTHING,
        all: args(&["--dangerously-allow-all"]),
        commands: CommandGrant::Included,
        note: Some("its own settings say what is allowed"),
    },
    Preset {
        agent: "droid",
        start: &["droid", "exec", "--output-format", "stream-json"],
        end: &["{prompt}"],
        edits: args(&["--auto", "low"]),
        checks: args(&["--auto", "medium"]),
        all: args(&["--auto", "high"]),
        commands: CommandGrant::Included,
        note: Some("`--auto medium` allows local development commands, the network too"),
    },
    Preset {
        agent: "goose",
        start: &["goose", "run", "-i", "-", "--output-format", "stream-json"],
        end: &[],
        edits: variables(&[("GOOSE_MODE", "auto")]),
        checks: variables(&[("GOOSE_MODE", "auto")]),
        all: variables(&[("GOOSE_MODE", "auto")]),
        commands: CommandGrant::Included,
        note: Some(COARSE),
    },
    Preset {
        agent: "aider",
        start: &["aider", "--yes-always", "--message", "{prompt}"],
        end: &[],
        edits: NOTHING,
        checks: NOTHING,
        all: NOTHING,
        commands: CommandGrant::Included,
        note: Some("it edits and commits, and runs no other command"),
    },
];

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

/// The command line of an agent with these permissions. None for an agent without a
/// preset.
pub(crate) fn agent_start(
    agent: &str,
    allow: Allow,
    context: &PresetContext<'_>,
) -> Option<AgentStart> {
    let preset = PRESETS.iter().find(|preset| preset.agent == agent)?;
    let mut start = AgentStart { note: preset.note, ..AgentStart::default() };
    start.argv.extend(preset.start.iter().map(|word| (*word).to_owned()));
    match allow {
        Allow::None => start.note = None,
        Allow::Edits => start.grant(&preset.edits, context),
        Allow::Checks => {
            start.grant(&preset.checks, context);
            start.grant_commands(&preset.commands, &allowed_commands(context.policy));
        }
        Allow::All => {
            start.note = None;
            start.grant(&preset.all, context);
        }
    }
    start.argv.extend(context.args.iter().cloned());
    start.argv.extend(preset.end.iter().map(|word| (*word).to_owned()));
    Some(start)
}

/// The names of the agents with a preset.
pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.agent)
}

impl AgentStart {
    fn grant(&mut self, grant: &Grant, context: &PresetContext<'_>) {
        let mut words = grant.args.iter().copied().peekable();
        while let Some(word) = words.next() {
            if words.peek() == Some(&GIT_FOLDER) {
                words.next();
                // Without git there is no folder, so the flag before it goes too.
                if let Some(folder) = context.git {
                    self.argv.extend([word.to_owned(), folder.display().to_string()]);
                }
            } else {
                self.argv.push(word.to_owned());
            }
        }
        let variables = grant.variables.iter();
        self.variables.extend(variables.map(|(name, value)| ((*name).into(), (*value).into())));
    }

    fn grant_commands(&mut self, grant: &CommandGrant, commands: &[String]) {
        match grant {
            CommandGrant::Included => {}
            CommandGrant::Flag { flag, open, close, name_only } => {
                let mut values = Vec::new();
                for command in commands {
                    let name = command.split(' ').next().unwrap_or_default();
                    let text = if *name_only && name != "git" { name } else { command };
                    let value = format!("{open}{text}{close}");
                    if !values.contains(&value) {
                        self.argv.extend([(*flag).to_owned(), value.clone()]);
                        values.push(value);
                    }
                }
            }
            CommandGrant::Rules(variable) => {
                let rules = commands.iter().map(|command| (format!("{command}*"), json!("allow")));
                let rules: serde_json::Map<_, _> = rules.collect();
                let all = json!({ "edit": "allow", "bash": rules });
                self.variables.push(((*variable).to_owned(), all.to_string()));
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

/// Quotes a word for a shell if it needs quotes.
pub(crate) fn shell_word(word: &str) -> String {
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+:@%={}".contains(c)
}

/// The prefixes of command lines that an agent needs for its work.
fn allowed_commands(policy: &Policy) -> Vec<String> {
    let mut all = GIT_COMMANDS.map(str::to_owned).to_vec();
    for command in policy.checks.values().filter_map(command_prefix) {
        if !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// The program and its subcommand, without options, so that an agent may run one test
/// alone. An interpreter's command stays whole. None if a client could misread it.
fn command_prefix(check: &CheckPolicy) -> Option<String> {
    let words: Vec<_> = check.command.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let options = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
    let is_module = rest.first() == Some(&"-m") && rest.len() > 1;
    let length = match options {
        _ if check.shell => words.len(),
        0 if is_module => 3,
        0 if INTERPRETERS.contains(&&*name) => words.len(),
        options => options + 1,
    };
    let text = match check.shell {
        true => words.join(" "),
        false => words[..length].iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "),
    };
    Some(text).filter(|text| !text.contains(UNSAFE_CHARS))
}

#[cfg(test)]
mod tests;
