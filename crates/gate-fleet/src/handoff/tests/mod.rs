//! Handoffs, read and written.

mod laws;
mod lines;
mod others;
mod rules;

use super::*;

const MARKDOWN: &str = "\
## Handoff
- objective: Read both archive layouts.
- in_scope: The importer
- out_of_scope:
  - The exporter
- changed_files:
  - src/importer.rs
- verification:
  - `cd tools && npm test` -> PASS (41 of 41.)
  - `npm run lint` -> FAIL
    - severity: low
    - rollback: git revert HEAD
- open_risks:
  - Old archives are untested, Some may not load, qa
- next_actions:
  1. Load an old archive
  2. Compare the counts
- assumptions:
  - Archives are UTF-8
";

fn read_md(text: &str) -> ParsedHandoff {
    read(text, Format::Markdown)
}

/// The fields of what is wrong with a text.
fn wrong(text: &str) -> Vec<String> {
    let problems = read(text, Format::detect(text)).all_problems();
    problems.into_iter().map(|problem| problem.field).collect()
}

fn whole() -> Handoff {
    let read = read_md(MARKDOWN);
    assert_eq!(read.all_problems(), []);
    read.handoff.unwrap()
}

#[test]
fn the_canonical_form_is_read() {
    let handoff = whole();
    assert_eq!(handoff.in_scope, ["The importer"]);
    assert_eq!(handoff.out_of_scope, ["The exporter"]);
    let [passed, failed] = &handoff.verification[..] else { panic!("two are expected") };
    assert_eq!(passed.command, "cd tools && npm test");
    assert_eq!((&passed.result, passed.notes.as_deref()), (&Outcome::Pass, Some("41 of 41.")));
    let blocker = Blocker { severity: "low".to_owned(), rollback: "git revert HEAD".to_owned() };
    assert_eq!((&failed.result, failed.blocker.as_ref()), (&Outcome::Fail, Some(&blocker)));
    let Risk { risk, impact, owner } = &handoff.open_risks[0];
    assert_eq!([risk, impact, owner], ["Old archives are untested", "Some may not load", "qa"]);
    assert_eq!(handoff.next_actions, ["Load an old archive", "Compare the counts"]);
}

#[test]
fn it_is_written_as_it_is_read() {
    let inline = "- in_scope: The importer\n";
    let listed = "- in_scope:\n  - The importer\n";
    assert_eq!(whole().to_markdown(), MARKDOWN.replace(inline, listed));
}

