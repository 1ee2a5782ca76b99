//! Marks of the heads of ledgers. They are kept apart from the ledgers, so that one that was
//! removed, cut or replaced is noticed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gate_core::history::kind;
use gate_core::ledger::{Draft, Hash, Head};
use rustix::fs::OFlags;

use super::error::StoreError;
use super::loss::{Loss, Losses};
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

    /// The last acceptance of a loss that this machine knows.
    fn acceptance(&self, place: &str, project: &str) -> Option<Hash> {
        let text = fs::read_to_string(self.acceptance_file(place, project)).ok()?;
        text.trim().parse().ok()
    }

    /// Keeps the last acceptance of a loss.
    fn keep_acceptance(&self, place: &str, project: &str, record: Hash) -> io::Result<()> {
        let file = self.acceptance_file(place, project);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        durable::write(&self.folder, &name, record.to_string().as_bytes())
    }

    fn acceptance_file(&self, place: &str, project: &str) -> PathBuf {
        self.file(place, project).with_extension("accepted")
    }

    /// Marks the head of a ledger that was copied here, in the place of any other mark.
    ///
    /// # Errors
    ///
    /// A mark that cannot be written.
    pub fn adopt(&self, place: &str, project: &str, head: Head) -> Result<(), StoreError> {
        self.forget(place, project)?;
        self.keep(place, project, head).map_err(|error| {
            let path = self.file(place, project).display().to_string();
            StoreError::Unwritable { path, what: error.to_string() }
        })
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
        if self.is_renewed(project) {
            return None;
        }
        self.heads.as_ref()?.known(self.store.place(), project)
    }

    fn is_renewed(&self, project: &str) -> bool {
        self.renewed.as_deref() == Some(project)
    }

    /// The ledger's expectations from outside of it.
    fn expected(&self, project: &str) -> Expected {
        let acceptance = self.heads.as_ref();
        Expected {
            known: self.known(project).filter(|known| known.seq > 0),
            acceptance: acceptance.and_then(|heads| heads.acceptance(self.store.place(), project)),
            is_renewed: self.is_renewed(project),
        }
    }
}

/// A ledger's expectations from outside of it.
struct Expected {
    /// The head that is marked.
    known: Option<Head>,
    /// The last acceptance of a loss that this machine knows.
    acceptance: Option<Hash>,
    /// Nothing is expected: the ledger was set aside, or its loss accepted.
    is_renewed: bool,
}

/// The result of a comparison with a mark.
struct Comparison {
    /// The last acceptance of a loss in the ledger.
    acceptance: Option<Hash>,
    /// The mark is one of a lost record, and that loss was accepted.
    is_explained: bool,
}

impl Expected {
    /// The lookups, with those of [`Expected::compare`].
    fn ahead<'l>(&self, ahead: &[Lookup<'l>]) -> Vec<Lookup<'l>> {
        let marked = self.known.map(|known| Lookup::Entry(known.seq));
        let own = [
            Lookup::Head,
            Lookup::LatestOfType(kind::LOSS_NOTICED, 1),
            Lookup::LatestOfType(kind::LOSS_ACCEPTED, 1),
        ];
        ahead.iter().copied().chain(own).chain(marked).collect()
    }

    /// Fails if the ledger does not have the record that is marked, or if another machine says that
    /// it knows of later ones. A ledger that goes on after the mark was written by others, or by a
    /// gate that was killed before it marked.
    fn compare(&self, reading: &mut dyn Reading) -> Result<Comparison, StoreError> {
        let losses = Losses::read(reading)?;
        let acceptance = losses.accepted();
        if self.is_renewed {
            return Ok(Comparison { acceptance, is_explained: false });
        }
        if let Some(Loss { marked, found }) = losses.open {
            return Err(StoreError::Lost { marked, found });
        }
        let Some(marked) = self.known else {
            return Ok(Comparison { acceptance, is_explained: false });
        };
        let found = reading.head()?;
        let there = if found == marked { None } else { reading.entry(marked.seq)? };
        let is_there = match there {
            _ if found == marked => true,
            Some(entry) => entry.record.hash() == marked.hash,
            None => is_archived(reading, marked)?,
        };
        let is_explained = !is_there && losses.explain(marked, self.acceptance);
        if is_there || is_explained {
            return Ok(Comparison { acceptance, is_explained });
        }
        Err(StoreError::Lost { marked, found })
    }
}

