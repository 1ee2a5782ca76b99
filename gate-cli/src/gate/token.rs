//! Tokens: which one a prompt shows, and whether a signal carries the one that it
//! needs.

use std::borrow::Cow;

use gate_core::Scan;
use gate_core::decide::policy::TokenMode;
use gate_core::decide::signal::{TokenFinding, TokenHalves};

use super::Gate;
use crate::failure::Failure;
use crate::memory::{Memory, Standing, Tokens};
use crate::request::Request;

/// Why no token can be checked without a memory.
const NO_STATE: &str = "no state is kept (--no-state), so nobody knows which one holds";

impl Gate {
    /// The token of the iteration that comes next, for a prompt; none where none is
    /// required.
    ///
    /// # Errors
    ///
    /// A store that cannot be read, a key that cannot be made.
    pub(crate) fn next_token(&self, request: &Request) -> Result<Option<TokenHalves>, Failure> {
        let Some(mut memory) = self.memory() else { return Ok(None) };
        let Some(tokens) = self.tokens(&mut memory)? else { return Ok(None) };
        let policy_text = String::new();
        let asked = self.asked(request, None, &policy_text, &|| None);
        let (run, iteration) = memory.coming(&asked)?;
        Ok(Some(tokens.halves((&run, iteration))))
    }

    /// The project's tokens, where they are required.
    pub(super) fn tokens(&self, memory: &mut Memory) -> Result<Option<Tokens>, Failure> {
        self.requires_token().then(|| memory.tokens()).transpose()
    }

    fn requires_token(&self) -> bool {
        self.policy.signal.token == TokenMode::Required
    }

    /// What was read, where nobody remembers which token holds.
    pub(super) fn unproven<'s>(&self, scan: &'s Scan) -> Cow<'s, Scan> {
        if !self.requires_token() {
            return Cow::Borrowed(scan);
        }
        let signal = scan.signal.clone().with_token(&TokenFinding::unchecked(NO_STATE));
        Cow::Owned(Scan { signal, ..scan.clone() })
    }
}

/// What was read, with what is found of the signal's token in this iteration.
pub(super) fn proven<'s>(
    scan: &'s Scan,
    tokens: Option<&Tokens>,
    iteration: Option<(&str, u64)>,
) -> Cow<'s, Scan> {
    let Some(tokens) = tokens else { return Cow::Borrowed(scan) };
    let signal = tokens.prove(&scan.signal, iteration);
    Cow::Owned(Scan { signal, ..scan.clone() })
}

impl Standing {
    /// The iteration that is decided.
    pub(super) fn is_of(&self) -> Option<(&str, u64)> {
        self.run.as_deref().zip(self.iteration)
    }

    /// The token of the iteration after it.
    pub(super) fn next_token(&self, tokens: Option<&Tokens>) -> Option<TokenHalves> {
        let (run, iteration) = self.is_of()?;
        Some(tokens?.halves((run, iteration.saturating_add(1))))
    }
}
