//! The reason why something that looks like a signal is none.

use crate::decide::indicator::excerpt;
use crate::decide::language::{Kind, Rule};

/// The reason why something that looks like a signal is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) reason: String,
    /// The text shows how a signal is given: an example, a placeholder, an order, a
    /// condition. A message that does so once does not mean its other signals either,
    /// unless it ends with one.
    pub(super) is_example: bool,
}

/// The kinds of rules that know an example.
const EXAMPLES: [Kind; 12] = [
    Kind::PutOff,
    Kind::PromptOrder,
    Kind::PromptItem,
    Kind::Sample,
    Kind::Label,
    Kind::Topic,
    Kind::Order,
    Kind::Program,
    Kind::SampleHeading,
    Kind::Criteria,
    Kind::Otherwise,
    Kind::ConditionalMention,
];

impl Objection {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_example: false }
    }

    pub(super) fn example(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_example: true }
    }

    /// The objection of a rule of language.
    pub(super) fn from_rule(rule: &Rule) -> Self {
        let is_example = EXAMPLES.iter().any(|kind| rule.is_of(*kind));
        Self { reason: rule.objection(), is_example }
    }

    /// The objection of a rule, with the sentence that the rule refused.
    pub(super) fn to_sentence(rule: &Rule, sentence: &str) -> Self {
        Self { reason: rule.objection_to(&excerpt(sentence, 0)), ..Self::from_rule(rule) }
    }
}
