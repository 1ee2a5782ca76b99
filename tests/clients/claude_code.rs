//! Claude Code.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client, stop_hook};

/// Its user settings hold the hook. It talks to the model of an API key.
pub(crate) const CLAUDE_CODE: Client = Client {
    name: "claude-code",
    program: "claude",
    shell: |command| ("Bash", json!({"command": command, "description": "Mend it"})),
    start,
};

fn start(site: &CheckSite) -> Command {
    let mut settings = stop_hook("Stop", site.hook, 60);
    let tools = ["Bash", "EnterWorktree", "Agent", "Task", "CronCreate"];
    settings["permissions"] = json!({ "allow": tools });
    site.keep(".claude/settings.json", &settings.to_string());
    let folder = site.work.display().to_string();
    let trusted = json!({folder.trim_end_matches('/'): {"hasTrustDialogAccepted": true}});
    let state = json!({"hasCompletedOnboarding": true, "projects": trusted});
    site.keep(".claude.json", &state.to_string());
    let mut command = site.command();
    command.args(["-p", site.prompt, "--output-format", "json"]);
    command.env("ANTHROPIC_BASE_URL", site.model).env("ANTHROPIC_API_KEY", "sk-ant-api03-fake");
    for switch in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_AUTOUPDATER",
    ] {
        command.env(switch, "1");
    }
    // By default it tries a model that fails for three minutes.
    command.env("CLAUDE_CODE_MAX_RETRIES", "1");
    command
}
