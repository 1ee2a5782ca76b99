//! The checks of a decision as JUnit XML.

use crate::support::{DONE, gate, judge};
use quick_xml::Reader;
use quick_xml::events::Event;

const SETTINGS: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"test -e fixed || { echo 'a < b & c'; exit 1; }\"]\n\
     [checks.lint]\ncommand = [\"true\"]\nmode = \"count\"\n[breaker]\nno_progress = 0\n";

/// The names of the elements that begin in a text.
fn elements(text: &str) -> Vec<String> {
    let mut reader = Reader::from_str(text);
    let mut names = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return names,
            Event::Start(start) | Event::Empty(start) => {
                names.push(start.name().as_ref().to_owned());
            }
            _ => {}
        }
    }
}

fn count(names: &[String], wanted: &str) -> usize {
    names.iter().filter(|name| *name == wanted).count()
}

#[test]
fn the_checks_of_a_decision_are_junit_xml() {
    let words = "check out.log --junit checks.xml";
    let ran = judge(words, DONE).settings(SETTINGS).committed().code(1);
    let text = ran.file("checks.xml");
    let names = elements(&text);
    assert_eq!((count(&names, "testsuite"), count(&names, "failure")), (2, 1), "{text}");
    assert!(text.contains("a &lt; b &amp; c"), "{text}");
    let ran = ran.again(words).file("fixed", "").code(0);
    let text = ran.file("checks.xml");
    assert_eq!(count(&elements(&text), "failure"), 0, "{text}");
    let ran = ran.again("check out.log --junit none/checks.xml").code(5);
    assert!(ran.stderr.contains("none/checks.xml"), "{}", ran.stderr);
}

#[test]
fn the_checks_of_the_last_decision_of_a_loop_are_junit_xml() {
    let done = "cat >/dev/null\ntest -e once && touch fixed\ntouch once\n\
                printf 'All is done.\\n\\nEXIT_STATUS: COMPLETE\\nEXIT_REASON: x\\n'\n";
    let run = |words: &str| {
        gate(words)
            .settings(SETTINGS)
            .file("PROMPT.md", "Mend it.\n")
            .file(".gitignore", "once\nfixed\n")
            .script("agent.sh", &format!("#!/bin/sh\n{done}"))
            .committed()
    };
    let ran = run("run --prompt PROMPT.md --junit checks.xml -- ./agent.sh").code(0);
    let text = ran.file("checks.xml");
    let names = elements(&text);
    assert_eq!((count(&names, "testsuite"), count(&names, "failure")), (2, 0), "{text}");
    let words = "run --prompt PROMPT.md --max-iterations 1 --junit checks.xml -- ./agent.sh";
    let text = run(words).code(1).file("checks.xml");
    assert_eq!(count(&elements(&text), "failure"), 1, "{text}");
    let words = "run --prompt PROMPT.md --junit none/checks.xml --json -- ./agent.sh";
    let ran = run(words).code(5);
    assert!(ran.stderr.contains("none/checks.xml"), "{}", ran.stderr);
    assert!(ran.stdout.contains("\"success\":true"), "the end is printed first: {}", ran.stdout);
}

#[test]
fn a_failed_test_is_a_case_of_junit_xml_with_its_message() {
    let settings =
        "[checks.tests]\ncommand = [\"cp\", \"report.xml\", \"{report}\"]\nreport = \"junit\"\n";
    let report = "<testsuite><testcase classname=\"Calc\" name=\"adds\"><failure \
                  message=\"expected 3 but was 4\"/></testcase>\
                  <testcase classname=\"Calc\" name=\"holds\"/></testsuite>";
    let run = judge("check out.log --junit checks.xml", DONE).settings(settings);
    let text = run.file("report.xml", report).code(1).file("checks.xml");
    let start = text.find("<testcase ").map(|at| &text[at..]).expect(&text);
    let case = start.split('>').next().unwrap();
    assert!(case.contains("adds") && case.contains("classname=\"tests\""), "{text}");
    assert!(text.contains("<failure message=\"expected 3 but was 4\""), "{text}");
    assert!(!text.contains("holds"), "{text}");
}
