//! What is compared, part by part.

use std::path::Path;

use crate::field::Field;
use crate::hostile;
use crate::program::Program;
use crate::table::{self, Bar, Comparison};
use crate::transcript::Kind;

/// A part of the table.
type Part = fn(&Field);

/// All parts, by name.
pub(crate) const PARTS: [(&str, Part); 8] = [
    ("cold", cold),
    ("text", text),
    ("json", json),
    ("last", last),
    ("hook", hook),
    ("memory", memory),
    ("replay", replay),
    ("hostile", hostile),
];

const SMALL: u64 = 10_000;
const MIDDLE: u64 = 1_000_000;
const LARGE: u64 = 100_000_000;
const LARGEST: u64 = 1_000_000_000;

/// What gate may hold in memory, whatever it reads.
const MEMORY: u64 = 64 << 20;

/// The largest size that was asked for.
fn largest() -> u64 {
    if std::env::var_os("GATE_BENCH_LARGE").is_some() { LARGEST } else { LARGE }
}

fn size(bytes: u64) -> &'static str {
    match bytes {
        SMALL => "10 KB",
        MIDDLE => "1 MB",
        LARGE => "100 MB",
        _ => "1 GB",
    }
}

fn scan(folder: &Path, file: &str) -> Program {
    Program::gate(folder, &["scan", file])
}

fn check(folder: &Path, file: &str) -> Program {
    Program::gate(folder, &["check", "-q", "--no-checks", "--no-state", file])
}

/// The start: 10 KB, without settings and with ordinary ones, beside a search of the same
/// file.
fn cold(field: &Field) {
    for settings in ["bare", "ordinary"] {
        for kind in Kind::ALL {
            let (folder, file) = (field.folder(settings), field.transcript(kind, SMALL));
            let rg = Program::new("rg", &folder, &["-c", "done", &file]);
            let line = |command: &str, gate: Program, bar| Comparison {
                what: format!("{command}, {settings}, {} {}", kind.name(), size(SMALL)),
                gate,
                other: rg.clone(),
                bar,
                times: 300,
            };
            line("scan", scan(&folder, &file), Bar::Known).print();
            line("check", check(&folder, &file), Bar::Longer(2.0)).print();
        }
    }
}

/// Plain text, with the same patterns for all.
fn text(field: &Field) {
    let (six, sixty, bare) = (field.folder("six"), field.folder("sixty"), field.folder("bare"));
    for bytes in [SMALL, MIDDLE, LARGE] {
        let file = field.transcript(Kind::Text, bytes);
        let bar = |bar: Bar| if bytes == LARGE { bar } else { Bar::Known };
        let times = if bytes == LARGE { 7 } else { 50 };
        let line = |patterns: &str, gate: &Path, bar, times, other: &[&str]| Comparison {
            what: format!("{patterns} patterns, text {}", size(bytes)),
            gate: scan(gate, &file),
            other: Program::new(other[0], &bare, &other[1..]),
            bar,
            times,
        };
        let f = file.as_str();
        line("6", &six, bar(Bar::Longer(2.0)), times, &["rg", "-c", "-i", "-f", "six.txt", f])
            .print();
        line("60", &sixty, bar(Bar::Longer(2.0)), times, &["rg", "-c", "-i", "-f", "sixty.txt", f])
            .print();
        line("6", &six, Bar::Known, times, &["grep", "-c", "-iE", "-f", "six.txt", f]).print();
        line("6", &six, Bar::Known, times, &["wc", "-l", f]).print();
        line("6", &six, Bar::Known, times, &["cat", f]).print();
        line("6", &six, bar(Bar::Faster(100.0)), 1, &["bash", "gate.sh", f]).print();
    }
}

