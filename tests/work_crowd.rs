//! Many workers at once, each a process a call: every phase of every item is done once, by the only
//! holder of its lease, even if workers are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::exit::signal;
use crate::support::dice::Dice;
use crate::support::shop::{Said, Shop, given};
use crate::support::stride;

const WORKERS: usize = 8;

/// The number of items: enough that all workers meet at each phase, few enough for seconds.
fn items() -> usize {
    72 / stride()
}

/// The phases in their order: agents do all but that of CI.
const PHASES: [&str; 6] =
    ["DRAFT", "IMPLEMENTATION", "CI_PENDING", "READY_FOR_REVIEW", "REVIEW", "READY_FOR_MERGE"];

/// After this time an item must have been lost.
const PATIENCE: Duration = Duration::from_secs(240);

/// A phase that a worker had for itself: from the answer to its claim to the start of its submission.
struct Shift {
    id: String,
    phase: String,
    lease: String,
    from: Instant,
    to: Instant,
}

/// The state that all workers share.
struct Floor<'a> {
    shop: &'a Shop,
    items: usize,
    start: Instant,
    shifts: Mutex<Vec<Shift>>,
    /// Items that wait for CI, as far as a worker knows.
    awaiting_ci: Mutex<Vec<String>>,
    completed: AtomicUsize,
    killed: AtomicUsize,
}

impl<'a> Floor<'a> {
    /// Items, added by all workers at once.
    fn new(shop: &'a Shop, items: usize) -> Self {
        thread::scope(|scope| {
            for worker in 0..WORKERS {
                scope.spawn(move || {
                    for number in (worker..items).step_by(WORKERS) {
                        let mut add = shop.command(worker, &format!("work add W-{number:03}"));
                        Said::of(&add.output().unwrap()).is(0);
                    }
                });
            }
        });
        Self {
            shop,
            items,
            start: Instant::now(),
            shifts: Mutex::default(),
            awaiting_ci: Mutex::default(),
            completed: AtomicUsize::new(0),
            killed: AtomicUsize::new(0),
        }
    }

    fn work(&self, worker: impl Fn(&Self, usize) + Sync) {
        thread::scope(|scope| {
            let worker = &worker;
            for number in 0..WORKERS {
                scope.spawn(move || worker(self, number));
            }
        });
    }

    fn goes_on(&self) -> bool {
        assert!(self.start.elapsed() < PATIENCE, "an item is lost");
        self.completed.load(Ordering::Relaxed) < self.items
    }

    fn take_awaiting_ci(&self) -> Vec<String> {
        std::mem::take(&mut self.awaiting_ci.lock().unwrap())
    }

    fn say(&self, worker: usize, words: &str) -> Said {
        Said::of(&self.shop.command(worker, words).output().unwrap())
    }

    /// The steps of each item: the phase that ended, and the lease under which it ended.
    fn steps(&self) -> BTreeMap<String, Vec<(String, Option<String>)>> {
        let mut steps: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for record in self.shop.records() {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let work = &record["body"]["work"];
            let item_steps = steps.entry(text(&work["id"]).unwrap()).or_default();
            if let Some(phase) = text(&work["from"]) {
                item_steps.push((phase, text(&record["body"]["event"]["session_id"])));
            }
        }
        steps
    }

    /// Every phase of every item is in the ledger once, in its order; the ledger holds on every
    /// machine.
    fn check_ledger(&self) {
        let steps = self.steps();
        assert_eq!(steps.len(), self.items);
        for (id, steps) in &steps {
            let phases: Vec<_> = steps.iter().map(|(phase, _)| phase.as_str()).collect();
            assert_eq!(phases, PHASES, "{id}");
        }
        for machine in 0..self.shop.machines.len() {
            self.say(machine, "ledger verify").is(0);
        }
        let completed = self.say(0, "work list --phase COMPLETED --json").is(0).json();
        assert_eq!(completed["items"].as_array().unwrap().len(), self.items);
    }

    /// No item had two holders at the same time.
    fn check_shifts(&self) {
        let shifts = self.shifts.lock().unwrap();
        let mut by_item: BTreeMap<&str, Vec<&Shift>> = BTreeMap::new();
        shifts.iter().for_each(|shift| by_item.entry(&shift.id).or_default().push(shift));
        for (id, shifts) in &mut by_item {
            shifts.sort_by_key(|shift| shift.from);
            let are_apart = shifts.windows(2).all(|pair| pair[0].to <= pair[1].from);
            assert!(are_apart, "{id} had two holders at a time");
        }
        let leases: BTreeSet<_> = shifts.iter().map(|shift| &shift.lease).collect();
        assert_eq!(leases.len(), shifts.len(), "a lease is given once");
    }
}

/// Claims and submits until all is done; the first one is CI, too.
fn diligent(floor: &Floor<'_>, worker: usize) {
    let actor = format!("agent-{worker}");
    while floor.goes_on() {
        let awaiting_ci = if worker == 0 { floor.take_awaiting_ci() } else { Vec::new() };
        for id in awaiting_ci {
            floor.say(worker, &format!("work ci {id} --result passed")).is(0);
        }
        let words = format!("work claim --actor {actor} --wait 300ms --json");
        let said = floor.say(worker, &words);
        if said.code == Some(1) {
            continue;
        }
        let (lease, from) = (said.is(0).json(), Instant::now());
        let [id, phase, lease] =
            ["work", "phase", "lease"].map(|key| lease[key].as_str().unwrap().to_owned());
        let words = format!("exit submit - --work {id} --actor {actor} --lease {lease} --json");
        let signal = signal(&phase, "completed", &[]).to_string();
        let to = Instant::now();
        let submitted = given(&mut floor.shop.command(worker, &words), &signal).is(0).json();
        match submitted["next_phase"].as_str().unwrap() {
            "CI_PENDING" => floor.awaiting_ci.lock().unwrap().push(id.clone()),
            "COMPLETED" => drop(floor.completed.fetch_add(1, Ordering::Relaxed)),
            _ => {}
        }
        floor.shifts.lock().unwrap().push(Shift { id, phase, lease, from, to });
    }
}

