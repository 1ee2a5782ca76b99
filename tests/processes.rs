//! Commands that hang, flood, hide and get away: a check ends them all.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::needs::needs;
use crate::support::{DONE, Ran, Run, judge};

fn check(script: &str, more: &str) -> Run {
    let settings = format!(
        "[tree]\nignore = [\"pids\"]\n[checks.one]\nshell = true\ncommand = ['''{script}''']\n{more}"
    );
    judge("check --json out.log", DONE).settings(&settings)
}

fn one(ran: &Ran) -> Value {
    ran.json()["evidence"][0].clone()
}

/// Whether a process lives; a zombie does not.
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// Every process that wrote its number into `pids` is gone, at once.
#[track_caller]
fn all_gone(ran: &Ran, count: usize) {
    let pids = ran.file("pids");
    assert_eq!(pids.lines().count(), count, "{pids}");
    let left: Vec<_> = pids.lines().filter(|pid| lives(pid)).collect();
    assert!(left.is_empty(), "alive: {left:?}");
}

#[test]
fn a_hanging_command_ends_with_all_its_descendants() {
    let script = "echo $$ >> pids
        sh -c 'echo $$ >> pids; sleep 300' &
        setsid sh -c 'echo $$ >> pids; sleep 300' &
        setsid sh -c 'setsid sh -c \"echo \\$\\$ >> pids; sleep 300\" & exit' &
        sleep 300";
    let ran = check(script, "timeout = \"1s\"\n").code(1);
    assert_eq!(one(&ran)["outcome"], "inconclusive");
    all_gone(&ran, 4);
}

/// As on macOS: there is no /proc, and no process adopts others.
#[test]
fn without_a_list_of_processes_a_command_ends_with_its_group() {
    let script = "echo $$ >> pids; sh -c 'echo $$ >> pids; sleep 300' & sleep 300";
    let without = |script: &str, more: &str| check(script, more).env("_GATE_WITHOUT_PROC", "1");
    let ran = without(script, "timeout = \"1s\"\n").code(1);
    assert_eq!(one(&ran)["outcome"], "inconclusive");
    all_gone(&ran, 2);
    let ran = without("echo $$ >> pids; sleep 300 & echo $! >> pids", "").code(0);
    assert_eq!(one(&ran)["outcome"], "pass");
    all_gone(&ran, 2);
    assert_eq!(one(&without("exit 3", "").code(1))["exit_code"], 3);
}

/// It has five seconds to end by itself.
#[test]
fn a_command_that_ignores_to_be_asked_is_killed() {
    let script = "trap '' TERM; echo $$ >> pids; setsid sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 1; done' & while :; do sleep 1; done";
    let ran = check(script, "timeout = \"500ms\"\n").code(1);
    all_gone(&ran, 2);
}

#[test]
fn what_a_command_leaves_running_is_ended_and_named() {
    let script = "setsid sh -c 'echo $$ >> pids; exec sleep 300' & nohup sleep 299 >/dev/null 2>&1 & echo $! >> pids; sleep 0.3";
    let ran = check(script, "").code(0);
    assert!(one(&ran)["summary"].as_str().unwrap().contains("left running was ended (sleep)"));
    assert_eq!(one(&ran)["detail"]["left_running"], serde_json::json!(["sleep"]));
    all_gone(&ran, 2);
}

#[test]
fn a_child_that_keeps_the_pipe_does_not_hold_the_check() {
    let began = Instant::now();
    let ran = check("(trap '' HUP; sleep 300) & echo $! >> pids; echo done", "").code(0);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert_eq!(one(&ran)["detail"]["output"]["bytes"], 5);
    all_gone(&ran, 1);
}

#[test]
fn a_command_that_kills_its_supervisor_has_not_passed() {
    let ran = check("echo $$ >> pids; kill -9 $PPID; sleep 300", "").code(1);
    assert_eq!(one(&ran)["outcome"], "inconclusive");
    assert!(one(&ran)["summary"].as_str().unwrap().contains("supervisor was killed"));
    all_gone(&ran, 1);
}

#[test]
fn a_command_that_stops_its_supervisor_does_not_stop_gate() {
    let ran =
        check("echo $$ >> pids; kill -STOP $PPID; sleep 300", "timeout = \"300ms\"\n").code(1);
    assert_eq!(one(&ran)["outcome"], "inconclusive");
    all_gone(&ran, 1);
}

