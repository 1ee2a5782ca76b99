//! Facts: found in their order, and made the project's once.

use std::fs;
use std::path::PathBuf;

use gate_core::Failure;
use gate_core::mask::Masker;

use super::super::promote::title;
use super::super::{Project, Promoted, Promotion, Source, add};
use super::task;
use crate::bus::Message;
use crate::fact::{Fact, Scope};

fn fact(time: &str, title: &str, body: &str) -> Fact {
    Fact::new(time.parse().unwrap(), Scope::Task, title, body)
}

#[test]
fn facts_are_the_oldest_first_and_what_is_none_is_named() {
    let (_folder, project, task) = task();
    let older = fact("2026-11-01T10:00:00Z", "Older", "a\n");
    let newer = fact("2026-11-02T10:00:00Z", "Newer", "b\n");
    add(&task.folder(), newer.clone(), "newer").unwrap();
    add(&task.folder(), older.clone(), "older").unwrap();
    let torn = task.folder().join("TASK-FACTS-20261103-000000-1-1.md");
    fs::write(&torn, "---\ncreated_at: soon\nscope: task\ntitle: x\n---\n").unwrap();
    fs::write(task.folder().join("TASK-FACTS-notes.md"), "no fact, by its name").unwrap();
    let (found, unreadable) = task.facts().unwrap();
    let facts: Vec<_> = found.into_iter().map(|found| found.fact).collect();
    assert_eq!(facts, [older, newer]);
    let messages: Vec<_> = unreadable.iter().map(ToString::to_string).collect();
    let why = "created_at: a time such as 2026-02-20T15:30:45Z is expected";
    assert_eq!(messages, [format!("{}: {why}", torn.display())]);
    assert_eq!(project.facts().unwrap(), (Vec::new(), Vec::new()));
}

#[test]
fn a_name_that_is_none_writes_nothing() {
    let (_folder, project, _) = task();
    let failure =
        add(&project.folder(), fact("2026-11-02T10:00:00Z", "x", "y"), "../x").unwrap_err();
    assert_eq!((failure.exit_code, failure.code.as_str()), (2, "fact-name-invalid"));
    assert!(!project.folder().exists());
}

#[test]
fn what_was_proposed_on_a_bus_counts_beside_the_files() {
    let (_folder, project, task) = task();
    let file = add(&task.folder(), fact("2026-11-02T10:00:00Z", "Port", "8080\n"), "port").unwrap();
    let bus = task.bus().unwrap();
    let mut ids = Vec::new();
    for (kind, body) in [("FACT", "# The cart\nholds 7"), ("fact", "\n"), ("INFO", "chatter")] {
        let draft = Message {
            body: body.to_owned(),
            run_id: "r-1".to_owned(),
            ..Message::new(kind, "shop")
        };
        ids.push(bus.append(draft).unwrap().msg_id);
    }
    let all = Promotion::all(&[task, project.task("t2").unwrap()]).unwrap();
    let sources: Vec<_> = all.iter().map(|promotion| promotion.source.clone()).collect();
    assert_eq!(sources, [Source::File(file.path.clone()), Source::Message(ids[0].clone())]);
    let proposed = &all[1].fact;
    assert_eq!((proposed.title.as_str(), proposed.run_id.as_str()), ("The cart", "r-1"));
    let name = file.path.file_name().unwrap().to_str().unwrap();
    assert!(all[0].is_named(name) && all[0].is_named(&file.path.display().to_string()));
    assert!(all[1].is_named(&ids[0]) && !all[1].is_named(name) && !all[0].is_named("port"));
}

/// Covers nothing but tokens of known forms.
fn masker() -> Masker {
    Masker::new([])
}

/// Adds a fact to the project's folder.
fn adding(project: &Project) -> impl FnMut(Fact, &str) -> Result<PathBuf, Failure> {
    let folder = project.folder();
    move |fact, name| Ok(add(&folder, fact, name)?.path)
}

/// A promotion of a fact with this title and text.
fn promotion(title: &str, body: &str) -> Promotion {
    let source = Source::File(PathBuf::from("/t/FACT-1.md"));
    Promotion { source, fact: fact("2026-11-02T10:00:00Z", title, body) }
}

#[test]
fn what_the_project_knows_is_not_written_twice() {
    let (_folder, project, _) = task();
    let would = promotion("Port", "8080").promote(&project, None, &masker(), None).unwrap();
    assert_eq!(would, Promoted::Would);
    assert_eq!(project.facts().unwrap().0.len(), 0);
    let mut add = adding(&project);
    let written =
        promotion("Port", "8080").promote(&project, None, &masker(), Some(&mut add)).unwrap();
    let Promoted::Written(path) = written else { panic!("{written:?}") };
    assert!(path.display().to_string().ends_with("-port.md"), "{path:?}");
    let same_fact = promotion("The web port", "\n8080 \n");
    let promoted_again = same_fact.promote(&project, Some("web"), &masker(), Some(&mut add));
    assert_eq!(promoted_again, Ok(Promoted::Known(path)));
    let facts = project.facts().unwrap().0;
    assert_eq!((facts.len(), facts[0].fact.scope), (1, Scope::Project));
}

#[test]
fn a_title_becomes_a_name_that_leads_nowhere() {
    let (_folder, project, _) = task();
    let mut add = adding(&project);
    for (title, name, ending) in [
        ("../../etc: passwd", None, "-etc-passwd.md"),
        ("データベース", None, "-fact.md"),
        ("x", Some("the port"), "-the-port.md"),
    ] {
        let promoted = promotion(title, title);
        let promoted = promoted.promote(&project, name, &masker(), Some(&mut add)).unwrap();
        let Promoted::Written(path) = promoted else { panic!("{promoted:?}") };
        assert!(path.display().to_string().ends_with(ending), "{path:?}");
        assert_eq!(path.parent(), Some(project.folder().as_path()));
    }
    let bad = promotion("x", "y").promote(&project, Some("a/b"), &masker(), Some(&mut add));
    let bad = bad.unwrap_err();
    assert_eq!(bad.code, "fact-name-invalid");
}

#[test]
fn the_first_line_with_words_is_the_title() {
    assert_eq!(title("\n\n## The cart\nholds 7"), "The cart");
    assert_eq!(title("  plain \n"), "plain");
    assert_eq!(title("\n \n"), "");
    assert_eq!(title(&"é".repeat(90)), format!("{}…", "é".repeat(80)));
}
