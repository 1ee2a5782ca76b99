//! gate is killed at every step of a decision. What it had kept holds, the
//! decision is kept whole or not at all, and no verdict was seen that is not kept.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::needs::needs;
use crate::support::postgres::Database;
use crate::support::{Fault, Kept, Ran, Run, UNDONE, judge, stride};

/// System calls that make files, or change what is in them.
const WRITES: [&str; 11] = [
    "mkdir",
    "mkdirat",
    "write",
    "pwrite64",
    "ftruncate",
    "fsync",
    "fdatasync",
    "unlink",
    "rename",
    "renameat",
    "renameat2",
];

/// System calls that many files see, and that matter only for what gate keeps.
const ACCESSES: [&str; 3] = ["openat", "mmap", "fcntl"];

/// Decisions of a run that goes on, under a breaker that trips once there were
/// so many.
fn recorded(decisions: u64, trips_at: u64) -> Ran {
    let settings = format!("[breaker]\nno_exit = {trips_at}\nno_progress = 0\n");
    let mut ran = judge("prompt", UNDONE).settings(&settings).code(0);
    for number in 1..=decisions {
        ran = ran.again(&format!("check out.log --run r --iteration {number}")).code(1);
    }
    ran
}

/// A loop whose next decision is asked for by a gate that is killed.
struct Loop {
    ran: Ran,
    /// How many records there are, one a decision.
    before: u64,
    /// How many records the next decision adds.
    adds: u64,
    /// Its exit code.
    code: i32,
    /// What is brought back before each kill; else the loop goes on.
    kept: Option<Kept>,
    /// What gate keeps.
    places: Vec<String>,
}

impl Loop {
    /// The loop goes on from kill to kill.
    fn going_on(ran: Ran, before: u64) -> Self {
        Self { places: ran.places(), ran, before, adds: 1, code: 1, kept: None }
    }

    /// The decision after this is the same one from kill to kill.
    fn from(kept: Kept, ran: Ran, before: u64) -> Self {
        Self { kept: Some(kept), ..Self::going_on(ran, before) }
    }

    /// Kills gate wherever it calls one of these. Returns how often.
    fn killed_at(mut self, calls: &[&str]) -> usize {
        let mut kills = 0;
        for call in calls {
            let about = if ACCESSES.contains(call) { self.places.clone() } else { Vec::new() };
            let fault = |time| Fault { call, how: "signal=KILL", time, about: &about };
            for time in (1_u64..).step_by(stride()) {
                let killed;
                (self, killed) = self.killed(&fault(time.to_string()));
                if !killed {
                    break;
                }
                kills += 1;
            }
        }
        kills
    }

