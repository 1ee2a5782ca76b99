//! The formats that gate reads, and how they are named.

mod aider;
mod amp;
mod antigravity;
mod atif;
mod chat;
mod claude;
mod cline;
mod codex_exec;
mod codex_rollout;
mod codex_text;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod kimi;
mod kiro;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod specstory;
mod swe_agent;
pub(super) mod text;
mod vscode;

use std::fmt;
use std::str::FromStr;

use super::spec::{KnownBy, Spec};

/// Defines [`Format`] with a [`Spec`] for each format. If two formats recognise the same
/// record, the earlier line wins. CONTRIBUTING.md lists the steps for a new format.
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident: $spec:path,)*) => {
        /// A format of an agent's output.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: &[Self] = &[$(Self::$format,)*];

            pub(super) fn spec(self) -> &'static Spec {
                match self {
                    $(Self::$format => &$spec,)*
                }
            }
        }
    };
}

formats! {
    /// The output of an agent in text mode, and anything that no other format recognises.
    Text: text::TEXT,
    /// Claude Code's `--output-format json`: one result object, or one array
    /// of events.
    ClaudeJson: claude::JSON,
    /// Claude Code's session file.
    ClaudeSession: claude::SESSION,
    /// Claude Code's `--output-format stream-json`.
    ClaudeStream: claude::STREAM,
    /// The log of `codex exec`.
    CodexText: codex_text::CODEX_TEXT,
    /// `codex exec --json`.
    CodexExec: codex_exec::CODEX_EXEC,
    /// Codex's session file.
    CodexRollout: codex_rollout::CODEX_ROLLOUT,
    /// `opencode run --format json`.
    OpencodeJson: opencode::OPENCODE_JSON,
    /// `opencode export`.
    OpencodeExport: opencode::OPENCODE_EXPORT,
    /// Gemini CLI's `--output-format json`.
    GeminiJson: gemini::GEMINI_JSON,
    /// Gemini CLI's `--output-format stream-json`.
    GeminiStream: gemini::GEMINI_STREAM,
    /// Gemini CLI's session file, or a checkpoint of it.
    GeminiSession: gemini::GEMINI_SESSION,
    /// Qwen Code's session file.
    QwenSession: qwen::QWEN_SESSION,
    /// Qwen Code's `--output-format json`.
    QwenJson: qwen::QWEN_JSON,
    /// Qwen Code's `--output-format stream-json`.
    QwenStream: qwen::QWEN_STREAM,
    /// Copilot CLI's `--output-format json`, and its session file.
    CopilotJson: copilot::COPILOT_JSON,
    /// `cursor-agent --output-format json`.
    CursorJson: cursor::CURSOR_JSON,
    /// `cursor-agent --output-format stream-json`.
    CursorStream: cursor::CURSOR_STREAM,
    /// Cursor's transcripts, `agent-transcripts/…/ID.jsonl`.
    CursorSession: cursor::CURSOR_SESSION,
    /// `cline --json`.
    ClineStream: cline::CLINE_STREAM,
    /// Cline's `ui_messages.json`, and that of Roo Code and Kilo Code.
    ClineSession: cline::CLINE_SESSION,
    /// Events of OpenHands.
    OpenhandsSession: openhands::OPENHANDS_SESSION,
    /// SWE-agent's `.traj`.
    SweAgentJson: swe_agent::SWE_AGENT_JSON,
    /// Kiro CLI's `/chat save`.
    KiroJson: kiro::KIRO_JSON,
    /// VS Code's chat, exported, or in an older session file.
    VscodeJson: vscode::VSCODE_JSON,
    /// VS Code's session files of chats, `chatSessions/ID.jsonl`.
    VscodeSession: vscode::VSCODE_SESSION,
    /// Antigravity's `transcript.jsonl`.
    AntigravitySession: antigravity::ANTIGRAVITY_SESSION,
    /// `amp --stream-json`.
    AmpStream: amp::AMP_STREAM,
    /// `droid exec --output-format json`.
    DroidJson: droid::DROID_JSON,
    /// `droid exec --output-format stream-json`.
    DroidStream: droid::DROID_STREAM,
    /// `pi --mode json`.
    PiStream: pi::PI_STREAM,
    /// Session files of Pi and OpenClaw.
    PiSession: pi::PI_SESSION,
    /// Droid's session files.
    DroidSession: droid::DROID_SESSION,
    /// `goose run --output-format json`.
    GooseJson: goose::GOOSE_JSON,
    /// `goose run --output-format stream-json`.
    GooseStream: goose::GOOSE_STREAM,
    /// Goose's session file, of older versions.
    GooseSession: goose::GOOSE_SESSION,
    /// Kimi's session log.
    KimiWire: kimi::KIMI_WIRE,
    /// `kimi --print --output-format stream-json`.
    KimiStream: kimi::KIMI_STREAM,
    /// Aider's `.aider.chat.history.md`.
    AiderHistory: aider::AIDER_HISTORY,
    /// SpecStory's Markdown transcripts of other agents.
    SpecstoryMd: specstory::SPECSTORY_MD,
    /// Harbor's trajectories, which many agents write.
    AtifJson: atif::ATIF_JSON,
    /// Chat messages with `role` and `content`, in an array, an object or lines.
    ChatJson: chat::CHAT_JSON,
}

