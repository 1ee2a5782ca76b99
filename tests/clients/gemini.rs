//! Gemini CLI.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client, stop_hook};

/// Its user settings hold the hook, with milliseconds.
pub(crate) const GEMINI: Client = Client {
    name: "gemini",
    program: "gemini",
    shell: |command| ("run_shell_command", json!({"command": command, "description": "Mend it"})),
    start,
};

fn start(site: &CheckSite) -> Command {
    let mut settings = stop_hook("AfterAgent", site.hook, 60_000);
    let (auth, trust) = (json!({"selectedType": "gemini-api-key"}), json!({"enabled": false}));
    settings["security"] = json!({"auth": auth, "folderTrust": trust});
    settings["general"] = json!({"enableAutoUpdate": false, "enableAutoUpdateNotification": false});
    settings["privacy"] = json!({"usageStatisticsEnabled": false});
    settings["telemetry"] = json!({"enabled": false});
    site.keep(".gemini/settings.json", &settings.to_string());
    let mut command = site.command();
    command.args(["-m", "gemini-2.5-pro", "--skip-trust", "--approval-mode", "yolo"]);
    command.args(["-o", "json", "-p", site.prompt]);
    command.env("GEMINI_API_KEY", "fake").env("GOOGLE_GEMINI_BASE_URL", site.model);
    command.env("GEMINI_TELEMETRY_ENABLED", "false").env("NO_COLOR", "1");
    command
}
