//! The form of a record, which must never change unseen, and what is said of
//! a ledger that does not hold.

use serde_json::{Value, json};

use super::{Body, BodyError, Chain, Draft, Fault, Hash, Head, LineError, Sealed};

/// The canonical JSON of [`sample`], written down once and for all.
const CANONICAL: &str = "{\"actor\":\"gate\",\"body\":{\"a\":{\"\u{10000}\":1,\"\u{e000}\":2},\
    \"cost\":-9007199254740991,\"task\":\"4\\\"2\\u0000\\n\",\"ticked\":[true,null,\"é\u{7f}/\"]},\
    \"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\",\
    \"run\":\"r1\",\"seq\":1,\"time\":\"2026-11-02T10:00:00.25Z\",\"type\":\"exit_gate_blocked\",\"v\":1}";

/// BLAKE3 over it.
const HASH: &str = "15c11fd2c649219962f8ad8cab46524038b0a56a563182527315fe860b7eba47";

fn sample() -> Sealed {
    let body = json!({
        "ticked": [true, null, "é\u{7f}/"],
        "task": "4\"2\0\n",
        "cost": -9_007_199_254_740_991_i64,
        "a": { "\u{e000}": 2, "\u{10000}": 1 },
    });
    Head::EMPTY.follow(Draft {
        time: "2026-11-02T10:00:00.25Z".to_owned(),
        kind: "exit_gate_blocked".to_owned(),
        run: Some("r1".to_owned()),
        actor: "gate".to_owned(),
        body: Body::new(&body).expect("exact integers"),
    })
}

fn ledger(length: u64) -> Vec<Sealed> {
    let mut ledger = vec![sample()];
    while let Some(last) = ledger.last().filter(|last| last.record.seq < length) {
        let draft = Draft {
            time: "2026-11-02T10:00:01Z".to_owned(),
            kind: "exit_gate_passed".to_owned(),
            run: None,
            actor: "gate".to_owned(),
            body: Body::new(&json!({ "last": last.record.seq })).expect("exact integers"),
        };
        ledger.push(last.head().follow(draft));
    }
    ledger
}

#[track_caller]
fn said(known: Option<Head>, ledger: &[&Sealed], expected: &str) {
    let mut chain = known.into_iter().fold(Chain::new(), Chain::against);
    let broken = ledger.iter().find_map(|sealed| chain.push(sealed).err());
    let problem = broken.or_else(|| chain.end().err()).expect("a problem");
    assert_eq!(problem.to_string(), expected);
    assert_eq!(chain.end().expect_err("it stays"), problem);
}

#[test]
fn the_form_of_a_record_is_the_one_that_was_written_down() {
    let sample = sample();
    assert_eq!(sample.record.canonical(), CANONICAL);
    assert_eq!(sample.hash.to_string(), HASH);
    let member = format!("}},\"hash\":\"{HASH}\",\"prev\"");
    assert_eq!(sample.to_line(), CANONICAL.replacen("},\"prev\"", &member, 1));
}

#[test]
fn a_problem_is_named_in_words() {
    let all = ledger(12);
    let of = |numbers: &[usize]| numbers.iter().map(|number| &all[number - 1]).collect::<Vec<_>>();
    said(None, &of(&[2]), "record 1 is missing: the ledger begins with 2");
    said(None, &of(&[1, 2, 4]), "record 3 is missing: after 2 comes 4");
    said(None, &of(&[1, 2, 12]), "records 3 to 11 are missing: after 2 comes 12");
    said(None, &of(&[1, 2, 2]), "after record 2 comes record 2 again");
    said(None, &of(&[1, 2, 3, 1]), "after record 3 comes record 1 again");
    let known = Some(all[11].head());
    said(known, &of(&[1, 2, 3]), "the ledger ends at record 3, and 12 is known");
    said(known, &[], "the ledger is empty, and record 12 is known");
    let known = Some(Head { seq: 2, hash: all[2].hash });
    said(known, &of(&[1, 2, 3]), "record 2 is not the one that is known");
    said(Some(Head { seq: 0, hash: all[2].hash }), &[], "record 1 is not the one that is known");
}

