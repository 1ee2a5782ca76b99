//! A project with a check that outlives deadlines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use gate_checks::process::Supervisor;
use gate_checks::{Events, Site, Wanted, gather};
use gate_core::config::{self, Layer, Origin};
use gate_core::decide::evidence::{Evidence, Outcome};
use tempfile::TempDir;

use super::GATE;

/// A deadline that the slow check always outlives.
pub(crate) const SHORT: Option<Duration> = Some(Duration::from_secs(1));

/// A deadline that comes when something is wrong.
pub(crate) const LONG: Option<Duration> = Some(Duration::from_secs(90));

/// A project with a slow check: it writes its number into `pids`, and ends when
/// there is a file `go`. Both stand outside of the tree.
pub(crate) struct Bed {
    folder: TempDir,
    pub(crate) site: Site,
    pub(crate) settings: String,
}

impl Bed {
    /// The slow check ends like this.
    pub(crate) fn new(ending: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let tree = top.join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("a.txt"), "a\n").unwrap();
        let environment = std::env::vars().filter(|(name, _)| name == "PATH" || name == "HOME");
        // The copies of a carrier that is killed stay where the test goes.
        let temporary = ("TMPDIR".to_owned(), top.display().to_string());
        let gate = |word: &str| Some(Supervisor { program: GATE.into(), args: vec![word.into()] });
        let site = Site {
            state: Some(top.join("state")),
            supervisor: gate("supervise"),
            carrier: gate("carry-on"),
            environment: environment.chain([temporary]).collect(),
            ..Site::new(tree)
        };
        let (pids, go) = (top.join("pids"), top.join("go"));
        let script = format!(
            "echo $$ >> {}; while [ ! -e {} ]; do sleep 0.1; done; {ending}",
            pids.display(),
            go.display()
        );
        let settings = format!("[checks.slow]\nshell = true\ncommand = ['''{script}''']\n");
        let bed = Self { folder, site, settings };
        for words in ["init -q", "add -A", "-c user.name=a -c user.email=a commit -qm a"] {
            bed.git(words);
        }
        bed
    }

    /// Git with these words as arguments, in the tree.
    #[track_caller]
    pub(crate) fn git(&self, words: &str) {
        let mut git = Command::new("git");
        git.args(words.split(' ')).current_dir(&self.site.project);
        assert!(git.status().unwrap().success(), "{words}");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The slow check may end.
    pub(crate) fn go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }

    pub(crate) fn gather(&self, wanted: &Wanted) -> Vec<Evidence> {
        let layer = Layer::parse(Origin::Project("gate.toml".into()), &self.settings).unwrap();
        let policy = config::resolve(&[layer], None).unwrap().policy;
        gather(&policy, self.site.clone(), wanted, Events::nobody()).unwrap().evidence
    }

    /// The record of the only check.
    pub(crate) fn one(&self, deadline: Option<Duration>) -> Evidence {
        let mut all = self.gather(&Wanted { deadline, ..Wanted::default() });
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// The first stop: the check goes on.
    #[track_caller]
    pub(crate) fn outlived(&self) {
        let record = self.one(SHORT);
        assert!(record.running, "{record:?}");
        assert_eq!(record.outcome, Outcome::Skipped);
        assert!(record.summary.contains("it goes on, and the next stop waits"), "{record:?}");
    }

    /// The numbers of the slow check's processes, in the order of their starts.
    pub(crate) fn pids(&self) -> Vec<String> {
        let pids = fs::read_to_string(self.path("pids")).unwrap_or_default();
        pids.lines().map(str::to_owned).collect()
    }

    /// The files of what goes on that end like this.
    pub(crate) fn kept(&self, end: &str) -> Vec<PathBuf> {
        let trees = fs::read_dir(self.path("state/trees")).into_iter().flatten().flatten();
        let late = trees.flat_map(|tree| fs::read_dir(tree.path().join("late")));
        let files = late.flatten().flatten().map(|file| file.path());
        files.filter(|file| file.to_string_lossy().ends_with(end)).collect()
    }

    /// The processes that hold an order as their standard input.
    pub(crate) fn carriers(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let holds = |process: &Path| {
            let input = fs::read_link(process.join("fd/0")).unwrap_or_default();
            input.starts_with(self.path("state"))
        };
        let carriers = processes.filter(|process| holds(&process.path()));
        carriers.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Everything that was started is gone, soon.
    #[track_caller]
    pub(crate) fn all_gone(&self, starts: usize) {
        assert_eq!(self.pids().len(), starts);
        soon(|| self.carriers().is_empty() && !self.pids().iter().any(|pid| lives(pid)));
    }
}

/// Nothing lives on when a test fails.
impl Drop for Bed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.path("state"));
    }
}

/// Whether a process lives; a zombie does not.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Waits for what has to happen.
#[track_caller]
pub(crate) fn soon(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never happened");
        thread::sleep(Duration::from_millis(20));
    }
}
