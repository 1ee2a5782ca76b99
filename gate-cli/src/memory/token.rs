//! The tokens of iterations. gate derives them from a key in the state folder and stores
//! none of them.
//!
//! The key is a file in the state folder even if a database has the decisions: a reader of
//! the database cannot make tokens. So a token is valid only on the machine that gave it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use gate_core::decide::signal::{Signal, TokenFinding, TokenHalves, TokenKey, UncheckedSignal};
use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use super::pending_decision::DecisionRequest;
use super::run_history::run_of;
use super::{Memory, no_place};
use crate::durable;
use crate::failure::Failure;
use crate::store::TOKEN_KEY;

/// The latest records that are searched for the iteration of a wrong token.
const MAX_RECORDS: u64 = 100;

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
    /// Checks the signal's token against an iteration, which is none if the state is lost.
    pub(crate) fn prove(&self, signal: UncheckedSignal, iteration: Option<(&str, u64)>) -> Signal {
        let found = match iteration {
            Some(iteration) => TokenFinding::check(&signal, &self.key, iteration, &self.latest),
            None => TokenFinding::unchecked("the state was lost"),
        };
        signal.with_token(&found)
    }

    /// The token of an iteration.
    pub(crate) fn halves(&self, (run, iteration): (&str, u64)) -> TokenHalves {
        self.key.halves(run, iteration)
    }
}

impl Memory {
    /// The project's tokens. Makes a key if there is none. Fails on a state folder that
    /// cannot be written, and on a file that is no key.
    pub(crate) fn tokens(&mut self) -> Result<Tokens, Failure> {
        let folder = self.state.as_deref().ok_or_else(no_place)?;
        let random = key(folder).map_err(|error| unusable(&folder.join(TOKEN_KEY), &error))?;
        let key = TokenKey::new(&random, &self.project);
        // A failure is ignored: the list only makes messages clearer.
        let latest = self.latest_iterations().unwrap_or_default();
        Ok(Tokens { key, latest })
    }

    /// The iteration of the next decision for such a request.
    pub(crate) fn next_iteration(
        &mut self,
        request: &DecisionRequest<'_>,
    ) -> Result<Iteration, Failure> {
        // The next transcript differs from any before, so no recorded digest may match.
        let request = DecisionRequest { input: Some(""), ..request.clone() };
        self.number_next(&request)
    }

    fn latest_iterations(&mut self) -> Result<Vec<Iteration>, Failure> {
        let mut view = self.read()?;
        let end = view.head()?.seq;
        let from = end.saturating_sub(MAX_RECORDS - 1).max(1);
        let page = view.entries(from, MAX_RECORDS as usize)?;
        let runs = page.iter().rev().filter_map(|sealed| run_of(sealed).ok());
        Ok(runs.map(|(run, state)| (run, state.iteration)).collect())
    }
}

/// Reads the key of a state folder, or makes it. Of several processes that make one at the
/// same time, the first wins, and all get its key.
fn key(folder: &Path) -> io::Result<[u8; 32]> {
    let file = folder.join(TOKEN_KEY);
    match read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read,
    }
    durable::make_folder(folder)?;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    let mut made = NamedTempFile::new_in(folder)?;
    made.write_all(&random)?;
    made.as_file().sync_all()?;
    match made.persist_noclobber(&file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => {
            durable::sync_folder(folder)?;
            read(&file)
        }
    }
}

/// Fails on a file that others can read, and on a link.
fn read(file: &Path) -> io::Result<[u8; 32]> {
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    let mut file: File = OpenOptions::new().read(true).custom_flags(no_link).open(file)?;
    let metadata = file.metadata()?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !(metadata.is_file() && is_own && metadata.len() == 32 && metadata.mode() & 0o077 == 0) {
        return Err(io::Error::other("32 bytes that only this user can read are expected"));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    Ok(key)
}

fn unusable(file: &Path, error: &io::Error) -> Failure {
    let message = format!("the key of signal tokens, {}: {error}", file.display());
    Failure::internal("state-unwritable", message)
        .hint("where the file is damaged, remove it: tokens that were given before hold no more")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::thread;

    use super::*;

    #[test]
    fn there_is_one_key_whoever_comes_first() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("gate");
        let keys: BTreeSet<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| key(&folder).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(keys.len(), 1);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join(TOKEN_KEY))), (0o700, 0o600));
    }

    #[test]
    fn a_key_that_is_none_is_not_taken() {
        let state = tempfile::tempdir().unwrap();
        let (folder, file) = (state.path(), state.path().join(TOKEN_KEY));
        let good = key(folder).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert!(key(folder).is_err());
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(key(folder).unwrap(), good);
        fs::write(&file, &good[1..]).unwrap();
        assert!(key(folder).is_err());
        fs::rename(&file, folder.join("other")).unwrap();
        symlink(folder.join("other"), &file).unwrap();
        assert!(key(folder).is_err());
    }
}
