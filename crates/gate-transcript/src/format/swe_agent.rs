//! SWE-agent's `.traj`: one object with all steps.
//!
//! Sources: SWE-agent/SWE-agent, `sweagent/types.py` and `sweagent/agent/agents.py`, of versions 0.7
//! and 1.1. The prompt stands in the history alone, which else repeats the steps; a demonstration
//! there is another run's. An observation marks no failure, and has no exit code.

use std::borrow::Cow;

use crate::json::{Json, Records, records};
use crate::loose::{Content, Flag, Leaves, List, Num, Object, Piece, Str, sum};
use crate::out::Out;
use crate::spec::{KnownBy, Spec};
use crate::talk::Talk;
use crate::{Boundary, Ending, Role, Usage};

pub(super) const SWE_AGENT_JSON: Spec = Spec {
    name: "swe-agent-json",
    family: &["swe-agent"],
    known_by: KnownBy::Record(|shape| {
        let step = shape.inner("trajectory");
        let keys = ["action", "observation", "response"];
        step.in_array && keys.iter().all(|key| step.has(key))
    }),
    open: |_| Box::new(Json::new(SweAgent::default())),
};

/// Follows the steps.
#[derive(Debug, Default)]
struct SweAgent {
    talk: Talk,
    /// A trajectory came: the next one begins another run.
    has_trajectory: bool,
    usage: Usage,
}

records! {
    struct Trajectory<'a> {
        trajectory: List<Object<Step<'a>>>,
        history: List<Object<Message<'a>>>,
        info: Object<Info>,
        /// The settings of the run, as JSON.
        replay_config: Str<'a>,
    }

    struct Step<'a> {
        action: Str<'a>,
        observation: Str<'a>,
        /// The model's answer, with the action in it if the model calls no functions.
        response: Str<'a>,
        /// The answer without the action.
        thought: Str<'a>,
        reasoning_content: Str<'a>,
        /// The messages that the model was asked with, since version 1.
        query: List<Object<Message<'a>>>,
    }

    struct Message<'a> {
        role: Str<'a>,
        content: Content<'a, Part<'a>>,
        is_demo: Flag,
    }

    /// A part of a message; an image has no text.
    struct Part<'a> {
        text: Str<'a>,
    }

    struct Info {
        model_stats: Object<Stats>,
    }

    struct Stats {
        instance_cost: Num,
        tokens_sent: Num,
        tokens_received: Num,
    }

    struct Config<'a> {
        agent: Object<Agent<'a>>,
    }

    struct Agent<'a> {
        model: Object<Model<'a>>,
    }

    struct Model<'a> {
        name: Str<'a>,
    }
}

impl Piece for Part<'_> {
    fn text(&self) -> &str {
        &self.text
    }
}

impl Records for SweAgent {
    type Record<'a> = Trajectory<'a>;

    fn take(&mut self, record: Trajectory<'_>, out: &mut Out<'_>) {
        if std::mem::replace(&mut self.has_trajectory, true) {
            self.talk.turn(Boundary::Prompt, out);
        }
        let config = serde_json::from_str::<Config<'_>>(&record.replay_config).unwrap_or_default();
        let agent = config.agent.0.as_ref();
        let model = agent.and_then(|agent| agent.model.0.as_ref());
        out.model(model.map_or("", |model| &model.name));
        let messages = record.history.0.iter().filter_map(|message| message.0.as_ref());
        let run_messages = messages.filter(|message| !message.is_demo.0);
        for message in run_messages.take_while(|message| &*message.role != "assistant") {
            match &*message.role {
                "user" => self.talk.prompt(&message.content.text(), out),
                _ => out.say(Role::System, &message.content.text()),
            }
        }
        // The number of the step says more than the line of the object.
        for (step, number) in record.trajectory.0.iter().zip(1..) {
            if let Some(step) = &step.0 {
                self.step(step, number, out.at_line(number));
            }
        }
        let info = record.info.0.as_ref();
        let stats = info.and_then(|info| info.model_stats.0.as_ref());
        self.usage.add(stats.map(Stats::usage).unwrap_or_default());
    }

    fn finish(&mut self, out: &mut Out<'_>) {
        out.usage(self.usage);
    }
}

impl SweAgent {
    fn step(&mut self, step: &Step<'_>, number: u64, out: &mut Out<'_>) {
        self.talk.close();
        if step.is_exit() {
            return out.fail(&step.thought, None);
        }
        self.talk.thought(&step.reasoning_content, out);
        let has_words = !step.thought.is_empty() || !step.action.is_empty();
        self.talk.block("", if has_words { &step.thought } else { &step.response }, out);
        let id = number.to_string();
        if !step.action.is_empty() {
            let texts = vec![Cow::Borrowed(&*step.action)];
            let input = Leaves { texts, command: Some(step.action.trim().to_owned()) };
            self.talk.call(&id, "bash", &input, out);
        }
        self.talk.answer(&id, &step.observation, Ending::Unmarked, None, out);
    }
}

impl Step<'_> {
    /// The harness ended the run, and wrote the step itself: of version 1 with a query that asks
    /// nothing, before that with the reason as its action.
    fn is_exit(&self) -> bool {
        let first_query = self.query.0.first().and_then(|message| message.0.as_ref());
        let asks_nothing = first_query.is_some_and(|message| message.role.is_empty());
        (self.action.is_empty() && asks_nothing) || self.action.starts_with("exit_")
    }
}

impl Stats {
    fn usage(&self) -> Usage {
        Usage {
            tokens: sum([self.tokens_sent, self.tokens_received]),
            cost_micro_usd: self.instance_cost.micro(),
            ..Usage::default()
        }
    }
}
