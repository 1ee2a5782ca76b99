//! GitHub Copilot CLI.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client};

/// A file among its hooks holds the hook. It talks to a model of one's own,
/// so that nobody has to log in.
pub(crate) const COPILOT: Client = Client {
    name: "copilot",
    program: "copilot",
    shell: |command| ("bash", json!({"command": command, "description": "Mend it"})),
    start,
};

fn start(site: &CheckSite) -> Command {
    if let Some(command) = site.hook {
        let hook = json!({"type": "command", "bash": command, "timeoutSec": 60});
        let hooks = json!({"version": 1, "hooks": {"Stop": [hook]}});
        site.keep(".copilot/hooks/gate.json", &hooks.to_string());
    }
    let mut command = site.command();
    command.args(["--allow-all-tools", "--trust-folder", "--output-format", "json"]);
    command.args(["-p", site.prompt]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", site.model));
    command.env("COPILOT_PROVIDER_TYPE", "openai").env("COPILOT_MODEL", "gpt-5.4");
    // It masks its key wherever it prints it: the key must be no word.
    command.env("COPILOT_PROVIDER_API_KEY", "k-copilot-000").env("NO_COLOR", "1");
    command
}
