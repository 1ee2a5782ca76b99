//! Patterns and the packs that hold them.

use serde::{Deserialize, Serialize};

/// A completion phrase, an error signature: text that means something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its name, unique within the pack.
    pub id: String,
    /// The pack it comes from; `custom` for the settings' own.
    pub pack: String,
    /// The text to look for.
    pub matcher: Matcher,
    /// The weight of a hit; each pattern counts once.
    pub weight: u32,
    /// Whose text is searched.
    pub scope: Scope,
    /// Guards around a hit that cancel it.
    pub unless: Vec<Guard>,
    /// Texts in lower case, one of which stands in every match. Without any, they are
    /// found in the expression, which takes longer.
    #[serde(skip)]
    pub keywords: Vec<String>,
}

/// Text to look for, without regard to case, within one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matcher {
    /// Exactly this text.
    Literal(String),
    /// A regular expression, as `grep -iE` reads it.
    Regex(String),
}

/// Whose text a pattern searches.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The main agent's text in its final turn.
    #[default]
    Final,
    /// The main agent's text in any turn.
    Assistant,
    /// All text, whoever it belongs to.
    Any,
}

/// A guard around a hit that cancels it: the sentence says that it is not so, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Guard {
    /// "not all tasks completed".
    Negation,
    /// "once all tasks are completed".
    Condition,
    /// "all tasks will be completed".
    Future,
    /// "are all tasks completed?".
    Question,
    /// "verify that all tasks are completed": an order, as in a prompt.
    Instruction,
}
