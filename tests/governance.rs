//! Run folders, as whoever runs an agent makes them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use gate_cli::governance::{self, Brief, Bus, Heads, Project, RunFolder, Runs, Settled};
use gate_core::mask::Masker;
use gate_fleet::bus::{self, Message};
use gate_fleet::run::{Preamble, RunInfo, Status, layout};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::needs::needs;
use crate::support::gate;

fn shop(folder: &TempDir) -> Project {
    Runs::at(folder.path()).project("shop").unwrap()
}

/// A run of the task `t1` that goes on.
fn begun(project: &Project, pid: i64, parent: &str) -> (RunFolder, RunInfo) {
    let run = project.task("t1").unwrap().begin().unwrap();
    let mut info = RunInfo::begun(&run.id(), "shop", "t1", Timestamp::now());
    (info.pid, info.pgid, info.parent_run_id) = (pid, pid, parent.to_owned());
    run.write(&info).unwrap();
    (run, info)
}

fn of_parent(mut info: RunInfo, parent: &str) -> RunInfo {
    parent.clone_into(&mut info.parent_run_id);
    info
}

fn begun_at(mut info: RunInfo, time: &str) -> RunInfo {
    info.start_time = time.parse().unwrap();
    info
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|it| it.into_string().unwrap()).collect()
}

#[test]
fn a_run_has_a_folder_and_a_record() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    let (run, info) = begun(&project, 7, "");
    assert!(run.folder().starts_with(folder.path().join("shop/t1/runs")));
    assert_eq!(run.info(), Ok(info.clone()));
    let ended = run.update(|run| run.ended(Timestamp::now(), 7, None)).unwrap();
    assert_eq!((ended.status, ended.exit_code), (Status::Failed, 7));
    assert_eq!(run.info(), Ok(ended));
    assert_eq!(names(run.folder()), BTreeSet::from([layout::RUN_INFO.to_owned()]));
    let ids: BTreeSet<_> = (0..50).map(|_| begun(&project, 7, "").0.id()).collect();
    assert_eq!(ids.len(), 50, "of one second and one process");
    let runs = project.task("t1").unwrap().runs().unwrap();
    assert_eq!((runs.len(), &runs[0]), (51, &run));
    assert_eq!(project.running().unwrap().len(), 50);
}

#[test]
fn a_record_that_cannot_be_read_is_told() {
    let folder = TempDir::new().unwrap();
    let (run, _) = begun(&shop(&folder), 7, "");
    let file = run.file(layout::RUN_INFO);
    fs::write(&file, "start_time: 2026-02-20T15:30:45Z\nexit_code: 0\nstatus: fine\n").unwrap();
    let failure = run.info().unwrap_err();
    assert_eq!((failure.line, failure.key.as_deref()), (Some(3), Some("status")));
    fs::remove_file(&file).unwrap();
    let unknown = run.info().unwrap();
    assert_eq!((unknown.status, unknown.task_id.as_str()), (Status::Unknown, "t1"));
}

#[test]
fn there_is_always_an_output() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    let settled = |prepare: &dyn Fn(&RunFolder)| {
        let (run, _) = begun(&project, 7, "");
        prepare(&run);
        let settled = run.settle_output();
        settled.map(|settled| (settled, fs::read(run.file(layout::OUTPUT)).unwrap()))
    };
    let write =
        |run: &RunFolder, name: &str, bytes: &[u8]| fs::write(run.file(name), bytes).unwrap();
    let copied = settled(&|run| write(run, layout::STDOUT, b"part\xff\n"));
    assert_eq!(copied, Ok((Settled::Copied, b"part\xff\n".to_vec())));
    assert_eq!(settled(&|_| {}), Ok((Settled::Copied, Vec::new())));
    let own = settled(&|run| {
        write(run, layout::STDOUT, b"printed");
        write(run, layout::OUTPUT, b"");
    });
    assert_eq!(own, Ok((Settled::ByAgent, Vec::new())));
    let odd = settled(&|run| fs::create_dir(run.file(layout::OUTPUT)).unwrap());
    assert_eq!(odd.unwrap_err().code, "output-invalid");
}