#[test]
fn an_agents_own_way_of_writing_is_read() {
    let own = "\
# Notes
* not a field

# Handoff: task 42

## Handoff

**Objective:** is below.

* **Objective**: Read both
  archive layouts.
* **In-Scope:** The importer
* out of scope: [\"The exporter\"]
* changed_files: # all of them

  * src/importer.rs

* verification:

  * **cd tools && npm test** → **PASS**: 41 of 41.
  * command: `npm run lint`
    result: FAIL
    * blocker:
      * severity: low
      * rollback: git revert HEAD

* open_risks:
  * risk: Old archives are untested
    impact: Some may not load
    owner: qa
* next_actions:
  - Load an old archive
  - Compare the counts
* assumptions:
  * Archives are
    UTF-8

## Details
* not a field

# Other
* objective: another
";
    let mut expected = whole();
    expected.verification[0].command = "**cd tools && npm test**".to_owned();
    let read = read_md(&own.replace('\n', "\r\n"));
    assert_eq!(read, ParsedHandoff { handoff: Some(expected), ..ParsedHandoff::default() });
}

#[test]
fn what_a_line_says_may_be_written_in_many_ways() {
    let verification = |line: &str| {
        let handoff = read_md(&format!("- verification:\n  - {line}\n")).handoff;
        let Verification { command, result, notes, .. } = handoff.unwrap().verification[0].clone();
        (command, result.as_str().to_owned(), notes.unwrap_or_default())
    };
    let check = |line: &str, command: &str, result: &str, notes: &str| {
        let expected = (command.to_owned(), result.to_owned(), notes.to_owned());
        assert_eq!(verification(line), expected, "{line}");
    };
    check("`make` -> PASS", "make", "PASS", "");
    check("`make` -> PASS (a) (b)", "make", "PASS", "a) (b");
    check("``echo `date` `` -> FAIL(why)", "echo `date`", "FAIL", "why");
    check("make test -> PASS, 3 tests", "make test", "PASS", "3 tests");
    check("`a -> b` => PASS", "a -> b", "PASS", "");
    check("a -> b -> FAIL", "a -> b", "FAIL", "");
    check("`make`: PASS", "make", "PASS", "");
    check("`make` and `lint` -> PASS", "`make` and `lint`", "PASS", "");
    check("`make`", "make", "", "");
    check("`command` -> PASS|FAIL (short note)", "command", "PASS|FAIL", "short note");
    check("\"a\\nb\" -> PASS (\"c\\nd\")", "a\nb", "PASS", "c\nd");
    let risk = |line: &str| {
        let Risk { risk, impact, owner } =
            read_md(&format!("- open_risks: {line}\n")).handoff.unwrap().open_risks[0].clone();
        [risk, impact, owner]
    };
    assert_eq!(risk("a, b, c"), ["a", "b", "c"]);
    assert_eq!(risk("a, b, with a comma, c"), ["a", "b, with a comma", "c"]);
    assert_eq!(risk("risk: a, impact: b, Owner: c"), ["a", "b", "c"]);
    assert_eq!(risk("a, b"), ["a", "b", ""]);
    assert_eq!(risk("none"), ["none", "", ""]);
}

#[test]
fn each_rule_names_its_field() {
    let with = |from: &str, to: &str| {
        assert!(MARKDOWN.contains(from), "{from}");
        wrong(&MARKDOWN.replace(from, to))
    };
    let none = [""; 0];
    assert_eq!(with("Read both archive layouts.", "..."), ["objective"]);
    assert_eq!(with("The exporter", "<exclusions>"), ["out_of_scope[0]"]);
    assert_eq!(with("  - src/importer.rs\n", ""), ["changed_files"]);
    assert_eq!(with("`npm run lint`", "`command`"), ["verification[1].command"]);
    assert_eq!(with("`npm run lint`", "`not run`"), ["verification[1].command"]);
    assert_eq!(with("-> FAIL", "-> SKIPPED"), ["verification[1].result"]);
    assert_eq!(with("-> FAIL", "-> pass"), ["verification[1].result"]);
    assert_eq!(with(", qa", ""), ["open_risks[0].owner"]);
    assert_eq!(with(", qa", ", n/a"), ["open_risks[0].owner"]);
    assert_eq!(with("Some may not load", "tbd"), ["open_risks[0].impact"]);
    assert_eq!(with("severity: low", "severity:"), ["verification[1].blocker.severity"]);
    assert_eq!(with("    - rollback: git revert HEAD\n", ""), ["verification[1].blocker.rollback"]);
    let more = "  2. Compare the counts\n  3. c\n";
    assert_eq!(with("  2. Compare the counts\n", more), none);
    assert_eq!(with("  2. Compare the counts\n", &format!("{more}  4. d\n")), ["next_actions"]);
    assert_eq!(with("Archives are UTF-8", "none"), none);
    assert_eq!(wrong("{}").len(), 8);
    let rules: Vec<_> = Handoff {
        verification: vec![
            Verification { result: Outcome::Fail, ..Verification::default() },
            Verification { command: "make".to_owned(), ..Verification::default() },
        ],
        open_risks: vec![Risk::default()],
        ..whole()
    }
    .problems()
    .iter()
    .map(|problem| problem.rule)
    .collect();
    assert_eq!(rules, [2, 4, 4, 2, 1, 3, 3].map(Some));
}

#[test]
fn what_is_no_handoff_is_told() {
    let told = |text: &str| {
        let told = read(text, Format::detect(text)).problems;
        told.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    assert!(told("just words").starts_with("there is no handoff"));
    assert!(told("```\n## Handoff\n- objective: x\n```\n").starts_with("there is no handoff"));
    assert_eq!(told("{\"objective\": }"), "no JSON: expected value at line 1 column 15");
    assert_eq!(
        told("\n- objectiv: a\n- objective: b\n"),
        "objectiv: line 2: there is no such key; is it `objective`?"
    );
    assert_eq!(
        told("- objective: a\n- Objective: b\n"),
        "objective: line 2: this key stands here twice"
    );
    assert_eq!(
        told("- objective: a\n- open_risks:\n  - r\n    - owners: x\n"),
        "open_risks[0].owners: line 4: there is no such key; is it `owner`?"
    );
    assert_eq!(
        told("# Handoff\n- objective: a\n# Handoff\n- objective: b\n"),
        "lines 1 and 3: one handoff is expected, not two"
    );
    assert_eq!(told("- a2a: yes\n"), "a2a: an object is expected, and this is a string");
    assert_eq!(told("- in_scope:\n  > a\n"), "in_scope: line 1: only a list is read here");
    for (text, expected) in [
        (r#"{"objective":3}"#, "objective: a string is expected, and this is a number"),
        (r#"{"in_scope":"a"}"#, "in_scope: a list of strings is expected, and this is a string"),
        (r#"{"in_scope":["a",null]}"#, "in_scope[1]: a string is expected, and this is null"),
        (r#"{"objective":"a","objective":"a"}"#, "objective: this key stands here twice"),
        (
            r#"{"verification":[{"exit":0}]}"#,
            "verification[0].exit: there is no such key; known are blocker, command, notes, result",
        ),
        (
            r#"{"a2a":{"protocol_version":0.3}}"#,
            "a2a.protocol_version: a string is expected, and this is a number",
        ),
    ] {
        assert_eq!(told(text), expected);
    }
    let notes = "n".repeat(1_000_000);
    for text in [
        format!(r#"{{"verification":[{{"notes":"{notes}"}}]}}"#),
        format!("- verification:\n  - `make` -> PASS ({notes})\n"),
    ] {
        let expected = "verification[0].notes: it is 1000000 bytes long, and at most 10240 may be";
        assert_eq!(told(&text), expected);
    }
    let long = format!("- objective: {}", "a".repeat(LONGEST));
    assert_eq!(told(&long), "longer than 2097152 bytes, and a handoff is brief");
}

#[test]
fn what_could_not_be_read_is_told_once() {
    assert_eq!(wrong(r#"{"objective":3}"#)[..2], ["objective", "in_scope"]);
    assert_eq!(wrong("{"), [""]);
    let risks = format!("{{\"open_risks\":[{}]}}", vec!["{}"; 50_000].join(","));
    let told = read(&risks, Format::Json).all_problems();
    assert_eq!(told.last().unwrap().message, "149907 more problems like these");
    let many: Vec<_> = (0..50_000).map(|at| format!("\"k{at}\":1")).collect();
    for text in [format!("{{{}}}", many.join(",")), format!("{{\"parts\":[],{}}}", many.join(","))]
    {
        let told = read(&text, Format::detect(&text)).problems;
        assert!((3..=101).contains(&told.len()), "{}", told.len());
    }
}

#[test]
fn nothing_is_too_deep() {
    let deep = "- ".repeat(5_000);
    let text =
        read_md(&format!("- objective: a\n- in_scope:\n  {deep}x\n")).handoff.unwrap().in_scope;
    assert!(text[0].ends_with("- x"));
    assert!(!read("[".repeat(5_000).as_str(), Format::Json).problems.is_empty());
    let quotes = "> ".repeat(5_000);
    assert!(!read_md(&format!("{quotes}- objective: a")).problems.is_empty());
}