/// JSON, beside what takes the assistant's words out of it.
fn json(field: &Field) {
    let (six, bare) = (field.folder("six"), field.folder("bare"));
    for kind in [Kind::Claude, Kind::Session, Kind::Codex, Kind::Rollout] {
        let (marker, filter) = said(kind);
        for bytes in [MIDDLE, LARGE] {
            let file = field.transcript(kind, bytes);
            let held = |bar: Bar| if bytes == LARGE { bar } else { Bar::Known };
            let line = |bar, times, other: Program| Comparison {
                what: format!("6 patterns, {} {}", kind.name(), size(bytes)),
                gate: scan(&six, &file),
                other,
                bar: held(bar),
                times,
            };
            let f = file.as_str();
            line(Bar::Faster(8.0), 3, Program::new("jq", &bare, &["-r", filter, f])).print();
            line(Bar::Faster(1.2), 7, Program::typed(&bare, f)).print();
            line(Bar::Known, 7, Program::new("rg", &bare, &["-c", "-F", marker, f])).print();
            line(Bar::Known, 7, Program::new("wc", &bare, &["-l", f])).print();
            line(Bar::Known, 7, Program::new("cat", &bare, &[f])).print();
        }
    }
    let file = field.transcript(Kind::Claude, LARGE);
    Comparison {
        what: "times before the lines, claude 100 MB, beside none".to_owned(),
        gate: scan(&bare, &field.stamped(&file)),
        other: scan(&bare, &file),
        bar: Bar::Longer(1.1),
        times: 7,
    }
    .print();
}

/// What stands in every record in which the assistant speaks, and the filter
/// that takes its words out.
fn said(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Codex => {
            (r#""type":"agent_message""#, r#"select(.item.type=="agent_message").item.text"#)
        }
        Kind::Rollout => (
            r#""role":"assistant""#,
            r#"select(.payload.role=="assistant").payload.content[].text"#,
        ),
        Kind::Text | Kind::Claude | Kind::Session => (
            r#""type":"assistant""#,
            r#"select(.type=="assistant").message.content[]|select(.type=="text").text"#,
        ),
    }
}

/// The last word of a large session, beside that of a small one.
fn last(field: &Field) {
    let bare = field.folder("bare");
    let large = largest();
    let file = |bytes| field.transcript(Kind::Session, bytes);
    Comparison {
        what: format!("check, session {} beside {}", size(large), size(SMALL)),
        gate: check(&bare, &file(large)),
        other: check(&bare, &file(SMALL)),
        bar: Bar::Longer(2.0),
        times: 15,
    }
    .print();
}

/// A refused stop in a large session beside one in a small session, state included, without
/// checks, and with a breaker that does not look at the work tree.
fn hook(field: &Field) {
    let folder = field.folder("hooked");
    let hook = |bytes| {
        let event = field.event(&field.transcript(Kind::Session, bytes));
        Program::gate(&folder, &["hook", "claude-code"]).reading(&event)
    };
    Comparison {
        what: format!("hook claude-code, session {} beside {}", size(largest()), size(SMALL)),
        gate: hook(largest()),
        other: hook(SMALL),
        bar: Bar::Longer(2.0),
        times: 200,
    }
    .print();
}

/// Memory, whatever is read.
fn memory(field: &Field) {
    let (bare, large) = (field.folder("bare"), largest());
    for kind in Kind::ALL {
        let what = format!("scan, memory, {} {}", kind.name(), size(large));
        table::memory(&what, &scan(&bare, &field.transcript(kind, large)), MEMORY);
    }
    let what = format!("scan, memory, one line of {}", size(large));
    table::memory(&what, &scan(&bare, &field.line(large)), MEMORY);
}

/// Many transcripts: two jobs beside one.
fn replay(field: &Field) {
    let bare = field.folder("bare");
    let many = field.folder_of(100);
    let jobs = |count: &str| Program::gate(&bare, &["replay", "--json", "--jobs", count, &many]);
    Comparison {
        what: "replay, 100 files of 1 MB, two jobs beside one".to_owned(),
        gate: jobs("2"),
        other: jobs("1"),
        bar: Bar::Faster(1.8),
        times: 7,
    }
    .print();
}

/// Twice as much of a hostile input beside once.
fn hostile(field: &Field) {
    let bare = field.folder("bare");
    for one in hostile::ALL {
        Comparison {
            what: format!("scan, {}, twice beside once", one.name),
            gate: scan(&bare, &field.hostile(one, 2)),
            other: scan(&bare, &field.hostile(one, 1)),
            bar: Bar::Longer(2.2),
            times: 5,
        }
        .print();
    }
}
