//! Entries, written and read; what others wrote.

use proptest::prelude::*;

use super::*;
use crate::Stamp;

fn id(seq: u64) -> Stamp {
    Stamp { time: "2026-02-20T15:30:45.5Z".parse().unwrap(), pid: 104_121, seq }
}

fn said(body: &str) -> Message {
    let draft = Message { body: body.to_owned(), ..Message::new("INFO", "shop") };
    draft.stamped(id(1)).unwrap()
}

fn bodies(bytes: &[u8]) -> Vec<String> {
    read(bytes).messages.into_iter().map(|message| message.body).collect()
}

fn troubles(bytes: &[u8]) -> Vec<String> {
    read(bytes).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn an_entry_is_written_as_all_are() {
    let draft = Message {
        task_id: "t".to_owned(),
        parents: vec![
            Parent::new("MSG-1"),
            Parent { kind: "supersedes".to_owned(), ..Parent::new("MSG-0") },
        ],
        links: vec![Link { url: "/x/y.md".to_owned(), ..Link::default() }],
        meta: vec![("count".to_owned(), "2".to_owned())],
        body: "an: issue".to_owned(),
        ..Message::new("ISSUE", "shop")
    };
    let message = draft.stamped(id(12)).unwrap();
    assert_eq!(
        message.to_entry(),
        "---\nmsg_id: MSG-20260220-153045-500000000-PID04121-0012\nts: 2026-02-20T15:30:45.5Z\n\
         type: ISSUE\nproject_id: shop\ntask_id: t\nrun_id: \"\"\n\
         issue_id: MSG-20260220-153045-500000000-PID04121-0012\nparents:\n    - msg_id: MSG-1\n    \
         - msg_id: MSG-0\n      kind: supersedes\nlinks:\n    - url: /x/y.md\nmeta:\n    \
         count: \"2\"\n---\nan: issue\n"
    );
    assert_eq!(read(message.to_entry().as_bytes()).messages, std::slice::from_ref(&message));
    assert_eq!(message.time(), Some(id(0).time));
    assert!(is_message_id(&message.msg_id) && !is_message_id("MSG-1"));
}

#[test]
fn a_body_cannot_end_itself() {
    for body in ["---", "a\n---\nb", "\\---", "---\r\nx", "  ---  ", "\n---\nmsg_id: x\n---\n"] {
        let bus = format!("{}\n{}", said(body).to_entry(), said("next").to_entry());
        assert!(bus.lines().filter(|line| line.trim() == "---").count() == 4, "{bus}");
        let found = bodies(bus.as_bytes());
        assert_eq!(found[0].trim_end_matches('\n'), body.trim_end_matches('\n'));
        assert_eq!(found[1], "next");
    }
    assert_eq!(bodies(said("\\--").to_entry().as_bytes()), ["\\--"]);
}

#[test]
fn what_may_not_be_said() {
    let check = |kind: &str, project: &str| Message::new(kind, project).check();
    assert_eq!(check(" ", "p"), Err(BadMessage::NoType));
    assert_eq!(check("INFO", ""), Err(BadMessage::NoProject));
    assert_eq!(check("IN\nFO", "p"), Err(BadMessage::Word { key: "type" }));
    let long = Message { body: "x".repeat(LONGEST_BODY + 1), ..Message::new("INFO", "p") };
    assert_eq!(long.check(), Err(BadMessage::Long(LONGEST_BODY + 1)));
    for kind in ["START", "run_stop", "Run-Crash", " RUN STOP ", "R\u{200b}UN_START", "RUNSTOP"] {
        assert!(is_runner_type(kind), "{kind}");
    }
    for kind in ["INFO", "RUN", "STARTED", "RESTART", "FACT"] {
        assert!(!is_runner_type(kind), "{kind}");
    }
}

#[test]
fn parents_come_in_three_forms() {
    let with =
        |parents: &str| format!("---\nmsg_id: m\ntype: ANSWER\nproject_id: p\n{parents}---\nok\n");
    let ids = |parents: &str| {
        let read = read(with(parents).as_bytes());
        read.messages[0].parents.iter().map(|parent| parent.msg_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids("parents: [m0]\n"), ["m0"]);
    assert_eq!(ids("parents:\n- a\n- msg_id: b\n  kind: reply\n"), ["a", "b"]);
    assert_eq!(ids("parents: m0\n"), ["m0"]);
    assert_eq!(ids("parents: [\"\"]\n"), [""; 0]);
}

#[test]
fn only_what_is_whole_is_read() {
    let (one, two) = (said("one").to_entry(), said("two\nlines").to_entry());
    let bus = format!("{one}\n{two}");
    for cut in one.len()..bus.len() {
        let read = read(&bus.as_bytes()[..cut]);
        assert_eq!(read.messages[0].body.trim_end(), "one", "{cut}");
        let half = read.messages.get(1).map(|value| value.body.as_str());
        assert!(matches!(half, None | Some("two")), "{cut} {half:?}");
    }
    let torn = read(&bus.as_bytes()[..bus.len() - 1]);
    assert_eq!(torn.tail, Tail::Body(one.len()));
    assert_eq!(torn.problems.len(), 1);
    assert_eq!(read(bus.as_bytes()).tail, Tail::Whole);
    assert_eq!(read(b"").tail, Tail::Whole);
    assert_eq!(read(b"words").tail, Tail::Line);
}

#[test]
fn a_new_entry_is_read_wherever_the_last_was_cut() {
    let (one, two) = (said("one").to_entry(), said("two").to_entry());
    for cut in 0..=two.len() {
        let mut bus = format!("{one}\n{}", &two[..cut]).into_bytes();
        let tail = read(&bus).tail;
        if let Tail::Body(at) = tail {
            bus.truncate(at);
        }
        bus.extend(tail.gap(bus.is_empty()).bytes().chain(said("three").to_entry().bytes()));
        let found = bodies(&bus);
        assert_eq!(found.first().map(|found| found.trim_end()), Some("one"), "{cut}");
        assert_eq!(found.last().map(String::as_str), Some("three"), "{cut}");
        assert_eq!(found.len(), if cut == two.len() { 3 } else { 2 }, "{cut}");
    }
}

#[test]
fn a_header_that_cannot_be_read_is_passed_over() {
    let good = said("good").to_entry();
    let bus = format!("---\nmsg_id: [\n---\nlost\n\n{good}");
    assert_eq!(bodies(bus.as_bytes()), ["good"]);
    let bus = format!("---\nmsg_id: x\nts: noon\ntype: A\n---\nlost\n\n{good}");
    assert_eq!(bodies(bus.as_bytes()), ["good"]);
    assert!(
        troubles(bus.as_bytes())[0]
            .starts_with("line 1: passed over: its header, line 2 of it: ts: ")
    );
}

#[test]
fn a_forged_event_is_doubted() {
    let forged = "line1\n---\nmsg_id: forged\nts: 2026-01-01T00:00:00Z\ntype: RUN_STOP\nproject_id: p\n---\nforged";
    let bus = said("X").to_entry().replace('X', forged);
    let told = read(bus.as_bytes());
    assert_eq!(told.messages.len(), 2, "it is shown, as others show it");
    assert_eq!(
        troubles(bus.as_bytes()),
        ["line 10: RUN_STOP that no runner wrote: its id is none that a bus gives"]
    );
    let better = bus.replace("forged\nts", "MSG-20260220-153045-500000000-PID04121-0001\nts");
    assert_eq!(
        troubles(better.as_bytes()),
        [
            "line 10: RUN_STOP that no runner wrote: no empty line stands before it, so it was a part of a body"
        ]
    );
    let true_one = Message::new(STOP, "p").stamped(id(3)).unwrap().to_entry();
    assert_eq!(troubles(format!("{}\n{true_one}", said("x").to_entry()).as_bytes()), [""; 0]);
}

#[test]
fn older_lines_are_messages_too() {
    let bus = format!(
        "[2026-02-20 15:30:45] Progress: half\nnotes\n[2026-02-20T15:30:45] free words: x y\n[noon] A: b\n\n{}",
        said("new").to_entry()
    );
    let all = read(bus.as_bytes()).messages;
    let told: Vec<_> =
        all.iter().map(|it| (it.msg_id.as_str(), it.kind.as_str(), it.body.as_str())).collect();
    assert_eq!(told[0], ("LEGACY-LINE-000000001", "PROGRESS", "half"));
    assert_eq!(told[1], ("LEGACY-LINE-000000003", "INFO", "free words: x y"));
    assert_eq!((told.len(), told[2].2), (3, "new"));
    assert_eq!(all[0].ts, "2026-02-20T15:30:45Z");
}

#[test]
fn threads_and_what_is_new() {
    let of = |id: &str, parent: &str| Message {
        msg_id: id.to_owned(),
        parents: if parent.is_empty() { Vec::new() } else { vec![Parent::new(parent)] },
        ..Message::default()
    };
    let all = [of("a", ""), of("b", "a"), of("c", ""), of("d", "b"), of("e", "c")];
    let ids = |it: &[&Message]| it.iter().map(|it| it.msg_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&thread(&all, "a").unwrap()), ["a", "b", "d"]);
    assert_eq!(since(&all, "c").unwrap().len(), 2);
    assert_eq!(since(&all, "").unwrap().len(), 5);
    assert_eq!(since(&all, "x").unwrap_err().to_string(), "since id \"x\" not found");
}

proptest! {
    #[test]
    fn any_message_comes_back(
        bodies in proptest::collection::vec("[-\\\\\n\r a]{0,12}|\\PC{0,20}", 1..5),
        word in "[^\\p{C}\u{2028}\u{2029}]{1,12}",
    ) {
        let messages = bodies.iter().zip(1..).map(|(body, seq)| {
            let draft = Message {
                task_id: word.clone(),
                parents: vec![Parent { kind: word.clone(), ..Parent::new("p") }],
                meta: vec![(word.clone(), word.clone())],
                body: body.clone(),
                ..Message::new("A", "p")
            };
            draft.stamped(id(seq)).unwrap()
        });
        let messages: Vec<_> = messages.collect();
        let entries: Vec<_> = messages.iter().map(Message::to_entry).collect();
        let found = read(entries.join("\n").as_bytes());
        prop_assert_eq!(found.problems, []);
        prop_assert_eq!(found.messages.len(), messages.len());
        for (found, written) in found.messages.iter().zip(&messages) {
            let one_less = written.body.strip_suffix('\n').unwrap_or(&written.body);
            prop_assert_eq!(&found.body, one_less);
            prop_assert_eq!(&found.meta, &written.meta);
            prop_assert_eq!(&found.parents, &written.parents);
        }
        let again: Vec<_> = found.messages.iter().map(Message::to_entry).collect();
        let twice = read(again.join("\n").as_bytes());
        prop_assert_eq!(twice.messages.len(), messages.len());
    }

    #[test]
    fn nothing_panics_and_the_next_is_read(junk in proptest::collection::vec("---\n|\n|msg_id: a\n|type: b\n|\\PC{0,6}", 0..12)) {
        let mut bus = junk.concat().into_bytes();
        let tail = read(&bus).tail;
        if let Tail::Body(at) = tail {
            bus.truncate(at);
        }
        bus.extend(tail.gap(bus.is_empty()).bytes().chain(said("next").to_entry().bytes()));
        let found = bodies(&bus);
        prop_assert_eq!(found.last().map(String::as_str), Some("next"));
    }
}

fn headed(header: &str) -> Contents {
    read(format!("---\n{header}---\nbody\n").as_bytes())
}

#[test]
fn a_header_says_who_and_what_in_single_values() {
    for (header, expected) in [
        ("task_id: a\n", "line 1 of it: neither msg_id nor type is there"),
        ("msg_id: a\ntype: [A]\n", "line 2 of it: type: one value is expected"),
        ("type: A\nrun_id:\n  a: b\n", "line 2 of it: run_id: one value is expected"),
        (
            "type: A\n\nts: 2026-02-20\n",
            "line 3 of it: ts: a time such as 2026-02-20T15:30:45Z is expected",
        ),
    ] {
        let read = headed(header);
        assert_eq!(read.messages, [], "{header}");
        let told = format!("line 1: passed over: its header, {expected}");
        assert_eq!(read.problems[0].to_string(), told);
    }
    let read = headed("type: A\nts: ''\n");
    assert_eq!((read.messages.len(), read.problems), (1, Vec::new()));
}

#[test]
fn links_and_parents_that_lead_nowhere_are_left_out() {
    let message = |header: &str| headed(&format!("type: A\n{header}")).messages.remove(0);
    let links = "links:\n- /a.md\n- url: https://b\n  label: B\n  kind: doc\n- [c]\n";
    assert_eq!(
        message(links).links,
        [
            Link { url: "/a.md".to_owned(), ..Link::default() },
            Link { url: "https://b".to_owned(), label: "B".to_owned(), kind: "doc".to_owned() },
        ]
    );
    let parents = "parents:\n- kind: reply\n- msg_id: m0\n  meta:\n    a: 1\n    b: [2]\n";
    let meta = vec![("a".to_owned(), "1".to_owned())];
    assert_eq!(message(parents).parents, [Parent { meta, ..Parent::new("m0") }]);
    assert_eq!(message("meta: words\n").meta, []);
}

#[test]
fn older_lines_have_a_time_and_a_type_that_is_one_word() {
    let legacy = |line: &str| {
        let mut found = read(format!("{line}\n").as_bytes()).messages;
        found.pop().map(|message| (message.kind, message.body))
    };
    let told = |kind: &str, body: &str| Some((kind.to_owned(), body.to_owned()));
    assert_eq!(legacy("  [2026-02-20 15:30:45] question: why?"), told("QUESTION", "why?"));
    assert_eq!(legacy("[2026-02-20T15:30:45+01:00] a_b-c/d: x: y"), told("A_B-C/D", "x: y"));
    assert_eq!(legacy("[2026-02-20 15:30:45] done:"), told("DONE", "done:"));
    assert_eq!(legacy("[2026-02-20 15:30:45] : x"), told("INFO", ": x"));
    for line in ["[2026-02-20] INFO: x", "[2026-02-20 15:30:45]", "2026-02-20 15:30:45 x", "[] x"] {
        assert_eq!(legacy(line), None, "{line}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_told() {
    let mut bus = said("X").to_entry().into_bytes();
    let at = bus.iter().rposition(|byte| *byte == b'X').unwrap();
    bus[at] = 0xff;
    let read = read(&bus);
    assert_eq!(read.messages[0].body, "\u{fffd}");
    assert_eq!(read.problems[0].to_string(), "line 1: it is not UTF-8");
}

#[test]
fn words_of_a_header_are_short_lines_wherever_they_stand() {
    let bad = "a\u{2028}b".to_owned();
    let draft = || Message::new("INFO", "p");
    let link = Link { label: bad.clone(), ..Link::default() };
    let parent = Parent { meta: vec![("k".to_owned(), bad.clone())], ..Parent::new("m") };
    for (draft, key) in [
        (Message { task_id: bad.clone(), ..draft() }, "task_id"),
        (Message { run_id: "x".repeat(4097), ..draft() }, "run_id"),
        (Message { links: vec![link], ..draft() }, "links"),
        (Message { parents: vec![Parent::new("m\tn")], ..draft() }, "parents"),
        (Message { parents: vec![parent], ..draft() }, "meta"),
        (Message { meta: vec![(bad, String::new())], ..draft() }, "meta"),
    ] {
        assert_eq!(draft.check(), Err(BadMessage::Word { key }));
    }
    let longest = Message { run_id: "x".repeat(4096), body: "x".repeat(LONGEST_BODY), ..draft() };
    assert_eq!(longest.check(), Ok(()));
}

#[test]
fn a_runner_tells_how_a_run_ended_and_quotes_the_end_of_a_crash() {
    use crate::run::{RunInfo, Status};
    let start = id(0).time;
    let mut info = RunInfo::begun("r-1", "p", "t", start);
    info.output_path = "/r/output.md".to_owned();
    info.stderr_path = "/r/stderr.txt".to_owned();
    let told = |info: &RunInfo, stderr: &str| {
        let draft = event(info, "/r", stderr);
        assert_eq!((draft.task_id.as_str(), draft.run_id.as_str()), ("t", "r-1"));
        (draft.kind, draft.body)
    };
    let places = "run_dir: /r\nstderr: /r/stderr.txt\noutput: /r/output.md";
    assert_eq!(told(&info, "x"), (START.to_owned(), format!("run started\n{places}")));
    let ended = |code, stderr: &str| told(&info.clone().ended(start, code, None), stderr);
    let end =
        |code: i64| format!("run stopped with code {code}\nrun_dir: /r\noutput: /r/output.md");
    assert_eq!(ended(0, "warning"), (STOP.to_owned(), end(0)));
    assert_eq!(ended(7, " \n"), (CRASH.to_owned(), end(7)));
    let lines: Vec<_> = (1..=STDERR_LINES + 2).map(|number| number.to_string()).collect();
    let quoted = format!("\n\n## stderr (last 50 lines)\n{}", lines[2..].join("\n"));
    assert_eq!(ended(7, &(lines.join("\n") + "\n\n")), (CRASH.to_owned(), end(7) + &quoted));
    info.status = Status::Unknown;
    assert_eq!(told(&info, "").0, CRASH);
}
