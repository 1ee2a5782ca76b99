//! A disk that loses power: what was not synced is there, or not, or in part.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::folder::{Node, Number, clear, file_of, folder_of, read, write};
use super::trace::{Call, Place};
use crate::support::dice::Dice;

/// What a disk writes as a whole, in bytes.
const SECTOR: usize = 512;

/// A name in a folder.
#[derive(Clone)]
struct Entry {
    folder: Number,
    name: OsString,
}

/// What one call does.
enum Step {
    Enter(Entry, Number),
    Leave(Entry),
    Rename(Entry, Entry, Number),
    Write(Number, usize, Vec<u8>),
    Truncate(Number, usize),
    Sync(Number, usize),
    /// Nothing that a disk sees.
    Nothing,
}

/// All that was done to a folder on a disk.
pub(super) struct Disk {
    root: PathBuf,
    /// What is there now, the root first.
    now: Vec<Node>,
    /// What there was before the first step; files and folders that were made later are empty.
    before: Vec<Node>,
    steps: Vec<Step>,
    /// For each step the number of the call that made it durable.
    durable: Vec<Option<usize>>,
}

/// A way to lose power.
pub(super) struct Outage {
    /// How many calls were done before.
    pub(super) calls: usize,
    /// False on a disk that says that it has synced, and has not.
    pub(super) syncs: bool,
    /// How much of what is not durable is there all the same, in percent.
    pub(super) kept: u64,
}

impl Disk {
    /// A disk with what is in this folder now.
    pub(super) fn new(root: &Path) -> Self {
        let mut now = Vec::new();
        read(root, &mut now);
        Self {
            root: root.to_owned(),
            before: now.clone(),
            now,
            steps: Vec::new(),
            durable: Vec::new(),
        }
    }

