//! Decisions that a task leaves open: the list that an agent gives before the work, and what a person
//! confirmed of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{MAX_NAMES, brief, counted, some_names};

/// The beginning of a line of the list.
pub const KEY: &str = "DECISION:";

/// The word for a list without any decision.
pub const NOTHING: &str = "none";

/// The most decisions that a list may have: a person has to read each.
pub const MAX_DECISIONS: usize = 20;

/// The most of a decision's text, in characters.
const MAX_TEXT_CHARS: usize = 400;

/// The most of a line that a problem quotes, in characters.
const MAX_QUOTED_CHARS: usize = 80;

/// The texts between what is open and the choice. The first that a line has counts.
const ARROWS: [&str; 4] = ["=>", "⇒", "→", "->"];

/// A decision that a task leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenDecision {
    /// The open question, such as "name of the new column".
    pub question: String,
    /// The agent's choice.
    pub choice: String,
}

/// A decision that a person confirmed or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmedDecision {
    /// The question.
    pub question: String,
    /// The answer that counts.
    pub answer: String,
    /// The command that shows it, a line for bash; absent if the person gave none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The person's answer is another than the agent's choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
}

/// The result of a turn that lists the open decisions of its task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Listing {
    /// The decisions.
    pub open: Vec<OpenDecision>,
    /// The reason why the list cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Files that the turn changed, relative to the root of the work tree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The file in which a person confirms the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl Listing {
    /// Reads the list in the agent's final message.
    pub fn read(message: &str) -> Self {
        match read(message) {
            Ok(open) => Self { open, ..Self::default() },
            Err(problem) => Self { problem: Some(problem), ..Self::default() },
        }
    }

    /// The objection to the turn; `None` if its list counts.
    pub fn objection(&self) -> Option<String> {
        if !self.changed.is_empty() {
            let files = some_names(&self.changed, MAX_NAMES);
            return Some(format!(
                "no file may change before the open decisions are confirmed: undo the changes of \
                 {files}"
            ));
        }
        self.problem.clone()
    }

    /// The list in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let are_open = match self.open.len() {
            0 => return "the task leaves nothing open".to_owned(),
            1 => "1 decision is open".to_owned(),
            count => format!("{} are open", counted(count, "decision")),
        };
        let shown = self.open.iter().map(|open| format!("{} ({})", open.question, open.choice));
        format!("{are_open}: {}", some_names(&shown.collect::<Vec<_>>(), MAX_NAMES))
    }
}

/// The decisions of a list, in its order. One that is listed again replaces the earlier line.
fn read(message: &str) -> Result<Vec<OpenDecision>, String> {
    let mut decisions: Vec<OpenDecision> = Vec::new();
    let mut says_none = false;
    for line in message.lines() {
        let Some(text) = behind_key(line) else { continue };
        if text.trim_end_matches('.').eq_ignore_ascii_case(NOTHING) {
            says_none = true;
            continue;
        }
        let decision = decision(&text).ok_or_else(|| {
            let quoted = brief(line.trim(), MAX_QUOTED_CHARS);
            format!("a line of the list is not `{KEY} what is open => choice`: {quoted}")
        })?;
        match decisions
            .iter_mut()
            .find(|earlier| earlier.question.eq_ignore_ascii_case(&decision.question))
        {
            Some(earlier) => *earlier = decision,
            None => decisions.push(decision),
        }
    }
    match (decisions.len(), says_none) {
        (0, false) => Err(format!(
            "the final message lists no open decisions: no line begins with `{KEY}`, and \
             `{KEY} {NOTHING}` is not there either"
        )),
        (1.., true) => {
            Err(format!("the final message says `{KEY} {NOTHING}`, and lists decisions beside it"))
        }
        (count, _) if count > MAX_DECISIONS => Err(format!(
            "the final message lists {count} decisions, and a person reads {MAX_DECISIONS} at \
             most: list those that a user of the result would notice"
        )),
        _ => Ok(decisions),
    }
}

