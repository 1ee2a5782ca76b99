//! The arguments of `gate install`.

use clap::Args;

use crate::agent::Agent;
use crate::install::Scope;

/// The places of the agents' settings, shown below the help.
pub(crate) const PLACES: &str = "\
Settings:
  claude-code  ~/.claude/settings.json, --project .claude/settings.local.json,
               --shared .claude/settings.json
  codex        ~/.codex/hooks.json, .codex/hooks.json; review them with /hooks
  gemini       ~/.gemini/settings.json, .gemini/settings.json
  qwen         ~/.qwen/settings.json, .qwen/settings.json
  copilot      ~/.copilot/hooks/gate.json, .github/hooks/gate.json
  cursor       ~/.cursor/hooks.json, .cursor/hooks.json
  opencode     ~/.config/opencode/plugins/gate.js, .opencode/plugins/gate.js
  droid        ~/.factory/settings.json, --project .factory/settings.local.json,
               --shared .factory/settings.json
  goose        ~/.agents/plugins/gate, .agents/plugins/gate
Where one file is named for a project, --project and --shared differ in the
command alone: the whole path of gate, or gate from PATH. A gate that a
package manager may take away is copied to ~/.local/share/gate/bin first.

With --managed, for all users (on macOS in /Library/Application Support, but
for codex and copilot):
  claude-code  /etc/claude-code/managed-settings.json
  codex        /etc/codex/hooks.json
  gemini       /etc/gemini-cli/settings.json
  qwen         /etc/qwen-code/system-defaults.json
  copilot      /etc/github-copilot/policy.d/gate.json
  cursor       /etc/cursor/hooks.json
  droid        /etc/factory/settings.json

Exit codes: 0 done, 2 settings that have to be put right first, 5 not done";

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The agent; those that are found here if not given.
    pub(crate) agent: Option<Agent>,
    #[command(flatten)]
    pub(crate) whom: ScopeArgs,
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
    /// In the project's settings, for everybody who works on it: gate is looked for in
    /// PATH, and whoever has none is told so and let go.
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