    /// How many calls there were.
    pub(super) fn calls(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn add(&mut self, call: &Call) {
        let step = self.step(call);
        apply(&mut self.now, &step, &mut || true);
        let number = self.steps.len();
        if let Step::Sync(_, since) = step {
            for at in 0..since {
                if self.durable[at].is_none() && self.is_synced(at, &step) {
                    self.durable[at] = Some(number);
                }
            }
        }
        self.steps.push(step);
        self.durable.push(None);
    }

    /// A call makes an earlier step durable. What one folder loses and another gets is so
    /// once both are synced.
    fn is_synced(&self, at: usize, sync: &Step) -> bool {
        let later = || self.steps[at + 1..].iter().chain([sync]);
        let covers = |number: Number| {
            later().any(
                |later| matches!(later, Step::Sync(node, since) if *node == number && *since > at),
            )
        };
        match &self.steps[at] {
            Step::Enter(entry, _) | Step::Leave(entry) => covers(entry.folder),
            Step::Rename(from, to, _) => covers(from.folder) && covers(to.folder),
            Step::Write(file, ..) | Step::Truncate(file, _) => covers(*file),
            Step::Sync(..) | Step::Nothing => true,
        }
    }

    fn step(&mut self, call: &Call) -> Step {
        match call {
            Call::Print => Step::Nothing,
            Call::Open { path, cut } => match self.find(path) {
                Some(file) if *cut => Step::Truncate(file, 0),
                Some(_) => Step::Nothing,
                None => self.made(path, Node::File(Vec::new())),
            },
            Call::MakeFolder { path } => self.made(path, Node::Folder(BTreeMap::new())),
            // A file that has lost its name is seen by nobody.
            Call::Write { path, place, bytes } => match self.find(path) {
                Some(file) => Step::Write(file, self.place(file, *place), bytes.clone()),
                None => Step::Nothing,
            },
            Call::Truncate { path, length } => {
                self.find(path).map_or(Step::Nothing, |file| Step::Truncate(file, *length))
            }
            Call::Sync { path, since } => {
                self.find(path).map_or(Step::Nothing, |node| Step::Sync(node, *since))
            }
            Call::Link { from, to } => Step::Enter(self.entry(to), self.number(from)),
            Call::Rename { from, to } => {
                Step::Rename(self.entry(from), self.entry(to), self.number(from))
            }
            Call::Remove { path } => Step::Leave(self.entry(path)),
        }
    }

    fn made(&mut self, path: &Path, node: Node) -> Step {
        let entry = self.entry(path);
        self.before.push(node.clone());
        self.now.push(node);
        Step::Enter(entry, self.now.len() - 1)
    }

    fn place(&self, file: Number, place: Place) -> usize {
        match (place, &self.now[file]) {
            (Place::Byte(at), _) => at,
            (Place::End, Node::File(bytes)) => bytes.len(),
            (Place::End, Node::Folder(_)) => panic!("a folder is not written"),
        }
    }

    fn find(&self, path: &Path) -> Option<Number> {
        let below = path.strip_prefix(&self.root).unwrap();
        below.iter().try_fold(0, |number, name| match &self.now[number] {
            Node::Folder(entries) => entries.get(name).copied(),
            Node::File(_) => None,
        })
    }

    fn number(&self, path: &Path) -> Number {
        self.find(path).unwrap_or_else(|| panic!("{} is not there", path.display()))
    }

    fn entry(&self, path: &Path) -> Entry {
        let folder = self.number(path.parent().unwrap());
        Entry { folder, name: path.file_name().unwrap().to_owned() }
    }

    /// Makes of the folder what the disk could have after this outage. Returns how many steps are
    /// missing or torn.
    pub(super) fn lose_power(&self, outage: &Outage, dice: &mut Dice) -> usize {
        let mut nodes = self.before.clone();
        let mut lost = 0;
        for (at, step) in self.steps[..outage.calls].iter().enumerate() {
            let durable = self.durable[at].is_some_and(|sync| sync < outage.calls);
            let how = if outage.syncs && durable { 100 } else { outage.kept };
            let is_whole = apply(&mut nodes, step, &mut || dice.happens(how));
            lost += usize::from(!is_whole);
        }
        clear(&self.root);
        write(&nodes, 0, &self.root, dice);
        lost
    }
}

/// Does a step, as far as it is kept: a write sector by sector, all others as a whole. Of a write
/// that made the file longer the length may be kept alone. Returns if all of it was done.
fn apply(nodes: &mut [Node], step: &Step, keeps: &mut dyn FnMut() -> bool) -> bool {
    if let Step::Write(file, at, bytes) = step {
        return write_sectors(file_of(nodes, *file), *at, bytes, keeps);
    }
    let is_kept = keeps();
    if is_kept {
        match step {
            Step::Enter(entry, number) => {
                folder_of(nodes, entry.folder).insert(entry.name.clone(), *number);
            }
            Step::Leave(entry) => drop(folder_of(nodes, entry.folder).remove(&entry.name)),
            Step::Rename(from, to, number) => {
                folder_of(nodes, from.folder).remove(&from.name);
                folder_of(nodes, to.folder).insert(to.name.clone(), *number);
            }
            Step::Truncate(file, length) => file_of(nodes, *file).resize(*length, 0),
            Step::Write(..) | Step::Sync(..) | Step::Nothing => {}
        }
    }
    is_kept
}

fn write_sectors(
    file: &mut Vec<u8>,
    at: usize,
    bytes: &[u8],
    keeps: &mut dyn FnMut() -> bool,
) -> bool {
    let end = at + bytes.len();
    // Most writes are there or not; one in a few is torn.
    let (whole, torn, longer) = (keeps(), keeps() != keeps(), keeps());
    if (whole || longer) && file.len() < end {
        file.resize(end, 0);
    }
    let mut all = true;
    let mut from = at;
    while from < end {
        let to = ((from / SECTOR + 1) * SECTOR).min(end);
        let is_kept = if torn { keeps() } else { whole };
        if is_kept {
            if file.len() < to {
                file.resize(to, 0);
            }
            file[from..to].copy_from_slice(&bytes[from - at..to - at]);
        }
        all &= is_kept;
        from = to;
    }
    all
}

#[test]
fn what_is_synced_stays_under_its_name_once_the_folder_is_synced() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = folder.path();
    fs::write(root.join("old"), "old").unwrap();
    let mut disk = Disk::new(root);
    let (path, old) = (root.join("new"), root.join("old"));
    let write = |place, text: &str| Call::Write { path: path.clone(), place, bytes: text.into() };
    let calls = [
        Call::Open { path: path.clone(), cut: false },
        write(Place::Byte(0), "ab"),
        Call::Sync { path: path.clone(), since: 2 },
        Call::Remove { path: old },
        Call::Sync { path: root.to_owned(), since: 4 },
        write(Place::End, "c"),
    ];
    calls.iter().for_each(|call| disk.add(call));
    let found = |calls, syncs, kept| {
        disk.lose_power(&Outage { calls, syncs, kept }, &mut Dice::new(1));
        ["old", "new"].map(|name| fs::read_to_string(root.join(name)).ok())
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found(4, true, 0), [text("old"), None], "the folder is not synced");
    assert_eq!(found(4, true, 100), [None, text("ab")]);
    assert_eq!(found(6, true, 0), [None, text("ab")]);
    assert_eq!(found(6, true, 100), [None, text("abc")]);
    assert_eq!(found(6, false, 0), [text("old"), None], "a disk that syncs nothing");
}

#[test]
fn a_write_may_be_torn_between_sectors_only() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, [0; 4 * SECTOR]).unwrap();
    let mut disk = Disk::new(folder.path());
    disk.add(&Call::Write { path: path.clone(), place: Place::Byte(100), bytes: vec![1; 1500] });
    let kinds = (0..64).map(|seed| {
        disk.lose_power(&Outage { calls: 1, syncs: true, kept: 50 }, &mut Dice::new(seed));
        let bytes = fs::read(&path).unwrap();
        let sectors = [&bytes[100..512], &bytes[512..1024], &bytes[1024..1536], &bytes[1536..1600]];
        sectors.map(|sector| {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "one sector is torn");
            sector[0]
        })
    });
    let kinds = kinds.collect::<std::collections::BTreeSet<_>>();
    assert!(kinds.contains(&[0; 4]) && kinds.contains(&[1; 4]) && kinds.len() > 5, "{kinds:?}");
}
