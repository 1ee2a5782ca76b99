//! Tokens: the one that a prompt shows, and the check that a signal carries it.

use gate_core::Scan;
use gate_core::decide::policy::TokenMode;
use gate_core::decide::signal::{TokenFinding, TokenHalves, UncheckedSignal, prompt};

use super::Gate;
use crate::failure::Failure;
use crate::memory::{DecisionContext, Memory, Tokens};
use crate::request::Request;

/// The reason why no token can be checked without a memory.
const NO_STATE: &str = "no state is kept (--no-state), so nobody knows which one holds";

impl Gate {
    /// The completion protocol for the agent's prompt, as `gate prompt` prints it. If settings
    /// require a token, the text has that of the next iteration of the request's run.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a key that cannot be made.
    pub fn prompt(&self, request: &Request) -> Result<String, Failure> {
        Ok(prompt(&self.policy.signal, self.next_token(request)?.as_ref()))
    }

    /// The token of the next iteration, if tokens are required.
    ///
    /// Fails on a store that cannot be read, and on a key that cannot be made.
    pub(crate) fn next_token(&self, request: &Request) -> Result<Option<TokenHalves>, Failure> {
        let Some(mut memory) = self.memory() else { return Ok(None) };
        let Some(tokens) = self.tokens(&mut memory)? else { return Ok(None) };
        let policy_text = String::new();
        let question = self.decision_request(request, None, &policy_text);
        let (run, iteration) = memory.next_iteration(&question)?;
        Ok(Some(tokens.halves((&run, iteration))))
    }

    /// The project's tokens, if they are required.
    pub(super) fn tokens(&self, memory: &mut Memory) -> Result<Option<Tokens>, Failure> {
        self.requires_token().then(|| memory.tokens()).transpose()
    }

    fn requires_token(&self) -> bool {
        self.policy.signal.token == TokenMode::Required
    }
}

/// The transcript for a decision without memory, which cannot check tokens.
pub(super) fn without_state(scan: Scan<UncheckedSignal>) -> Scan {
    scan.with_token(&TokenFinding::unchecked(NO_STATE))
}

/// The transcript with the check of its signal's token against this iteration.
pub(super) fn proven(
    scan: &Scan<UncheckedSignal>,
    tokens: Option<&Tokens>,
    iteration: Option<(&str, u64)>,
) -> Scan {
    scan.clone().map_signal(|signal| match tokens {
        Some(tokens) => tokens.prove(signal, iteration),
        None => signal.without_token(),
    })
}

impl DecisionContext {
    /// The run and the iteration of this decision.
    pub(super) fn numbered(&self) -> Option<(&str, u64)> {
        self.run.as_deref().zip(self.iteration)
    }

    /// The token of the next iteration.
    pub(super) fn next_token(&self, tokens: Option<&Tokens>) -> Option<TokenHalves> {
        let (run, iteration) = self.numbered()?;
        Some(tokens?.halves((run, iteration.saturating_add(1))))
    }
}
