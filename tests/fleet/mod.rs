//! A fleet of workers, and a database that is killed, loses connections and hides behind a bad
//! network: what each worker saw is held against the ledger in the end.

mod history;
mod history_tests;
mod server;

use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use self::history::{Answer, Asked, Call, Record};
use self::server::Server;
use crate::exit::{FLAG, signal};
use crate::support::dice::Dice;
use crate::support::shop::{Said, given};
use crate::support::{Ran, UNDONE, judge};

/// The length of a lease. Some end while the worker has the item, or waits for the database.
const LEASE: Duration = Duration::from_secs(8);

/// After this time without enough submits something is lost.
const LOST: Duration = Duration::from_secs(300);

/// The size of a test.
struct Size {
    workers: usize,
    items: usize,
    kills: usize,
    /// How many submits are recorded before each kill, and after the last.
    submits: usize,
}

/// All that the workers share.
struct Fleet {
    size: Size,
    machines: Vec<Ran>,
    url: String,
    began: Instant,
    /// A file a worker, for its history.
    histories: TempDir,
    submits: AtomicUsize,
    is_over: AtomicBool,
}

impl Fleet {
    fn new(size: Size, server: &Server) -> Self {
        let machine = || {
            let settings = "[project]\nid = \"shop\"\n[breaker]\nno_exit = 0\nno_progress = 0\n";
            judge("prompt", UNDONE).settings(settings).code(0)
        };
        let machines = (0..4).map(|_| machine()).collect();
        let fleet = Self {
            size,
            machines,
            url: server.url(),
            began: Instant::now(),
            histories: TempDir::new().unwrap(),
            submits: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        };
        for number in 0..fleet.size.items {
            fleet.say(number, &format!("work add W-{number:03}")).is(0);
        }
        fleet
    }

    fn command(&self, worker: usize, words: &str) -> Command {
        let mut command = self.machines[worker % self.machines.len()].beside(words);
        command.env(FLAG, "true").env("GATE_DATABASE_URL", &self.url);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn say(&self, worker: usize, words: &str) -> Said {
        Said::of(&self.command(worker, words).output().unwrap())
    }

    /// The workers at work, while this is done to the server.
    fn work(&self, trouble: impl FnOnce() + Send) {
        thread::scope(|scope| {
            for worker in 0..self.size.workers {
                scope.spawn(move || Worker::new(self, worker).work());
            }
            // Also if it fails: the workers would go on without end.
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(trouble));
            self.is_over.store(true, Ordering::Relaxed);
            done.unwrap();
        });
    }

    fn history(&self) -> Vec<Call> {
        let files = fs::read_dir(self.histories.path()).unwrap();
        let lines = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let lines = lines.collect::<String>();
        lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    fn ledger(&self) -> Vec<Record> {
        self.say(0, "ledger verify").is(0);
        let lines = self.say(0, "ledger export").is(0).out;
        lines.lines().map(|line| Record::read(&serde_json::from_str(line).unwrap())).collect()
    }
}

/// A worker, who writes down what it sees.
struct Worker<'a> {
    fleet: &'a Fleet,
    number: usize,
    dice: Dice,
    file: File,
    iteration: u64,
}

impl<'a> Worker<'a> {
    fn new(fleet: &'a Fleet, number: usize) -> Self {
        let file = File::create(fleet.histories.path().join(number.to_string())).unwrap();
        Self { fleet, number, dice: Dice::new(number as u64), file, iteration: 1 }
    }

    fn work(mut self) {
        self.check();
        while !self.fleet.is_over.load(Ordering::Relaxed) {
            if self.dice.happens(30) {
                self.check();
            } else {
                self.claim();
            }
        }
    }

    /// Decides the next iteration, or the last one again if nobody knows how that ended.
    fn check(&mut self) {
        let (run, iteration) = (format!("r-{}", self.number), self.iteration);
        let words = format!("check out.log --run {run} --iteration {iteration} --json");
        let answer = self.call(Asked::Check { run, iteration }, &words, "", |said| {
            let decision = said.json();
            let id = decision["decision_id"].as_str().map(str::to_owned);
            Answer::Recorded { seq: decision["ledger"]["seq"].as_u64().unwrap(), decision: id }
        });
        self.iteration += u64::from(!matches!(answer, Answer::Unknown(_)));
    }

