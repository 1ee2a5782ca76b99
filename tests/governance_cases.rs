//! What is expected of runs, buses and facts, case by case: of formats by the library,
//! of what happens by whole loops.

use std::collections::BTreeSet;
use std::fs;

use gate_fleet::bus;
use gate_fleet::run::{RunInfo, is_run_id};
use serde_json::{Value, json};

use crate::governance_formats::of_format;
use crate::here::files;
use crate::needs::{needs, shared};
use crate::run::{IMPATIENT, RED, SAYS, bus as bus_of, file_of, project, task};
use crate::run_work;
use crate::support::{Ran, gate};

const SYSTEMS: [&str; 4] = ["conductor-run", "conductor-bus", "conductor-facts", "cross"];

/// A case in which gate is stricter than its origin: a `DONE` that is older than the loop is
/// nobody's claim, so an agent is started.
const STRICTER: &str = "CR-022";

const ONCE: &str = "run --task t1 --prompt PROMPT.md --max-iterations 1 --json -- ./agent.sh";

#[test]
fn the_cases_hold() {
    if !needs("shared") {
        return;
    }
    let text = fs::read_to_string(shared().join("conformance/cases.jsonl")).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let cases: Vec<_> =
        cases.filter(|case| SYSTEMS.iter().any(|name| case["system"] == *name)).collect();
    assert!(cases.len() >= 30);
    for case in &cases {
        let (input, expect) = (&case["input"], &case["expect"]);
        if !of_format(input, expect) {
            let seen = happens(input);
            if case["id"] == STRICTER {
                assert!(seen("agent_starts", &json!(0)).is(&json!(1)));
                continue;
            }
            for (key, wanted) in expect.as_object().unwrap() {
                // Words beside an outcome that say what else would do.
                if key != "or" && key != "which" {
                    let seen = seen(key, wanted);
                    assert!(seen.is(wanted), "{}: {key}: {seen:?} for {wanted}", case["id"]);
                }
            }
        }
    }
}

/// What is seen of a scenario under a key of the cases, where this is expected.
type Seen = Box<dyn Fn(&str, &Value) -> Observed>;

/// What a scenario shows under one key.
#[derive(Debug)]
enum Observed {
    /// The value itself.
    Value(Value),
    /// A text, of which the cases name a part.
    Text(String),
}

impl Observed {
    fn is(&self, expected: &Value) -> bool {
        match self {
            Self::Value(value) => value == expected,
            Self::Text(text) => text.contains(expected.as_str().unwrap()),
        }
    }
}

impl<V: Into<Value>> From<V> for Observed {
    fn from(value: V) -> Self {
        Self::Value(value.into())
    }
}

