//! Qwen Code.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client, stop_hook};

/// Its user settings hold the hook, with milliseconds.
pub(crate) const QWEN: Client = Client {
    name: "qwen",
    program: "qwen",
    shell: |command| ("run_shell_command", json!({"command": command, "is_background": false})),
    start,
};

fn start(site: &CheckSite) -> Command {
    let mut settings = stop_hook("Stop", site.hook, 60_000);
    settings["security"] = json!({"auth": {"selectedType": "openai"}});
    settings["general"] = json!({"enableAutoUpdate": false, "disableAutoUpdate": true});
    settings["privacy"] = json!({"usageStatisticsEnabled": false});
    settings["telemetry"] = json!({"enabled": false});
    // After the last turn it would ask the model what is worth remembering.
    settings["memory"] = json!({"enableManagedAutoMemory": false, "enableManagedAutoDream": false});
    // Without it the client writes the file anew.
    settings["$version"] = json!(4);
    site.keep(".qwen/settings.json", &settings.to_string());
    // Its parser of shell commands is WebAssembly: to optimise that takes longer than a session.
    let mut command = Command::new("node");
    command.arg("--liftoff-only").arg(&site.program);
    site.around(&mut command);
    // It would ask the proxy for loopback too.
    command.env_remove("HTTPS_PROXY");
    command.args(["--approval-mode", "yolo", "-o", "json", "-p", site.prompt]);
    command.env("OPENAI_API_KEY", "k-qwen-000").env("OPENAI_MODEL", "qwen3-coder-plus");
    command.env("OPENAI_BASE_URL", format!("{}/v1", site.model)).env("NO_COLOR", "1");
    command
}
