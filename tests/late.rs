//! Checks that outlive a deadline: they go on, on a copy of the tree, and the
//! next gathering waits for them.

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

use crate::support::GATE;

/// A deadline that the slow check always outlives.
const SHORT: Option<Duration> = Some(Duration::from_secs(1));

/// A deadline that comes when something is wrong.
const LONG: Option<Duration> = Some(Duration::from_secs(90));

/// A project with a slow check: it writes its number into `pids`, and ends when
/// there is a file `go`. Both stand outside of the tree.
struct Bed {
    folder: TempDir,
    site: Site,
    settings: String,
}

impl Bed {
    fn new(ending: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let tree = top.join("tree");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("a.txt"), "a\n").unwrap();
        let git = "git init -q . && git add -A && git -c user.name=a -c user.email=a commit -qm a";
        let made = Command::new("sh").args(["-c", git]).current_dir(&tree).status().unwrap();
        assert!(made.success());
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
        Self { folder, site, settings }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The slow check may end.
    fn go(&self) {
        fs::write(self.path("go"), "").unwrap();
    }

    fn gather(&self, wanted: &Wanted) -> Vec<Evidence> {
        let layer = Layer::parse(Origin::Project("gate.toml".into()), &self.settings).unwrap();
        let policy = config::resolve(&[layer], None).unwrap().policy;
        gather(&policy, self.site.clone(), wanted, Events::nobody()).unwrap().evidence
    }

