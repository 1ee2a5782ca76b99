//! The prompt's token.

use gate_core::decide::policy::TokenMode;
use gate_core::decide::signal::{TokenHalves, prompt};

use super::Gate;
use crate::failure::Failure;
use crate::memory::{Memory, Tokens};
use crate::request::Request;

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
