//! Captures of the real clients, where they are at hand.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)]

use std::path::{Path, PathBuf};

use super::{Lines, read_pieces};
use crate::Format;

#[path = "../../../../tests/needs.rs"]
mod needs;

/// The folder of captures beside the repository, if it is there.
fn captures() -> Option<PathBuf> {
    needs::needs("shared").then(|| needs::shared().join("clients/fixtures"))
}

fn read(path: &Path) -> (Option<Format>, Lines) {
    read_pieces(&std::fs::read(path).unwrap(), None, 1000)
}

fn last_word(lines: &Lines) -> Option<&str> {
    lines.last.words().next().map(|word| word.text.trim())
}

const DONE: &str = "Now everything is really done.\n\nEXIT_SIGNAL: true";
const CLAIM: &str = "All tasks are complete.\n\n---STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_STATUS---";
const AFTER_BLOCK: &str = "Done after block. EXIT_SIGNAL: true";

#[test]
fn what_clients_print() {
    let Some(captures) = captures() else { return };
    use Format::{
        ClaudeJson, ClaudeStream, CodexExec, CodexText, CopilotJson, GeminiJson, GeminiStream,
        OpencodeJson, QwenJson, QwenStream, Text,
    };
    for (file, format, word) in [
        ("claude/basic-json/stdout.txt", ClaudeJson, Some(DONE)),
        ("claude/basic-stream/stdout.txt", ClaudeStream, Some(DONE)),
        ("claude/basic-text/stdout.txt", Text, Some(DONE)),
        ("claude/v2.1.197/stdout.txt", ClaudeStream, Some(DONE)),
        ("claude/partial/stdout.txt", ClaudeStream, Some(CLAIM)),
        ("claude/subagent/stdout.txt", ClaudeStream, Some(AFTER_BLOCK)),
        ("claude/background/stdout.txt", ClaudeStream, Some("Still waiting. EXIT_SIGNAL: true")),
        ("claude/compact-2/stdout.txt", ClaudeStream, None),
        (
            "claude/compact-3/stdout.txt",
            ClaudeStream,
            Some("After compaction, continuing. Not complete."),
        ),
        ("claude/cap-default/stdout.txt", ClaudeStream, None),
        ("claude/rate-limit/stdout.txt", ClaudeStream, None),
        ("claude/stop-failure/stdout.txt", ClaudeStream, None),
        ("claude/no-text/stdout.txt", ClaudeStream, Some("final")),
        ("codex/basic-json/stdout.txt", CodexExec, Some(DONE)),
        ("codex/basic-text/stdout.txt", Text, Some(DONE)),
        ("codex/basic-text/stderr.txt", CodexText, Some(DONE)),
        ("codex/style-extra/stderr.txt", CodexText, Some(CLAIM)),
        ("codex/subagent/stdout.txt", CodexExec, Some(AFTER_BLOCK)),
        ("codex/rate-limit/stdout.txt", CodexExec, None),
        ("opencode/basic-json/stdout.txt", OpencodeJson, Some(CLAIM)),
        ("opencode/api-error/stdout.txt", OpencodeJson, Some("I'll start.")),
        ("gemini/basic-json/stdout.txt", GeminiJson, Some(DONE)),
        ("gemini/basic-stream/stdout.txt", GeminiStream, Some(DONE)),
        ("gemini/api-error/stdout.txt", GeminiStream, None),
        ("gemini/style-continue-false/stdout.txt", GeminiStream, Some(CLAIM)),
        ("qwen/basic-json/stdout.txt", QwenJson, Some(DONE)),
        ("qwen/basic-stream/stdout.txt", QwenStream, Some(DONE)),
        ("copilot/basic-json/stdout.txt", CopilotJson, Some(DONE)),
        ("copilot/api-error/stdout.txt", CopilotJson, None),
        ("copilot/style-exit2/stdout.txt", CopilotJson, Some(CLAIM)),
    ] {
        let (found, lines) = read(&captures.join(file));
        assert_eq!((found, last_word(&lines)), (Some(format), word), "{file}");
        assert!(!lines.lines.iter().any(|line| line.contains(" ! ")), "{file}");
    }
}

fn on_disk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            on_disk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            found.push(path);
        }
    }
}

#[test]
fn what_clients_keep_on_disk() {
    let Some(captures) = captures() else { return };
    for (case, format, word) in [
        ("claude/basic-stream", Format::ClaudeSession, Some(DONE)),
        ("claude/subagent", Format::ClaudeSession, Some(AFTER_BLOCK)),
        ("claude/compact-2", Format::ClaudeSession, None),
        (
            "claude/compact-3",
            Format::ClaudeSession,
            Some("After compaction, continuing. Not complete."),
        ),
        ("claude/rate-limit", Format::ClaudeSession, None),
        ("codex/basic-json", Format::CodexRollout, Some(DONE)),
        (
            "codex/compact",
            Format::CodexRollout,
            Some("After compaction: still working on it. Not complete."),
        ),
        ("codex/subagent", Format::CodexRollout, Some(AFTER_BLOCK)),
        ("gemini/basic-stream", Format::GeminiSession, Some(DONE)),
        ("gemini/api-error", Format::GeminiSession, None),
        ("qwen/basic-stream", Format::QwenSession, Some(DONE)),
        ("copilot/basic-json", Format::CopilotJson, Some(DONE)),
        ("copilot/api-error", Format::CopilotJson, None),
    ] {
        let mut files = Vec::new();
        on_disk(&captures.join(case).join("disk"), &mut files);
        let mut words: Vec<Option<String>> = Vec::new();
        for file in &files {
            let (found, lines) = read(file);
            assert_eq!(found, Some(format), "{}", file.display());
            words.push(last_word(&lines).map(str::to_owned));
        }
        // A sub-agent's file has no word of the agent.
        words.sort();
        assert_eq!(words.last(), Some(&word.map(str::to_owned)), "{case}");
        assert!(words[..words.len() - 1].iter().all(Option::is_none), "{case}");
    }
}
