//! The arguments of `gate install`.

use clap::Args;

use crate::agent::Agent;
use crate::clients::{SettingsFacts, facts};
use crate::install::Scope;

/// The most bytes of a line in the help.
const MAX_LINE_BYTES: usize = 80;

/// The places of the agents' settings, shown below the help.
fn places() -> String {
    let mut text = "Settings:\n".to_owned();
    for agent in Agent::ALL {
        let SettingsFacts { user, project, shared, .. } = &facts(agent).settings;
        let mut files = vec![user.replace("$XDG_CONFIG_HOME", "~/.config")];
        if project == shared {
            files.push(project.clone());
        } else {
            files.extend([format!("--project {project}"), format!("--shared {shared}")]);
        }
        text.push_str(&row(agent, &files));
    }
    text.push_str(
        "Where one file is named for a project, --project and --shared differ in the\n\
         command alone: the whole path of gate, or gate from PATH. A gate that a\n\
         package manager may take away is copied to ~/.local/share/gate/bin first.\n\n\
         With --managed, for all users (on macOS in /Library/Application Support, but\n\
         for codex and copilot):\n",
    );
    for agent in Agent::ALL {
        if let Some(managed) = &facts(agent).settings.managed {
            text.push_str(&row(agent, std::slice::from_ref(&managed.linux)));
        }
    }
    text + "\nExit codes: 0 done, 2 settings that have to be put right first, 5 not done"
}

/// The files of an agent behind its name, in one line if they fit.
fn row(agent: Agent, files: &[String]) -> String {
    let line = format!("  {:<12} {}\n", agent.name(), files.join(", "));
    if line.len() <= MAX_LINE_BYTES {
        return line;
    }
    format!("  {:<12} {}\n", agent.name(), files.join(&format!(",\n{:15}", "")))
}

#[derive(Debug, Args)]
#[command(after_help = places())]
pub(crate) struct Install {
    /// The agent; in a terminal gate asks for each that is found here.
    pub(crate) agent: Option<Agent>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Tell Codex that the hooks have been reviewed.
    #[arg(long, requires = "agent", conflicts_with = "managed")]
    pub(crate) trust: bool,
    /// Take out of the settings what the client does not read: comments, trailing commas.
    /// With them it would ignore the whole file.
    #[arg(long)]
    pub(crate) fix: bool,
    /// Show what would change, and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The settings to change.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct ScopeArgs {
    /// In your settings, for every project; the default: a project without
    /// gate.toml is not held up.
    #[arg(long)]
    user: bool,
    /// In your settings, for this project.
    #[arg(long)]
    project: bool,
    /// In the project's settings, for everybody who works on it: gate is looked for in PATH. If it
    /// is missing there, the hook says so and lets the agent stop.
    #[arg(long)]
    shared: bool,
    /// In the settings for all users of this machine. Needs root.
    #[arg(long)]
    managed: bool,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Scope {
        match self {
            Self { project: true, .. } => Scope::Project,
            Self { shared: true, .. } => Scope::Shared,
            Self { managed: true, .. } => Scope::Managed,
            _ => Scope::User,
        }
    }
}
