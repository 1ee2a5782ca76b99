//! Tests of the readers: small inputs, and what comes out of them, a line an
//! event.

mod aider;
mod amp;
mod antigravity;
mod atif;
mod calls;
mod chat;
mod chunks;
mod claude;
mod cline;
mod cline_ui;
mod codex;
mod codex_rollout;
mod codex_text;
mod copilot;
mod cursor;
mod cursor_session;
mod detect;
mod droid;
mod droid_session;
mod fixtures;
mod gemini;
mod gemini_failures;
mod gemini_session;
mod goose;
mod kimi;
mod kiro;
mod opencode;
mod opencode_export;
mod openhands;
mod pi;
mod prefix;
mod qwen;
mod runs;
mod specstory;
mod swe_agent;
mod text;
#[path = "../../../../tests/transcripts.rs"]
mod transcripts;
mod vscode;

use super::{
    Boundary, Event, Fact, FinalTurn, Forced, Format, ProblemKind, Reader, Role, Sink, Wording,
};

/// Collects events as lines; parts of one text become one line.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    /// The role of the last text, and its line.
    spoke: Option<(Role, usize)>,
    last: FinalTurn,
}

impl Sink for Lines {
    fn event(&mut self, event: Event<'_>) {
        self.last.event(&event);
        match &event {
            Event::Text(text) => {
                if let Some((role, at)) = self.spoke
                    && text.continues
                    && role == text.role
                {
                    self.lines[at].push_str(&text.text.replace('\n', "⏎"));
                    return;
                }
                self.spoke = Some((text.role, self.lines.len()));
            }
            Event::Boundary(..) => self.spoke = None,
            Event::Fact(_) | Event::Problem(_) | Event::Tail => {}
        }
        self.lines.push(line(&event));
    }

    fn has_wording(&self, wording: Wording, text: &str) -> bool {
        // Who uses the reader knows the clients' wordings. These few stand in the tests.
        let phrases: &[&str] = match wording {
            Wording::Denial => &[
                "doesn't want to proceed",
                "permission",
                "denied",
                "rejected",
                "requires approval",
                "approval required",
            ],
            Wording::Limit => &["usage limit", "rate limit", "hit your limit", "verloaded", "429"],
            Wording::Notice => &["usage limit reached|", "hit your limit"],
        };
        phrases.iter().any(|phrase| text.contains(phrase))
    }
}

impl Lines {
    /// Facts and problems may come before or after the parts of a text.
    fn sorted(&self) -> Vec<&String> {
        let mut lines: Vec<&String> = self.lines.iter().collect();
        lines.sort();
        lines
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Text(text) => {
            let role = format!("{:?}", text.role).to_lowercase();
            let more = if text.continues { "+" } else { "" };
            format!("{} {role}{more}: {}", text.line, text.text.replace('\n', "⏎"))
        }
        Event::Boundary(boundary, line) => format!("{line} --- {}", name(*boundary)),
        Event::Problem(problem) => format!("{} ! {:?}", problem.line, problem.kind),
        Event::Fact(fact) => fact_line(fact),
        Event::Tail => "--- the tail".to_owned(),
    }
}

fn name(boundary: Boundary) -> &'static str {
    match boundary {
        Boundary::Prompt => "prompt",
        Boundary::HookFeedback => "hook feedback",
        Boundary::Objective => "objective",
        Boundary::Compaction => "compaction",
        Boundary::Notification => "notification",
        Boundary::Unanswered => "unanswered",
    }
}

fn fact_line(fact: &Fact) -> String {
    match fact {
        Fact::Session(id) => format!("session {id}"),
        Fact::Model(name) => format!("model {name}"),
        Fact::Usage(usage) => {
            let [tokens, cost, time] = [usage.tokens, usage.cost_micro_usd, usage.duration_ms]
                .map(|n| n.map_or("-".to_owned(), |n| n.to_string()));
            format!("usage {tokens} tokens, {cost} µ$, {time} ms")
        }
        Fact::Error { message, line } => format!("{line} error: {message}"),
        Fact::Limit { message, resets_at: None, line } => format!("{line} limit: {message}"),
        Fact::Limit { message, resets_at: Some(at), line } => {
            format!("{line} limit until {at}: {message}")
        }
        Fact::Denial { tool, line } => format!("{line} denied: {tool}"),
        Fact::ToolFailure { output, line } => {
            format!("{line} failed: {}", output.replace('\n', "⏎"))
        }
        Fact::Command { command, exit_code, line } => {
            format!("{line} ran: {command} -> {exit_code}")
        }
    }
}

/// Reads `input` in pieces of `size` bytes.
fn read_pieces(input: &[u8], forced: Option<Forced>, size: usize) -> (Option<Format>, Lines) {
    let mut lines = Lines::default();
    let mut reader = Reader::new(forced);
    for piece in input.chunks(size) {
        reader.push(piece, &mut lines);
    }
    reader.finish(&mut lines);
    lines.last.finish();
    (reader.format(), lines)
}

fn read(input: &str) -> (Option<Format>, Lines) {
    read_pieces(input.as_bytes(), None, usize::MAX)
}

/// All events of `input`, which must be found to be of this format.
fn events(format: Format, input: &str) -> Vec<String> {
    let (found, lines) = read(input);
    assert_eq!(found, Some(format), "{input}");
    lines.lines
}

fn check(format: Format, input: &str, expected: &[&str]) {
    assert_eq!(events(format, input), expected, "{input}");
}

/// The last words of `input`, newest first.
fn words(input: &str) -> Vec<String> {
    let (_, lines) = read(input);
    lines.last.words().map(|word| word.text.clone()).collect()
}

fn says(input: &str, role: Role) -> Vec<String> {
    let role = format!(" {role:?}: ").to_lowercase();
    let (_, lines) = read(input);
    let texts = lines.lines.iter().filter_map(|line| line.split_once(&role));
    texts.map(|(_, text)| text.to_owned()).collect()
}

fn has_problem(input: &str, kind: ProblemKind) -> bool {
    let problem = format!("! {kind:?}");
    read(input).1.lines.iter().any(|line| line.ends_with(&problem))
}