#[test]
fn of_several_known_heads_each_has_to_be_found() {
    let all = ledger(3);
    let verify = |known: [Head; 2]| {
        let mut chain = known.into_iter().fold(Chain::new(), Chain::against);
        all.iter().try_for_each(|sealed| chain.push(sealed)).and_then(|()| chain.end())
    };
    let [first, second, third] = [0, 1, 2].map(|at| all[at].head());
    let intact = verify([second, first]).expect("both are in it");
    assert_eq!((intact.head, intact.known), (third, Some(second)));
    let other = Head { seq: 1, hash: second.hash };
    assert_eq!(verify([second, other]).map_err(|problem| problem.seq), Err(1));
    let later = Head { seq: 9, hash: second.hash };
    assert_eq!(
        verify([later, first]).map_err(|problem| problem.fault),
        Err(Fault::Cut { known: 9 })
    );
}

#[test]
fn a_record_that_was_edited_is_named_in_words() {
    let all = ledger(3);
    let mut edited = all[1].clone();
    edited.record.actor.push('s');
    said(None, &[&all[0], &edited], "record 2: its hash does not fit what it says");
    let edited = edited.record.seal();
    said(None, &[&all[0], &edited, &all[2]], "record 3 does not follow record 2");
    let mut edited = edited.record;
    edited.v = 7;
    said(
        None,
        &[&all[0], &edited.clone().seal()],
        "record 2 is of version 7, and only version 1 is known",
    );
    (edited.v, edited.seq) = (1, 0);
    said(None, &[&edited.clone().seal()], "record 1 has the number 0: numbers begin at 1");
    edited.seq = 1;
    said(None, &[&edited.seal()], "record 1 does not begin a ledger: it names a record before it");
}

#[test]
fn a_line_that_is_no_record_is_named_with_the_reason() {
    let line = sample().to_line();
    let swap = |from: &str, to: &str| line.replacen(from, to, 1).into_bytes();
    for (bad, expected) in [
        (Vec::new(), "it is empty"),
        (b"{\xff}".to_vec(), "it is not UTF-8"),
        (b"[]".to_vec(), "column 2: invalid length 0, expected struct Line with 9 elements"),
        (swap("{\"actor\"", "{\"actr\""), "column 7: unknown field `actr`, expected one of"),
        (swap(",\"v\":1", ""), "missing field `v`"),
        (swap("\"run\":\"r1\",", ""), "missing field `run`"),
        (swap(&format!("\"hash\":\"{HASH}\","), ""), "missing field `hash`"),
        (swap(HASH, &HASH.to_uppercase()), "64 lower-case hexadecimal digits are expected"),
        (swap("\"seq\":1", "\"seq\":1,\"seq\":1"), "duplicate field `seq`"),
        (swap("\"seq\":1", "\"seq\":1.0"), "expected u64"),
        (
            swap("\"seq\":1", "\"seq\":9007199254740992"),
            "seq 9007199254740992: it is at most 2^53-1",
        ),
        (swap("\"cost\":", "\"cost\":0,\"cost\":"), "the name `cost` stands twice"),
        (swap("-9007199254740991", "-9007199254740992"), "a record holds integers between"),
        (swap("-9007199254740991", "1e3"), "1000.0: a record holds integers between"),
        (swap("\"v\":1", "\"v\":2"), "it is of version 2, and only version 1 is known"),
        (b"{\"v\":2,\"kind\":1}".to_vec(), "it is of version 2, and only version 1 is known"),
        (
            swap(",\"body\"", ", \"body\""),
            "column 17: from here on it is not the canonical spelling",
        ),
        (swap("\"v\":1}", "\"v\":1}\r"), "from here on it is not the canonical spelling"),
        (swap("\\n", "\\u000a"), "from here on it is not the canonical spelling"),
    ] {
        let error = Sealed::from_line(&bad).expect_err("it is no record").to_string();
        assert!(error.contains(expected), "{}: {error}", String::from_utf8_lossy(&bad));
    }
}