    /// Claims an item, and mostly ends its phase.
    fn claim(&mut self) {
        let actor = format!("agent-{}", self.number);
        let words = format!("work claim --actor {actor} --ttl {}s --json", LEASE.as_secs());
        let mut phase = String::new();
        let answer = self.call(Asked::Claim, &words, "", |said| {
            let claimed = said.json();
            let [item, lease, found] =
                ["work", "lease", "phase"].map(|key| claimed[key].as_str().unwrap().to_owned());
            phase = found;
            Answer::Lease { item, lease, lasts: LEASE.as_micros() as u64 }
        });
        let Answer::Lease { item, lease, .. } = answer else {
            thread::sleep(Duration::from_millis(100));
            return;
        };
        thread::sleep(Duration::from_millis(self.dice.below(200)));
        match self.dice.below(10) {
            // Forgotten: the lease ends by itself.
            0 => {}
            1 => {
                let words = format!("work release {item} --actor {actor} --lease {lease}");
                self.call(Asked::Release { item, lease }, &words, "", |_| Answer::Done);
            }
            _ => {
                let words =
                    format!("exit submit - --work {item} --actor {actor} --lease {lease} --json");
                let signal = signal(&phase, "completed", &[]).to_string();
                let submits = &self.fleet.submits;
                self.call(Asked::Submit { item, lease }, &words, &signal, |said| {
                    submits.fetch_add(1, Ordering::Relaxed);
                    Answer::Recorded { seq: said.json()["seq"].as_u64().unwrap(), decision: None }
                });
            }
        }
    }

    /// Calls gate, and writes down what it was asked and what it answered.
    fn call(
        &mut self,
        asked: Asked,
        words: &str,
        text: &str,
        answer: impl FnOnce(&Said) -> Answer,
    ) -> Answer {
        let now = || self.fleet.began.elapsed().as_micros() as u64;
        let begin = now();
        let said = given(&mut self.fleet.command(self.number, words), text);
        let end = now();
        // A decision that the agent is to go on has code 1.
        let is_check = matches!(asked, Asked::Check { .. });
        let answer = match said.code {
            Some(1) if is_check => answer(&said),
            Some(0) if !is_check => answer(&said),
            Some(1) => Answer::Refused,
            Some(5) => Answer::Unknown(said.err),
            code => panic!("{words} ends with {code:?}: {} {}", said.out, said.err),
        };
        let call = Call { worker: self.number, begin, end, asked, answer: answer.clone() };
        writeln!(self.file, "{}", serde_json::to_string(&call).unwrap()).unwrap();
        answer
    }
}

/// Lets a fleet work through trouble, and checks what came of it.
fn proves(size: Size) {
    let Some(mut server) = Server::start() else { return };
    let fleet = Fleet::new(size, &server);
    let mut ended = 0;
    server.set_bad(true);
    fleet.work(|| {
        for round in 0..=fleet.size.kills {
            let (began, enough) = (Instant::now(), (round + 1) * fleet.size.submits);
            while fleet.submits.load(Ordering::Relaxed) < enough
                || ended == 0
                || server.broken() == 0
            {
                assert!(began.elapsed() < LOST, "round {round}: the workers get nothing done");
                ended += usize::from(server.terminate_one());
                thread::sleep(Duration::from_millis(300));
            }
            if round < fleet.size.kills {
                server.kill();
            }
        }
    });
    server.set_bad(false);
    let (calls, ledger) = (fleet.history(), fleet.ledger());
    let count = |is_right: fn(&Call) -> bool| calls.iter().filter(|call| is_right(call)).count();
    let claims = count(|call| matches!(call.answer, Answer::Lease { .. }));
    let submits = count(|call| {
        matches!((&call.asked, &call.answer), (Asked::Submit { .. }, Answer::Recorded { .. }))
    });
    let checks = count(|call| {
        matches!((&call.asked, &call.answer), (Asked::Check { .. }, Answer::Recorded { .. }))
    });
    let slow = calls.iter().map(|call| call.end - call.begin).max().unwrap_or_default();
    let all = format!(
        "{} calls, {claims} claims, {submits} submits, {checks} decisions, {} records; {ended} \
         processes ended, {} connections cut; the longest call took {} ms",
        calls.len(),
        ledger.len(),
        server.broken(),
        slow / 1000
    );
    let faults = history::faults(&calls, &ledger);
    assert!(faults.is_empty(), "{all}\n{}", faults.join("\n"));
    assert!(claims > 0 && submits > 0 && checks > 0, "{all}");
    // Each of these calls can be made again until it is known how it ended.
    let unknown = history::unknown(&calls);
    assert!(unknown.is_empty(), "{all}; {} unknown:\n{unknown:#?}", unknown.len());
}

#[test]
fn a_small_fleet_loses_and_repeats_nothing() {
    proves(Size { workers: 4, items: 12, kills: 1, submits: 3 });
}

#[test]
#[ignore = "minutes: many processes, and a server that is killed"]
fn sixteen_workers_lose_and_repeat_nothing() {
    proves(Size { workers: 16, items: 400, kills: 3, submits: 50 });
}