fn all_is_done_once(shop: &Shop) {
    let floor = Floor::new(shop, items());
    floor.work(diligent);
    floor.check_ledger();
    floor.check_shifts();
    let recorded: BTreeSet<_> = floor
        .steps()
        .into_iter()
        .flat_map(|(id, steps)| {
            steps.into_iter().map(move |(phase, lease)| (id.clone(), phase, lease))
        })
        .filter_map(|(id, phase, lease)| Some((id, phase, lease?)))
        .collect();
    let shifts = floor.shifts.into_inner().unwrap();
    let worked: BTreeSet<_> =
        shifts.into_iter().map(|shift| (shift.id, shift.phase, shift.lease)).collect();
    assert_eq!(worked.len(), items() * (PHASES.len() - 1));
    assert_eq!(worked, recorded, "what was done is what is recorded, by the same lease");
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn eight_on_one_machine_do_each_phase_once() {
    all_is_done_once(&Shop::new());
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn eight_on_four_machines_do_each_phase_once() {
    if let Some(shop) = Shop::fleet(4) {
        all_is_done_once(&shop);
    }
}

/// The outcome of a command; `None` if it was killed on its way, as one in six is.
fn outcome(floor: &Floor<'_>, dice: &mut Dice, mut child: Child) -> Option<Said> {
    if dice.below(6) == 0 {
        thread::sleep(Duration::from_millis(dice.below(60)));
        child.kill().unwrap();
        floor.killed.fetch_add(1, Ordering::Relaxed);
        child.wait().unwrap();
        return None;
    }
    Some(Said::of(&child.wait_with_output().unwrap()))
}

/// A worker that dies now and then, and comes back as another actor who remembers nothing.
fn mortal(floor: &Floor<'_>, worker: usize) {
    let mut dice = Dice::new(worker as u64);
    for life in 0.. {
        if !floor.goes_on() {
            break;
        }
        while one_more(floor, worker, &format!("agent-{worker}-{life}"), &mut dice).is_some() {}
    }
}

/// Claims and ends one phase; `None` if the worker died on the way, or all is done.
fn one_more(floor: &Floor<'_>, worker: usize, actor: &str, dice: &mut Dice) -> Option<()> {
    if !floor.goes_on() {
        return None;
    }
    let begin = |words: &str| floor.shop.command(worker, words).spawn().unwrap();
    if worker == 0 {
        let list = floor.say(worker, "work list --phase CI_PENDING --json").is(0).json();
        for item in list["items"].as_array().unwrap() {
            let id = item["work"].as_str().unwrap();
            outcome(floor, dice, begin(&format!("work ci {id} --result passed")))?.is(0);
        }
        let completed = floor.say(worker, "work list --phase COMPLETED --json").is(0).json();
        floor.completed.store(completed["items"].as_array().unwrap().len(), Ordering::Relaxed);
    }
    let words = format!("work claim --actor {actor} --ttl 1500ms --wait 300ms --json");
    let said = outcome(floor, dice, begin(&words))?;
    if said.code == Some(1) {
        return Some(());
    }
    let (lease, from) = (said.is(0).json(), Instant::now());
    let [id, phase, lease] =
        ["work", "phase", "lease"].map(|key| lease[key].as_str().unwrap().to_owned());
    let words = format!("exit submit - --work {id} --actor {actor} --lease {lease} --json");
    let mut submit = floor.shop.command(worker, &words);
    let mut child = submit.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let to = Instant::now();
    let signal = signal(&phase, "completed", &[]).to_string();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), signal.as_bytes()).unwrap();
    let said = outcome(floor, dice, child)?;
    // A worker that was too slow is refused, and another one does the phase.
    assert!(matches!(said.code, Some(0 | 1)), "{}", said.err);
    if said.code == Some(0) {
        floor.shifts.lock().unwrap().push(Shift { id, phase, lease, from, to });
    }
    Some(())
}

fn all_is_done_whoever_is_killed(shop: &Shop) {
    let floor = Floor::new(shop, items());
    floor.work(mortal);
    floor.check_ledger();
    floor.check_shifts();
    assert!(floor.killed.load(Ordering::Relaxed) * stride() > 10, "hardly anybody was killed");
    let recorded: BTreeSet<_> =
        floor.steps().into_values().flatten().filter_map(|(_, lease)| lease).collect();
    let shifts = floor.shifts.into_inner().unwrap();
    assert!(shifts.iter().all(|shift| recorded.contains(&shift.lease)), "nothing was lost");
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn killed_workers_on_one_machine_lose_and_repeat_nothing() {
    all_is_done_whoever_is_killed(&Shop::new());
}

#[test]
#[ignore = "minutes: many processes, killed at any step"]
fn killed_workers_of_a_fleet_lose_and_repeat_nothing() {
    if let Some(shop) = Shop::fleet(4) {
        all_is_done_whoever_is_killed(&shop);
    }
}
