//! Message buses: messages that are read can be written and read again, and a new entry is read
//! wherever the bus ends.
#![no_main]

use gate_fleet::Stamp;
use gate_fleet::bus::{self, Message, Parent, Tail, Trouble};
use gate_fuzz::choices;
use libfuzzer_sys::fuzz_target;

fn id(seq: u64) -> Stamp {
    Stamp { time: "2026-02-20T15:30:45.5Z".parse().expect("a time"), pid: 4121, seq }
}

fn bus(messages: &[Message]) -> String {
    messages.iter().map(Message::to_entry).collect::<Vec<_>>().join("\n")
}

/// The fields of a message, without the line breaks at the end of its body, of which one is lost
/// when it is written and read.
fn content(message: &Message) -> String {
    let Message { msg_id, ts, kind, project_id, task_id, run_id, issue_id, .. } = message;
    let words = [msg_id, ts, kind, project_id, task_id, run_id, issue_id];
    let Message { parents, links, meta, body, .. } = message;
    format!("{words:?} {parents:?} {links:?} {meta:?} {:?}", body.trim_end_matches('\n'))
}

fn contents(messages: &[Message]) -> Vec<String> {
    messages.iter().map(content).collect()
}

/// Messages that are written are read again as they were, without a problem.
fn check_round_trip(messages: &[Message]) -> Vec<Message> {
    let text = bus(messages);
    let read = bus::read(text.as_bytes());
    assert_eq!(contents(&read.messages), contents(messages), "{text}");
    assert_eq!(read.tail, Tail::Whole);
    for problem in &read.problems {
        // What only a runner says is doubted, whoever wrote it.
        assert!(matches!(problem.trouble, Trouble::Forged { .. }), "{problem}\n{text}");
    }
    read.messages
}

fuzz_target!(|input: &[u8]| {
    let Some(([word_length], text)) = choices(input) else { return };
    let read = bus::read(text);
    let again = check_round_trip(&read.messages);
    check_round_trip(&again);
    for message in &read.messages {
        let _ = (bus::since(&read.messages, &message.msg_id), message.time());
        let thread = bus::thread(&read.messages, &message.msg_id).expect("it is on the bus");
        assert!(!thread.is_empty());
    }

    // A new entry is the last, and those before it stay.
    let next = Message { body: "next".to_owned(), ..Message::new("INFO", "shop") };
    let next = next.stamped(id(1)).expect("it is whole");
    let mut bytes = text.to_vec();
    if let Tail::Body(end) = read.tail {
        bytes.truncate(end);
    }
    bytes.extend(read.tail.gap(bytes.is_empty()).bytes().chain(next.to_entry().bytes()));
    let longer = bus::read(&bytes).messages;
    let (last, before) = longer.split_last().expect("one at least");
    assert_eq!(content(last), content(&next));
    assert_eq!(contents(before), contents(&read.messages));

    // Any text may be a body, and any words may be said that `check` lets through.
    let Ok(text) = str::from_utf8(text) else { return };
    let word = &text[..text.floor_char_boundary(usize::from(word_length))];
    let draft = Message {
        task_id: word.to_owned(),
        parents: vec![Parent { kind: word.to_owned(), ..Parent::new("p") }],
        meta: vec![(word.to_owned(), word.to_owned())],
        body: text.to_owned(),
        ..Message::new("INFO", "shop")
    };
    if let Ok(message) = draft.stamped(id(2)) {
        check_round_trip(&[message, next]);
    }
});
