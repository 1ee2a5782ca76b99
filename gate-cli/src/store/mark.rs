//! Marks of the heads of ledgers. They are kept apart from the ledgers, so that one that was
//! removed, cut or replaced is noticed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::ledger::Head;
use rustix::fs::OFlags;

use super::error::StoreError;
use super::{Leasing, Lookup, Reading, Store, Transaction};
use crate::durable;

/// The length of a mark: a number, a hash and a digest of both, in bytes. All are
/// as long, so that one is written over another without cutting the file.
const LENGTH: u64 = 20 + 1 + 64 + 1 + CHECK as u64 + 1;

/// The digits of the digest. Whoever reads while another writes may see the one's
/// number and the other's hash, and must not take that for a mark.
const CHECK: usize = 16;

/// A folder with a mark for every ledger that was written from here: one file
/// a project of a store, `$XDG_DATA_HOME/gate/heads/<digest of both>`.
#[derive(Clone, Debug)]
pub struct Heads {
    folder: PathBuf,
}

impl Heads {
    /// The marks in this folder, which need not be there.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The head that is marked for a project of a store. It may lag behind the
    /// ledger and is never ahead of it. A mark that cannot be read is none.
    pub fn known(&self, place: &str, project: &str) -> Option<Head> {
        let file = opened(OpenOptions::new().read(true), self.file(place, project)).ok()?;
        read(&file).or_else(|| read(&file))
    }

    /// Marks a head, unless another gate has marked a later one. Only the first mark of a ledger
    /// waits for the disk: after a crash of the machine the mark may be an older one.
    fn keep(&self, place: &str, project: &str, head: Head) -> io::Result<()> {
        let file = self.file(place, project);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = match opened(&mut options, file.clone()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                durable::make_folder(&self.folder)?;
                opened(&mut options, file)?
            }
            file => file?,
        };
        if read(&file).is_some_and(|known| known.seq > head.seq) {
            return Ok(());
        }
        let is_first = file.metadata()?.len() == 0;
        file.write_all_at(spell(head).as_bytes(), 0)?;
        if is_first {
            file.sync_all()?;
            durable::sync_folder(&self.folder)?;
        }
        Ok(())
    }

    /// Removes a mark.
    fn forget(&self, place: &str, project: &str) -> Result<(), StoreError> {
        let file = self.file(place, project);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = file.display().to_string();
                Err(StoreError::Unwritable { path, what: error.to_string() })
            }
            _ => Ok(()),
        }
    }

    fn file(&self, place: &str, project: &str) -> PathBuf {
        let name = blake3::hash(format!("{place}\0{project}").as_bytes()).to_hex();
        self.folder.join(&name[..32])
    }
}

/// Opens a regular file, without following a link or waiting for a pipe.
fn opened(options: &mut OpenOptions, path: PathBuf) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn read(file: &File) -> Option<Head> {
    let mut bytes = [0; LENGTH as usize];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let text = str::from_utf8(&bytes).ok()?;
    let (seq, hash) = text.split_once(' ')?;
    let head = Head { seq: seq.parse().ok()?, hash: hash.get(..64)?.parse().ok()? };
    (spell(head) == text).then_some(head)
}

fn spell(head: Head) -> String {
    let said = format!("{:020} {}", head.seq, head.hash);
    let check = blake3::hash(said.as_bytes()).to_hex();
    format!("{said} {}\n", &check[..CHECK])
}

/// A store whose heads are marked elsewhere.
#[derive(Debug)]
pub struct Marked<S> {
    store: S,
    heads: Option<Heads>,
    /// The project whose ledger was set aside, or whose loss was accepted, and has no new record
    /// yet.
    renewed: Option<String>,
}

impl<S: Store> Marked<S> {
    /// The store, and where its heads are marked; without that, nothing that
    /// was removed is noticed.
    pub fn new(store: S, heads: Option<Heads>) -> Self {
        Self { store, heads, renewed: None }
    }

    /// The head that the ledger is held against.
    fn known(&self, project: &str) -> Option<Head> {
        if self.renewed.as_deref() == Some(project) {
            return None;
        }
        self.heads.as_ref()?.known(self.store.place(), project)
    }
}

/// The mark of a ledger that a transaction changes.
pub(super) struct Mark<'s> {
    heads: &'s Heads,
    place: String,
    project: &'s str,
    known: Option<Head>,
    renewed: &'s mut Option<String>,
}

