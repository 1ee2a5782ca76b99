//! ATIF, the Agent Trajectory Interchange Format, in which Harbor, Devin and others keep a run: one
//! object with all steps.
//!
//! Sources: Harbor's RFC 0001 as harborframework.com/docs/trajectory-format has it; the models of
//! NVIDIA's `nat.atif` (1.7); microsoft/vscode-copilot-chat, `src/extension/trajectory/ARCHITECTURE.md`
//! (1.5). An observation marks no failure, and has no exit code. Trajectories of sub-agents that stand
//! in the object are left out. The message of `finish`, a tool of OpenHands, is the agent's last
//! word. Steps that a converter marks as a side chain are a sub-agent's.

use crate::json::{Json, Records, records};
use crate::loose::{Content, Flag, List, Members, Num, Object, Piece, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const ATIF_JSON: Spec = Spec {
    name: "atif-json",
    family: &["atif", "harbor"],
    known_by: KnownBy::Record(|shape| shape.text("schema_version").starts_with("ATIF-v")),
    open: |_| Box::new(Json::new(Atif::default())),
};

/// Follows the steps.
#[derive(Debug, Default)]
struct Atif {
    talk: Talk,
    /// A trajectory came: the next one begins another run.
    has_trajectory: bool,
    usage: Usage,
}

records! {
    struct Trajectory<'a> {
        session_id: Str<'a>,
        agent: Object<Agent<'a>>,
        steps: List<Object<Step<'a>>>,
        final_metrics: Object<Totals>,
    }

    struct Agent<'a> {
        model_name: Str<'a>,
    }

    struct Step<'a> {
        source: Str<'a>,
        model_name: Str<'a>,
        message: Content<'a, Part<'a>>,
        reasoning_content: Str<'a>,
        tool_calls: List<Object<Call<'a>>>,
        observation: Object<Observation<'a>>,
        metrics: Object<Metrics>,
        extra: Object<Extra>,
    }

    /// A part of a message; an image has no text.
    struct Part<'a> {
        text: Str<'a>,
    }

    struct Call<'a> {
        tool_call_id: Str<'a>,
        function_name: Str<'a>,
        arguments: Members<'a>,
    }

    struct Observation<'a> {
        results: List<Object<Answer<'a>>>,
    }

    struct Answer<'a> {
        source_call_id: Str<'a>,
        content: Content<'a, Part<'a>>,
    }

    struct Extra {
        is_sidechain: Flag,
    }

    struct Metrics {
        prompt_tokens: Num,
        completion_tokens: Num,
        /// Of the prompt's tokens, those out of a cache.
        cached_tokens: Num,
        cost_usd: Num,
    }

    struct Totals {
        total_prompt_tokens: Num,
        total_completion_tokens: Num,
        total_cached_tokens: Num,
        total_cost_usd: Num,
    }
}

impl Piece for Part<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Records for Atif {
    type Record<'a> = Trajectory<'a>;

    fn take(&mut self, trajectory: Trajectory<'_>, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.has_trajectory, true) {
            self.talk.turn(Boundary::Prompt, out);
        }
        out.session(&trajectory.session_id);
        out.model(trajectory.agent.0.as_ref().map_or("", |agent| &agent.model_name));
        let mut spent = Usage::default();
        // The number of the step says more than the line of the object.
        for (step, line) in trajectory.steps.0.iter().zip(1..) {
            if let Some(step) = &step.0 {
                self.step(step, out.at_line(line));
                spent.add(step.metrics.0.as_ref().map(Metrics::usage).unwrap_or_default());
            }
        }
        let totals = trajectory.final_metrics.0.as_ref().map(Totals::usage).unwrap_or_default();
        self.usage.add(Usage {
            tokens: totals.tokens.or(spent.tokens),
            cost_micro_usd: totals.cost_micro_usd.or(spent.cost_micro_usd),
            ..Usage::default()
        });
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl Atif {
    fn step(&mut self, step: &Step<'_>, out: &mut Out<'_>) {
        let is_side_chain = step.extra.0.as_ref().is_some_and(|extra| extra.is_sidechain.0);
        let text = step.message.text();
        self.talk.close();
        match &*step.source {
            _ if is_side_chain => {
                out.say(Role::Tool, &step.reasoning_content);
                out.say(Role::Tool, &text);
            }
            "agent" => {
                out.model(&step.model_name);
                self.talk.thought(&step.reasoning_content, out);
                self.talk.block("", &text, out);
            }
            // A picture has no text, and is a prompt.
            "user" => self.talk.prompt(&text, out),
            _ if text.trim().is_empty() => {}
            _ => {
                // After the agent has spoken, the client tells it something new.
                if self.talk.has_text() {
                    self.talk.turn(Boundary::Prompt, out);
                }
                out.say(Role::System, &text);
            }
        }
        for call in step.tool_calls.0.iter().filter_map(|call| call.0.as_ref()) {
            let input = &call.arguments;
            self.talk.call(&call.tool_call_id, &call.function_name, &input.leaves, out);
            if &*step.source == "agent" && !is_side_chain && &*call.function_name == "finish" {
                self.talk.block("", input.text("message"), out);
            }
        }
        let results = step.observation.0.iter().flat_map(|observation| &observation.results.0);
        for answer in results.filter_map(|answer| answer.0.as_ref()) {
            let (id, text) = (&answer.source_call_id, answer.content.text());
            self.talk.answer(id, &text, Ending::Unmarked, None, out);
        }
    }
}

impl Metrics {
    fn usage(&self) -> Usage {
        usage(self.prompt_tokens, self.cached_tokens, self.completion_tokens, self.cost_usd)
    }
}

impl Totals {
    fn usage(&self) -> Usage {
        let (prompt, cached) = (self.total_prompt_tokens, self.total_cached_tokens);
        usage(prompt, cached, self.total_completion_tokens, self.total_cost_usd)
    }
}

/// Input out of a cache is left out, as in the other formats.
fn usage(prompt: Num, cached: Num, completion: Num, cost: Num) -> Usage {
    let tokens = sum([prompt, completion]);
    let cached_tokens = cached.whole().unwrap_or_default();
    Usage {
        tokens: tokens.map(|tokens| tokens.saturating_sub(cached_tokens)),
        cost_micro_usd: cost.micro(),
        ..Usage::default()
    }
}
