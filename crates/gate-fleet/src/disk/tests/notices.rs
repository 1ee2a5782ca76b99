//! Notices of other machines, written to this machine's files.

use std::fs;

use super::super::{KnownMessages, NoticeMark, Project, RecordedNotice, stamp};
use super::task;
use crate::bus::Message;
use crate::notice::{Notice, kind};
use crate::run::layout;

fn recorded(seq: u64, kind: &str, notice: Option<Notice>) -> RecordedNotice {
    let mark = NoticeMark { seq, hash: format!("hash-{seq}") };
    RecordedNotice { mark, kind: kind.to_owned(), notice }
}

/// A message of another machine to the project or to a task.
fn message(seq: u64, task: &str) -> RecordedNotice {
    let draft = Message { body: format!("m{seq}"), ..Message::new("INFO", "shop") };
    let notice = Notice::from_message(task, &draft.stamped(stamp()).unwrap());
    recorded(seq, kind::MESSAGE, Some(notice))
}

fn bodies(project: &Project) -> Vec<String> {
    let messages = project.bus().unwrap().read().unwrap().messages;
    messages.into_iter().map(|message| message.body).collect()
}

#[test]
fn pages_are_written_once_whatever_others_write_between_them() {
    let (_folder, project, task) = task();
    let mut known_messages = KnownMessages::default();
    let pages = [[message(1, ""), message(2, "t1")], [message(3, ""), message(4, "")]];
    let start = NoticeMark::default();
    assert_eq!(project.keep_notices(&start, &pages[0], &mut known_messages).unwrap(), Some(vec![]));
    project.bus().unwrap().append(Message::new("INFO", "shop")).unwrap();
    let mark = project.notice_mark().unwrap();
    assert_eq!(mark, pages[0][1].mark);
    assert_eq!(project.keep_notices(&mark, &pages[1], &mut known_messages).unwrap(), Some(vec![]));
    // Another process has written them meanwhile.
    assert_eq!(project.keep_notices(&mark, &pages[1], &mut known_messages).unwrap(), None);
    // All of them again, from the first on: the ledger was restored.
    for page in pages.iter().chain(&pages) {
        assert_eq!(project.keep_notices(&start, page, &mut known_messages).unwrap(), Some(vec![]));
    }
    assert_eq!(bodies(&project), ["m1", "", "m3", "m4"]);
    assert_eq!(task.bus().unwrap().read().unwrap().messages.len(), 1);
}

#[test]
fn a_damaged_mark_is_written_anew_and_no_message_twice() {
    let (_folder, project, _) = task();
    let (start, page) = (NoticeMark::default(), [message(1, ""), message(2, "")]);
    fs::create_dir_all(project.folder()).unwrap();
    for damage in [&b""[..], b"\xff\xfe\x00", b"2", b"two hash-2\n"] {
        fs::write(project.folder().join(layout::NOTICE_MARK), damage).unwrap();
        assert_eq!(project.notice_mark().unwrap(), start, "{damage:?}");
        project.keep_notices(&start, &page, &mut KnownMessages::default()).unwrap().unwrap();
        assert_eq!(project.notice_mark().unwrap(), page[1].mark, "{damage:?}");
    }
    assert_eq!(bodies(&project), ["m1", "m2"]);
}

#[test]
fn what_can_be_no_file_here_is_named_and_left_out() {
    let (_folder, project, _) = task();
    let away = Notice { name: "../FACT-x.md".to_owned(), ..Notice::default() };
    let page = [
        recorded(7, kind::MESSAGE, None),
        recorded(8, kind::FACT, Some(away)),
        message(9, "../t1"),
        message(10, ""),
    ];
    let mut known_messages = KnownMessages::default();
    let left_out = project.keep_notices(&NoticeMark::default(), &page, &mut known_messages);
    let line =
        |thing| format!("the {thing} of the ledger is left out: its name or its text is not valid");
    let lines = ["message in record 7", "fact in record 8", "message in record 9"].map(line);
    assert_eq!(left_out.unwrap().unwrap(), lines);
    assert_eq!(bodies(&project), ["m10"]);
    assert_eq!(project.notice_mark().unwrap(), page[3].mark);
}