/// The text behind the key, on a line of the list; markup around it does not count.
fn behind_key(line: &str) -> Option<String> {
    let plain = line.replace("**", "").replace("__", "");
    let is_of_marker = |char: char| char.is_whitespace() || "-*+•>#`.)".contains(char);
    let text = plain.trim_start_matches(|char: char| is_of_marker(char) || char.is_ascii_digit());
    let key_start = KEY.trim_end_matches(':');
    let rest = text.get(key_start.len()..)?;
    if !text.get(..key_start.len())?.eq_ignore_ascii_case(key_start) {
        return None;
    }
    // Agents number their lists: "DECISION 2: …".
    let rest = rest.trim_start_matches(|char: char| " `#".contains(char) || char.is_ascii_digit());
    let text = rest.strip_prefix(':')?;
    Some(unquoted(text))
}

/// A decision from a line behind the key; `None` without an arrow, with an empty side, and for a
/// copy of the prompt's own form.
fn decision(text: &str) -> Option<OpenDecision> {
    let (question, choice) = ARROWS.iter().find_map(|arrow| text.split_once(arrow))?;
    let (question, choice) = (unquoted(question), unquoted(choice));
    let is_form = |side: &str| side.starts_with('<') && side.ends_with('>');
    let is_whole = !question.is_empty() && !choice.is_empty();
    (is_whole && !(is_form(&question) && is_form(&choice)))
        .then_some(OpenDecision { question, choice })
}

/// The text on one line, without the quotation marks around all of it.
fn unquoted(text: &str) -> String {
    let line = brief(text.trim(), MAX_TEXT_CHARS);
    let inner = line.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    let inner = inner.filter(|inner| !inner.contains('`'));
    // A mark that closes what began before the key.
    let unpaired = line.strip_suffix('`').filter(|rest| !rest.contains('`'));
    inner.or(unpaired).unwrap_or(&line).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn lists(message: &str, expected: &[(&str, &str)]) {
        let listing = Listing::read(message);
        let shown: Vec<_> = listing
            .open
            .iter()
            .map(|open| (open.question.as_str(), open.choice.as_str()))
            .collect();
        assert_eq!((shown.as_slice(), listing.problem), (expected, None), "{message}");
    }

    #[track_caller]
    fn asks_again(message: &str, problem: &str) {
        let listing = Listing::read(message);
        let objection = listing.objection().unwrap_or_default();
        assert!(objection.contains(problem) && listing.open.is_empty(), "{message}: {objection}");
    }

    #[test]
    fn a_list_is_read_with_the_markup_that_agents_put_around_it() {
        let both = [("column name", "tax_rate"), ("default", "0")];
        lists("DECISION: column name => tax_rate\nDECISION: default => 0", &both);
        lists(
            "I read it.\n\n- DECISION: column name -> `tax_rate`\n* decision: default → 0\n",
            &both,
        );
        lists(
            "```\n1. **DECISION:** column name => tax_rate\n2. **DECISION 2: default** => 0\n```",
            &both,
        );
        lists("`DECISION: column name => tax_rate`\n> DECISION: default => 0", &both);
        // A draft and the list itself.
        lists("DECISION: default => 1\nDECISION: Default => 0\n", &[("Default", "0")]);
        lists("DECISION: callback => fn(a) -> b", &[("callback", "fn(a) -> b")]);
        lists("DECISION: path => `a` or `b`", &[("path", "`a` or `b`")]);
        for nothing in ["DECISION: none", "**DECISION: None.**", "- `DECISION: none`"] {
            lists(nothing, &[]);
        }
    }

    #[test]
    fn a_list_that_cannot_be_read_says_what_is_wrong() {
        asks_again("", "no line begins with `DECISION:`");
        asks_again("My decision: none of it is hard.", "no line begins with");
        asks_again("DECISION: the name of the column", "not `DECISION: what is open => choice`");
        asks_again("DECISION: => tax_rate", "not `DECISION: what is open => choice`");
        asks_again("DECISION: <what is open> => <your choice>", "not `DECISION:");
        asks_again("DECISION: none\nDECISION: a => b", "lists decisions beside it");
        let many: String = (0..21).map(|n| format!("DECISION: name {n} => x\n")).collect();
        asks_again(&many, "lists 21 decisions, and a person reads 20 at most");
    }

    #[test]
    fn a_change_counts_more_than_the_list() {
        let changed = vec!["a.py".to_owned()];
        let listing = Listing { changed, ..Listing::read("DECISION: none") };
        let says = "no file may change before the open decisions are confirmed: undo the changes \
                    of a.py";
        assert_eq!(listing.objection().as_deref(), Some(says));
    }
}
