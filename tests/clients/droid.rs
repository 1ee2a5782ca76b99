//! Factory Droid.

use std::process::Command;

use serde_json::json;

use super::client::{CheckSite, Client, stop_hook};

/// Its user settings hold the hook, and a model of one's own, so that nobody has to log
/// in: any key will do.
pub(crate) const DROID: Client = Client {
    name: "droid",
    program: "droid",
    shell: |command| {
        let (risk, why) = ("low", "it writes a file");
        let risk = json!({"riskLevel": risk, "riskLevelReason": why, "summary": "Mend it"});
        let mut input = json!({"command": command, "timeout": 60, "fireAndForget": false});
        input.as_object_mut().unwrap().extend(risk.as_object().unwrap().clone());
        ("Execute", input)
    },
    start,
};

fn start(site: &CheckSite) -> Command {
    let mut settings = stop_hook("Stop", site.hook, 60);
    settings["customModels"] = json!([{
        "model": "fake-model", "id": "custom:fake-0", "index": 0, "displayName": "Fake",
        "baseUrl": format!("{}/v1", site.model), "apiKey": "fake", "maxOutputTokens": 4000,
        "noImageSupport": true, "provider": "generic-chat-completion-api",
    }]);
    settings["logoAnimation"] = json!("off");
    site.keep(".factory/settings.json", &settings.to_string());
    let mut command = site.command();
    command.args(["exec", "--auto", "high", "-m", "custom:fake-0", "-o", "json", site.prompt]);
    command.env("FACTORY_API_KEY", "fk-fake").env("FACTORY_TELEMETRY", "0").env("NO_COLOR", "1");
    // Else it tries for five seconds at its end to tell its maker.
    command.env("FACTORY_AIRGAP_ENABLED", "true");
    command
}
