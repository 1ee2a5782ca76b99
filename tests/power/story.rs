//! What gate does before the power goes, what it promises, and what is left of that.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::disk::Disk;
use super::trace::{self, Call};
use crate::exit::{FLAG, signal};
use crate::support::dice::Dice;
use crate::support::{DONE, GATE, Ran, UNDONE, judge};

const SETTINGS: &str = "[project]\nid = \"shop\"\n[breaker]\nno_exit = 0\nno_progress = 0\n";

/// The code of settings that are not those that were approved.
const UNTRUSTED: &str = "config-not-trusted";

/// Something that a person or an agent does.
#[derive(Clone, Copy)]
pub(super) struct Act {
    words: &'static str,
    /// How many do it at once.
    times: usize,
    by: By,
}

#[derive(Clone, Copy, PartialEq)]
enum By {
    Gate,
    /// gate, which gets the end of a phase.
    Agent,
    Shell,
}

impl Act {
    /// `gate` with these words.
    pub(super) const fn gate(words: &'static str) -> Self {
        Self { words, times: 1, by: By::Gate }
    }

    /// An agent ends a phase.
    pub(super) const fn submit(words: &'static str) -> Self {
        Self { words, times: 1, by: By::Agent }
    }

    /// Several processes at once.
    pub(super) const fn at_once(words: &'static str, times: usize) -> Self {
        Self { words, times, by: By::Gate }
    }

    /// What somebody does without gate.
    pub(super) const fn script(words: &'static str) -> Self {
        Self { words, times: 1, by: By::Shell }
    }
}

/// What gate keeps, as its commands show it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kept {
    /// gate says that the ledger is not the one that it knows. Nothing else is known then.
    is_lost: bool,
    records: Vec<Value>,
    /// Id, phase, number of transitions and lease of each work item.
    items: Vec<Value>,
    /// The settings are approved.
    approved: bool,
}

/// An act that is over.
struct Done {
    words: &'static str,
    /// The number of calls before it,
    begins: usize,
    /// and until each process had printed its first word.
    prints: Vec<usize>,
    /// What was kept then.
    kept: Kept,
}

/// Acts, and all that they did to the disk.
pub(super) struct Story {
    ran: Ran,
    pub(super) disk: Disk,
    done: Vec<Done>,
}

impl Done {
    /// The number of calls until all was printed.
    fn promised(&self) -> usize {
        self.prints.last().copied().unwrap_or_default()
    }
}

impl Story {
    /// Does these acts, and records them.
    pub(super) fn of(acts: &[Act]) -> Self {
        let ran = judge("--version", UNDONE).file("done.log", DONE).unapproved(SETTINGS).code(0);
        let disk = Disk::new(&ran.home().canonicalize().unwrap());
        let mut story = Self { ran, disk, done: Vec::new() };
        for act in acts {
            story.act(*act);
        }
        story
    }

    fn act(&mut self, act: Act) {
        let begins = self.disk.calls();
        let words = format!("\"$0\" {}", act.words);
        let draft = signal("DRAFT", "completed", &[]);
        let words = match act.by {
            By::Agent => format!("echo '{draft}' | {words}"),
            By::Gate => format!("{} wait", format!("{words} & ").repeat(act.times)),
            By::Shell => act.words.to_owned(),
        };
        let mut prints = self.record(&words);
        prints.truncate(act.times);
        assert_eq!(prints.len(), act.times, "{} prints nothing", act.words);
        // What only looks is recorded as well: it opens the same files.
        self.record("\"$0\" ledger export; \"$0\" work list --json; \"$0\" trust --show --json");
        let kept = self.look().unwrap_or_else(|broken| panic!("{}: {broken}", act.words));
        self.done.push(Done { words: act.words, begins, prints, kept });
    }

