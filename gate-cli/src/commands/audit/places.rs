//! The folders in which agents keep their transcripts.

use std::path::PathBuf;

use crate::settings::Places;

/// Below the home folder, with the variable that moves the first part elsewhere.
///
/// Seen with Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Qwen Code 0.15, Copilot CLI 1.0,
/// Cursor CLI, OpenCode 1.18, Droid 0.215; for Goose, Pi and Cline from their documentation.
const KNOWN: [(&str, &str, Option<&str>); 11] = [
    (".claude", "projects", Some("CLAUDE_CONFIG_DIR")),
    (".codex", "sessions", Some("CODEX_HOME")),
    (".gemini", "tmp", None),
    (".qwen", "projects", None),
    (".copilot", "session-state", None),
    (".cursor", "projects", None),
    (".local/share/opencode", "storage", None),
    (".factory", "sessions", None),
    (".local/share/goose", "sessions", None),
    (".pi/agent", "sessions", None),
    (".config/Code/User/globalStorage/saoudrizwan.claude-dev", "tasks", None),
];

/// Those that are there.
pub(super) fn known(places: &Places) -> Vec<PathBuf> {
    let home = places.variable("HOME").map(PathBuf::from);
    let all = KNOWN.iter().filter_map(|(folder, inner, variable)| {
        let moved = variable.and_then(|name| places.variable(name)).map(PathBuf::from);
        let base = moved.or_else(|| Some(home.as_ref()?.join(folder)))?;
        Some(base.join(inner))
    });
    all.filter(|folder| folder.is_dir()).collect()
}
