//! The tokens of iterations. gate derives them from a key in the state folder and stores
//! none of them.
//!
//! The key is a file in the state folder even if a database has the decisions: a reader of
//! the database cannot make tokens. So a token is valid only on the machine that gave it.

use std::io;
use std::path::Path;

use gate_core::decide::signal::{Signal, TokenFinding, TokenHalves, TokenKey, UncheckedSignal};

use super::run_history::run_of;
use super::{Memory, no_place};
use crate::failure::Failure;
use crate::key_file::key;
use crate::store::TOKEN_KEY;

/// The latest records that are searched for the iteration of a wrong token.
const MAX_RECORDS: usize = 100;

/// A run, and the number of an iteration.
pub(crate) type Iteration = (String, u64);

/// A project's tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    key: TokenKey,
    /// The latest iterations, for messages about a wrong token.
    latest: Vec<Iteration>,
}

impl Tokens {
    /// Checks the signal's token against an iteration, which is `None` if the state is lost.
    pub(crate) fn prove(&self, signal: UncheckedSignal, iteration: Option<(&str, u64)>) -> Signal {
        let finding = match iteration {
            Some((run, iteration)) => {
                TokenFinding::check(&signal, &self.key, run, iteration, &self.latest)
            }
            None => TokenFinding::unchecked("the state was lost"),
        };
        signal.with_token(&finding)
    }

    /// The token of an iteration, in two halves.
    pub(crate) fn halves(&self, run: &str, iteration: u64) -> TokenHalves {
        self.key.halves(run, iteration)
    }
}

impl Memory {
    /// The project's tokens. Makes a key if there is none. Fails on a state folder that
    /// cannot be written, and on a file that is no key.
    pub(crate) fn tokens(&mut self) -> Result<Tokens, Failure> {
        let folder = self.state.as_deref().ok_or_else(no_place)?;
        let folder_key =
            key(folder).map_err(|error| unusable_key(&folder.join(TOKEN_KEY), &error))?;
        // Each project has a key of its own, so a token of one holds in no other.
        let key = TokenKey::new(&folder_key, &self.project);
        // A failure is ignored: the list only makes messages clearer.
        let latest = self.latest_iterations().unwrap_or_default();
        Ok(Tokens { key, latest })
    }

    fn latest_iterations(&mut self) -> Result<Vec<Iteration>, Failure> {
        let mut view = self.view()?;
        let page = view.entries_before(u64::MAX, MAX_RECORDS)?;
        let runs = page.iter().rev().filter_map(|sealed| run_of(sealed).ok());
        Ok(runs.map(|(run, state)| (run, state.iteration)).collect())
    }
}

fn unusable_key(file: &Path, error: &io::Error) -> Failure {
    let message = format!("the key of signal tokens, {}: {error}", file.display());
    Failure::internal("state-unwritable", message)
        .hint("if the file is damaged, remove it: earlier tokens are not valid any more then")
}
