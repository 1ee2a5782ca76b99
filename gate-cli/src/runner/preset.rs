//! How agents are started without a person in front of them, and what they are allowed.
//!
//! A row's flags were tried with the version that the row names; a row without one
//! follows the client's documentation.

use std::path::Path;

use clap::ValueEnum;
use gate_core::Policy;
use gate_core::decide::policy::CheckPolicy;
use serde_json::json;

/// What an agent that `--agent` starts may do without asking anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allow {
    /// What its own settings allow.
    None,
    /// Edit files.
    Edits,
    /// Edit files, run the project's checks, `git add` and `git commit`.
    Checks,
    /// Everything that its client can allow.
    All,
}

/// One agent's row.
struct Preset {
    agent: &'static str,
    /// The version that was tried; the guide names it.
    #[cfg_attr(not(test), allow(dead_code, reason = "a fact of the row, which a test reads"))]
    version: Option<&'static str>,
    /// The program, and what it is always given.
    start: &'static [&'static str],
    /// What stands behind all options.
    end: &'static [&'static str],
    edits: Grant,
    /// Beside the single commands.
    checks: Grant,
    all: Grant,
    /// How single commands are allowed.
    commands: Commands,
    /// What `--allow` cannot express for this client.
    note: Option<&'static str>,
}