/// Lets a scenario happen.
fn happens(input: &Value) -> Seen {
    let word = |key: &str| input[key].as_str().unwrap_or_default();
    match (word("op"), word("agent")) {
        ("run", agent) if agent.contains("exits 3") => run("printf partial\nexit 3\n"),
        ("run", agent) if agent.contains("SIGKILL") => run("printf x\nkill -9 $$\n"),
        ("runner events", _) => run("exit 1\n"),
        ("agent cannot be spawned (no such command)", _) => {
            looped(project("").words("run --task t1 --prompt PROMPT.md --json -- no-such").code(1))
        }
        ("agent env", _) => {
            let environment = project("env >env\n").words(ONCE).code(1).file("env");
            assert!(environment.contains("PATH=") && !environment.contains("JRUN_"));
            Box::new(move |name, _| {
                let line = environment.lines().find(|line| line.starts_with(&format!("{name}=")));
                line.unwrap_or("absent from env per seed").into()
            })
        }
        ("idle timeout", _) => {
            let words = "run --task t1 --prompt PROMPT.md --idle-timeout 200ms --max-iterations 1 --json -- ./agent.sh";
            looped(project("sleep 300\n").words(words).code(1))
        }
        ("restart chain", _) => {
            let words = "run --task t1 --prompt PROMPT.md --max-iterations 2 --json -- ./agent.sh";
            let ran = project("echo more\n").words(words).code(1);
            let end = ran.json();
            let info = file_of(&ran, &end["runs"][1], "run-info.yaml");
            let previous = RunInfo::parse(&info).unwrap().previous_run_id;
            let runs = end["runs"].as_array().unwrap();
            let attempt = runs.iter().position(|run| *run == json!(previous));
            let attempt = attempt.map(|attempt| format!("run id of attempt {attempt}"));
            Box::new(move |key, _| {
                assert_eq!(key, "run-info.previous_run_id");
                attempt.clone().into()
            })
        }
        ("two runs started in the same second by one process", _) => {
            let words = "run --task t1 --prompt PROMPT.md --max-iterations 3 --json -- ./agent.sh";
            let end = project("echo more\n").words(words).code(1).json();
            let ids: BTreeSet<_> =
                end["runs"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
            assert!(ids.iter().all(|id| is_run_id(id)), "{ids:?}");
            let ids = if ids.len() == 3 { "distinct" } else { "given twice" };
            Box::new(move |_, _| ids.into())
        }
        ("loop", _) if input["DONE"] == "is a directory" => {
            let ran = done(|path| fs::create_dir(path).unwrap()).again(ONCE).code(2);
            let message = ran.json()["message"].as_str().unwrap().to_owned();
            Box::new(move |key, _| match key {
                "ok" => (ran.ended() == Some(0)).into(),
                _ => Observed::Text(message.clone()),
            })
        }
        ("loop", _) if word("children").contains("alive") => {
            let ran = done(|path| fs::write(path, "").unwrap());
            let mut child = crate::run::child_of(&ran);
            let ran =
                ran.again("run --task t1 --children-timeout 200ms --json -- ./agent.sh").run();
            child.kill().unwrap();
            child.wait().unwrap();
            looped(ran)
        }
        ("loop", _) => looped(done(|path| fs::write(path, "").unwrap()).again(ONCE).run()),
        ("loop end", _) => {
            let signal = run_work::says("IMPLEMENTATION", "blocked", "no key");
            let ran = run_work::project("implementation", &signal).again(run_work::WORDS);
            let ran = ran.env("AGENT_EXIT_PROTOCOL_ENABLED", word("flag")).code(1);
            let (end, phase) = (ran.json(), run_work::shown(&ran)["phase"].clone());
            Box::new(move |key, _| match key {
                "loop_ends" => (end["stopped_by"] == "blocked").into(),
                "work_phase" => phase.clone().into(),
                _ => end[key].clone().into(),
            })
        }
        ("delegate", _) => {
            let (depth, most) = (input["depth"].as_u64().unwrap(), &input["max_configured"]);
            let spawned = delegated(depth, most.as_u64());
            Box::new(move |_, _| spawned.into())
        }
        ("fact add", _) => fact(word("scope"), word("name")),
        ("bus.tail", _) => {
            let posted = |ran: Ran, n: u64| ran.again(&format!("bus post --body {n}")).code(0);
            let ran = (1..=input["of"].as_u64().unwrap())
                .fold(gate("prompt").settings(SHOP).code(0), posted);
            let ran = ran.again(&format!("bus read --json --last {}", input["n"])).code(0);
            let bodies: Vec<_> =
                ran.json_lines().iter().map(|message| message["body"].clone()).collect();
            assert!(
                bodies.is_sorted_by_key(|body| body.as_str().unwrap().to_owned()),
                "{bodies:?}"
            );
            let count = bodies.len();
            Box::new(move |_, _| count.into())
        }
        ("bus scope", _) => {
            let ran = gate("bus post --body x").settings(SHOP).code(0);
            let root = ran.path("runs");
            let buses: Vec<_> = files(&root)
                .iter()
                .map(|file| file.strip_prefix(&root).unwrap().display().to_string())
                .filter(|file| file.ends_with("-BUS.md"))
                .map(|file| format!("<root>/{}", file.replacen("shop/", "<project>/", 1)))
                .collect();
            Box::new(move |_, _| buses.join(", ").into())
        }
        other => panic!("nobody knows this case: {other:?}"),
    }
}

pub(crate) const SHOP: &str = "[project]\nid = \"shop\"\n[run]\nfolder = \"runs\"\n";

/// A loop of one iteration with this agent.
fn run(agent: &str) -> Seen {
    looped(project(agent).words(ONCE).run())
}

/// A task over which a loop was, and that holds a `DONE`; its work is done.
fn done(make: impl FnOnce(std::path::PathBuf)) -> Ran {
    let ran = project(&format!("touch fixed\n{SAYS}")).words(ONCE).code(0);
    make(task(&ran).join("DONE"));
    ran
}

/// What is seen of a loop that has ended.
fn looped(ran: Ran) -> Seen {
    Box::new(move |key, wanted| {
        let end = ran.json();
        let of_run =
            |name: &str| file_of(&ran, end["runs"].as_array().unwrap().last().unwrap(), name);
        let info = || RunInfo::parse(&of_run("run-info.yaml")).unwrap();
        match key {
            "run_status" => info().status.name().into(),
            "exit_code" => info().exit_code.into(),
            "error_summary" => info().error_summary.into(),
            "runner_exit" | "exit" => ran.ended().unwrap().into(),
            "agent_starts" => end["iterations"].clone().into(),
            "success" => end["success"].clone().into(),
            "bus_contains" => Observed::Text(bus_of(&ran)),
            "bus_last" => {
                let last = bus::read(bus_of(&ran).as_bytes()).messages.pop().unwrap().body;
                last.trim_end().into()
            }
            "types" => {
                let messages = bus::read(bus_of(&ran).as_bytes()).messages;
                let kinds = messages.into_iter().map(|message| message.kind);
                kinds.filter(|kind| bus::is_runner_type(kind)).collect::<Value>().into()
            }
            name if wanted == "exists" => {
                of_run(name);
                "exists".into()
            }
            name => of_run(name).into(),
        }
    })
}

/// Whether a run is started that would have so many above it.
fn delegated(depth: u64, most: Option<u64>) -> bool {
    let most = most.map_or_else(String::new, |most| format!("max_depth = {most}\n"));
    let most = format!("{IMPATIENT}{most}");
    let agent = "deep=$(wc -l <count)\n\
                 gate run --task d$deep --prompt PROMPT.md --max-iterations 1 -- ./agent.sh\nexit 1\n";
    let limited = format!("test \"$(wc -l <count)\" -gt {depth} && exit 1\n{agent}");
    let ran =
        project(&limited).settings(&format!("{RED}{most}")).words(ONCE).with_gate_in_path().code(1);
    ran.file("count").lines().count() as u64 > depth
}

fn fact(scope: &str, name: &str) -> Seen {
    let ran = gate("fact add --body x").settings(SHOP);
    let ran = if scope.is_empty() { ran } else { ran.args(["--scope", scope]) };
    let ran = ran.args([name]).run();
    let ok = ran.ended() == Some(0);
    let folder = ran.path("runs/shop");
    let made: Vec<_> =
        fs::read_dir(&folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
    assert_eq!(made.len(), usize::from(ok), "{made:?}");
    let text = made.first().map(|path| fs::read_to_string(path).unwrap());
    Box::new(move |key, _| match key {
        "ok" => ok.into(),
        "file" => {
            let file = made[0].file_name().unwrap().to_str().unwrap();
            // Date, time, process and number stand before the name.
            let name = file.splitn(6, '-').nth(5).unwrap();
            let timestamp = file.strip_prefix("FACT-").unwrap().strip_suffix(name).unwrap();
            assert!(is_run_id(timestamp.trim_end_matches('-')), "{file}");
            format!("FACT-<timestamp>-{name} in project dir").into()
        }
        _ => {
            let head = text.as_ref().unwrap().split("---\n").nth(1).unwrap().to_owned();
            let keys = head.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
            keys.collect::<Value>().into()
        }
    })
}