/// The mark of a ledger that a transaction changes.
pub(super) struct Mark<'s> {
    heads: &'s Heads,
    place: String,
    project: &'s str,
    expected: Expected,
    compared: Comparison,
    renewed: &'s mut Option<String>,
}

impl Mark<'_> {
    /// Marks the head after a commit.
    pub(super) fn advance(self, head: Head) -> Result<(), StoreError> {
        if Some(head) == self.expected.known || head.seq == 0 {
            return Ok(());
        }
        // First: without it, a mark that follows could be taken for one of before.
        if let Some(record) = self.compared.acceptance
            && Some(record) != self.expected.acceptance
            && self.heads.keep_acceptance(&self.place, self.project, record).is_err()
        {
            return Ok(());
        }
        if self.expected.is_renewed || self.compared.is_explained {
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
        let expected = self.expected(project);
        let mut view = self.store.read_ahead(project, &expected.ahead(ahead))?;
        expected.compare(&mut *view)?;
        Ok(view)
    }

    fn examine<'s>(
        &'s mut self,
        project: &'s str,
    ) -> Result<(Box<dyn Reading + 's>, Option<Head>), StoreError> {
        let known = self.known(project);
        let mut view = self.store.read(project)?;
        // A record that contradicts itself is for the caller to find.
        let open = Losses::read(&mut *view).unwrap_or_default().open.map(|loss| loss.marked);
        let known = known.into_iter().chain(open).max_by_key(|head| head.seq);
        Ok((view, known))
    }

    fn begin_ahead<'s>(
        &'s mut self,
        project: &'s str,
        ahead: &[Lookup<'_>],
    ) -> Result<Transaction<'s>, StoreError> {
        let expected = self.expected(project);
        let place = self.store.place().to_owned();
        let mut transaction = self.store.begin_ahead(project, &expected.ahead(ahead))?;
        let compared = expected.compare(&mut *transaction)?;
        let Some(heads) = &self.heads else { return Ok(transaction) };
        let renewed = &mut self.renewed;
        Ok(transaction.marking(Mark { heads, place, project, expected, compared, renewed }))
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

    fn note(&mut self, project: &str, draft: Draft) -> Result<(), StoreError> {
        self.store.note(project, draft)
    }

    fn accept(&mut self, project: &str) {
        self.renewed = Some(project.to_owned());
    }

    fn back_up(&mut self, to: &Path) -> Result<(), StoreError> {
        self.store.back_up(to)
    }

    fn quick_check(&mut self) -> Result<Vec<String>, StoreError> {
        self.store.quick_check()
    }

    fn place(&self) -> &str {
        self.store.place()
    }
}

/// True if a record says that the marked one was archived since, by another machine, and if the
/// one after the marked one follows it, where that is still there.
fn is_archived(reading: &mut dyn Reading, marked: Head) -> Result<bool, StoreError> {
    let archives = reading.entries_of_type(kind::ARCHIVED, usize::MAX)?;
    let is_named = archives.iter().any(|sealed| {
        let archive = sealed.record.body.get("archive");
        let number = |name: &str| archive.and_then(|archive| archive.get(name)?.as_u64());
        sealed.record.seq > marked.seq
            && number("first").is_some_and(|first| first <= marked.seq)
            && number("last").is_some_and(|last| last >= marked.seq)
    });
    let next = reading.entry(marked.seq + 1)?;
    Ok(is_named && next.is_none_or(|next| next.record.prev == marked.hash))
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
