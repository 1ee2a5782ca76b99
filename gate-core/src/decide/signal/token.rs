//! Tokens: words that only an agent can say that was given this iteration's prompt.
//!
//! Each iteration of each run has its own. A prompt shows it in two halves, so that
//! no echo of a prompt holds the whole; a message of an earlier iteration, or of
//! another run, holds another token.

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
    /// A text is the whole token, in any case.
    pub fn are_joined_in(&self, text: &str) -> bool {
        let (first, second) = (self.first.as_bytes(), self.second.as_bytes());
        let Some((start, end)) = text.as_bytes().split_at_checked(first.len()) else {
            return false;
        };
        start.eq_ignore_ascii_case(first) && end.eq_ignore_ascii_case(second)
    }

    /// A text holds both halves without joining them.
    pub fn are_apart_in(&self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        !self.are_joined_in(&text) && text.contains(&self.first) && text.contains(&self.second)
    }

    /// The paragraph about the token that follows the protocol in a prompt. An agent that
    /// repeats the paragraph never prints the whole token.
    pub fn prompt_paragraph(&self) -> String {
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
    /// The agent said no token.
    Missing,
    /// gate has not given it to an agent lately, or it is half a token.
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
    pub(super) reason: String,
}

impl TokenFinding {
    fn new(token: TokenState, reason: impl Into<String>) -> Self {
        Self { token, reason: reason.into() }
    }

    /// Nobody can look at the token, for this reason.
    pub fn unchecked(reason: &str) -> Self {
        let reason = format!("its EXIT_TOKEN cannot be checked: {reason}");
        Self::new(TokenState::Unchecked, reason)
    }

    /// Compares a signal's token with that of an iteration of a run. `latest` are runs and
    /// iterations whose tokens agents got lately: a worker may answer the prompt of another.
    pub fn check(
        signal: &UncheckedSignal,
        key: &TokenKey,
        run: &str,
        iteration: u64,
        latest: &[(String, u64)],
    ) -> Self {
        let Some(token) = signal.token() else {
            let reason = "it carries no EXIT_TOKEN, and this iteration's is required";
            return Self::new(TokenState::Missing, reason);
        };
        let halves = key.halves(run, iteration);
        if halves.are_joined_in(&token.text) {
            return Self::new(TokenState::Held, "");
        }
        if halves.are_apart_in(&token.text) {
            let reason = "the halves of its EXIT_TOKEN are not joined into one word";
            return Self::new(TokenState::Wrong, reason);
        }
        // The answer only explains: the token is wrong in each case.
        let is_token_of =
            |run: &str, iteration: u64| key.halves(run, iteration).are_joined_in(&token.text);
        let mut earlier_iterations = (1..iteration).rev().take(MAX_EARLIER_ITERATIONS);
        if let Some(earlier) = earlier_iterations.find(|earlier| is_token_of(run, *earlier)) {
            let reason =
                format!("its EXIT_TOKEN is that of iteration {earlier}, and this is {iteration}");
            return Self::new(TokenState::Earlier, reason);
        }
        match latest.iter().find(|(run, iteration)| is_token_of(run, *iteration)) {
            Some((run, iteration)) => {
                let reason =
                    format!("its EXIT_TOKEN is that of iteration {iteration} of the run {run}");
                Self::new(TokenState::OtherRun, reason)
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
    pub(super) fn beside(layout: &Layout<'_>, signal: usize) -> Option<Self> {
        let first = signal.saturating_sub(NEARBY_LINES);
        let end = layout.lines().len().min(signal + NEARBY_LINES);
        (signal..end).chain((first..signal).rev()).find_map(|index| Self::on_line(layout, index))
    }

    fn on_line(layout: &Layout<'_>, index: usize) -> Option<Self> {
        let line = &layout.lines()[index];
        match line.block {
            BlockKind::Prose | BlockKind::Fenced | BlockKind::Data => {
                Some(Self { text: token_in(line.text)?, line: layout.number(index) })
            }
            _ => None,
        }
    }
}

pub(super) fn is_token_line(line: &str) -> bool {
    token_in(line).is_some()
}

/// The token that a line says.
fn token_in(line: &str) -> Option<String> {
    if !line.contains(KEY) {
        return None;
    }
    let line = unmarked(line);
    let (key, value) = line.split_once([':', '：'])?;
    let value = undecorated(value);
    let is_token = undecorated(key) == KEY && !value.is_empty() && !is_placeholder(value);
    is_token.then(|| value.to_owned())
}
