//! Tokens: words that only an agent can say that was given this iteration's prompt.
//!
//! Each iteration of each run has its own. A prompt shows it in two halves, so that
//! no echo of a prompt holds the whole; what was said in an earlier iteration, or in
//! another run, holds another one.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::unmarked;
use super::layout::{BlockKind, Layout};
use super::unchecked::UncheckedSignal;
use super::value::{is_placeholder, undecorated};

/// Letters and digits that nobody takes for each other, without vowels: no half is
/// a word of some language.
const LETTERS: &[u8; 28] = b"bcdfghjkmnpqrstvwxyz23456789";

/// The length of a half, in letters.
const HALF_LETTERS: usize = 4;

/// The key of a token's line.
pub(super) const KEY: &str = "EXIT_TOKEN";

/// The greatest distance between a signal and its token, in lines.
const NEARBY_LINES: usize = 40;

/// The key from which a project's tokens derive. Whoever has the key can compute them
/// all.
#[derive(Clone)]
pub struct TokenKey([u8; 32]);

impl TokenKey {
    /// A key of random bytes. Each project has keys of its own.
    pub fn new(random: &[u8; 32], project: &str) -> Self {
        Self(*blake3::keyed_hash(random, project.as_bytes()).as_bytes())
    }

    /// The token of an iteration of a run.
    pub fn halves(&self, run: &str, iteration: u64) -> TokenHalves {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&iteration.to_le_bytes()).update(run.as_bytes());
        let mut bytes = [0; 16 * HALF_LETTERS];
        hasher.finalize_xof().fill(&mut bytes);
        let letters: Vec<char> = bytes.as_chunks().0.iter().map(letter).collect();
        let (first, second) = letters.split_at(HALF_LETTERS);
        TokenHalves { first: first.iter().collect(), second: second.iter().collect() }
    }
}

/// The letter of eight random bytes. Eight bytes make the bias of the remainder too small
/// to matter.
fn letter(eight: &[u8; 8]) -> char {
    let number = u64::from_be_bytes(*eight) % LETTERS.len() as u64;
    char::from(LETTERS[number as usize])
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey")
    }
}

/// An iteration's token as it is shown: the whole is both, without anything between.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Halves")]
pub struct TokenHalves {
    /// The first half.
    pub first: String,
    /// The second half.
    pub second: String,
}

impl TokenHalves {
    /// True if a text is the whole token, in any case.
    pub fn is(&self, said: &str) -> bool {
        let (first, second) = (self.first.as_bytes(), self.second.as_bytes());
        let Some((start, end)) = said.as_bytes().split_at_checked(first.len()) else {
            return false;
        };
        start.eq_ignore_ascii_case(first) && end.eq_ignore_ascii_case(second)
    }

    /// True if a text holds both halves without joining them.
    pub fn is_apart(&self, said: &str) -> bool {
        let said = said.to_ascii_lowercase();
        !self.is(&said) && said.contains(&self.first) && said.contains(&self.second)
    }

    /// The paragraph about the token that follows the protocol in a prompt. An agent that
    /// repeats the paragraph never prints the whole token.
    pub fn told(&self) -> String {
        let Self { first, second } = self;
        format!(
            "Beside COMPLETE or BLOCKED put one more line, or your status does not count:\n\n\
             {KEY}: {{the two halves, joined into one word}}\n\n\
             For your next status the first half is {first}, and the second half is {second}.\n"
        )
    }
}

/// The result of checking a signal's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Token")]
pub enum TokenState {
    /// It is this iteration's.
    Held,
    /// There is none.
    Missing,
    /// It is none that gate has given to an agent lately, or half of one.
    Wrong,
    /// It is that of an earlier iteration: the agent repeats an old signal.
    Earlier,
    /// It is that of another run.
    OtherRun,
    /// Nobody could look at it.
    Unchecked,
}

/// The result of checking a token, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFinding {
    pub(super) token: TokenState,
    pub(super) why: String,
}

impl TokenFinding {
    fn new(token: TokenState, why: impl Into<String>) -> Self {
        Self { token, why: why.into() }
    }

    /// Nobody can look at it, for this reason.
    pub fn unchecked(why: &str) -> Self {
        Self {
            token: TokenState::Unchecked,
            why: format!("its EXIT_TOKEN cannot be checked: {why}"),
        }
    }

    /// Compares a signal's token with that of an iteration of a run. `others` are
    /// runs and iterations whose tokens agents got lately.
    pub fn check(
        signal: &UncheckedSignal,
        key: &TokenKey,
        (run, iteration): (&str, u64),
        others: &[(String, u64)],
    ) -> Self {
        let Some(said) = signal.token() else {
            let why = "it carries no EXIT_TOKEN, and this iteration's is required";
            return Self::new(TokenState::Missing, why);
        };
        let own = key.halves(run, iteration);
        if own.is(&said.text) {
            return Self::new(TokenState::Held, "");
        }
        if own.is_apart(&said.text) {
            let why = "the halves of its EXIT_TOKEN are not joined into one word";
            return Self::new(TokenState::Wrong, why);
        }
        let mut earlier = (1..iteration).rev().take(MAX_EARLIER_ITERATIONS);
        if let Some(earlier) = earlier.find(|earlier| key.halves(run, *earlier).is(&said.text)) {
            let why =
                format!("its EXIT_TOKEN is that of iteration {earlier}, and this is {iteration}");
            return Self::new(TokenState::Earlier, why);
        }
        match others.iter().find(|(run, iteration)| key.halves(run, *iteration).is(&said.text)) {
            Some((other, iteration)) => {
                let why =
                    format!("its EXIT_TOKEN is that of iteration {iteration} of the run {other}");
                Self::new(TokenState::OtherRun, why)
            }
            None => Self::new(TokenState::Wrong, "its EXIT_TOKEN is not this iteration's"),
        }
    }
}

/// The earlier iterations whose tokens are compared.
const MAX_EARLIER_ITERATIONS: usize = 1_000;

/// A token in the agent's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenToken {
    pub(super) text: String,
    pub(super) line: u64,
}

impl SeenToken {
    /// The token beside a signal at a line of the message: the next one, else the
    /// last one before it.
    pub(super) fn beside(layout: &Layout<'_>, at: usize) -> Option<Self> {
        let lines = layout.lines();
        let from = at.saturating_sub(NEARBY_LINES);
        let to = lines.len().min(at + NEARBY_LINES);
        (at..to).chain((from..at).rev()).find_map(|index| Self::on_line(layout, index))
    }

    fn on_line(layout: &Layout<'_>, index: usize) -> Option<Self> {
        let line = &layout.lines()[index];
        match line.block {
            BlockKind::Prose | BlockKind::Fenced | BlockKind::Data => {
                Some(Self { text: value(line.text)?, line: layout.number(index) })
            }
            _ => None,
        }
    }
}

pub(super) fn is_token_line(line: &str) -> bool {
    value(line).is_some()
}

/// The token that a line says.
fn value(line: &str) -> Option<String> {
    if !line.contains(KEY) {
        return None;
    }
    let line = unmarked(line);
    let (key, value) = line.split_once([':', '：'])?;
    let value = undecorated(value);
    let is_said = undecorated(key) == KEY && !value.is_empty() && !is_placeholder(value);
    is_said.then(|| value.to_owned())
}
