//! GitHub Copilot CLI.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::sync::Once;

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

/// Where the client unpacks itself: 235 MB that it would write into the home of each test.
const UNPACKED: &str = ".cache/copilot";

/// Gives the home what the client once unpacked for all tests.
fn unpack(site: &CheckSite) {
    static ONCE: Once = Once::new();
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copilot");
    ONCE.call_once(|| {
        let ran = site.command().arg("--version").env("HOME", &shared).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    });
    let link = site.home.join(UNPACKED);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(shared.join(UNPACKED), link).unwrap();
}

fn start(site: &CheckSite) -> Command {
    unpack(site);
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
