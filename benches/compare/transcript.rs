//! Transcripts of every kind and size, the same in every run.
//!
//! A tenth of the bytes is what the agent says; the rest is what its tools
//! print, as one long escaped text a call. A phrase that a pattern hits stands
//! in what the agent says once a megabyte, and in what a tool prints, where it
//! counts for nothing, once in five. The transcript ends with a completion.

use std::io::{self, Write};

use crate::random::Random;
use crate::speech::{self, DONE, FILES};

/// What wrote the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A terminal's log.
    Text,
    /// Claude's stream-json.
    Claude,
    /// Claude's session file, in which a record's type comes after its message.
    Session,
    /// `codex exec --json`.
    Codex,
    /// Codex's session file.
    Rollout,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 5] =
        [Self::Text, Self::Claude, Self::Session, Self::Codex, Self::Rollout];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Claude => "claude",
            Self::Session => "session",
            Self::Codex => "codex",
            Self::Rollout => "rollout",
        }
    }
}

/// Writes a transcript of about so many bytes.
pub(crate) fn write(kind: Kind, bytes: u64, to: &mut impl Write) -> io::Result<()> {
    let mut writer = Writer { kind, random: Random::new(7), bytes, written: 0, turns: 0 };
    writer.begin(to)?;
    while writer.written + ENDING < bytes {
        writer.turn(to)?;
    }
    let said = speech::prose(&mut writer.random, 300) + "\n" + DONE;
    let said = writer.message(&said);
    writer.put(&said, to)?;
    let result = writer.result();
    writer.put(&result, to)
}

/// What the end takes, in bytes.
const ENDING: u64 = 2_000;

struct Writer {
    kind: Kind,
    random: Random,
    bytes: u64,
    written: u64,
    turns: usize,
}

impl Writer {
    fn put(&mut self, text: &str, to: &mut impl Write) -> io::Result<()> {
        self.written += text.len() as u64;
        to.write_all(text.as_bytes())
    }

    fn begin(&mut self, to: &mut impl Write) -> io::Result<()> {
        let begin = match self.kind {
            Kind::Claude => {
                let record = r#"{"type":"system","subtype":"init","cwd":"/srv/app","session_id":"s-1","tools":["Bash","Edit","Read"],"model":"model-1"}"#;
                format!("{record}\n")
            }
            Kind::Codex => {
                "{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n{\"type\":\"turn.started\"}\n"
                    .to_owned()
            }
            Kind::Text | Kind::Session | Kind::Rollout => String::new(),
        };
        self.put(&begin, to)
    }

    /// What the agent says, the tool that it calls, and what that prints.
    fn turn(&mut self, to: &mut impl Write) -> io::Result<()> {
        let room = usize::try_from(self.bytes / 8).unwrap_or(usize::MAX);
        let megabytes = usize::try_from(self.written >> 20).unwrap_or(0);
        let due = megabytes > self.turns;
        self.turns = self.turns.max(megabytes);
        if due || self.random.below(3) > 0 {
            let length = self.random.length(420).min(room);
            let mut said = speech::prose(&mut self.random, length);
            if due {
                said = format!("{said}\n{}\n", speech::phrase(self.turns));
            }
            let said = self.message(&said);
            self.put(&said, to)?;
        }
        let length = self.random.length(2_400).min(room);
        let mut printed = speech::printed(&mut self.random, length);
        if due && self.turns.is_multiple_of(5) {
            printed = format!("{printed}{}\n", speech::phrase(self.turns));
        }
        let call = self.call(&printed);
        self.put(&call, to)
    }

    fn message(&mut self, text: &str) -> String {
        let quoted = quoted(text);
        match self.kind {
            Kind::Text => format!("{text}\n"),
            Kind::Claude | Kind::Session => {
                self.claude("assistant", &format!(r#"[{{"type":"text","text":{quoted}}}]"#))
            }
            Kind::Codex => self.item(&format!(r#""type":"agent_message","text":{quoted}"#)),
            Kind::Rollout => rollout(&format!(
                r#""type":"message","role":"assistant","content":[{{"type":"output_text","text":{quoted}}}]"#
            )),
        }
    }

    fn call(&mut self, printed: &str) -> String {
        let (file, id) = (self.random.one(&FILES), self.random.digits(12));
        let quoted = quoted(printed);
        match self.kind {
            Kind::Text => format!("\n● Read({file})\n{}\n", indented(printed)),
            Kind::Claude | Kind::Session => {
                let call = format!(
                    r#"[{{"type":"tool_use","id":"toolu_{id}","name":"Read","input":{{"file_path":"{file}"}}}}]"#
                );
                let answer = format!(
                    r#"[{{"tool_use_id":"toolu_{id}","type":"tool_result","content":{quoted}}}]"#
                );
                self.claude("assistant", &call) + &self.claude("user", &answer)
            }
            Kind::Codex => self.item(&format!(
                r#""type":"command_execution","command":"cat {file}","aggregated_output":{quoted},"exit_code":0,"status":"completed""#
            )),
            Kind::Rollout => rollout(&format!(
                r#""type":"function_call_output","call_id":"call_{id}","output":{quoted}"#
            )),
        }
    }

    /// One of Claude's records, for the stream or for the session's file.
    fn claude(&mut self, role: &str, content: &str) -> String {
        let (id, parent) = (self.random.digits(32), self.random.digits(32));
        let usage =
            r#","usage":{"input_tokens":12,"cache_read_input_tokens":52000,"output_tokens":310}"#;
        let (own, usage) = match role {
            "assistant" => {
                (format!(r#""id":"msg_{id}","type":"message","model":"model-1","#), usage)
            }
            _ => (String::new(), ""),
        };
        let message = format!(r#"{{{own}"role":"{role}","content":{content}{usage}}}"#);
        if self.kind == Kind::Claude {
            return format!(
                "{{\"type\":\"{role}\",\"message\":{message},\"parent_tool_use_id\":null,\"session_id\":\"s-1\",\"uuid\":\"{id}\"}}\n"
            );
        }
        format!(
            "{{\"parentUuid\":\"{parent}\",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/srv/app\",\"sessionId\":\"s-1\",\"version\":\"2.0.1\",\"gitBranch\":\"main\",\"message\":{message},\"type\":\"{role}\",\"uuid\":\"{id}\",\"timestamp\":\"2026-03-02T10:11:12.131Z\"}}\n"
        )
    }

    fn item(&mut self, what: &str) -> String {
        let id = self.random.below(100_000);
        format!("{{\"type\":\"item.completed\",\"item\":{{\"id\":\"item_{id}\",{what}}}}}\n")
    }

    /// The record that ends the kinds that have one.
    fn result(&self) -> String {
        match self.kind {
            Kind::Claude => format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"duration_ms\":81000,\"num_turns\":9,\"result\":{},\"session_id\":\"s-1\",\"total_cost_usd\":0.7}}\n",
                quoted(DONE)
            ),
            Kind::Codex => {
                "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9000,\"output_tokens\":300}}\n"
                    .to_owned()
            }
            Kind::Text | Kind::Session | Kind::Rollout => String::new(),
        }
    }
}

fn rollout(payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-03-02T10:11:12.131Z\",\"type\":\"response_item\",\"payload\":{{{payload}}}}}\n"
    )
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
