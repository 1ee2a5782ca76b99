//! OpenCode, by its server: `opencode run` ends at the first idle moment, before a
//! session can go on.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client};
use crate::needs::clients_folder;

/// A plug-in of gate's holds the command. A script starts the server, sends the prompt,
/// and ends when nothing is going on any more.
pub(crate) const OPENCODE: Client = Client {
    name: "opencode",
    program: "opencode",
    shell: |command| ("bash", json!({"command": command, "description": "Mend it"})),
    start,
};

const PLUGIN: &str = include_str!("../../gate-cli/src/templates/opencode-gate.js");

/// Starts the server, and waits for the end of what a prompt begins.
const DRIVER: &str = include_str!("opencode-drive.mjs");

fn start(site: &CheckSite) -> Command {
    let model =
        json!({"name": "Fake", "tool_call": true, "limit": {"context": 100_000, "output": 8_000}});
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Fake",
        "options": {"baseURL": format!("{}/v1", site.model), "apiKey": "fake"},
        "models": {"fake-model": model},
    });
    let settings = json!({
        "autoupdate": false, "snapshot": false, "share": "disabled", "permission": "allow",
        "model": "fake/fake-model", "small_model": "fake/fake-model",
        "provider": {"fake": provider},
    });
    site.keep(".config/opencode/opencode.json", &settings.to_string());
    // Without the package for plug-ins beside its settings, OpenCode asks the registry first.
    let packages = clients_folder().unwrap().join(OPENCODE.name);
    for name in ["package.json", "package-lock.json", "node_modules"] {
        symlink(packages.join(name), site.home.join(".config/opencode").join(name)).unwrap();
    }
    if let Some(command) = site.hook {
        let plugin = PLUGIN.replacen("\"gate hook opencode\"", &json!(command).to_string(), 1);
        site.keep(".config/opencode/plugins/gate.js", &plugin);
    }
    site.keep("drive.mjs", DRIVER);
    let mut command = Command::new("node");
    command.arg(site.home.join("drive.mjs")).arg(&site.program).arg(site.prompt);
    site.around(&mut command);
    for (name, folder) in [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ] {
        command.env(name, site.home.join(folder));
    }
    for name in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{name}"), "1");
    }
    command
}
