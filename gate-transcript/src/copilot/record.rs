//! The events of Copilot CLI, as far as they are read.
//!
//! Sources: captures of 1.0.102, public logs of 1.0 to 1.2.

use serde::Deserialize;

use crate::json::Borrowed;
use crate::loose::{Flag, Leaves, Num, Object, Str};

/// Marks [`Record`] for reading.
pub(super) struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow, rename = "agentId")]
    pub(super) agent: Str<'a>,
    pub(super) ephemeral: Flag,
    #[serde(borrow)]
    pub(super) data: Object<Data<'a>>,

    // The closing `result`.
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Str<'a>,
    pub(super) usage: Object<Total>,
}

/// The data of an event; its type decides which members are there.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Data<'a> {
    #[serde(borrow, rename = "sessionId")]
    pub(super) session: Str<'a>,
    #[serde(borrow, rename = "selectedModel")]
    pub(super) selected_model: Str<'a>,
    #[serde(borrow)]
    pub(super) model: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Str<'a>,
    #[serde(borrow, rename = "reasoningText")]
    pub(super) reasoning: Str<'a>,
    #[serde(borrow, rename = "parentToolCallId")]
    pub(super) parent_call: Str<'a>,

    // Tools.
    #[serde(borrow, rename = "toolCallId")]
    pub(super) call: Str<'a>,
    #[serde(borrow, rename = "toolName")]
    pub(super) tool: Str<'a>,
    #[serde(borrow)]
    pub(super) arguments: Leaves<'a>,
    pub(super) success: Option<Flag>,
    #[serde(borrow)]
    pub(super) result: Object<Answer<'a>>,
    #[serde(borrow)]
    pub(super) error: Object<Failure<'a>>,
    #[serde(rename = "shellExecution")]
    pub(super) shell: Object<Shell>,

    // The client.
    #[serde(borrow)]
    pub(super) message: Str<'a>,
    #[serde(borrow, rename = "errorType")]
    pub(super) error_kind: Str<'a>,
    #[serde(rename = "statusCode")]
    pub(super) status: Num,
    #[serde(borrow, rename = "summaryContent")]
    pub(super) summary: Str<'a>,
    #[serde(borrow)]
    pub(super) output: Object<HookOutput<'a>>,
    pub(super) usage: Object<Tokens>,
    #[serde(rename = "inputTokens")]
    input: Num,
    #[serde(rename = "outputTokens")]
    output_tokens: Num,
    #[serde(rename = "cacheReadTokens")]
    cache_read: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Answer<'a> {
    #[serde(borrow)]
    pub(super) content: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Failure<'a> {
    #[serde(borrow)]
    pub(super) message: Str<'a>,
    #[serde(borrow)]
    pub(super) code: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Shell {
    #[serde(rename = "exitCode")]
    pub(super) exit_code: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct HookOutput<'a> {
    #[serde(borrow)]
    pub(super) decision: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(rename = "inputTokens")]
    input: Num,
    #[serde(rename = "outputTokens")]
    output: Num,
    #[serde(rename = "cacheReadTokens")]
    cache_read: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Total {
    #[serde(rename = "sessionDurationMs")]
    pub(super) session_duration_ms: Num,
}

impl Data<'_> {
    pub(super) fn tokens(&self) -> Tokens {
        Tokens { input: self.input, output: self.output_tokens, cache_read: self.cache_read }
    }
}

impl Tokens {
    /// Input and output together, without what was read from a cache, which
    /// the client counts as input.
    pub(super) fn total(&self) -> u64 {
        let [input, output, cached] =
            [self.input, self.output, self.cache_read].map(|part| part.whole().unwrap_or(0));
        input.saturating_sub(cached).saturating_add(output)
    }
}