impl Mark<'_> {
    /// Marks the head after a commit.
    pub(super) fn advance(self, head: Head) -> Result<(), StoreError> {
        if Some(head) == self.known || head.seq == 0 {
            return Ok(());
        }
        if self.renewed.as_deref() == Some(self.project) {
            self.heads.forget(&self.place, self.project)?;
            *self.renewed = None;
        }
        // What is recorded is durable. A mark that cannot be written lags
        // behind, as one does after a crash.
        let _ = self.heads.keep(&self.place, self.project, head);
        Ok(())
    }
}

impl<S: Store> Store for Marked<S> {
    fn read_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Box<dyn Reading + 's>, StoreError> {
        let known = self.known(project);
        let mut view = self.store.read_ahead(project, &with_head(ahead, known))?;
        holds(&mut *view, known)?;
        Ok(view)
    }

    fn examine<'s>(
        &'s mut self,
        project: &'s str,
    ) -> Result<(Box<dyn Reading + 's>, Option<Head>), StoreError> {
        let known = self.known(project);
        Ok((self.store.read(project)?, known))
    }

    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError> {
        let known = self.known(project);
        let place = self.store.place().to_owned();
        let mut transaction = self.store.begin_ahead(project, &with_head(ahead, known))?;
        holds(&mut *transaction, known)?;
        let Some(heads) = &self.heads else { return Ok(transaction) };
        let renewed = &mut self.renewed;
        Ok(transaction.marking(Mark { heads, place, project, known, renewed }))
    }

    /// A claim rests on no record; the work that is done under the claim does, and is checked
    /// there.
    fn lease<'s>(&'s mut self, project: &'s str) -> Result<Box<dyn Leasing + 's>, StoreError> {
        self.store.lease(project)
    }

    fn await_work(&mut self, project: &str, at_most: Duration) -> Result<bool, StoreError> {
        self.store.await_work(project, at_most)
    }

    /// The mark of the old ledger stays until the new one has a record: if gate is killed
    /// before, the old one is still known to be lost.
    fn renew(&mut self, project: &str) -> Result<(), StoreError> {
        self.store.renew(project)?;
        self.renewed = Some(project.to_owned());
        Ok(())
    }

    fn accept(&mut self, project: &str) {
        self.renewed = Some(project.to_owned());
    }

    fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        self.store.back_up(to)
    }

    fn place(&self) -> &str {
        self.store.place()
    }
}

/// The lookups, with those of [`holds`].
fn with_head<'l>(ahead: &[Lookup<'l>], known: Option<Head>) -> Vec<Lookup<'l>> {
    let marked = known.filter(|known| known.seq > 0).map(|known| Lookup::Entry(known.seq));
    ahead.iter().copied().chain([Lookup::Head]).chain(marked).collect()
}

/// That the ledger has the record that is marked. One that goes on after it
/// was written by others, or by a gate that was killed before it marked.
fn holds(reading: &mut dyn Reading, known: Option<Head>) -> Result<(), StoreError> {
    let Some(marked) = known.filter(|known| known.seq > 0) else { return Ok(()) };
    let found = reading.head()?;
    if found == marked {
        return Ok(());
    }
    let there = reading.entry(marked.seq)?;
    if there.is_some_and(|entry| entry.record.hash() == marked.hash) {
        Ok(())
    } else {
        Err(StoreError::Lost { marked, found })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use gate_core::ledger::Hash;

    use super::*;

    #[test]
    fn a_mark_is_one_head_or_none_whoever_writes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let heads = Heads::new(folder.path().to_owned());
        let head = |seq: u64| Head { seq, hash: Hash::digest(&seq.to_le_bytes()) };
        thread::scope(|scope| {
            scope.spawn(|| (1..3000).for_each(|seq| heads.keep("place", "p", head(seq)).unwrap()));
            for _ in 0..3000 {
                let known = heads.known("place", "p");
                assert_eq!(known, known.map(|known| head(known.seq)));
            }
        });
        assert_eq!(heads.known("place", "p"), Some(head(2999)));
        heads.keep("place", "p", head(7)).unwrap();
        assert_eq!(heads.known("place", "p"), Some(head(2999)), "it never goes back");
    }
}