/// What permits something: arguments and variables.
struct Grant {
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// How a client is told which commands it may run.
enum Commands {
    /// The grant for checks allows them all.
    Granted,
    /// A flag for each; the text stands between these two, and of a program that is
    /// not git only its name where `names` says so.
    Flag { flag: &'static str, open: &'static str, close: &'static str, names: bool },
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

/// Stands for git's own folder.
const GIT_FOLDER: &str = "{git}";

const COARSE: &str = "this client has no permission between none and all: every command is allowed";

const PRESETS: [Preset; 11] = [
    Preset {
        agent: "claude-code",
        version: Some("2.1.330"),
        start: &["claude", "-p", "--output-format", "stream-json", "--verbose"],
        end: &[],
        edits: args(&["--permission-mode", "acceptEdits"]),
        checks: args(&["--permission-mode", "acceptEdits"]),
        all: args(&["--permission-mode", "bypassPermissions"]),
        commands: Commands::Flag {
            flag: "--allowedTools",
            open: "Bash(",
            close: ":*)",
            names: false,
        },
        note: None,
    },
    Preset {
        agent: "codex",
        version: Some("0.169.0"),
        start: &["codex", "exec", "--json"],
        end: &["-"],
        edits: args(&["--sandbox", "workspace-write"]),
        // Its sandbox lets nobody write git's folder, and so nobody commit.
        checks: args(&["--sandbox", "workspace-write", "--add-dir", GIT_FOLDER]),
        all: args(&["--dangerously-bypass-approvals-and-sandbox"]),
        commands: Commands::Granted,
        note: Some("its sandbox allows every command, and none the network"),
    },
    Preset {
        agent: "gemini",
        version: Some("0.61.0"),
        start: &["gemini", "--output-format", "stream-json"],
        end: &[],
        edits: args(&["--skip-trust", "--approval-mode", "auto_edit"]),
        checks: args(&["--skip-trust", "--approval-mode", "auto_edit"]),
        all: args(&["--skip-trust", "--approval-mode", "yolo"]),
        commands: Commands::Flag {
            flag: "--allowed-tools",
            open: "run_shell_command(",
            close: ")",
            names: false,
        },
        note: None,
    },
    Preset {
        agent: "qwen",
        version: Some("0.15.10"),
        start: &["qwen", "--output-format", "stream-json"],
        end: &[],
        edits: args(&["--approval-mode", "auto-edit"]),
        checks: args(&["--approval-mode", "auto-edit"]),
        all: args(&["--approval-mode", "yolo"]),
        commands: Commands::Flag {
            flag: "--allowed-tools",
            open: "run_shell_command(",
            close: ")",
            names: false,
        },
        note: None,
    },
    Preset {
        agent: "copilot",
        version: Some("1.0.102"),
        start: &["copilot", "-p", "{prompt}", "--output-format", "json"],
        end: &[],
        edits: args(&["--allow-tool", "write"]),
        checks: args(&["--allow-tool", "write"]),
        all: args(&["--allow-all-tools"]),
        commands: Commands::Flag {
            flag: "--allow-tool",
            open: "shell(",
            close: ":*)",
            names: true,
        },
        note: None,
    },
    Preset {
        agent: "cursor",
        version: None,
        start: &["cursor-agent", "-p", "--output-format", "stream-json"],
        end: &["{prompt}"],
        edits: args(&["--force"]),
        checks: args(&["--force"]),
        all: args(&["--force"]),
        commands: Commands::Granted,
        note: Some(COARSE),
    },
    Preset {
        agent: "opencode",
        version: Some("1.18.33"),
        start: &["opencode", "run", "--format", "json"],
        end: &["{prompt}"],
        edits: variables(&[("OPENCODE_PERMISSION", r#"{"edit":"allow"}"#)]),
        checks: NOTHING,
        all: args(&["--auto"]),
        commands: Commands::Rules("OPENCODE_PERMISSION"),
        note: None,
    },
    Preset {
        agent: "amp",
        version: None,
        start: &["amp", "-x", "--stream-json"],
        end: &[],
        edits: NOTHING,
        checks: NOTHING,
        all: args(&["--dangerously-allow-all"]),
        commands: Commands::Granted,
        note: Some("its own settings say what is allowed"),
    },
    Preset {
        agent: "droid",
        version: Some("0.215.0"),
        start: &["droid", "exec", "--output-format", "stream-json"],
        end: &["{prompt}"],
        edits: args(&["--auto", "low"]),
        checks: args(&["--auto", "medium"]),
        all: args(&["--auto", "high"]),
        commands: Commands::Granted,
        note: Some("`--auto medium` allows local development commands, the network too"),
    },
    Preset {
        agent: "goose",
        version: None,
        start: &["goose", "run", "-i", "-", "--output-format", "stream-json"],
        end: &[],
        edits: variables(&[("GOOSE_MODE", "auto")]),
        checks: variables(&[("GOOSE_MODE", "auto")]),
        all: variables(&[("GOOSE_MODE", "auto")]),
        commands: Commands::Granted,
        note: Some(COARSE),
    },
    Preset {
        agent: "aider",
        version: None,
        start: &["aider", "--yes-always", "--message", "{prompt}"],
        end: &[],
        edits: NOTHING,
        checks: NOTHING,
        all: NOTHING,
        commands: Commands::Granted,
        note: Some("it edits and commits, and runs no other command"),
    },
];

/// The commands that `checks` allows beside those of the project's checks.
const GIT: [&str; 2] = ["git add", "git commit"];

/// Programs that run whatever they are given: their names alone allow everything.
const INTERPRETERS: [&str; 22] = [
    "sh", "bash", "dash", "zsh", "fish", "env", "sudo", "xargs", "nice", "timeout", "python",
    "python3", "node", "deno", "ruby", "perl", "php", "npx", "bunx", "uvx", "uv", "poetry",
];

/// What means something else in the rules of a client, or makes several commands of one.
const UNSAYABLE: [char; 14] =
    ['(', ')', ',', '\n', '*', '"', '\'', '`', '$', '|', ';', '&', '<', '>'];

/// What an agent is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// The program and its arguments; `{prompt}` stands for the prompt.
    pub(crate) argv: Vec<String>,
    /// Variables that it gets beside gate's own.
    pub(crate) variables: Vec<(String, String)>,
    /// What a person should know of what is allowed.
    pub(crate) note: Option<&'static str>,
}

/// What is known of the project where an agent is started.
pub(crate) struct Project<'p> {
    /// The settings, with the commands of the checks.
    pub(crate) policy: &'p Policy,
    /// Git's own folder.
    pub(crate) git: Option<&'p Path>,
    /// Arguments of the person's own (`[run.agents.NAME] args`).
    pub(crate) args: &'p [String],
}

/// How an agent is started with these permissions; none where nobody here knows.
pub(crate) fn start_of(agent: &str, allow: Allow, project: &Project<'_>) -> Option<Start> {
    let preset = PRESETS.iter().find(|preset| preset.agent == agent)?;
    let mut start = Start { note: preset.note, ..Start::default() };
    start.argv.extend(preset.start.iter().map(|word| (*word).to_owned()));
    match allow {
        Allow::None => start.note = None,
        Allow::Edits => start.grant(&preset.edits, project),
        Allow::Checks => {
            start.grant(&preset.checks, project);
            start.commands(&preset.commands, &commands(project.policy));
        }
        Allow::All => {
            start.note = None;
            start.grant(&preset.all, project);
        }
    }
    start.argv.extend(project.args.iter().cloned());
    start.argv.extend(preset.end.iter().map(|word| (*word).to_owned()));
    Some(start)
}

/// The agents that can be started by name.
pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.agent)
}

impl Start {
    fn grant(&mut self, grant: &Grant, project: &Project<'_>) {
        let mut words = grant.args.iter().copied().peekable();
        while let Some(word) = words.next() {
            if words.peek() == Some(&GIT_FOLDER) {
                words.next();
                let folder = project.git.map(|folder| folder.display().to_string());
                self.argv.extend(folder.into_iter().flat_map(|it| [word.to_owned(), it]));
            } else {
                self.argv.push(word.to_owned());
            }
        }
        let variables = grant.variables.iter();
        self.variables.extend(variables.map(|(name, value)| ((*name).into(), (*value).into())));
    }

