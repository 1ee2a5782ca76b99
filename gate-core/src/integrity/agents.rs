//! The files of agents' clients in a project, made from `gate-cli/src/clients.toml` by
//! `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::`.

/// The folders of clients.
#[rustfmt::skip]
pub(super) const AGENT_FOLDERS: [&str; 7] = [
    ".claude",
    ".codex",
    ".cursor",
    ".factory",
    ".gemini",
    ".opencode",
    ".qwen",
];

/// The settings of agents in a project that say which hooks run.
#[rustfmt::skip]
pub const AGENT_SETTINGS: [&str; 12] = [
    ".agents/plugins/gate/hooks/hooks.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".factory/settings.json",
    ".factory/settings.local.json",
    ".gemini/settings.json",
    ".github/hooks/gate.json",
    ".opencode/plugins/gate.js",
    ".qwen/settings.json",
];
