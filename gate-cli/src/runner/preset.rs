//! How agents are started without a person in front of them.

/// The command of an agent that reads its prompt from the standard input, or
/// takes it in the place of `{prompt}`; none where no such way is known here.
/// Nothing is allowed to an agent that it would ask for: that is for its own
/// settings to say.
pub(crate) fn command_of(agent: &str) -> Option<Vec<String>> {
    let words: &[&str] = match agent {
        "claude-code" => &["claude", "-p", "--output-format", "stream-json", "--verbose"],
        "codex" => &["codex", "exec", "--json", "-"],
        "gemini" => &["gemini", "--output-format", "stream-json"],
        "qwen" => &["qwen", "--output-format", "stream-json"],
        "copilot" => &["copilot", "-p", "{prompt}", "--output-format", "json"],
        "cursor" => &["cursor-agent", "-p", "--output-format", "stream-json", "{prompt}"],
        "opencode" => &["opencode", "run", "--format", "json", "{prompt}"],
        "amp" => &["amp", "-x", "--stream-json"],
        "droid" => &["droid", "exec", "--output-format", "stream-json", "{prompt}"],
        "goose" => &["goose", "run", "-i", "-", "--output-format", "stream-json"],
        "aider" => &["aider", "--yes-always", "--message", "{prompt}"],
        _ => return None,
    };
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}
