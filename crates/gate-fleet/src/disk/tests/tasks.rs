//! A task's own files: its text, a stop that was requested, and its runs in their order.

use std::fs;

use jiff::{SignedDuration, Timestamp};

use super::super::{Brief, Bus, Heads, Runs, STARTING, by_gate, stamp};
use super::task;
use crate::bus::{self, Message};
use crate::run::{RunInfo, layout};

#[test]
fn a_stop_holds_a_loop_for_a_minute_or_for_good() {
    let (_folder, _, task) = task();
    let file = task.folder().join(layout::STOP_REQUESTED);
    assert_eq!(task.is_held(), Ok(false));
    task.request_stop().unwrap();
    assert_eq!(task.is_held(), Ok(true));
    assert!(file.exists());
    let at = |seconds: i64| (Timestamp::now() - SignedDuration::from_secs(seconds)).to_string();
    for (text, is_held) in [
        (at(58), true),
        (at(61), false),
        (at(-30), true),
        (" permanent\n".to_owned(), true),
        ("soon".to_owned(), false),
        (String::new(), false),
    ] {
        fs::write(&file, &text).unwrap();
        assert_eq!(task.is_held(), Ok(is_held), "{text:?}");
        assert_eq!(file.exists(), is_held, "{text:?}");
    }
}

#[test]
fn the_latest_text_of_a_task_counts() {
    let (_folder, _, task) = task();
    let failure = task.describe(None).unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "task-empty"));
    assert_eq!(failure.message, "nobody says what the task t1 is");
    assert_eq!(task.describe(Some("Fix it.")), Ok("Fix it.".to_owned()));
    assert_eq!(task.describe(None), Ok("Fix it.".to_owned()));
    assert_eq!(task.describe(Some(" \n")).unwrap_err().code, "task-empty");
    assert_eq!(task.state(), Ok(String::new()));
}

#[test]
fn two_new_tasks_never_share_a_folder() {
    let (_folder, project, _) = task();
    let ids = ["t7", "t7", "t7"].map(|id| project.new_task(id).unwrap().id().to_owned());
    assert_eq!(ids, ["t7", "t7-2", "t7-3"]);
}

#[test]
fn runs_are_in_the_order_in_which_they_began() {
    let (_folder, project, task) = task();
    let begin = |id: &str, time: &str| {
        let run = task.run(id);
        fs::create_dir_all(run.folder()).unwrap();
        run.write(&RunInfo::begun(id, "shop", "t1", time.parse().unwrap())).unwrap();
    };
    begin("a", "2026-11-02T12:00:00Z");
    begin("b", "2026-11-02T10:00:00Z");
    begin("c", "2026-11-02T11:00:00Z");
    fs::write(task.folder().join(layout::RUNS).join("notes.md"), "").unwrap();
    fs::create_dir(task.run("torn").folder()).unwrap();
    fs::write(task.run("torn").file(layout::RUN_INFO), "pid: [").unwrap();
    let ids: Vec<_> = task.runs().unwrap().iter().map(|run| run.id()).collect();
    assert_eq!(ids, ["torn", "b", "c", "a"]);
    assert!(task.is_running().unwrap());
    assert_eq!(project.running().unwrap().len(), 3);
    for id in ["a", "b", "c"] {
        task.run(id).update(|info| info.ended(Timestamp::now(), 0, None)).unwrap();
    }
    assert!(!task.is_running().unwrap(), "one that cannot be read holds nobody up");
}

#[test]
fn a_run_is_found_in_whichever_task_it_is() {
    let (_folder, project, task) = task();
    let run = project.task("t2").unwrap().begin().unwrap();
    task.begin().unwrap();
    fs::write(project.folder().join("notes.md"), "").unwrap();
    let ids: Vec<_> = project.tasks().unwrap().iter().map(|task| task.id().to_owned()).collect();
    assert_eq!(ids, ["t1", "t2"]);
    assert_eq!(project.run(&run.id()), Ok(Some(run)));
    for id in ["gone", "../t2", "", "."] {
        assert_eq!(project.run(id), Ok(None), "{id}");
    }
    assert_eq!(project.depth("gone"), Ok(1), "a run without a record is a root");
}

#[test]
fn a_name_that_leads_elsewhere_is_no_task_and_no_project() {
    let (folder, project, _) = task();
    for id in ["..", "a/b", ""] {
        let failure = project.task(id).unwrap_err();
        assert_eq!((failure.exit_code, failure.code.as_str()), (2, "task-invalid"), "{id}");
        let failure = Runs::at(folder.path()).project(id).unwrap_err();
        assert_eq!((failure.exit_code, failure.code.as_str()), (2, "project-invalid"), "{id}");
    }
}

fn post(bus: &Bus, body: &str) {
    bus.append(Message { body: body.to_owned(), ..Message::new("INFO", "shop") }).unwrap();
}

#[test]
fn an_agent_gets_the_latest_messages_that_are_not_the_runners() {
    let (_folder, _, task) = task();
    let bus = task.bus().unwrap();
    let old = (0..52).map(|number| {
        let draft = Message { body: format!("m{number}"), ..Message::new("INFO", "shop") };
        draft.stamped(stamp()).unwrap().to_entry()
    });
    fs::write(bus.path(), old.collect::<Vec<_>>().join("\n")).unwrap();
    post(&bus, &format!("{STARTING} (codex)"));
    bus.append(Message::new(bus::START, "shop")).unwrap();
    bus.append(Message { body: "go on\n".to_owned(), ..by_gate("INFO", &task) }).unwrap();
    let run = Message {
        run_id: "r-1".to_owned(),
        body: "done".to_owned(),
        ..Message::new("INFO", "shop")
    };
    let last = bus.append(run).unwrap();
    let brief = Brief::read(&task, &Heads::default()).unwrap();
    assert_eq!(brief.heads, Heads { task: last.msg_id, project: String::new() });
    let bodies: Vec<_> = brief.messages.iter().map(|message| message.body.trim()).collect();
    assert_eq!(bodies.len(), 50);
    assert_eq!((bodies[0], &bodies[47..]), ("m4", ["m51", "go on", "done"].as_slice()));
    let text = brief.task_messages();
    for part in ["from a person)\nm51\n\n[", "from gate)\ngo on\n\n[", "from r-1)\ndone\n"] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let again = Brief::read(&task, &brief.heads).unwrap();
    assert_eq!((again.messages.len(), again.heads), (0, brief.heads));
}

#[test]
fn a_file_that_is_no_bus_is_not_appended_to() {
    let (folder, ..) = task();
    let file = folder.path().join("README.md");
    fs::write(&file, "# Shop\n").unwrap();
    let bus = Bus::at(&file);
    let failure = bus.append(Message::new("INFO", "shop")).unwrap_err();
    assert!(failure.message.ends_with("README.md: it is no message bus"), "{failure}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# Shop\n");
    let failure = bus.append(Message::new("", "shop")).unwrap_err();
    assert_eq!((failure.code.as_str(), failure.message.as_str()), {
        ("message-invalid", "message type is empty")
    });
    fs::write(&file, " \n\n").unwrap();
    post(&bus, "first");
    assert_eq!(bus.read().unwrap().messages.len(), 1);
}
