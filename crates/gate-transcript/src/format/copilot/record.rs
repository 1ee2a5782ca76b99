//! The events of Copilot CLI, as far as they are read.
//!
//! Sources: captures of 1.0.102, public logs of 1.0 to 1.2.

use crate::json::records;
use crate::loose::{Flag, Leaves, Num, Object, Str};

records! {
    struct Record<'a> {
        "type" => kind: Str<'a>,
        id: Str<'a>,
        "agentId" => agent: Str<'a>,
        ephemeral: Flag,
        data: Object<Data<'a>>,

        // The closing `result`.
        "sessionId" => session: Str<'a>,
        usage: Object<Total>,
    }

    /// The data of an event; its type decides which members are there.
    struct Data<'a> {
        "sessionId" => session: Str<'a>,
        "selectedModel" => selected_model: Str<'a>,
        model: Str<'a>,
        content: Str<'a>,
        "reasoningText" => reasoning: Str<'a>,
        "parentToolCallId" => parent_call: Str<'a>,

        // Tools.
        "toolCallId" => call: Str<'a>,
        "toolName" => tool: Str<'a>,
        arguments: Leaves<'a>,
        success: Option<Flag>,
        result: Object<Answer<'a>>,
        error: Object<Failure<'a>>,
        "shellExecution" => shell: Object<Shell>,

        // The client.
        message: Str<'a>,
        "errorType" => error_kind: Str<'a>,
        "statusCode" => status: Num,
        "summaryContent" => summary: Str<'a>,
        output: Object<HookOutput<'a>>,
        usage: Object<Tokens>,
        "inputTokens" => input: Num,
        "outputTokens" => output_tokens: Num,
        "cacheReadTokens" => cache_read: Num,
    }

    struct Answer<'a> {
        content: Str<'a>,
    }

    struct Failure<'a> {
        message: Str<'a>,
        code: Str<'a>,
    }

    struct Shell {
        "exitCode" => exit_code: Num,
    }

    struct HookOutput<'a> {
        decision: Str<'a>,
    }

    struct Tokens {
        "inputTokens" => input: Num,
        "outputTokens" => output: Num,
        "cacheReadTokens" => cache_read: Num,
    }

    struct Total {
        "sessionDurationMs" => session_duration_ms: Num,
    }
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
            [self.input, self.output, self.cache_read].map(|count| count.whole().unwrap_or(0));
        input.saturating_sub(cached).saturating_add(output)
    }
}