    fn commands(&mut self, how: &Commands, commands: &[String]) {
        match how {
            Commands::Granted => {}
            Commands::Flag { flag, open, close, names } => {
                let mut known = Vec::new();
                for command in commands {
                    let name = command.split(' ').next().unwrap_or_default();
                    let shown = if *names && name != "git" { name } else { command };
                    let word = format!("{open}{shown}{close}");
                    if !known.contains(&word) {
                        self.argv.extend([(*flag).to_owned(), word.clone()]);
                        known.push(word);
                    }
                }
            }
            Commands::Rules(variable) => {
                let rules = commands.iter().map(|command| (format!("{command}*"), json!("allow")));
                let rules: serde_json::Map<_, _> = rules.collect();
                let all = json!({ "edit": "allow", "bash": rules });
                self.variables.push(((*variable).to_owned(), all.to_string()));
            }
        }
    }

    /// The command line, as a shell would be given it.
    pub(crate) fn shown(&self) -> String {
        let variables =
            self.variables.iter().map(|(name, value)| format!("{name}={}", word(value)));
        variables.chain(self.argv.iter().map(|it| word(it))).collect::<Vec<_>>().join(" ")
    }
}

/// A word for a shell.
pub(crate) fn word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%={}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The commands that an agent needs to try its work, as the beginnings of their lines.
fn commands(policy: &Policy) -> Vec<String> {
    let mut all = GIT.map(str::to_owned).to_vec();
    for command in policy.checks.values().filter_map(beginning) {
        if !all.contains(&command) {
            all.push(command);
        }
    }
    all
}

/// How the lines of a check's command begin: with the program and what it is to do,
/// without options, so that an agent may run one test alone. An interpreter's
/// command is taken whole.
fn beginning(check: &CheckPolicy) -> Option<String> {
    let words: Vec<_> = check.command.iter().map(String::as_str).collect();
    let (program, rest) = words.split_first()?;
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
    let options = rest.iter().position(|word| word.starts_with('-')).unwrap_or(rest.len());
    let is_module = rest.first() == Some(&"-m") && rest.len() > 1;
    let kept = match options {
        _ if check.shell => words.len(),
        0 if is_module => 3,
        0 if INTERPRETERS.contains(&&*name) => words.len(),
        options => options + 1,
    };
    let text = match check.shell {
        true => words.join(" "),
        false => words[..kept].iter().map(|it| word(it)).collect::<Vec<_>>().join(" "),
    };
    Some(text).filter(|text| !text.contains(UNSAYABLE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(checks: &str) -> Policy {
        use gate_core::config::{Layer, Origin, resolve};
        let layer = Layer::parse(Origin::Project("gate.toml".into()), checks).unwrap();
        resolve(&[layer], None).unwrap().policy
    }

    const CHECKS: &str = "[checks.tests]\ncommand = [\"python3\", \"-m\", \"pytest\", \"-q\"]\n\
        [checks.lint]\ncommand = [\"cargo\", \"clippy\", \"--\", \"-D\", \"warnings\"]\n\
        [checks.odd]\ncommand = [\"sh\", \"-c\", \"test -e fixed\"]\n\
        [checks.script]\nshell = true\ncommand = [\"make ci | tee log\"]\n\
        [checks.clean_git]\n";

    fn shown(agent: &str, allow: Allow) -> String {
        let policy = policy(CHECKS);
        let args = ["--model".to_owned(), "x".to_owned()];
        let git = Some(Path::new("/w/.git"));
        let project = Project { policy: &policy, git, args: &args };
        start_of(agent, allow, &project).unwrap().shown()
    }

    #[test]
    fn an_agent_may_edit_commit_and_run_the_projects_checks() {
        assert_eq!(
            shown("claude-code", Allow::Checks),
            "claude -p --output-format stream-json --verbose --permission-mode acceptEdits \
             --allowedTools 'Bash(git add:*)' --allowedTools 'Bash(git commit:*)' \
             --allowedTools 'Bash(cargo clippy:*)' \
             --allowedTools 'Bash(python3 -m pytest:*)' --model x"
        );
        assert_eq!(
            shown("codex", Allow::Checks),
            "codex exec --json --sandbox workspace-write --add-dir /w/.git --model x -"
        );
        let copilot = shown("copilot", Allow::Checks);
        assert!(copilot.contains("'shell(git commit:*)'") && copilot.contains("'shell(cargo:*)'"));
        let opencode = shown("opencode", Allow::Checks);
        assert!(opencode.starts_with("OPENCODE_PERMISSION='{\"bash\":{"), "{opencode}");
        assert!(
            opencode.contains("\"git add*\":\"allow\"") && opencode.ends_with("--model x {prompt}")
        );
    }

    #[test]
    fn what_is_allowed_grows_with_the_level() {
        assert_eq!(shown("gemini", Allow::None), "gemini --output-format stream-json --model x");
        assert!(shown("gemini", Allow::Edits).contains("--skip-trust --approval-mode auto_edit"));
        assert!(!shown("gemini", Allow::Edits).contains("git commit"));
        assert!(shown("gemini", Allow::All).contains("--approval-mode yolo"));
        assert_eq!(
            shown("droid", Allow::Edits),
            "droid exec --output-format stream-json --auto low --model x {prompt}"
        );
    }

    #[test]
    fn every_agent_has_one_row_and_a_version_or_a_note() {
        for (at, preset) in PRESETS.iter().enumerate() {
            assert!(PRESETS[..at].iter().all(|it| it.agent != preset.agent), "{}", preset.agent);
            assert!(preset.version.is_some() || preset.note.is_some(), "{}", preset.agent);
        }
    }

    #[test]
    fn the_guide_names_every_agent_with_the_version_that_was_tried() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../GUIDE.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for preset in &PRESETS {
            let version = preset.version.unwrap_or("not tried");
            let row = format!("| `{}` | {version} |", preset.agent);
            assert!(guide.contains(&row), "GUIDE.md has no row that begins with {row}");
        }
    }
}
