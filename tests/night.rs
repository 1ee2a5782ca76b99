//! The endings of a night: status, report and log tell the same of each loop.

use std::fs;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

use crate::needs::needs;
use crate::run::wait;
use crate::run_night::{CLIENT, behind};
use crate::support::{Ran, gate};

/// The cause of a loop's end.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    ByItself,
    /// gate gets a signal while the agent waits.
    Signal(Signal),
    /// gate, its attendant and the agent are killed while the agent waits.
    KilledTree,
    /// All loops that wait for it are killed so at the same time.
    PowerCut,
    /// gate's files are on a small disk, which the agent fills.
    FullDisk,
}

/// A loop's agent, its end and its cost.
struct Scene {
    task: &'static str,
    /// Lines of a shell, after the functions of `CLIENT`.
    agent: &'static str,
    ending: Ending,
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
    ending: Ending::KilledTree,
    state: "died",
    why: "",
    next: "go on with: `gate run --task ",
    micro_usd: 0,
    shown: &[],
};
const STOPPED: Scene = Scene { state: "stopped", ending: Ending::ByItself, ..DIED };
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
        ending: Ending::Signal(Signal::KILL),
        why: "iteration 2, last seen",
        micro_usd: 250_000,
        ..DIED
    },
    Scene {
        task: "power-1",
        agent: "test $n = 2 && waits; goes_on",
        ending: Ending::PowerCut,
        why: "iteration 2, last seen",
        micro_usd: 250_000,
        ..DIED
    },
    Scene {
        task: "power-2",
        agent: "waits",
        ending: Ending::PowerCut,
        why: "iteration 1, last seen",
        ..DIED
    },
    Scene {
        task: "terminal",
        agent: "test $n = 2 && waits; goes_on",
        ending: Ending::Signal(Signal::HUP),
        why: "the terminal was closed",
        micro_usd: 250_000,
        ..STOPPED
    },
    Scene {
        task: "ctrl-c",
        agent: "test $n = 2 && waits; goes_on",
        ending: Ending::Signal(Signal::INT),
        why: "by Ctrl-C",
        micro_usd: 250_000,
        ..STOPPED
    },
    Scene {
        task: "disk",
        agent: "test $n = 2 && cat /dev/zero >\"$HOME/.local/big\" 2>c-full; goes_on",
        ending: Ending::FullDisk,
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
    waits() { echo $$ >\"c-pid-${0##*/}\"; exec sleep 3000; }\n";

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

/// A field of `/proc/PID/stat`, counted after the name; `None` if the process is gone.
fn stat_field(pid: Pid, index: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(index).map(str::to_owned)
}

fn parent(pid: Pid) -> Pid {
    Pid::from_raw(stat_field(pid, 1).unwrap().parse().unwrap()).unwrap()
}

/// Kills loops with all their processes, as a power cut does.
fn cut_power(loops: Vec<(Child, Pid)>) {
    let attendants: Vec<_> = loops.iter().map(|(_, agent)| parent(*agent)).collect();
    for ((gate, agent), attendant) in loops.iter().zip(attendants) {
        for pid in [Pid::from_child(gate), attendant] {
            kill_process(pid, Signal::KILL).unwrap();
        }
        // The agent may have ended with its attendant.
        let _ = kill_process_group(*agent, Signal::KILL);
    }
    for (mut gate, _) in loops {
        gate.wait().unwrap();
    }
}

fn is_alive(pid: Pid) -> bool {
    stat_field(pid, 0).is_some_and(|state| state != "Z")
}

/// A night, and the scenes of it that this machine can play.
fn night() -> (Ran, Vec<&'static Scene>) {
    let has_small_disk = needs("namespaces");
    let scenes: Vec<_> =
        NIGHT.iter().filter(|scene| has_small_disk || scene.ending != Ending::FullDisk).collect();
    let mut run = gate("man").settings(SETTINGS).file("PROMPT.md", "Mend it.\n");
    run = run.file(".gitignore", "c-*\n");
    for Scene { task, agent, .. } in &scenes {
        let client = CLIENT.replace(">seen", ">/dev/null").replace("count", &format!("c-{task}"));
        let client = client.replace("\"s%s\"", &format!("\"{task}-%s\""));
        run = run.script(&format!("{task}.sh"), &format!("{client}{ACTS}{agent}\n"));
    }
    let ran = run.committed().code(0);
    let mut without_power = Vec::new();
    for Scene { task, ending, .. } in &scenes {
        let words = format!("run --task {task} --prompt PROMPT.md -- ./{task}.sh");
        let mut command = match ending {
            Ending::FullDisk => behind("unshare -rm sh -c \"$SMALL_DISK\" sh", &ran, &words),
            _ => ran.beside(&words),
        };
        command.env("SMALL_DISK", SMALL_DISK);
        let mut gate = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        match ending {
            Ending::ByItself | Ending::FullDisk => drop(gate.wait().unwrap()),
            Ending::PowerCut => without_power.push((gate, waiting(&ran, task))),
            Ending::KilledTree => {
                let agent = waiting(&ran, task);
                cut_power(vec![(gate, agent)]);
            }
            Ending::Signal(signal) => {
                let agent = waiting(&ran, task);
                kill_process(Pid::from_child(&gate), *signal).unwrap();
                gate.wait().unwrap();
                wait(|| !is_alive(agent));
            }
        }
    }
    cut_power(without_power);
    (ran, scenes)
}

fn loop_of_task<'v>(record: &'v Value, task: &str) -> &'v Value {
    let mut loops = record["loops"].as_array().unwrap().iter();
    loops
        .find(|loop_record| loop_record["task"] == task)
        .unwrap_or_else(|| panic!("no loop {task}: {record}"))
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
            let ended = loop_of_task(record, scene.task);
            let text = |key: &str| ended[key].as_str().unwrap_or_default().to_owned();
            assert_eq!(text("state"), scene.state, "{ended}");
            assert!(text("why").contains(scene.why), "{ended}");
            assert!(text("next").contains(scene.next), "{ended}");
            assert_eq!(ended["usage"]["cost_micro_usd"], scene.micro_usd, "{ended}");
            assert_eq!(text("tree"), ran.path("").canonicalize().unwrap().to_str().unwrap());
        }
    }
    let number = |state: &str| scenes.iter().filter(|scene| scene.state == state).count();
    let died = number("died");
    let ran = ran.again("log --json").code(0);
    let last_records = ran.json_lines();
    let ran = ran.again("log --json --since 1h").code(0);
    let records = ran.json_lines();
    let count =
        |records: &[Value], kind: &str| records.iter().filter(|line| line["type"] == kind).count();
    assert_eq!(count(&records, "run_started"), scenes.len());
    assert_eq!(count(&records, "run_ended"), scenes.len() - died);
    for records in [&last_records, &records] {
        assert_eq!(count(records, "loop_died"), died, "of any age, beside the last 20 records");
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
            sections.find(|text| text.lines().next().is_some_and(|line| line.ends_with(&head)));
        let section = section.unwrap_or_else(|| panic!("no {head}: {}", ran.stdout));
        for part in scene.shown {
            assert!(section.contains(part), "{part:?} is not shown:\n{section}");
        }
    }
    let card = ran.again("status").code(0).stdout;
    let place = |word: &str| card.find(&format!("\n{word}  "));
    assert!(place("DIED") < place("BLOCKED") && place("BLOCKED") < place("DONE"), "{card}");
}
