//! The endings of a night: status, report and log tell the same of each loop.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::needs::needs;
use crate::run::wait;
use crate::run_night::{CLIENT, behind};
use crate::support::{Ran, gate};

/// What ends a loop.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Itself,
    /// gate gets it when the agent waits.
    Signal(Signal),
    /// gate, its attendant and the agent are killed when the agent waits.
    Tree,
    /// The same, together with all other loops that wait for it.
    Power,
    /// All that gate keeps is on a small disk, which the agent fills.
    Disk,
}

/// A loop's agent, its end and its cost.
struct Scene {
    task: &'static str,
    /// Lines of a shell, after the functions of `CLIENT`.
    agent: &'static str,
    by: By,
    state: &'static str,
    /// A part of the reason.
    why: &'static str,
    /// A part of the next step.
    next: &'static str,
    micro_usd: u64,
    /// Parts of its text in the report.
    shown: &'static [&'static str],
}

const DIED: Scene = Scene {
    task: "",
    agent: "",
    by: By::Tree,
    state: "died",
    why: "",
    next: "go on with: `gate run --task ",
    micro_usd: 0,
    shown: &[],
};
const STOPPED: Scene = Scene { state: "stopped", by: By::Itself, ..DIED };
const DONE: Scene = Scene { state: "done", next: "", ..STOPPED };

const NIGHT: [Scene; 13] = [
    Scene {
        task: "killed-1",
        agent: "waits",
        why: "iteration 1, last seen",
        shown: &["cost unknown"],
        ..DIED
    },
    Scene {
        task: "killed-3",
        agent: "test $n = 3 && waits; goes_on",
        why: "iteration 3, last seen",
        micro_usd: 500_000,
        shown: &["at least $0.50; iteration 3 was not reported"],
        ..DIED
    },
    Scene {
        task: "alone",
        agent: "test $n = 2 && waits; goes_on",
        by: By::Signal(Signal::KILL),
        why: "iteration 2, last seen",
        micro_usd: 250_000,
        ..DIED
    },
    Scene {
        task: "power-1",
        agent: "test $n = 2 && waits; goes_on",
        by: By::Power,
        why: "iteration 2, last seen",
        micro_usd: 250_000,
        ..DIED
    },
    Scene { task: "power-2", agent: "waits", by: By::Power, why: "iteration 1, last seen", ..DIED },
    Scene {
        task: "terminal",
        agent: "test $n = 2 && waits; goes_on",
        by: By::Signal(Signal::HUP),
        why: "the terminal was closed",
        micro_usd: 250_000,
        ..STOPPED
    },
    Scene {
        task: "ctrl-c",
        agent: "test $n = 2 && waits; goes_on",
        by: By::Signal(Signal::INT),
        why: "by Ctrl-C",
        micro_usd: 250_000,
        ..STOPPED
    },
    Scene {
        task: "disk",
        agent: "test $n = 2 && cat /dev/zero >\"$HOME/.local/big\" 2>c-full; goes_on",
        by: By::Disk,
        why: "gate could not go on: the disk was full: ",
        next: "make room on the disk, then go on with: `gate run --task disk ",
        micro_usd: 250_000,
        shown: &["at least $0.25; iteration 2 was not reported"],
        ..STOPPED
    },
    Scene {
        task: "overload",
        agent: "test $n -le 2 && fails 'API Error: 529 overloaded_error' 0.25; ends",
        micro_usd: 750_000,
        ..DONE
    },
    Scene { task: "limit", agent: LIMITED, micro_usd: 500_000, ..DONE },
    Scene {
        task: "crash",
        agent: "test $n = 1 && exit 134; ends",
        micro_usd: 250_000,
        shown: &["the agent crashed once", "at least $0.25; iteration 1 was not reported"],
        ..DONE
    },
    Scene {
        task: "stuck",
        agent: "works 'I read.' 0.25",
        why: "changed no file",
        next: "gate breaker reset --run",
        micro_usd: 1_000_000,
        ..STOPPED
    },
    Scene {
        task: "blocked",
        agent: "works 'No.\\n\\nEXIT_STATUS: BLOCKED\\nEXIT_REASON: no key' 0.25",
        state: "blocked",
        why: "no key",
        next: "solve that, then start the agent again",
        micro_usd: 250_000,
        ..STOPPED
    },
];

