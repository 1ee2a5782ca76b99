//! A signal before its token is checked.

use super::candidate::{NearMiss, cut};
use super::layout::Layout;
use super::token::{KEY, SeenToken, TokenFinding, TokenState};
use super::{Signal, Status};
use crate::decide::policy::{SignalPolicy, TokenMode};
use gate_transcript::Word;

/// The problem of a signal whose token is not checked yet.
const UNCHECKED: &str =
    "its EXIT_TOKEN was not looked at: only a decision that keeps state knows which one holds";

/// A signal whose token nobody has checked yet. Only what [`UncheckedSignal::with_token`]
/// returns can end a loop that requires tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedSignal {
    /// Invalid if it needs a token.
    pub(super) signal: Signal,
    /// The claim that needs a token.
    pub(super) claim: Option<UnprovenClaim>,
}

/// A claim that counts if its token is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnprovenClaim {
    status: Status,
    fields_agree: bool,
    token: Option<SeenToken>,
}

impl Signal {
    /// Makes what would end the loop invalid until its token is checked.
    pub(super) fn await_token(mut self, token: Option<SeenToken>) -> UncheckedSignal {
        if !matches!(self.status, Status::Complete | Status::Blocked) {
            return UncheckedSignal { signal: self, claim: None };
        }
        let claim = UnprovenClaim { status: self.status, fields_agree: self.fields_agree, token };
        self.status = Status::Invalid;
        self.fields_agree = false;
        self.token = Some(TokenState::Unchecked);
        self.problems.push(UNCHECKED.to_owned());
        UncheckedSignal { signal: self, claim: Some(claim) }
    }
}

impl UncheckedSignal {
    /// The status that the signal claims.
    pub fn claimed_status(&self) -> Status {
        self.claim.as_ref().map_or(self.signal.status, |claim| claim.status)
    }

    /// The status as long as the token is not checked.
    pub fn status(&self) -> Status {
        self.signal.status
    }

    /// Line of the input, from 1.
    pub fn line(&self) -> Option<u64> {
        self.signal.line
    }

    /// The token that the agent said beside the signal.
    pub(super) fn token(&self) -> Option<&SeenToken> {
        self.claim.as_ref()?.token.as_ref()
    }

    /// The texts of the signal and its fields.
    pub(crate) fn texts(&self) -> &[String] {
        &self.signal.texts
    }

    /// Adds a reason why the signal may not be the last word. A completion is invalid then:
    /// its author contradicts nothing.
    pub(crate) fn doubt(&mut self, problem: String) {
        self.signal.problems.push(problem);
        let claimed = self.claim.as_mut().map(|claim| &mut claim.status);
        for status in std::iter::once(&mut self.signal.status).chain(claimed) {
            if *status == Status::Complete {
                *status = Status::Invalid;
            }
        }
        self.signal.settle();
    }

    /// The signal of an agent that gave none in words and created the file `DONE`. The
    /// file speaks for itself: nothing is counted as an indicator for it. If a token is
    /// required, the agent's last word has to carry it.
    #[must_use]
    pub fn or_done_file(self, policy: &SignalPolicy, last_word: &str) -> Self {
        if self.signal.status != Status::Absent {
            return self;
        }
        let reason = Some("the agent created the file DONE".to_owned());
        let (status, problems) = (Status::Complete, Vec::new());
        let signal = Signal { status, reason, problems, ..self.signal };
        if policy.token != TokenMode::Required {
            return Self { signal, claim: None };
        }
        let word = Word::whole(last_word);
        let layout = Layout::new(&word, &policy.language);
        signal.await_token(SeenToken::beside(&layout, layout.lines().len()))
    }

    /// The signal without a look at its token. If the policy requires one, a claim that
    /// would end the loop is [`Status::Invalid`].
    #[must_use]
    pub fn without_token(self) -> Signal {
        self.signal
    }

    /// The signal with the finding about its token. A signal that ends nothing needs no
    /// token, and stays as it is.
    #[must_use]
    pub fn with_token(self, finding: &TokenFinding) -> Signal {
        let Self { mut signal, claim } = self;
        let Some(claim) = claim else { return signal };
        signal.problems.retain(|problem| problem != UNCHECKED);
        signal.token = Some(finding.token);
        if finding.token == TokenState::Held {
            signal.status = claim.status;
            signal.fields_agree = claim.fields_agree;
        } else {
            let (text, line) = match &claim.token {
                Some(token) => (format!("{KEY}: {}", cut(&token.text)), token.line),
                None => (KEY.to_owned(), signal.line.unwrap_or_default()),
            };
            let near_miss = NearMiss { text, line, why: finding.reason.clone() };
            signal.problems.insert(0, finding.reason.clone());
            signal.near_misses.push(near_miss);
        }
        signal.settle();
        signal
    }
}
