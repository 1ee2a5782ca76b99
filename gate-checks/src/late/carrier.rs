//! The carrier: runs one check on a copy of the tree, and keeps its record.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{Mode, Policy};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::LOOK;
use super::order::{Order, Tried};
use crate::baseline::Baseline;
use crate::check::{CheckContext, CheckId};
use crate::checks;
use crate::copy::Copy;
use crate::event::Events;
use crate::gather::{Wanted, gather};
use crate::logs::Logs;
use crate::site::Site;
use crate::store;
use crate::worktree::{Snapshot, WorkTree};

/// How the names of copies begin.
const COPY: &str = "gate-late-";

/// Runs as a carrier: the standard input is the order that a gathering left
/// behind when its deadline came, the environment is the gathering's. Returns
/// the exit code that the program has to end with: 0, or 2 where it was called
/// by somebody else.
///
/// It is given a session of its own when it is started, and ends by itself: when
/// the check has ended, or a newer order has taken the place of this one.
pub fn carry_on() -> u8 {
    let Some(carrier) = Carrier::of_stdin() else { return 2 };
    carrier.run();
    0
}

struct Carrier {
    order: Order,
    /// The order's own file: its lock tells everybody that this runs.
    file: File,
}

impl Carrier {
    fn of_stdin() -> Option<Self> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
        let is_file = file.metadata().is_ok_and(|it| it.is_file());
        // Whoever started it has locked it already, and that is the same lock.
        if !is_file || file.try_lock().is_err() {
            return None;
        }
        let mut order: Order = serde_json::from_reader(BufReader::new(&file)).ok()?;
        let environment = std::env::vars_os();
        order.site.environment = environment
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Some(Self { order, file })
    }

    fn run(&self) {
        let cancel = &CancellationToken::new();
        let (done, watching) = mpsc::channel();
        let record = thread::scope(|scope| {
            scope.spawn(move || self.watch(cancel, &watching));
            let record = self.look(cancel);
            drop(done);
            record
        });
        if let Some(record) = record.filter(|_| self.counts()) {
            // What cannot be kept is found out again.
            let _ = self.order.place.keep(&self.order.key, record);
        }
    }

    /// Ends the run as soon as its order does not count any more.
    fn watch(&self, cancel: &CancellationToken, watching: &Receiver<()>) {
        while watching.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if !self.counts() {
                cancel.cancel();
                return;
            }
        }
    }

    fn counts(&self) -> bool {
        self.order.place.holds(&self.file)
    }

    /// The record, if it is about the tree that was ordered.
    fn look(&self, cancel: &CancellationToken) -> Option<Evidence> {
        let tree = WorkTree::open(&self.order.site).ok()?;
        let ordered = self.ordered(&tree)?;
        let looked = match &self.order.tried {
            Some(tried) => self.look_at_workspace(&tree, &ordered, tried, cancel),
            None => self.look_at_copy(&tree, &ordered, cancel),
        };
        let record = looked.unwrap_or_else(|error| {
            let name = self.order.check.as_str();
            let record = Evidence::new(name, Mode::default(), Outcome::Inconclusive);
            let summary = format!("no copy of the tree could be made: {error}");
            Some(Evidence { summary, ..record })
        })?;
        // What stands outside of the copy (a package that is installed as a link)
        // may have led back into the tree.
        self.ordered(&tree).map(|_| record)
    }

    fn ordered(&self, tree: &WorkTree) -> Option<Snapshot> {
        tree.snapshot().ok().filter(|snapshot| snapshot.digest == self.order.digest)
    }

    /// A check that is tried makes its own copy, of exactly these bytes.
    fn look_at_workspace(
        &self,
        tree: &WorkTree,
        ordered: &Snapshot,
        tried: &Tried,
        cancel: &CancellationToken,
    ) -> io::Result<Option<Evidence>> {
        let Order { check, settings, site, about, .. } = &self.order;
        let baseline = match &tried.baseline {
            Some(name) => {
                let kept = Baseline::kept(site, Some(name)).map_err(io::Error::other)?;
                Some(kept.ok_or_else(|| io::Error::other("its baseline is gone"))?)
            }
            None => None,
        };
        let folder = site.state.as_ref().map(|state| store::of_tree(state, tree.root()));
        let cx = CheckContext {
            site: Arc::new(site.clone()),
            tree: Arc::new(ordered.clone()),
            baseline,
            allow: tried.allow.clone().into(),
            about: Arc::new(about.clone()),
            cancel: cancel.clone(),
            late: CancellationToken::new(),
            at_once: CancellationToken::new(),
            events: Events::nobody(),
            logs: Arc::new(Logs::new(folder.as_deref())),
            masker: Arc::new(site.masker()),
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let check = checks::alone(CheckId::new(check), settings, site);
        let record = runtime.block_on(check.run(&cx));
        Ok(Some(record).filter(|_| !cancel.is_cancelled()))
    }

    fn look_at_copy(
        &self,
        tree: &WorkTree,
        ordered: &Snapshot,
        cancel: &CancellationToken,
    ) -> io::Result<Option<Evidence>> {
        let Order { check, settings, site, about, .. } = &self.order;
        let copy = copy(tree, site)?;
        if !copy.holds(ordered) {
            return Ok(None);
        }
        copy.link_dependencies()?;
        let checks = [(check.clone(), copy.mapping().settings(settings))].into_iter().collect();
        let policy = Policy { checks, ..Policy::default() };
        let wanted = Wanted {
            all: true,
            fresh: true,
            about: about.clone(),
            cancel: cancel.clone(),
            ..Wanted::default()
        };
        let events = Events::nobody();
        let gathered = gather(&policy, copy.site(site), &wanted, events);
        let gathered = gathered.map_err(io::Error::other)?;
        let record = gathered.evidence.into_iter().next();
        Ok(record.filter(|_| !cancel.is_cancelled()).map(|record| self.brought(record, &copy)))
    }

    /// A record of the copy as one of the tree: the copy goes, and what it was
    /// called says nothing to anybody.
    fn brought(&self, record: Evidence, copy: &Copy) -> Evidence {
        let Order { site, check, .. } = &self.order;
        let mapping = copy.mapping();
        let log = site.state.as_deref().zip(record.log.as_deref());
        Evidence {
            log: log.and_then(|(state, log)| copy.keep_log(state, check, log)),
            summary: mapping.to_real(&record.summary),
            excerpt: record.excerpt.map(|excerpt| mapping.to_real(&excerpt)),
            argv: record.argv.iter().map(|word| mapping.to_real(word)).collect(),
            ..record
        }
    }
}

/// A copy with the files that the digest leaves out: the check may need them.
fn copy(tree: &WorkTree, site: &Site) -> io::Result<Copy> {
    let all = Site { ignore: Vec::new(), ..site.clone() };
    let all = WorkTree::open(&all).and_then(|all| all.snapshot()).map_err(io::Error::other)?;
    Copy::of(COPY, &all, tree.root(), site)
}
