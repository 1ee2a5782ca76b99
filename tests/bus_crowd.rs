//! Many writers on one bus: all that they say is there, whole and in order.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gate_cli::governance::Bus;

use crate::needs::needs;
use crate::support::{Fault, Ran, gate};

const WRITERS: usize = 10;
/// Enough that the writers meet: each message is a process.
const MESSAGES: usize = 25;

const BUS: &str = "bus.md";

fn began() -> Ran {
    gate("bus post --bus bus.md --project p --body 0:0").code(0)
}

/// Who says it, and what number it has.
fn numbered(body: &str) -> (usize, usize) {
    let mut lines = body.lines();
    let first = lines.next().unwrap();
    assert!(lines.all(|line| line == first), "half an entry: {body}");
    let (writer, number) = first.split_once(':').unwrap();
    (writer.parse().unwrap(), number.parse().unwrap())
}

#[test]
fn ten_writers_at_once_lose_nothing() {
    let ran = began();
    let (ran, done) = (&ran, &AtomicBool::new(false));
    thread::scope(|scope| {
        let writers: Vec<_> = (1..=WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    for number in 1..=MESSAGES {
                        let line = format!("{writer}:{number}\n");
                        let mut post = ran.beside("bus post --bus bus.md --project p --body");
                        let post = post.arg(line.repeat(1 + number % 7)).stdout(Stdio::null());
                        assert_eq!(post.status().unwrap().code(), Some(0));
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let read = Bus::at(ran.path(BUS)).read().unwrap();
                assert_eq!(read.problems, []);
                read.messages
                    .iter()
                    .for_each(|message| assert!(numbered(&message.body).0 <= WRITERS));
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    let messages = Bus::at(ran.path(BUS)).read().unwrap().messages;
    assert_eq!(messages.len(), 1 + WRITERS * MESSAGES);
    let mut said: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for message in &messages[1..] {
        let (writer, number) = numbered(&message.body);
        said.entry(writer).or_default().push(number);
    }
    assert_eq!(said.len(), WRITERS);
    let in_order: Vec<_> = (1..=MESSAGES).collect();
    assert!(said.values().all(|numbers| *numbers == in_order), "in order of each writer");
    let mut ids: Vec<_> = messages.iter().map(|message| message.msg_id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), messages.len());
}

#[test]
fn what_does_not_fit_is_taken_back() {
    if !needs("strace") {
        return;
    }
    let ran = began();
    let before = ran.file(BUS);
    let about = [ran.path(BUS).display().to_string()];
    for call in ["write", "fsync"] {
        let fault = Fault { call, how: "error=ENOSPC", time: "1".to_owned(), about: &about };
        let post = gate("bus post --project p --body 1:1 --bus").args(&about).under(fault.words());
        post.code(5).tells("cannot append to");
        assert_eq!(ran.file(BUS), before, "{call}");
    }
}

#[test]
fn a_killed_writer_leaves_nothing_that_others_see() {
    if !needs("strace") {
        return;
    }
    let ran = began();
    let before = fs::read(ran.path(BUS)).unwrap();
    let about = [ran.path(BUS).display().to_string()];
    let fault = Fault { call: "write", how: "signal=KILL", time: "1".to_owned(), about: &about };
    let post = gate("bus post --project p --body 1:1 --bus").args(&about).under(fault.words());
    assert_ne!(post.run().ended(), Some(0));
    assert!(fs::read(ran.path(BUS)).unwrap().starts_with(&before));
    let ran = ran.again("bus post --bus bus.md --project p --body 2:1").code(0);
    let read = Bus::at(ran.path(BUS)).read().unwrap();
    let bodies: Vec<_> = read.messages.iter().map(|message| message.body.as_str()).collect();
    assert!(bodies == ["0:0", "2:1"] || bodies == ["0:0", "1:1", "2:1"], "{bodies:?}");
}