    /// The record of the only check.
    fn one(&self, deadline: Option<Duration>) -> Evidence {
        let mut all = self.gather(&Wanted { deadline, ..Wanted::default() });
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// The first stop: the check goes on.
    #[track_caller]
    fn outlived(&self) {
        let record = self.one(SHORT);
        assert!(record.running, "{record:?}");
        assert_eq!(record.outcome, Outcome::Skipped);
        assert!(record.summary.contains("it goes on, and the next stop waits"), "{record:?}");
    }

    /// The numbers of the slow check's processes, in the order of their starts.
    fn pids(&self) -> Vec<String> {
        let pids = fs::read_to_string(self.path("pids")).unwrap_or_default();
        pids.lines().map(str::to_owned).collect()
    }

    /// The files of what goes on that end like this.
    fn kept(&self, end: &str) -> Vec<PathBuf> {
        let trees = fs::read_dir(self.path("state/trees")).into_iter().flatten().flatten();
        let late = trees.flat_map(|tree| fs::read_dir(tree.path().join("late")));
        let files = late.flatten().flatten().map(|file| file.path());
        files.filter(|file| file.to_string_lossy().ends_with(end)).collect()
    }

    /// The processes that hold an order as their standard input.
    fn carriers(&self) -> Vec<String> {
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
    fn all_gone(&self, starts: usize) {
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

fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[track_caller]
fn soon(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never happened");
        thread::sleep(Duration::from_millis(20));
    }
}

const ON_A_COPY: &str = "it ran on a copy of the tree, after an earlier stop";

#[test]
fn a_check_goes_on_and_the_next_stop_waits_for_it() {
    let bed = Bed::new("exit 0");
    bed.outlived();
    // What was ended at the deadline is gone already, and its successor works.
    assert!(!lives(&bed.pids()[0]));
    soon(|| bed.pids().len() == 2);
    let waited = bed.one(SHORT);
    assert!(waited.running && waited.summary.contains("since an earlier stop"), "{waited:?}");
    assert_eq!(bed.carriers().len(), 1);
    bed.go();
    let record = bed.one(LONG);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(record.summary.contains(ON_A_COPY) && !record.running, "{record:?}");
    bed.all_gone(2);
    // It counts once.
    let again = bed.one(LONG);
    assert!(again.outcome == Outcome::Pass && !again.summary.contains("copy"), "{again:?}");
    bed.all_gone(3);
}

#[test]
fn a_failure_is_brought_with_what_was_printed() {
    let bed = Bed::new("echo \"$PWD/a.txt: the widget is broken\"; exit 3");
    bed.outlived();
    bed.go();
    soon(|| !bed.kept(".json").is_empty());
    // Whoever has no deadline takes it too.
    let record = bed.one(None);
    assert_eq!((record.outcome, record.exit_code), (Outcome::Fail, Some(3)), "{record:?}");
    let told = format!("{}: the widget is broken", bed.path("tree/a.txt").display());
    assert_eq!(record.excerpt.as_deref(), Some(told.as_str()));
    let log = fs::read_to_string(record.log.unwrap()).unwrap();
    assert!(log.contains("the widget is broken"), "{log}");
    bed.all_gone(2);
}

#[test]
fn on_another_tree_it_begins_anew_and_the_old_run_ends() {
    let bed = Bed::new("grep -q b a.txt");
    bed.outlived();
    soon(|| bed.pids().len() == 2);
    fs::write(bed.path("tree/a.txt"), "b\n").unwrap();
    bed.outlived();
    soon(|| bed.pids().len() == 4);
    soon(|| !lives(&bed.pids()[1]));
    assert!(lives(&bed.pids()[3]));
    bed.go();
    let record = bed.one(LONG);
    assert_eq!(record.outcome, Outcome::Pass, "{record:?}");
    assert!(record.summary.contains(ON_A_COPY), "{record:?}");
    bed.all_gone(4);
}

#[test]
fn a_record_of_another_tree_or_other_settings_or_a_damaged_one_is_not_taken() {
    let changes: [fn(&mut Bed); 3] = [
        |bed| fs::write(bed.path("tree/a.txt"), "b\n").unwrap(),
        |bed| bed.settings.push_str("timeout = \"9m\"\n"),
        |bed| fs::write(&bed.kept(".json")[0], "{\"key\":").unwrap(),
    ];
    for change in changes {
        let mut bed = Bed::new("exit 0");
        bed.outlived();
        bed.go();
        soon(|| !bed.kept(".json").is_empty());
        change(&mut bed);
        let record = bed.one(LONG);
        assert!(!record.summary.contains("copy"), "{record:?}");
        assert!(bed.kept("").is_empty());
        bed.all_gone(3);
    }
}

#[test]
fn after_a_carrier_was_killed_it_begins_anew() {
    let bed = Bed::new("exit 0");
    bed.outlived();
    soon(|| bed.pids().len() == 2);
    let carriers = bed.carriers();
    assert!(Command::new("kill").arg("-9").args(&carriers).status().unwrap().success());
    soon(|| bed.carriers().is_empty() && !lives(&bed.pids()[1]));
    bed.go();
    let record = bed.one(LONG);
    assert!(record.outcome == Outcome::Pass && !record.summary.contains("copy"), "{record:?}");
    bed.all_gone(3);
}

#[test]
fn without_a_carrier_or_state_it_is_given_up() {
    let without: [fn(&mut Site); 3] = [
        |site| site.carrier = None,
        |site| site.state = None,
        |site| site.carrier.as_mut().unwrap().program = "/nowhere/gate".into(),
    ];
    for change in without {
        let mut bed = Bed::new("exit 0");
        change(&mut bed.site);
        let record = bed.one(SHORT);
        assert!(record.running && record.outcome == Outcome::Skipped, "{record:?}");
        assert!(record.summary.contains("given up"), "{record:?}");
        bed.all_gone(1);
        assert!(bed.kept("").is_empty());
    }
}

#[test]
fn what_ends_before_the_deadline_counts_and_what_waits_is_not_started() {
    let mut bed = Bed::new("exit 0");
    bed.settings.push_str("[checks.lint]\ncommand = ['true']\n");
    bed.settings.push_str("[checks.typecheck]\ncommand = ['false']\n");
    bed.settings.push_str("[checks.after]\ncommand = ['true']\nneeds = ['slow']\n");
    let all = bed.gather(&Wanted { deadline: SHORT, all: true, ..Wanted::default() });
    let told: Vec<_> = all.iter().map(|it| (it.check.as_str(), it.outcome, it.running)).collect();
    assert_eq!(
        told,
        [
            ("after", Outcome::Skipped, true),
            ("lint", Outcome::Pass, false),
            ("slow", Outcome::Skipped, true),
            ("typecheck", Outcome::Fail, false),
        ]
    );
    assert_eq!(all[0].summary, "it was not started before the deadline");
    bed.go();
    let all = bed.gather(&Wanted { deadline: LONG, all: true, ..Wanted::default() });
    assert!(all[2].summary.contains(ON_A_COPY), "{all:?}");
    assert_eq!(all[0].outcome, Outcome::Pass);
    bed.all_gone(2);
}

#[test]
fn where_a_check_failed_nothing_goes_on() {
    let mut bed = Bed::new("exit 0");
    bed.settings.push_str("[checks.other]\nshell = true\ncommand = ['sleep 0.2; exit 1']\n");
    let all = bed.gather(&Wanted { deadline: LONG, ..Wanted::default() });
    assert_eq!(all[0].outcome, Outcome::Fail, "{all:?}");
    assert!(all[1].outcome == Outcome::Skipped && !all[1].running, "{all:?}");
    assert!(bed.kept("").is_empty());
    bed.all_gone(1);
}

#[test]
fn what_does_not_want_to_end_is_ended_at_the_deadline() {
    let mut bed = Bed::new("exit 0");
    bed.settings =
        bed.settings.replace("echo $$", "trap '' TERM; echo $$").replace("'''", "\"\"\"");
    let began = Instant::now();
    bed.site.carrier = None;
    assert!(bed.one(SHORT).running);
    assert!(began.elapsed() < gate_checks::process::GRACE, "{:?}", began.elapsed());
    assert!(!lives(&bed.pids()[0]));
}

#[test]
fn what_a_check_writes_into_the_tree_makes_it_begin_anew() {
    let mut bed = Bed::new("exit 0");
    bed.settings = bed.settings.replace("echo $$", "echo $$ > new.txt; echo $$");
    let record = bed.one(SHORT);
    assert!(record.running && record.summary.contains("begins anew: new.txt"), "{record:?}");
    bed.all_gone(1);
    assert!(bed.kept(".json").is_empty());
}

#[test]
fn an_order_of_nobody_is_refused() {
    crate::support::gate("carry-on").stdin("{}").code(2);
    crate::support::gate("carry-on").code(2);
}