#[test]
fn a_line_is_numbered_as_the_record_that_it_should_be() {
    let mut chain = Chain::new();
    chain.push_line(sample().to_line().as_bytes()).expect("the first record");
    let problem = chain.push_line(b"").expect_err("an empty line");
    assert_eq!((problem.seq, problem.fault.clone()), (2, Fault::Line(LineError::Empty)));
    assert_eq!(problem.to_string(), "line 2 is no record: it is empty");
    let next = ledger(2).remove(1);
    assert_eq!(chain.push_line(next.to_line().as_bytes()), Err(problem), "once broken, broken");
}

#[test]
fn a_line_may_be_64_mib_long_and_no_longer() {
    let mut sample = sample();
    let room = super::LONGEST_LINE - sample.to_line().len();
    sample.record.actor.push_str(&"é".repeat(room / 2));
    let line = sample.to_line();
    assert!(Sealed::from_line(line.as_bytes()).is_ok());
    let longer_line = line + "éé";
    assert_eq!(Sealed::from_line(longer_line.as_bytes()), Err(LineError::Long));
}

#[test]
fn a_body_is_as_deep_as_its_readers_go() {
    let nested = |depth: usize| (1..depth).fold(json!({}), |inner, _| json!({ "in": inner }));
    let body = Body::new(&nested(100)).expect("deep, but not too deep");
    let sealed = Head::EMPTY.follow(Draft { body, ..draft_of(sample()) });
    assert_eq!(Sealed::from_line(sealed.to_line().as_bytes()), Ok(sealed));
    assert_eq!(Body::new(&nested(101)), Err(BodyError::Deep));
    assert_eq!(Body::new(&json!([])), Err(BodyError::NotAnObject));
    assert!(matches!(Body::new(&json!({ "cost": 0.5 })), Err(BodyError::Number(_))));
    assert_eq!(serde_json::from_str::<Body>("{\"a\":1}").ok(), Body::new(&json!({ "a": 1 })).ok());
    assert!(serde_json::from_str::<Body>("{\"a\":{\"b\":1,\"b\":1}}").is_err());
}

fn draft_of(sealed: Sealed) -> Draft {
    let super::Record { time, kind, run, actor, body, .. } = sealed.record;
    Draft { time, kind, run, actor, body }
}

#[test]
fn a_record_that_says_that_the_ledger_is_empty_holds_in_none() {
    let none = "0".repeat(64);
    let line = format!(
        r#"{{"actor":"gate","body":{{}},"hash":"{none}","prev":"{none}","run":null,"seq":0,"time":"2026-11-02T10:00:00Z","type":"exit_gate_blocked","v":1}}"#
    );
    let sealed = Sealed::from_line(line.as_bytes()).unwrap();
    assert_eq!(sealed.head(), Head::EMPTY);
    assert!(Chain::new().push(&sealed).is_err());
    assert!(Chain::new().push_line(line.as_bytes()).is_err());
}

#[test]
fn a_head_is_read_as_it_is_written() {
    let head = sample().head();
    assert_eq!(head.to_string(), format!("1:{HASH}"));
    assert_eq!(head.to_string().parse(), Ok(head));
    assert_eq!(Head::EMPTY.to_string().parse(), Ok(Head::EMPTY));
    assert_eq!(serde_json::to_value(head).ok(), Some(json!({ "seq": 1, "hash": HASH })));
    for bad in
        ["", "1", HASH, &format!("+1:{HASH}"), &format!("0:{HASH}"), &format!("1:{HASH} "), "1:aa"]
    {
        assert!(bad.parse::<Head>().is_err(), "{bad}");
    }
    assert!(serde_json::from_value::<Hash>(Value::from("0")).is_err());
}
