//! The tokens of iterations: made from a key that is kept with the state, and never
//! written down themselves.
//!
//! The key is a file of its own in the state folder, also where decisions are kept in
//! a database: whoever reads the database cannot make tokens. So a token holds on
//! the machine that gave it.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use gate_core::decide::signal::{Signal, TokenFinding, TokenHalves, TokenKey};
use gate_core::protocol::ledger::Sealed;
use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use super::loops::run_of;
use super::turn::Asked;
use super::{Memory, no_place};
use crate::failure::Failure;
use crate::store::TOKEN_KEY;

/// How many of the latest records may tell whose a token is.
const LATEST: u64 = 100;

/// An iteration of a run.
pub(crate) type Iteration = (String, u64);

/// A project's tokens.
#[derive(Debug)]
pub(crate) struct Tokens {
    key: TokenKey,
    /// Iterations that were decided lately.
    latest: Vec<Iteration>,
}

impl Tokens {
    /// The signal with what is found of its token, where this is the iteration; none
    /// where the state was lost.
    pub(crate) fn prove(&self, signal: &Signal, iteration: Option<(&str, u64)>) -> Signal {
        let found = match iteration {
            Some(iteration) => TokenFinding::check(signal, &self.key, iteration, &self.latest),
            None => TokenFinding::unchecked("the state was lost"),
        };
        signal.clone().with_token(&found)
    }

    /// The token of an iteration.
    pub(crate) fn halves(&self, (run, iteration): (&str, u64)) -> TokenHalves {
        self.key.halves(run, iteration)
    }
}

impl Memory {
    /// The project's tokens. Where there is no key yet, one is made.
    ///
    /// # Errors
    ///
    /// A state folder that cannot be written, a key that is none.
    pub(crate) fn tokens(&mut self) -> Result<Tokens, Failure> {
        let folder = self.state.as_deref().ok_or_else(no_place)?;
        let random = key(folder).map_err(|error| unusable(&folder.join(TOKEN_KEY), &error))?;
        let key = TokenKey::new(&random, &self.project);
        // It only makes messages clearer.
        let latest = self.latest_iterations().unwrap_or_default();
        Ok(Tokens { key, latest })
    }

    /// The iteration that comes next, for whoever asks like this.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(crate) fn coming(&mut self, asked: &Asked<'_>) -> Result<Iteration, Failure> {
        // What will be judged is another output than any before.
        let asked = Asked { input: Some(""), ..asked.clone() };
        self.next_of(&asked)
    }

    fn latest_iterations(&mut self) -> Result<Vec<Iteration>, Failure> {
        self.read(|reading| {
            let end = reading.head()?.seq;
            let from = end.saturating_sub(LATEST - 1).max(1);
            let page = reading.entries(from, LATEST as usize)?;
            let iteration = |sealed: &Sealed| {
                let (run, state) = run_of(sealed).ok()?;
                Some((run, state.iteration))
            };
            Ok(page.iter().rev().filter_map(iteration).collect())
        })
    }
}

/// The key of this state folder: made once, whoever comes first.
fn key(folder: &Path) -> io::Result<[u8; 32]> {
    let file = folder.join(TOKEN_KEY);
    match read(&file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        read => return read,
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::from)?;
    let mut made = NamedTempFile::new_in(folder)?;
    made.write_all(&random)?;
    made.as_file().sync_all()?;
    match made.persist_noclobber(&file) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => read(&file),
    }
}

/// Reads a key: this user's alone, and no link.
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
