//! The records of Claude Code, as far as they are read.
//!
//! Sources: captures of 2.1.197 and 2.1.330, public logs of 1.0 to 2.1.

use serde::Deserialize;

use crate::json::Borrowed;
use crate::loose::{Cause, Content, Flag, Leaves, List, Maybe, Num, Str};

/// Marks [`Record`] for reading.
pub(super) struct Any;

impl Borrowed for Any {
    type Of<'a> = Record<'a>;
}

/// A line of a stream, a session file, or the one object of `json`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Record<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) subtype: Str<'a>,
    #[serde(borrow)]
    pub(super) session_id: Str<'a>,
    #[serde(borrow, rename = "sessionId")]
    pub(super) session_id_on_disk: Str<'a>,
    #[serde(borrow)]
    pub(super) message: Maybe<Message<'a>>,

    // Whose record it is.
    #[serde(borrow)]
    pub(super) parent_tool_use_id: Str<'a>,
    #[serde(rename = "isSidechain")]
    pub(super) is_sidechain: Flag,
    #[serde(rename = "isSynthetic")]
    pub(super) is_synthetic: Flag,
    #[serde(rename = "isMeta")]
    pub(super) is_meta: Flag,
    #[serde(rename = "isCompactSummary")]
    pub(super) is_compact_summary: Flag,
    #[serde(borrow, rename = "promptSource")]
    pub(super) prompt_source: Str<'a>,
    #[serde(borrow)]
    pub(super) origin: Maybe<Origin<'a>>,
    #[serde(borrow)]
    pub(super) attachment: Maybe<Attachment<'a>>,

    // Failures.
    #[serde(rename = "isApiErrorMessage")]
    pub(super) is_api_error_on_disk: Flag,
    pub(super) is_api_error_message: Flag,
    #[serde(rename = "apiErrorStatus")]
    pub(super) api_error_status_on_disk: Num,
    pub(super) api_error_status: Num,
    #[serde(borrow)]
    pub(super) error: Cause<'a>,
    #[serde(borrow)]
    pub(super) errors: List<Str<'a>>,
    #[serde(borrow)]
    pub(super) rate_limit_info: Maybe<RateLimit<'a>>,

    // `system` records.
    #[serde(borrow)]
    pub(super) model: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Str<'a>,
    #[serde(borrow)]
    pub(super) summary: Str<'a>,
    #[serde(borrow)]
    pub(super) tool_name: Str<'a>,
    #[serde(borrow)]
    pub(super) tool_use_id: Str<'a>,

    // `user` records.
    #[serde(borrow, rename = "toolDenialKind")]
    pub(super) tool_denial_kind: Str<'a>,

    // `result` records.
    #[serde(borrow)]
    pub(super) result: Str<'a>,
    pub(super) is_error: Flag,
    pub(super) result_index: Num,
    #[serde(borrow)]
    pub(super) permission_denials: List<Denial<'a>>,
    pub(super) usage: Maybe<Tokens>,
    pub(super) total_cost_usd: Num,
    pub(super) duration_ms: Num,

    // `cost-state` records.
    #[serde(rename = "totalCostUSD")]
    pub(super) total_cost_on_disk: Num,
    #[serde(rename = "totalDuration")]
    pub(super) total_duration_on_disk: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) model: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Block<'a>>,
    pub(super) usage: Maybe<Tokens>,
}

/// A record of tools' calls, of which only the tokens count.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    pub(super) message: Maybe<CallMessage<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct CallMessage<'a> {
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    pub(super) usage: Maybe<Tokens>,
}

/// One block of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) text: Str<'a>,
    #[serde(borrow)]
    pub(super) thinking: Str<'a>,
    #[serde(borrow)]
    pub(super) id: Str<'a>,
    #[serde(borrow)]
    pub(super) name: Str<'a>,
    #[serde(borrow)]
    pub(super) input: Leaves<'a>,
    #[serde(borrow)]
    pub(super) tool_use_id: Str<'a>,
    #[serde(borrow)]
    pub(super) content: Content<'a, Part<'a>>,
    pub(super) is_error: Flag,
}

/// A part of a tool's result; images have no text.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub(super) kind: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Str<'a>,
    #[serde(borrow)]
    pub(super) prompt: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct RateLimit<'a> {
    #[serde(borrow)]
    pub(super) status: Str<'a>,
    #[serde(rename = "resetsAt")]
    pub(super) resets_at: Num,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Denial<'a> {
    #[serde(borrow)]
    pub(super) tool_name: Str<'a>,
    #[serde(borrow)]
    pub(super) tool_use_id: Str<'a>,
}

/// Tokens of one message, or of one result.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(super) struct Tokens {
    input_tokens: Num,
    cache_creation_input_tokens: Num,
    output_tokens: Num,
}

impl Tokens {
    /// Input and output together. What was read from a cache is left out, as
    /// in Codex's own count: it would drown everything else.
    pub(super) fn total(self) -> u64 {
        let parts = [self.input_tokens, self.cache_creation_input_tokens, self.output_tokens];
        parts.into_iter().filter_map(Num::whole).fold(0, u64::saturating_add)
    }
}