/// Families of formats that belong to no one program.
const SHARED: [&str; 4] = ["text", "chat", "atif", "specstory"];

impl Format {
    /// The format's name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// A format of JSON records.
    pub(super) fn is_json(self) -> bool {
        matches!(self.spec().known_by, KnownBy::Record(_))
    }

    /// The program that writes the format, as its agent's name; `None` where several programs
    /// write it.
    pub fn client(self) -> Option<&'static str> {
        Forced::Agent(self.agent()).client()
    }

    /// The name of the agent that writes the format, or "text".
    pub fn agent(self) -> &'static str {
        self.spec().family[0]
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The choice of `--format`: one format, or an agent, whose formats the content tells
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forced {
    /// This format, whatever the content looks like.
    Format(Format),
    /// The formats of this agent. JSON is never read as text then; other input is, unless
    /// the agent has a text format that knows it.
    Agent(&'static str),
}

impl Forced {
    /// The program that it is about; `None` where several programs write the format.
    pub fn client(self) -> Option<&'static str> {
        let agent = match self {
            Self::Format(format) => format.agent(),
            Self::Agent(agent) => agent,
        };
        (!SHARED.contains(&agent)).then_some(agent)
    }

    /// The name of the format or of the agent.
    pub fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
            Self::Agent(agent) => agent,
        }
    }

    /// All names that `--format` takes: formats, then agents with their aliases.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let mut agents: Vec<&str> = Vec::new();
        for name in Format::ALL.iter().flat_map(|format| format.spec().family) {
            if *name != Format::Text.name() && !agents.contains(name) {
                agents.push(name);
            }
        }
        Format::ALL.iter().map(|format| format.name()).chain(agents)
    }
}

impl FromStr for Forced {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        if let Some(format) = Format::ALL.iter().find(|format| format.name() == name) {
            return Ok(Self::Format(*format));
        }
        let mut families = Format::ALL.iter().map(|format| format.spec().family);
        let family = families.find(|family| family.contains(&name));
        family.map(|family| Self::Agent(family[0])).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let format = Self::ALL.iter().find(|format| format.name() == name);
        format.copied().ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// No format or agent has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`; known are {known}", known = Forced::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(*format));
            assert_eq!(format.name().parse(), Ok(Forced::Format(*format)));
        }
    }

    #[test]
    fn an_agent_is_found_by_its_names() {
        for (name, agent) in [
            ("claude", "claude-code"),
            ("claude-code", "claude-code"),
            ("codex", "codex"),
            ("codex-cli", "codex"),
            ("opencode", "opencode"),
            ("gemini-cli", "gemini"),
            ("qwen", "qwen"),
            ("copilot-cli", "copilot"),
            ("cursor", "cursor"),
            ("amp", "amp"),
            ("aider", "aider"),
            ("droid", "droid"),
            ("goose", "goose"),
        ] {
            assert_eq!(name.parse(), Ok(Forced::Agent(agent)), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "cluade".parse::<Forced>().unwrap_err().to_string();
        let names: Vec<&str> = Forced::names().collect();
        assert_eq!(error, format!("unknown format `cluade`; known are {}", names.join(", ")));
        assert_eq!(names[..3], ["text", "claude-json", "claude-session"]);
        assert_eq!(names[Format::ALL.len()..][..3], ["claude-code", "claude", "codex"]);
    }
}