#[test]
fn a_runner_says_what_became_of_a_run() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    let task = project.task("t1").unwrap();
    let (run, info) = begun(&project, 7, "");
    let noise: String = (1..=10_000).map(|line| format!("line {line}\n")).collect();
    let masker = Masker::new([]);
    fs::write(run.file(layout::STDERR), noise).unwrap();
    task.announce(&run, &info, &masker).unwrap();
    let message =
        task.announce(&run, &info.clone().ended(Timestamp::now(), 1, None), &masker).unwrap();
    assert!(message.body.starts_with("run stopped with code 1\nrun_dir: /"), "{}", message.body);
    assert!(message.body.contains("(last 50 lines)\nline 9951\n"), "{}", message.body);
    task.announce(&run, &info.ended(Timestamp::now(), 0, None), &masker).unwrap();
    let read = task.bus().unwrap().read().unwrap();
    let kinds: Vec<_> = read.messages.iter().map(|message| message.kind.as_str()).collect();
    assert_eq!(kinds, ["RUN_START", "RUN_CRASH", "RUN_STOP"]);
    assert!(
        read.problems.is_empty() && read.messages.iter().all(|message| message.run_id == run.id())
    );
}

#[test]
fn runs_stand_as_deep_as_their_parents() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    let (root, _) = begun(&project, 7, "");
    let (child, _) = begun(&project, 7, &root.id());
    let (grandchild, _) = begun(&project, 7, &child.id());
    let depths = [&root, &child, &grandchild].map(|it| project.depth(&it.id()).unwrap());
    assert_eq!(depths, [1, 2, 3]);
    root.update(|root| of_parent(root, &grandchild.id())).unwrap();
    assert_eq!(project.depth(&child.id()), Ok(3), "a circle ends");
    assert_eq!(project.depth(""), Ok(0));
}

#[test]
fn done_is_a_file() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    begun(&project, 7, "");
    let task = project.task("t1").unwrap();
    assert_eq!(task.is_done(), Ok(false));
    fs::create_dir(task.folder().join(layout::DONE)).unwrap();
    assert!(task.is_done().unwrap_err().message.contains("DONE is a directory"));
    fs::remove_dir(task.folder().join(layout::DONE)).unwrap();
    fs::write(task.folder().join(layout::DONE), "").unwrap();
    assert_eq!(task.is_done(), Ok(true));
}

/// The id of the last message.
fn head(bus: &Bus) -> String {
    bus.read().unwrap().messages.pop().map(|message| message.msg_id).unwrap_or_default()
}

