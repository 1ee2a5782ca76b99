//! Codex.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client, stop_hook};

/// Its `hooks.json` holds the hook; nobody is there to review it, so it is
/// told to trust.
pub(crate) const CODEX: Client = Client {
    name: "codex",
    program: "codex",
    shell: |command| ("exec_command", json!({"cmd": command})),
    start,
};

fn start(site: &CheckSite) -> Command {
    site.keep(".codex/config.toml", &settings(site));
    let mut command = site.command();
    command.args(["exec", "--json"]);
    if site.hook.is_some() {
        site.keep(".codex/hooks.json", &stop_hook("Stop", site.hook, 60).to_string());
        command.arg("--dangerously-bypass-hook-trust");
    }
    command.arg(site.prompt);
    command.env("CODEX_HOME", site.home.join(".codex")).env("FAKE_KEY", "fake");
    command
}

fn settings(site: &CheckSite) -> String {
    let (model, work) = (site.model, site.work.display());
    format!(
        r#"model = "gpt-5.4"
model_provider = "fake"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = "{model}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[projects."{work}"]
trust_level = "trusted"
"#
    )
}
