//! Files that another program wrote, and cases about formats.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use gate_fleet::Stamp;
use gate_fleet::bus::{self, Message, Parent, is_message_id};
use gate_fleet::run::{RunInfo, error_summary, is_run_id, is_task_id, project_id};
use jiff::Timestamp;
use serde_json::Value;

use crate::governance_cases::SHOP;
use crate::here::files;
use crate::needs::{needs, shared};
use crate::support::gate;

/// The files of this name that conductor-loop wrote.
fn written(name: &str) -> Vec<(PathBuf, String)> {
    let mut paths = files(&shared().join("conformance/conductor"));
    paths.retain(|path| path.to_string_lossy().ends_with(name));
    assert!(!paths.is_empty(), "no {name}");
    let texts = paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    texts.collect()
}

fn entries(messages: &[Message]) -> String {
    messages.iter().map(Message::to_entry).collect::<Vec<_>>().join("\n")
}

#[test]
fn records_of_runs_come_back_byte_for_byte() {
    if !needs("shared") {
        return;
    }
    for (path, text) in written("run-info.yaml") {
        let info = RunInfo::parse_at(&text, &path.display().to_string()).unwrap();
        assert_eq!(info.to_yaml(), text, "{}", path.display());
        assert!(is_run_id(&info.run_id) && is_task_id(&info.task_id));
        let without_ids: String = text
            .lines()
            .filter(|line| !line.contains("_id: "))
            .map(|line| format!("{line}\n"))
            .collect();
        // The path names the ids, too.
        let from_path = RunInfo::parse_at(&without_ids, &path.display().to_string()).unwrap();
        assert_eq!(
            (from_path.run_id, from_path.project_id, from_path.task_id),
            (info.run_id, info.project_id, info.task_id)
        );
    }
}

#[test]
fn buses_come_back_byte_for_byte_but_what_was_forged() {
    if !needs("shared") {
        return;
    }
    for (path, text) in written("MESSAGE-BUS.md") {
        let content = bus::read(text.as_bytes());
        let forged = content.messages.iter().position(|message| !is_message_id(&message.msg_id));
        assert_eq!(content.problems.len(), usize::from(forged.is_some()), "{}", path.display());
        let first_sound = forged.map_or(0, |index| index + 1);
        let rewritten = entries(&content.messages[first_sound..]);
        assert!(text.ends_with(&rewritten) && rewritten.len() > 500, "{}", path.display());
        if forged.is_none() {
            assert_eq!(rewritten, text);
        }
    }
}

#[test]
fn events_of_runs_are_worded_as_conductor_loop_words_them() {
    if !needs("shared") {
        return;
    }
    let mut seen_kinds = BTreeSet::new();
    for (path, text) in written("run-info.yaml") {
        let run_folder = path.parent().unwrap();
        let bus = fs::read(run_folder.join("../../TASK-MESSAGE-BUS.md")).unwrap();
        let stderr = fs::read_to_string(run_folder.join("agent-stderr.txt")).unwrap();
        let info = RunInfo::parse(&text).unwrap();
        let folder = info.output_path.strip_suffix("/output.md").unwrap();
        let mut running =
            RunInfo::begun(&info.run_id, &info.project_id, &info.task_id, info.start_time);
        running.prompt_path.clone_from(&info.prompt_path);
        running.stdout_path.clone_from(&info.stdout_path);
        running.stderr_path.clone_from(&info.stderr_path);
        running.output_path.clone_from(&info.output_path);
        let mut messages = bus::read(&bus).messages;
        messages
            .retain(|message| message.run_id == info.run_id && bus::is_runner_type(&message.kind));
        let recorded: Vec<_> =
            messages.into_iter().map(|message| (message.kind, message.body)).collect();
        let events = [bus::event(&running, folder, ""), bus::event(&info, folder, &stderr)];
        let expected = events.map(|event| (event.kind, event.body));
        assert_eq!(recorded, expected, "{}", path.display());
        seen_kinds.extend(recorded.into_iter().map(|(kind, _)| kind));
    }
    assert_eq!(seen_kinds.len(), 3);
}