#[test]
fn an_agent_is_told_what_is_known() {
    let folder = TempDir::new().unwrap();
    let project = shop(&folder);
    let (run, _) = begun(&project, 7, "");
    let task = project.task("t1").unwrap();
    let bus = task.bus().unwrap();
    bus.append(Message { body: "old".to_owned(), ..Message::new("INFO", "shop") }).unwrap();
    let seen = head(&bus);
    let since = Heads { task: seen.clone(), ..Heads::default() };
    let of_project = project.bus().unwrap();
    of_project
        .append(Message { body: "db is SQLite".to_owned(), ..Message::new("FACT", "shop") })
        .unwrap();
    bus.append(Message::new(bus::START, "shop")).unwrap();
    bus.append(Message { body: "new".to_owned(), ..Message::new("USER", "shop") }).unwrap();
    fs::write(task.folder().join(layout::TASK_STATE), "half way").unwrap();
    fs::write(project.folder().join("FACT-20260220-db.md"), "no fact").unwrap();
    fs::write(project.folder().join(layout::PROJECT_FACTS), "# Facts\n").unwrap();
    let brief = Brief::read(&task, &since).unwrap();
    assert_eq!(brief.task_state, "half way");
    assert_eq!(brief.facts, [("PROJECT-FACTS.md".to_owned(), "# Facts\n".to_owned())]);
    assert_eq!(
        brief.messages.iter().map(|message| message.body.as_str()).collect::<Vec<_>>(),
        ["new"]
    );
    assert_eq!(brief.heads.task, head(&bus));
    assert!(brief.project_messages().ends_with("from a person)\ndb is SQLite\n"));
    assert_eq!(brief.heads.project, head(&of_project));
    assert!(brief.problems.len() == 1 && brief.problems[0].contains("front matter"));
    assert_eq!(
        Brief::read(&task, &Heads { task: "gone".to_owned(), ..Heads::default() })
            .unwrap()
            .messages
            .len(),
        2
    );
    let messages = brief.task_messages();
    let run_folder = run.folder().display().to_string();
    let preamble = Preamble { run_folder: &run_folder, messages: &messages, ..Preamble::default() };
    assert!(preamble.to_string().contains("USER (MSG-"), "{preamble}");
    let messages = bus.read().unwrap().messages;
    let since = bus::since(&messages, &seen).unwrap();
    let kinds: Vec<_> = since.iter().map(|message| message.kind.as_str()).collect();
    assert_eq!(kinds, ["RUN_START", "USER"]);
}

#[test]
#[cfg(target_os = "linux")]
fn an_agent_is_known_by_its_process() {
    let ran = gate("bus discover")
        .settings("[project]\nid = \"shop\"\n[run]\nfolder = \"runs\"\n")
        .code(0);
    let project = Runs::at(ran.path("runs")).project("shop").unwrap();
    let (root, _) = begun(&project, i64::from(std::process::id()), "");
    assert_eq!(governance::caller(&project).unwrap().run, None, "it does not call itself");
    let (child, _) = begun(&project, 0, &root.id());
    // The shell is the agent: it says so before it calls gate.
    let post = |words: &str| {
        let gate = env!("CARGO_BIN_EXE_gate");
        let file = child.file(layout::RUN_INFO).display().to_string();
        let script = format!(
            "sed -i \"s/^pid: .*/pid: $$/\" {file}; {gate} bus post --type INFO --body hi; {gate} {words}"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(ran.path(""));
        shell.output().unwrap()
    };
    let output = post("bus post --body hi --run 1");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--run 1: this is an agent of run"));
    let said = Bus::at(ran.path("runs/shop/t1/TASK-MESSAGE-BUS.md")).read().unwrap().messages;
    assert_eq!(said.iter().map(|said| said.run_id.clone()).collect::<Vec<_>>(), [child.id()]);
    let output = post("fact promote --all");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was started by run"));
    let long_ago = |it: RunInfo| begun_at(it, "2026-02-20T15:30:45Z");
    child.update(long_ago).unwrap();
    root.update(long_ago).unwrap();
    assert_eq!(
        post("bus post --body hi --run 1").status.code(),
        Some(0),
        "its number was given again"
    );
    child.update(|child| begun_at(of_parent(child, ""), &Timestamp::now().to_string())).unwrap();
    assert_eq!(post("fact promote --all").status.code(), Some(0));
}

#[test]
fn a_session_that_was_begun_outside_a_container_is_nobodys() {
    if !needs("namespaces") {
        return;
    }
    let settings = "[project]\nid = \"shop\"\n[run]\nfolder = \"runs\"\n";
    let ran = gate("bus discover").settings(settings).code(0);
    let (run, _) = begun(&Runs::at(ran.path("runs")).project("shop").unwrap(), 0, "");
    let mut post = Command::new("unshare");
    let words = ["-rpf", env!("CARGO_BIN_EXE_gate"), "bus", "post", "--task", "t1", "--body", "hi"];
    let output = post.args(words).current_dir(ran.path("")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?} {}", run.id());
}
