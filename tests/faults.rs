//! gate is killed at every step of a decision. Earlier records hold, the decision is recorded whole or
//! not at all, and no verdict is printed that is not recorded.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::needs::needs;
use crate::support::postgres::Database;
use crate::support::{Fault, Kept, Ran, Run, UNDONE, judge, stride};

/// System calls that make files, or change their content.
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

/// System calls on many files, of which only those on gate's own files matter.
const ACCESSES: [&str; 3] = ["openat", "mmap", "fcntl"];

/// Decisions of a run that goes on, under a breaker that trips at the decision `trips_at`.
fn recorded(decisions: u64, trips_at: u64) -> Ran {
    let settings = format!("[breaker]\nno_exit = {trips_at}\nno_progress = 0\n");
    let mut ran = judge("prompt", UNDONE).settings(&settings).code(0);
    for number in 1..=decisions {
        ran = ran.again(&format!("check out.log --run r --iteration {number}")).code(1);
    }
    ran
}

/// A loop whose next decision is made by a gate that is killed.
struct Loop {
    ran: Ran,
    /// The number of records, one a decision.
    record_count: u64,
    /// The number of records that the next decision adds.
    added_records: u64,
    /// The exit code of that decision.
    code: i32,
    /// The files that are restored before each kill; else the loop goes on.
    kept: Option<Kept>,
    /// The paths of gate's own files.
    places: Vec<String>,
}

impl Loop {
    /// The loop goes on from kill to kill.
    fn going_on(ran: Ran, record_count: u64) -> Self {
        let places = ran.places();
        Self { places, ran, record_count, added_records: 1, code: 1, kept: None }
    }

    /// The same decision is made at each kill, after the restored files.
    fn restored(kept: Kept, ran: Ran, record_count: u64) -> Self {
        Self { kept: Some(kept), ..Self::going_on(ran, record_count) }
    }

    /// Kills gate at each of these calls. Returns the number of kills.
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

    /// Kills a gate; the next gate finds all in order. Returns false as well if the gate ended before
    /// it came to the fault.
    fn killed(mut self, fault: &Fault<'_>) -> (Self, bool) {
        if let Some(kept) = &self.kept {
            self.ran.restore(kept);
        }
        let old_count = self.record_count;
        let (new_count, number) = (old_count + self.added_records, old_count + 1);
        let place = format!("{} {}, decision {number}", fault.call, fault.time);
        let words = format!("check out.log --run r --iteration {number} --json");
        let ran = self.ran.again(&words).under(fault.words()).run();
        let (code, printed) = (ran.ended(), ran.stdout.clone());
        assert!(code.is_none_or(|code| code == self.code), "{place}: {code:?} {}", ran.stderr);
        let ran = ran.again("ledger verify --json").code(0);
        let count = ran.json()["records"].as_u64().unwrap();
        assert!(count == old_count || count == new_count, "{place}: {count} records");
        assert!(count == new_count || printed.is_empty(), "{place}: a verdict that is not kept");
        let ran = ran.again(&words).code(self.code);
        let decision = ran.json();
        assert_eq!(decision["repeated"], count == new_count, "{place}");
        assert_eq!(decision["ledger"]["seq"], number, "{place}");
        assert_eq!(decision["breaker"]["counters"]["no_exit"], number, "{place}");
        if self.kept.is_none() {
            self.record_count = new_count;
        }
        (Self { ran, ..self }, code.is_none())
    }
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn the_first_decision_survives_a_kill() {
    if needs("strace") {
        let first = Loop::restored(Kept::default(), recorded(1, 0), 0);
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
        let trips = Loop { added_records: 2, code: 3, ..Loop::restored(ran.kept(), ran, 2) };
        let kills = trips.killed_at(&["pwrite64", "fsync", "write"]);
        assert!(kills * stride() > 20, "{kills}");
    }
}

/// The database goes on for a moment after gate is killed: the next gate waits for that.
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
            let words = format!("check out.log --run r --iteration {number} --json");
            let in_database = |run: Run| run.env("GATE_DATABASE_URL", &database.url);
            ran = in_database(ran.again(&words)).under(fault.words()).run();
            let (code, printed) = (ran.ended(), ran.stdout.clone());
            assert!(code.is_none_or(|code| code == 1), "{call} {time}: {}", ran.stderr);
            ran = in_database(ran.again(&words)).code(1);
            let decision = ran.json();
            assert!(printed.is_empty() || decision["repeated"] == true, "{call} {time}");
            assert_eq!(decision["ledger"]["seq"], number, "{call} {time}");
            assert_eq!(decision["breaker"]["counters"]["no_exit"], number, "{call} {time}");
            ran = in_database(ran.again("ledger verify --json")).code(0);
            assert_eq!(ran.json()["records"], number, "{call} {time}");
            number += 1;
            if code == Some(1) {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills * stride() > 20, "{kills}");
}

/// A lost ledger stays lost until the record of the reset is kept.
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
            let is_killed = ran.ended().is_none();
            ran = ran.again("ledger export").run();
            let first_record = ran.json_lines().into_iter().next();
            assert!(is_killed || ran.ended() == Some(0), "{call}: {}", ran.stderr);
            match ran.ended() {
                Some(0) => assert!(first_record.unwrap()["body"]["lost"].is_string(), "{call}"),
                code => assert_eq!((code, first_record), (Some(5), None), "{call}"),
            }
            if !is_killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills * stride() > 20, "{kills}");
}

/// The gate that ends last folds a long log into the file.
#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn folding_the_log_in_survives_a_kill() {
    if needs("strace") {
        let (mut ran, mut count) = (recorded(0, 0), 0);
        while count == 0 || ran.log_size() < 256 * 1024 {
            count += 1;
            ran = ran.again(&format!("check out.log --run r --iteration {count}")).code(1);
        }
        let kept = ran.kept();
        let ran = ran.again("check out.log --run r").code(1);
        assert_eq!(ran.log_size(), 0, "it is folded in, and removed");
        let kills = Loop::restored(kept, ran, count).killed_at(&["pwrite64", "fsync", "unlink"]);
        assert!(kills * stride() > 40, "{kills}");
    }
}

/// While another process reads, the next gate goes on with the memory that the killed gate shared,
/// and does not make it again.
#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn a_decision_beside_a_reader_survives_a_kill() {
    if needs("strace") {
        let ran = recorded(1, 0);
        let reader = Reader::start(&ran);
        let kills = Loop::going_on(ran, 1).killed_at(&["pwrite64", "fsync", "fcntl", "write"]);
        assert!(kills * stride() > 30, "{kills}");
        assert!(reader.end() > 1);
    }
}

/// `gate log --follow`.
struct Reader(Child);

impl Reader {
    /// A reader that has seen the first record.
    fn start(ran: &Ran) -> Self {
        let mut child = ran.beside("log --follow").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::with_capacity(1, child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        child.stdout = Some(output.into_inner());
        Self(child)
    }

    /// The number of records that it saw, each once and in order. The last records may have come too
    /// late for it.
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