/// Checks a case about formats. Returns false for any other case.
pub(crate) fn of_format(input: &Value, expect: &Value) -> bool {
    let word = |key: &str| input[key].as_str().unwrap_or_default();
    match word("op") {
        "task id" => assert_eq!(is_task_id(word("id")), expect["valid"], "{input}"),
        "project id" => assert_eq!(project_id(word("id")).is_ok(), expect["valid"], "{input}"),
        "bus round trip" => came_back(word("body")),
        "bus.msg_id" => unique(expect["unique"].as_u64().unwrap()),
        "bus.append" if input["by"] == "agent" => refused(word("agent_type")),
        "bus.append" => appended(word("type"), word("project"), word("caller_msg_id"), expect),
        op if op.starts_with("bus.parse") => parsed(word("raw"), expect),
        "threading" => threaded(),
        op if op.starts_with("run-info after exit") => ended(op, expect),
        _ => return false,
    }
    true
}

/// An agent does not speak in its runner's name.
fn refused(kind: &str) {
    assert!(bus::is_runner_type(kind));
    let post = gate("bus post --body x --type").settings(SHOP).args([kind]);
    post.code(2);
}

fn id(seq: u64) -> Stamp {
    Stamp { time: Timestamp::UNIX_EPOCH, pid: 4121, seq }
}

fn came_back(body: &str) {
    let draft = Message { body: body.to_owned(), ..Message::new("INFO", "p") };
    let one = draft.stamped(id(1)).unwrap();
    let bus = entries(&[one.clone(), one]);
    let read = bus::read(bus.as_bytes());
    assert_eq!(read.messages.len(), 2, "{bus}");
    let same = |it: &str| it == body || Some(it) == body.strip_suffix('\n');
    assert!(read.messages.iter().all(|message| same(&message.body)), "{:?}", read.messages);
}

fn unique(count: u64) {
    let ids: BTreeSet<_> =
        (1..=count).map(|seq| Message::new("INFO", "p").stamped(id(seq)).unwrap().msg_id).collect();
    assert!(ids.len() as u64 == count && ids.iter().all(|ids| is_message_id(ids)));
}

fn appended(kind: &str, project: &str, forged: &str, expect: &Value) {
    let message = Message::new(kind, project).stamped(id(1));
    assert_eq!(message.is_ok(), expect["ok"] != false);
    if let Ok(message) = message {
        assert!(is_message_id(&message.msg_id) && message.msg_id != forged);
    }
}

fn parsed(raw: &str, expect: &Value) {
    let messages = bus::read(raw.as_bytes()).messages;
    let texts = |value: &Value| {
        let all = value.as_array().into_iter().flatten();
        all.map(|it| it.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    if expect["messages_ids"].is_array() {
        let ids: Vec<_> = messages.iter().map(|message| message.msg_id.clone()).collect();
        assert_eq!(ids, texts(&expect["messages_ids"]), "{raw}");
    }
    for (message, wanted) in
        messages.iter().zip(expect["messages"].as_array().into_iter().flatten())
    {
        if wanted["parents_ids"].is_array() {
            let ids: Vec<_> = message.parents.iter().map(|parent| parent.msg_id.clone()).collect();
            assert_eq!(ids, texts(&wanted["parents_ids"]), "{raw}");
        }
    }
    let count = expect["messages"].as_array().map_or(messages.len(), Vec::len);
    assert_eq!(messages.len(), count, "{raw}");
}

fn threaded() {
    let draft = Message { parents: vec![Parent::new("MSG-1")], ..Message::new("ANSWER", "p") };
    let entry = draft.stamped(id(1)).unwrap().to_entry();
    assert!(entry.contains("\nparents:\n    - msg_id: MSG-1\n"), "{entry}");
    assert_eq!(bus::read(entry.as_bytes()).messages[0].parents, [Parent::new("MSG-1")]);
}

fn ended(op: &str, expect: &Value) {
    let code: i64 = op.rsplit(' ').next().unwrap().parse().unwrap();
    let start: Timestamp = "2026-02-20T15:30:45Z".parse().unwrap();
    let info = RunInfo::begun("r", "p", "t", start).ended(start, code, None);
    assert_eq!(
        (info.status.name().into(), info.exit_code.into()),
        (expect["status"].clone(), expect["exit_code"].clone())
    );
    assert!(info.end_time.unwrap() >= info.start_time);
    if let Some(words) = expect["error_summary"].as_str() {
        assert_eq!((info.error_summary.as_str(), error_summary(code).as_str()), (words, words));
    }
}