/// Meets a limit that ends within seconds: the next try is in that second, or later.
const LIMITED: &str = "test $n = 1 || { test $(date +%s) -ge $(cat c-until) && ends; fails early 0.25; }\n\
    echo $(($(date +%s) + 2)) >c-until\n\
    fails \"You've hit your limit · resets $(date -u -d @$(cat c-until) +%T) (UTC)\" 0.25";

/// Lines of a shell behind `CLIENT`: what the agents of a night do.
const ACTS: &str = "goes_on() { date +%N >>work; works 'I go on.' 0.25; exit; }\n\
    ends() { name=${0##*/}; touch fixed-${name%.sh}; works \"$done_\" 0.25; exit; }\n\
    waits() { echo $$ >\"c-pid-${0##*/}\"; exec sleep 300; }\n";

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"ls | grep -q ^fixed\"]\n\
    [run]\nbackoff_first = \"1ms\"\nbackoff_max = \"2ms\"\n[breaker]\nno_progress = 3\n";

/// Puts what gate keeps on a small disk while it runs, and makes room there at the end.
const SMALL_DISK: &str = "set -e; small=$HOME/small; mkdir \"$small\"\n\
    size=$(($(du -sm \"$HOME/.local\" | cut -f1) + 8))m\n\
    mount -t tmpfs -o size=$size,mode=700 small \"$small\"\n\
    cp -a \"$HOME/.local/.\" \"$small\"; mount --bind \"$small\" \"$HOME/.local\"\n\
    code=0; \"$@\" || code=$?\n\
    rm \"$HOME/.local/big\"; cp -a \"$small\" \"$HOME/kept\"; umount \"$HOME/.local\"\n\
    rm -r \"$HOME/.local\"; mv \"$HOME/kept\" \"$HOME/.local\"; exit $code";

/// The agent of a loop, once it waits.
fn waiting(ran: &Ran, task: &str) -> Pid {
    let file = ran.path(&format!("c-pid-{task}.sh"));
    wait(|| fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    Pid::from_raw(fs::read_to_string(&file).unwrap().trim().parse().unwrap()).unwrap()
}

/// The state of a process and its parent; none if it is gone.
fn stat(pid: Pid) -> Option<(String, Pid)> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let mut words = stat.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.to_owned(), Pid::from_raw(words.next()?.parse().ok()?)?))
}

/// Kills loops with all their processes, as a power cut does.
fn cut_power(loops: Vec<(Child, Pid)>) {
    let attendants: Vec<_> = loops.iter().map(|(_, agent)| stat(*agent).unwrap().1).collect();
    for ((gate, agent), attendant) in loops.iter().zip(attendants) {
        for pid in [Pid::from_child(gate), attendant] {
            kill_process(pid, Signal::KILL).unwrap();
        }
        let _gone = kill_process_group(*agent, Signal::KILL);
    }
    for (mut gate, _) in loops {
        gate.wait().unwrap();
    }
}

fn is_alive(pid: Pid) -> bool {
    stat(pid).is_some_and(|(state, _)| state != "Z")
}