    /// A gate is killed, and the next one finds all in order. Whether it came
    /// so far that it was killed.
    fn killed(mut self, fault: &Fault<'_>) -> (Self, bool) {
        if let Some(kept) = &self.kept {
            self.ran.restore(kept);
        }
        let (before, after, number) = (self.before, self.before + self.adds, self.before + 1);
        let at = format!("{} {}, decision {number}", fault.call, fault.time);
        let asked = format!("check out.log --run r --iteration {number} --json");
        let ran = self.ran.again(&asked).under(fault.words()).run();
        let (ended, printed) = (ran.ended(), ran.stdout.clone());
        assert!(ended.is_none_or(|code| code == self.code), "{at}: {ended:?} {}", ran.stderr);
        let ran = ran.again("ledger verify --json").code(0);
        let found = ran.json()["records"].as_u64().unwrap();
        assert!(found == before || found == after, "{at}: {found} records");
        assert!(found == after || printed.is_empty(), "{at}: a verdict that is not kept");
        let ran = ran.again(&asked).code(self.code);
        let again = ran.json();
        assert_eq!(again["repeated"], found == after, "{at}");
        assert_eq!(again["ledger"]["seq"], number, "{at}");
        assert_eq!(again["breaker"]["counters"]["no_exit"], number, "{at}");
        if self.kept.is_none() {
            self.before = after;
        }
        (Self { ran, ..self }, ended.is_none())
    }
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn the_first_decision_survives_a_kill() {
    if needs("strace") {
        let first = Loop::from(Kept::default(), recorded(1, 0), 0);
        let kills = first.killed_at(&[&WRITES[..], &ACCESSES].concat());
        assert!(kills * stride() > 100, "{kills}");
    }
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn a_later_decision_survives_a_kill() {
    if needs("strace") {
        let later = Loop::going_on(recorded(1, 0), 1);
        let kills = later.killed_at(&[&WRITES[..], &ACCESSES].concat());
        assert!(kills * stride() > 50, "{kills}");
    }
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn a_decision_that_trips_survives_a_kill() {
    if needs("strace") {
        let ran = recorded(2, 3);
        let trips = Loop { adds: 2, code: 3, ..Loop::from(ran.kept(), ran, 2) };
        let kills = trips.killed_at(&["pwrite64", "fsync", "write"]);
        assert!(kills * stride() > 20, "{kills}");
    }
}

/// The database goes on for a moment after gate is killed: whoever comes next
/// waits for that.
#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn a_decision_in_a_database_survives_a_kill() {
    let Some(database) = needs("strace").then(Database::new).flatten() else { return };
    let settings = "[project]\nid = \"shop\"\n[breaker]\nno_exit = 0\nno_progress = 0\n";
    let mut ran = judge("prompt", UNDONE).settings(settings).code(0);
    let (mut number, mut kills) = (1_u64, 0);
    for call in ["connect", "sendto", "recvfrom", "pwrite64", "write"] {
        for time in (1_u64..).step_by(stride()) {
            let fault = Fault { call, how: "signal=KILL", time: time.to_string(), about: &[] };
            let asked = format!("check out.log --run r --iteration {number} --json");
            let in_database = |run: Run| run.env("GATE_DATABASE_URL", &database.url);
            ran = in_database(ran.again(&asked)).under(fault.words()).run();
            let (ended, printed) = (ran.ended(), ran.stdout.clone());
            assert!(ended.is_none_or(|code| code == 1), "{call} {time}: {}", ran.stderr);
            ran = in_database(ran.again(&asked)).code(1);
            let again = ran.json();
            assert!(printed.is_empty() || again["repeated"] == true, "{call} {time}");
            assert_eq!(again["ledger"]["seq"], number, "{call} {time}");
            assert_eq!(again["breaker"]["counters"]["no_exit"], number, "{call} {time}");
            ran = in_database(ran.again("ledger verify --json")).code(0);
            assert_eq!(ran.json()["records"], number, "{call} {time}");
            number += 1;
            if ended == Some(1) {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills * stride() > 20, "{kills}");
}

/// What was lost stays lost until the record is there that says so.
#[test]
fn a_reset_that_is_killed_closes_nothing_unseen() {
    if !needs("strace") {
        return;
    }
    let mut ran = recorded(2, 0);
    fs::remove_file(ran.database()).unwrap();
    let (kept, about) = (ran.kept(), ran.places());
    let mut kills = 0;
    for call in ["openat", "pwrite64", "fsync", "write", "unlink"] {
        for time in (1_u64..).step_by(stride()) {
            ran.restore(&kept);
            let time = time.to_string();
            let fault = Fault { call, how: "signal=KILL", time, about: &about };
            ran = ran.again("breaker reset --reason because").under(fault.words()).run();
            let killed = ran.ended().is_none();
            ran = ran.again("ledger export").run();
            let first = ran.json_lines().into_iter().next();
            assert!(killed || ran.ended() == Some(0), "{call}: {}", ran.stderr);
            match ran.ended() {
                Some(0) => assert!(first.unwrap()["body"]["lost"].is_string(), "{call}"),
                ended => assert_eq!((ended, first), (Some(5), None), "{call}"),
            }
            if !killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills * stride() > 20, "{kills}");
}

/// Whoever ends last folds a long log into the file.
#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn folding_the_log_in_survives_a_kill() {
    if needs("strace") {
        let (mut ran, mut before) = (recorded(0, 0), 0);
        while before == 0 || ran.log_size() < 256 * 1024 {
            before += 1;
            ran = ran.again(&format!("check out.log --run r --iteration {before}")).code(1);
        }
        let kept = ran.kept();
        let ran = ran.again("check out.log --run r").code(1);
        assert_eq!(ran.log_size(), 0, "it is folded in, and removed");
        let kills = Loop::from(kept, ran, before).killed_at(&["pwrite64", "fsync", "unlink"]);
        assert!(kills * stride() > 40, "{kills}");
    }
}

/// While somebody reads, the next gate goes on with the memory that the killed
/// one shared, and does not make it again.
#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn a_decision_beside_a_reader_survives_a_kill() {
    if needs("strace") {
        let ran = recorded(1, 0);
        let reader = Reader::of(&ran);
        let kills = Loop::going_on(ran, 1).killed_at(&["pwrite64", "fsync", "fcntl", "write"]);
        assert!(kills * stride() > 30, "{kills}");
        assert!(reader.end() > 1);
    }
}

/// `gate log --follow`.
struct Reader(Child);

impl Reader {
    /// One that has seen the first record.
    fn of(ran: &Ran) -> Self {
        let mut child = ran.beside("log --follow").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::with_capacity(1, child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        child.stdout = Some(output.into_inner());
        Self(child)
    }

    /// How many records it saw, each once and in order; the last ones may have
    /// come too late for it.
    fn end(mut self) -> u64 {
        let mut lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let mut last = 1;
        self.0.kill().unwrap();
        while let Some(Ok(line)) = lines.next() {
            let number = line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
            assert_eq!(number, last + 1);
            last = number;
        }
        self.0.wait().unwrap();
        last
    }
}