    /// Runs a script, and adds its calls. Returns how many calls there were at each that printed.
    fn record(&mut self, script: &str) -> Vec<usize> {
        let home = self.ran.home().canonicalize().unwrap();
        let (trace, out) = (home.with_file_name("trace"), home.with_file_name("out"));
        let mut strace = self.command("strace");
        strace.args(["--seccomp-bpf", "-f", "-y", "-xx", "-s", "100000000", "-e", "signal=none"]);
        strace.arg(format!("-etrace={}", trace::CALLS)).arg("-o").arg(&trace);
        strace.args(["sh", "-c", script, GATE]).stdout(fs::File::create(&out).unwrap());
        strace.stderr(Stdio::null()).status().unwrap();
        let text = fs::read_to_string(&trace).unwrap();
        let calls = trace::calls(&text, &home, &out, self.disk.calls());
        let mut prints = Vec::new();
        for call in &calls {
            self.disk.add(call);
            if *call == Call::Print {
                prints.push(self.disk.calls());
            }
        }
        prints
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let like = self.ran.beside("");
        let mut command = Command::new(program);
        command.current_dir(self.ran.path("")).env_clear().env(FLAG, "true");
        command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// What gate says of what it keeps; or why it says nothing.
    fn look(&self) -> Result<Kept, String> {
        let records = match self.json_lines("ledger export") {
            Err(message) if message.contains("it was removed, cut or replaced") => {
                return Ok(Kept { is_lost: true, ..Kept::default() });
            }
            records => records?,
        };
        let list = self.json("work list --json")?;
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let items = items.into_iter().map(|item| {
            let keys = ["work", "phase", "transition_count"].map(|key| item[key].clone());
            Value::from([keys.to_vec(), vec![item["lease"]["lease"].clone()]].concat())
        });
        let approved = self.json("trust --show --json")?["approved"] == true;
        Ok(Kept { is_lost: false, records, items: items.collect(), approved })
    }

    fn json(&self, words: &str) -> Result<Value, String> {
        Ok(self.json_lines(words)?.remove(0))
    }

    fn json_lines(&self, words: &str) -> Result<Vec<Value>, String> {
        let mut gate = self.command(GATE);
        let output = gate.args(words.split_whitespace()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        if output.status.code() != Some(0) {
            return Err(format!("{words} ends with {}: {text}{errors}", output.status));
        }
        let read: Result<_, _> = serde_json::Deserializer::from_str(&text).into_iter().collect();
        read.map_err(|error: serde_json::Error| format!("{words}: {error}: {text}"))
    }

    /// A number of calls after which the power goes. Each act is as likely, and so is the moment
    /// after it has promised something.
    pub(super) fn moment(&self, dice: &mut Dice) -> usize {
        let at = dice.below(self.done.len() as u64) as usize;
        let act = &self.done[at];
        let end = self.done.get(at + 1).map_or(self.disk.calls(), |next| next.begins);
        match dice.below(3) {
            0 => act.prints[dice.below(act.prints.len() as u64) as usize],
            _ => act.begins + dice.below((end - act.begins) as u64 + 1) as usize,
        }
    }

    /// What does not hold after an outage.
    pub(super) fn broken(&self, calls: usize, seed: u64) -> Vec<String> {
        let before = self.done.iter().take_while(|act| act.promised() <= calls).last();
        let under_way = self.done.iter().find(|act| act.begins < calls && act.promised() > calls);
        let nothing = Kept::default();
        let least = before.map_or(&nothing, |act| &act.kept);
        let most = under_way.map_or(least, |act| &act.kept);
        let found = match self.look() {
            Ok(found) => found,
            Err(message) => return vec![message],
        };
        let names = [before, under_way].map(|act| act.map_or("nothing", |act| act.words));
        let printed = |act: &Done| act.prints.iter().filter(|at| **at <= calls).count();
        // What is lost ends with the first record of another ledger.
        let known = least.records.len() + usize::from(least.is_lost);
        let records = known + under_way.map_or(0, printed);
        let mut broken = differences(&found, (least, records), most);
        let decided = if found.is_lost {
            self.is_stopped(seed)
        } else {
            self.goes_on(&found, under_way, seed)
        };
        broken.extend(decided.err());
        if !broken.is_empty() {
            broken.insert(0, format!("after `{}`, within `{}`, call {calls}", names[0], names[1]));
        }
        broken
    }

    /// The next decision: its code, and what it says.
    fn decide(&self, seed: u64) -> (Option<i32>, Value) {
        let words = format!("check out.log --run after-{seed} --json");
        let output = self.command(GATE).args(words.split_whitespace()).output().unwrap();
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
    }

    /// The breaker is open because state was lost.
    fn is_stopped(&self, seed: u64) -> Result<(), String> {
        let (code, decision) = self.decide(seed);
        let is_open = code == Some(3) && decision["breaker"]["trip"] == "state";
        if is_open { Ok(()) } else { Err(format!("state is lost, and gate goes on: {decision}")) }
    }

    /// The ledger holds, and the next decision is the next record, and no exit.
    fn goes_on(&self, found: &Kept, under_way: Option<&Done>, seed: u64) -> Result<(), String> {
        let records = found.records.len();
        let (code, decision) = self.decide(seed);
        let seq = decision["ledger"]["seq"].as_u64().unwrap_or_default() as usize;
        // Half an approval is none: gate stops, and says so.
        let trusting = under_way.is_some_and(|act| act.words.starts_with("trust"));
        let is_half = trusting && (code, decision["code"].as_str()) == (Some(2), Some(UNTRUSTED));
        if !is_half && (!matches!(code, Some(1 | 3)) || seq <= records) {
            return Err(format!("the next decision ends with {code:?}: {decision}"));
        }
        let verified = self.json("ledger verify --json")?["records"].as_u64();
        let least = if is_half { records } else { seq };
        if verified < Some(least as u64) {
            Err(format!("{verified:?} are verified"))
        } else {
            Ok(())
        }
    }
}

/// What is neither as it was promised nor as the act that was under way would leave it.
fn differences(found: &Kept, (least, records): (&Kept, usize), most: &Kept) -> Vec<String> {
    if found.is_lost {
        let is_right = least.is_lost || most.is_lost;
        return if is_right {
            Vec::new()
        } else {
            vec!["nothing was lost, and gate says so".to_owned()]
        };
    }
    let mut broken = Vec::new();
    let count = found.records.len();
    if count < records {
        broken.push(format!("{count} of {records} promised records are there"));
    } else if found.records != least.records && most.records.get(..count) != Some(&found.records) {
        broken.push(format!("{count} records are there, and are not those that were written"));
    }
    if found.items != least.items && found.items != most.items {
        broken.push(format!("the work items are {:?}, not {:?}", found.items, least.items));
    }
    if found.approved != least.approved && found.approved != most.approved {
        broken.push(format!("approved: {}, not {}", found.approved, least.approved));
    }
    broken
}