/// A night, and its scenes: those that this machine can play.
fn night() -> (Ran, Vec<&'static Scene>) {
    let has_small_disk = needs("namespaces");
    let scenes: Vec<_> =
        NIGHT.iter().filter(|scene| has_small_disk || scene.by != By::Disk).collect();
    let mut run = gate("man").settings(SETTINGS).file("PROMPT.md", "Mend it.\n");
    run = run.file(".gitignore", "c-*\n");
    for Scene { task, agent, .. } in &scenes {
        let client = CLIENT.replace(">seen", ">/dev/null").replace("count", &format!("c-{task}"));
        let client = client.replace("\"s%s\"", &format!("\"{task}-%s\""));
        run = run.script(&format!("{task}.sh"), &format!("{client}{ACTS}{agent}\n"));
    }
    let ran = run.committed().code(0);
    let mut powered = Vec::new();
    for Scene { task, by, .. } in &scenes {
        let words = format!("run --task {task} --prompt PROMPT.md -- ./{task}.sh");
        let mut gate = match by {
            By::Disk => behind("unshare -rm sh -c \"$SMALL_DISK\" sh", &ran, &words),
            _ => ran.beside(&words),
        };
        gate.env("SMALL_DISK", SMALL_DISK);
        let mut gate = gate.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        match by {
            By::Itself | By::Disk => drop(gate.wait().unwrap()),
            By::Power => powered.push((gate, waiting(&ran, task))),
            By::Tree => {
                let agent = waiting(&ran, task);
                cut_power(vec![(gate, agent)]);
            }
            By::Signal(signal) => {
                let agent = waiting(&ran, task);
                kill_process(Pid::from_child(&gate), *signal).unwrap();
                gate.wait().unwrap();
                wait(|| !is_alive(agent));
            }
        }
    }
    cut_power(powered);
    (ran, scenes)
}

fn of_task<'v>(record: &'v Value, task: &str) -> &'v Value {
    let mut loops = record["loops"].as_array().unwrap().iter();
    loops.find(|one| one["task"] == task).unwrap_or_else(|| panic!("no loop {task}: {record}"))
}

#[test]
fn status_report_and_log_tell_the_same_end_of_each_loop() {
    let (ran, scenes) = night();
    let ran = ran.again("status --json").code(0);
    let status = ran.json();
    let ran = ran.again("report --json").code(0);
    let report = ran.json();
    for record in [&status, &report] {
        assert_eq!(record["loops"].as_array().unwrap().len(), scenes.len(), "{record}");
        for scene in &scenes {
            let one = of_task(record, scene.task);
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            assert_eq!(text("state"), scene.state, "{one}");
            assert!(text("why").contains(scene.why), "{one}");
            assert!(text("next").contains(scene.next), "{one}");
            assert_eq!(one["usage"]["cost_micro_usd"], scene.micro_usd, "{one}");
            assert_eq!(text("tree"), ran.path("").canonicalize().unwrap().to_str().unwrap());
        }
    }
    let number = |state: &str| scenes.iter().filter(|scene| scene.state == state).count();
    let died = number("died");
    let ran = ran.again("log --json").code(0);
    let last = ran.json_lines();
    let ran = ran.again("log --json --since 1h").code(0);
    let records = ran.json_lines();
    let count =
        |records: &[Value], kind: &str| records.iter().filter(|one| one["type"] == kind).count();
    assert_eq!(count(&records, "run_started"), scenes.len());
    assert_eq!(count(&records, "run_ended"), scenes.len() - died);
    for records in [&last, &records] {
        assert_eq!(count(records, "loop_died"), died, "the last 20 records are no matter");
    }
    for words in ["log --since 1h", "log -n 2"] {
        let log = ran.beside(words).output().unwrap().stdout;
        let log = String::from_utf8(log).unwrap();
        assert_eq!(log.matches("\nDIED ").count(), died, "{words}: {log}");
    }
    let ran = ran.again("report").code(0);
    let headline = format!(
        "{} loops: {died} died, {} done, {} stopped, {} blocked. $",
        scenes.len(),
        number("done"),
        number("stopped"),
        number("blocked")
    );
    assert!(ran.stdout.starts_with(&headline), "{}", ran.stdout);
    for scene in &scenes {
        let head = format!("  {}", scene.task);
        let mut sections = ran.stdout.split("\n\n");
        let section =
            sections.find(|text| text.lines().next().is_some_and(|it| it.ends_with(&head)));
        let section = section.unwrap_or_else(|| panic!("no {head}: {}", ran.stdout));
        for part in scene.shown {
            assert!(section.contains(part), "{part:?} is not shown:\n{section}");
        }
    }
    let worst = ran.again("status").code(0).stdout;
    let place = |word: &str| worst.find(&format!("\n{word}  "));
    assert!(place("DIED") < place("BLOCKED") && place("BLOCKED") < place("DONE"), "{worst}");
}
