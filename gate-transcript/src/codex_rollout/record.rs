//! The records of a rollout file, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;

use crate::codex_exec::CodexTokens;
use crate::json::Borrowed;
use crate::loose::{Content, Leaves, List, Maybe, Num, Str};
use crate::out::clip;

/// Marks [`Record`] for reading.
pub(super) struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// Marks a [`Payload`] that is a record by itself, as until September 2025.
pub(super) struct Bare;

impl Borrowed for Bare {
    type Of<'a> = Payload<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) payload: Maybe<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Payload<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) call_id: Str<'a>,
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    #[serde(borrow)]
    pub(super) role: Str<'a>,
    #[serde(borrow)]
    pub(super) model: Str<'a>,

    // `session_meta`.
    #[serde(borrow)]
    pub(super) source: Maybe<SessionSource<'a>>,
    #[serde(borrow)]
    pub(super) thread_source: Str<'a>,

    // `response_item`.
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) phase: Str<'a>,
    #[serde(borrow)]
    pub(super) summary: List<Part<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Str<'a>,
    #[serde(borrow)]
    pub(super) input: Str<'a>,
    #[serde(borrow)]
    pub(super) output: Leaves<'a>,

    // `event_msg`.
    #[serde(borrow)]
    pub(super) message: Str<'a>,
    #[serde(borrow)]
    pub(super) last_agent_message: Str<'a>,
    #[serde(borrow)]
    pub(super) item: Maybe<Item<'a>>,
    pub(super) info: Maybe<TokenInfo>,
    pub(super) exit_code: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct SessionSource<'a> {
    #[serde(borrow)]
    pub(super) subagent: Leaves<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    #[serde(borrow)]
    pub(super) phase: Str<'a>,
    pub(super) exit_code: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct TokenInfo {
    pub(super) total_token_usage: Maybe<CodexTokens>,
}

/// The texts of a message's parts, each on lines of its own.
pub(super) fn join<'a>(content: &'a Content<'_, Part<'_>>) -> Cow<'a, str> {
    match content {
        Content::Text(text) => Cow::Borrowed(text),
        Content::Blocks(parts) => match &parts[..] {
            [part] => Cow::Borrowed(&*part.text),
            parts => {
                let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
                Cow::Owned(texts.join("\n"))
            }
        },
    }
}

/// The texts in a call's arguments, which are JSON in a string, with the command line.
pub(super) fn arguments(json: &str) -> Leaves<'_> {
    let whole = |_| Leaves { texts: vec![Cow::Borrowed(json)], command: None };
    serde_json::from_str(json).unwrap_or_else(whole)
}

/// The output of a command, without the lines that its client puts before it.
pub(super) fn output(output: &str) -> Cow<'_, str> {
    if output.starts_with('{')
        && let Ok(old) = serde_json::from_str::<OldOutput<'_>>(output)
    {
        return Cow::Owned(old.output.0.into_owned());
    }
    Cow::Borrowed(output.split_once("\nOutput:\n").map_or(output, |(_, written)| written))
}

/// The exit code is in the first bytes of an output, if anywhere.
const MAX_HEAD: usize = 500;

/// The exit code in a command's output: in words, or in the JSON of older
/// versions.
pub(super) fn exit_code(output: &str) -> Option<i32> {
    if output.starts_with('{') {
        let old: OldOutput<'_> = serde_json::from_str(output).ok()?;
        return old.metadata.0?.exit_code.signed()?.try_into().ok();
    }
    let head = clip(output, MAX_HEAD).split("\nOutput:").next()?;
    let code = head.lines().find_map(|line| line.strip_prefix("Process exited with code "));
    code.or_else(|| head.lines().find_map(|line| line.strip_prefix("Exit code: ")))?
        .trim()
        .parse()
        .ok()
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OldOutput<'a> {
    #[serde(borrow)]
    output: Str<'a>,
    metadata: Maybe<OldMetadata>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OldMetadata {
    exit_code: Num,
}
