//! The targets of a tree's symbolic links.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::file::{File, Kind};
use super::snapshot::Snapshot;

/// The most links that one name may lead through, as in the kernel.
const HOPS: usize = 40;

impl Snapshot {
    /// True if a symbolic link leads to something that the snapshot does not hold: out of the
    /// tree, into `.git`, to an ignored file, a cache or a missing file, directly or through other
    /// links.
    pub(crate) fn has_links_out(&self) -> bool {
        self.links().any(|link| !Resolver::new(self).ends_inside(link.path()))
    }
}

/// A name that is followed part by part, as the system does.
struct Resolver<'s> {
    snapshot: &'s Snapshot,
    /// The path up to here, relative to the root.
    at: PathBuf,
    /// The parts of the path that remain.
    parts: VecDeque<OsString>,
    hops: usize,
}

impl<'s> Resolver<'s> {
    fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot, at: PathBuf::new(), parts: VecDeque::new(), hops: 0 }
    }

    fn ends_inside(mut self, name: &Path) -> bool {
        self.turn(name);
        while let Some(part) = self.parts.pop_front() {
            if !self.step(&part) {
                return false;
            }
        }
        true
    }

    /// Puts the parts of a path before the remaining ones.
    fn turn(&mut self, name: &Path) {
        for part in name.components().rev().filter(|part| *part != Component::CurDir) {
            self.parts.push_front(part.as_os_str().to_owned());
        }
    }

    /// Takes the next part. False if the path leaves the snapshot's files.
    fn step(&mut self, part: &OsStr) -> bool {
        if part == ".." {
            return self.at.pop();
        }
        self.at.push(part);
        match self.snapshot.file(&self.at).map(File::kind) {
            Some(Kind::Link) => self.follow().is_some(),
            Some(_) => true,
            None => self.snapshot.has_folder(&self.at),
        }
    }

    /// Replaces the link with its target.
    fn follow(&mut self) -> Option<()> {
        let root = self.snapshot.root();
        let target = fs::read_link(root.join(&self.at)).ok()?;
        self.hops += 1;
        if self.hops > HOPS {
            return None;
        }
        self.at.pop();
        if target.is_absolute() {
            self.at.clear();
            self.turn(target.strip_prefix(root).ok()?);
        } else {
            self.turn(&target);
        }
        Some(())
    }
}