#[test]
fn a_daemon_whose_first_thread_has_ended_is_found() {
    if !needs("python3") {
        return;
    }
    let daemon = "import ctypes, os, threading, time
if os.fork():
    time.sleep(0.3)
    raise SystemExit
os.setsid()
with open('pids', 'a') as pids:
    print(os.getpid(), file=pids)
threading.Thread(target=time.sleep, args=(300,)).start()
ctypes.CDLL(None).pthread_exit(None)
";
    let ran = check("python3 daemon.py", "").file("daemon.py", daemon).run();
    let threads = |pid: &str| fs::read_dir(Path::new("/proc").join(pid).join("task"));
    let pids = ran.file("pids");
    let left = pids.lines().filter(|pid| threads(pid).is_ok_and(|all| all.count() > 1)).count();
    assert_eq!((pids.lines().count(), left), (1, 0));
    assert!(one(&ran)["summary"].as_str().unwrap().contains("left running was ended"));
}

#[test]
fn a_command_cannot_speak_in_its_supervisors_name() {
    if !needs("python3") {
        return;
    }
    let forge = "import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
parent = os.getppid()
link = libc.syscall(438, libc.syscall(434, parent, 0), 0, 0)
if link >= 0:
    os.write(link, b'{\"ended\":{\"code\":0,\"signal\":null,\"left\":[]}}\\n')
os.kill(parent, signal.SIGKILL)
";
    let ran = check("python3 forge.py", "").file("forge.py", forge).code(1);
    assert_eq!(one(&ran)["outcome"], "inconclusive");
}

#[test]
fn a_killed_gate_leaves_nothing_behind() {
    let script = "echo $$ >> pids; setsid sh -c 'echo $$ >> pids; sleep 300' & sleep 300";
    let ran = check(script, "").with_kill_once("pids", 2).run();
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end && ran.file("pids").lines().any(lives) {
        thread::sleep(Duration::from_millis(50));
    }
    all_gone(&ran, 2);
}

#[test]
fn a_flood_is_digested_in_little_memory() {
    const MOST: u64 = 64 * 1024;
    let flood = "line=$(printf \"%0200d\" 0); yes $line | head -c 300000000; exit 1";
    let ran = check(flood, "").code(1);
    assert_eq!(one(&ran)["detail"]["output"]["bytes"], 300_000_000);
    assert!(one(&ran)["detail"]["output"]["digest"].as_str().unwrap().starts_with("blake3:"));
    let log = one(&ran)["log"].as_str().unwrap().to_owned();
    assert!(fs::metadata(log).unwrap().len() < 1 << 20);
    // Only Linux tells.
    if let Some(peak) = ran.peak {
        assert!(peak < MOST, "{peak} KiB");
    }
}

#[test]
fn a_line_of_any_length_is_digested_in_little_memory() {
    let settings =
        "[checks.tests]\nshell = true\ncommand = ['head -c 200000000 /dev/zero; exit 1']\n";
    let ran = judge("check --json out.log", DONE).settings(settings).code(1);
    assert_eq!(one(&ran)["detail"]["output"]["bytes"], 200_000_000);
    assert!(ran.peak.is_none_or(|peak| peak < 64 * 1024), "{:?} KiB", ran.peak);
}

#[test]
fn output_that_is_no_text_is_made_fit_to_read() {
    let script = r"printf 'a\033[2J\033]52;c;eA==\007b\377\342\200\256c\n'; exit 1";
    let ran = check(script, "").code(1);
    let log = fs::read_to_string(one(&ran)["log"].as_str().unwrap()).unwrap();
    assert_eq!(log, "ab\u{fffd}c\n");
}

#[test]
fn a_command_has_no_input_and_no_terminal() {
    let ran = check("test -z \"$(cat)\" && ! : < /dev/tty", "").code(0);
    assert_eq!(one(&ran)["outcome"], "pass");
}

#[test]
fn a_command_ended_by_a_signal_has_failed() {
    let ran = check("kill -SEGV $$", "").code(1);
    assert_eq!(
        (&one(&ran)["outcome"], &one(&ran)["detail"]["signal"]),
        (&"fail".into(), &11.into())
    );
}
