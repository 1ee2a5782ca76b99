//! The records of a rollout file, as far as they are read.

use std::borrow::Cow;

use crate::claude_like::Block;
use crate::format::codex_exec::CodexTokens;
use crate::json::records;
use crate::loose::{Content, Leaves, List, Maybe, Num, Str};
use crate::out::clip;

records! {
    /// A record with its payload, or a payload that is a record by itself, as until September 2025.
    struct Payload<'a> {
        "type" => kind: Str<'a>,
        payload: Maybe<Box<Payload<'a>>>,
        id: Str<'a>,
        call_id: Str<'a>,
        name: Str<'a>,
        role: Str<'a>,
        model: Str<'a>,

        // `session_meta`.
        source: Maybe<SessionSource<'a>>,
        thread_source: Str<'a>,

        // `response_item`.
        content: Content<'a, Block<'a>>,
        phase: Str<'a>,
        summary: List<Block<'a>>,
        arguments: Str<'a>,
        input: Str<'a>,
        output: Leaves<'a>,

        // `event_msg`.
        message: Str<'a>,
        last_agent_message: Str<'a>,
        item: Maybe<Item<'a>>,
        info: Maybe<TokenInfo>,
        exit_code: Num,
    }

    struct SessionSource<'a> {
        subagent: Leaves<'a>,
    }

    struct Item<'a> {
        "type" => kind: Str<'a>,
        id: Str<'a>,
        content: Content<'a, Block<'a>>,
        phase: Str<'a>,
        exit_code: Num,
    }

    struct TokenInfo {
        total_token_usage: Maybe<CodexTokens>,
    }
}

/// The texts in a call's arguments, which are JSON in a string, with the command line.
pub(super) fn arguments(json: &str) -> Leaves<'_> {
    let as_text = |_| Leaves { texts: vec![Cow::Borrowed(json)], command: None };
    serde_json::from_str(json).unwrap_or_else(as_text)
}

/// The output of a command, without the lines that its client puts before it.
pub(super) fn output(output: &str) -> Cow<'_, str> {
    if output.starts_with('{')
        && let Ok(old_output) = serde_json::from_str::<OldOutput<'_>>(output)
    {
        return Cow::Owned(old_output.output.0.into_owned());
    }
    Cow::Borrowed(output.split_once("\nOutput:\n").map_or(output, |(_, text)| text))
}

/// The exit code is in the first bytes of an output, if anywhere.
const MAX_HEAD: usize = 500;

/// The exit code in a command's output: in words, or in the JSON of older
/// versions.
pub(super) fn exit_code(output: &str) -> Option<i32> {
    if output.starts_with('{') {
        let old_output: OldOutput<'_> = serde_json::from_str(output).ok()?;
        return old_output.metadata.0?.exit_code.exit_code();
    }
    let head = clip(output, MAX_HEAD).split("\nOutput:").next()?;
    let code = head.lines().find_map(|line| line.strip_prefix("Process exited with code "));
    code.or_else(|| head.lines().find_map(|line| line.strip_prefix("Exit code: ")))?
        .trim()
        .parse()
        .ok()
}

records! {
    struct OldOutput<'a> {
        output: Str<'a>,
        metadata: Maybe<OldMetadata>,
    }

    struct OldMetadata {
        exit_code: Num,
    }
}
