//! Logs with something before each line that is not the agent's.

use super::{Format, read, read_pieces, words};

const SAID: &str = "All is done.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: the tax is added\n";
const STREAM: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s1\",\"model\":\"m\"}\n\
    {\"type\":\"assistant\",\"session_id\":\"s1\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}}\n\
    {\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\",\"session_id\":\"s1\"}\n";

/// The text with what `before` gives for each line's number.
fn with(text: &str, before: impl Fn(usize) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", before(at))).collect()
}

/// A carrier's name, and what it puts before the line of a number.
type Carrier = (&'static str, fn(usize) -> String);

fn carriers() -> Vec<Carrier> {
    vec![
        ("Actions", |at| format!("2026-11-28T08:00:{:02}.1234567Z ", at % 60)),
        ("seconds", |at| format!("2026-11-28T08:00:{:02}Z ", at % 60)),
        ("a zone", |at| format!("2026-11-28T08:00:{:02}.5+01:00 ", at % 60)),
        ("compose", |_| "agent-1  | ".to_owned()),
        ("compose -t", |at| format!("agent-1  | 2026-11-28T08:00:{:02}.123456789Z ", at % 60)),
        ("events", |_| "data: ".to_owned()),
        ("brackets", |at| format!("[2026-11-28 08:00:{:02}] ", at % 60)),
        ("a clock", |at| format!("08:00:{:02} ", at % 60)),
        ("a clock in brackets", |at| format!("[08:00:{:02},125] ", at % 60)),
        ("ts", |at| format!("Nov {:2} 08:00:{:02} ", 9 + at % 2, at % 60)),
        ("journal", |at| format!("Nov 28 08:00:{:02} host agent[71]: ", at % 60)),
        ("seconds since 1970", |at| format!("[17{:08}.{at:03}] ", at % 60)),
        ("a pod", |_| "[pod/agent-7d9f/main] ".to_owned()),
    ]
}

#[test]
fn what_stands_before_all_lines_is_taken_away() {
    for (carrier, before) in carriers() {
        let text = with(SAID, before);
        assert_eq!(words(&text), words(SAID), "{carrier}");
        let stream = with(STREAM, before);
        assert_eq!(read(&stream).0, Some(Format::ClaudeStream), "{carrier}");
        assert_eq!(words(&stream), ["Done."], "{carrier}");
        for size in [1, 7, 64] {
            let pieces = read_pieces(stream.as_bytes(), None, size).1;
            assert_eq!(pieces.lines, read(&stream).1.lines, "{carrier} {size}");
        }
        // Behind what is looked at for the format, too.
        let long = with(&(format!("{}\n", "x".repeat(99)).repeat(2_000) + SAID), before);
        assert!(words(&long)[0].ends_with("the tax is added\n"), "{carrier}");
        assert!(!words(&long)[0].contains("08:00"), "{carrier}");
    }
    // Blank lines may have lost the blank, and the last line its end.
    let text = with(SAID, carriers()[0].1).replace("Z \n", "Z\n");
    assert_eq!(words(text.trim_end())[0], SAID.trim_end());
    assert_eq!(words(&format!("\u{feff}{text}")), words(SAID));
    assert_eq!(words(&format!("^D\u{8}\u{8}{SAID}")), words(SAID));
    assert_eq!(
        words(&format!("event: message\nid: 4\n{}", with(SAID, |_| "data: ".to_owned())))[0].trim(),
        SAID.trim()
    );
}

#[test]
fn what_stands_before_some_lines_is_a_part_of_the_text() {
    for text in [
        "2026-11-28T08:00:00Z started\nAll is done.\nEXIT_STATUS: COMPLETE\n",
        "a  | b\nc  | d\n",
        "a | one line\n",
        "| a | b |\n| - | - |\n",
        "data: 1\nAll is done.\n",
        "event: the release\nid: 7\n",
        "[x] the tax\n[x] the label\n",
        "[todo] the tax\n[todo] the label\n",
        "result: {\"a\": 1}\nAll is done.\n",
        "12345678901 apples\n",
        "I ran it at 07:00:00 and it printed {\"type\":\"result\"}\nEXIT_STATUS: CONTINUE\n",
        "- 07:00:00 {\"role\":\"user\"}\n- 07:00:01 {\"role\":\"assistant\"}\nEXIT_STATUS: CONTINUE\n",
        "2026-11-28T08:00:00Zulu\n2026-11-28T08:00:00Zulu\n",
        "2026-11-28T08:00:00\n",
        "Done. ^D\u{8}\u{8}\n",
    ] {
        let (format, lines) = read(text);
        assert_eq!(format, Some(Format::Text), "{text}");
        let whole = text.trim_end().replace('\n', "⏎").replace('\u{8}', "");
        assert!(lines.lines[0].contains(&whole), "{text}: {:?}", lines.lines);
    }
}

#[test]
fn any_constant_text_before_json_is_taken_away() {
    for (carrier, before) in [
        ("a name", "[claude] "),
        ("kubernetes", "2026-11-28T08:00:00.1Z stdout F "),
        ("a level", "08:00:00 INFO agent: "),
        ("no blank", "data:"),
    ] {
        let stream = with(STREAM, |_| before.to_owned());
        assert_eq!(read(&stream).0, Some(Format::ClaudeStream), "{carrier}");
        assert_eq!(words(&stream), ["Done."], "{carrier}");
    }
    // A log that the agent quotes, above its own words.
    let quoted =
        with(&"EXIT_STATUS: COMPLETE\n".repeat(60), |_| "2026-11-28T08:00:00Z ".to_owned());
    let own_words = format!("{quoted}That is another loop's log.\n");
    assert!(words(&own_words)[0].contains("Z EXIT_STATUS"));
    // A long line of an event beside its data.
    let events = with(SAID, |_| "data: ".to_owned());
    let comment = format!(": {}EXIT_STATUS: COMPLETE\n", "x".repeat(999));
    let events = format!("{}{comment}data: \n", events.repeat(1_000));
    for size in [64, 1_000, 1 << 20] {
        let lines = read_pieces(events.as_bytes(), None, size).1.lines.concat();
        assert!(!lines.contains("xxx"), "pieces of {size}");
    }
    // Another program's lines among them.
    let stream = with(STREAM, |at| format!("[08:00:0{at}] warning: slow\n[08:00:0{at}] "));
    assert_eq!(words(&stream), ["Done."]);
    let stream = format!("Attaching to agent-1\n{}", with(STREAM, |_| "08:00:00 ".to_owned()));
    assert_eq!(words(&stream), ["Done."]);
}
