//! The records of Claude Code, as far as they are read.
//!
//! Sources: captures of 2.1.197 and 2.1.330, public logs of 1.0 to 2.1.

use crate::claude_like::{Message, Tokens};
use crate::json::records;
use crate::loose::{Cause, Flag, List, Maybe, Num, Str};

records! {
    /// A line of a stream, a session file, or the one object of `json`.
    struct Record<'a> {
        "type" => kind: Str<'a>,
        subtype: Str<'a>,
        session_id: Str<'a>,
        "sessionId" => session_id_on_disk: Str<'a>,
        message: Maybe<Message<'a>>,

        // The record's origin.
        parent_tool_use_id: Str<'a>,
        "isSidechain" => is_sidechain: Flag,
        "isSynthetic" => is_synthetic: Flag,
        "isMeta" => is_meta: Flag,
        "isCompactSummary" => is_compact_summary: Flag,
        "promptSource" => prompt_source: Str<'a>,
        origin: Maybe<Origin<'a>>,
        attachment: Maybe<Attachment<'a>>,

        // Failures.
        "isApiErrorMessage" => is_api_error_on_disk: Flag,
        is_api_error_message: Flag,
        "apiErrorStatus" => api_error_status_on_disk: Num,
        api_error_status: Num,
        error: Cause<'a>,
        errors: List<Str<'a>>,
        rate_limit_info: Maybe<RateLimit<'a>>,

        // `system` records.
        model: Str<'a>,
        content: Str<'a>,
        summary: Str<'a>,
        tool_name: Str<'a>,
        tool_use_id: Str<'a>,

        // `user` records.
        "toolDenialKind" => tool_denial_kind: Str<'a>,

        // `result` records.
        result: Str<'a>,
        is_error: Flag,
        result_index: Num,
        permission_denials: List<Denial<'a>>,
        usage: Maybe<Tokens>,
        total_cost_usd: Num,
        duration_ms: Num,

        // `cost-state` records.
        "totalCostUSD" => total_cost_on_disk: Num,
        "totalDuration" => total_duration_on_disk: Num,
    }

    /// A record of tools' calls, of which only the tokens count.
    struct Call<'a> {
        message: Maybe<CallMessage<'a>>,
    }

    struct CallMessage<'a> {
        id: Str<'a>,
        usage: Maybe<Tokens>,
    }

    struct Origin<'a> {
        kind: Str<'a>,
    }

    struct Attachment<'a> {
        "type" => kind: Str<'a>,
        prompt: Str<'a>,
    }

    struct RateLimit<'a> {
        status: Str<'a>,
        "resetsAt" => resets_at: Num,
    }

    struct Denial<'a> {
        tool_name: Str<'a>,
        tool_use_id: Str<'a>,
    }
}
