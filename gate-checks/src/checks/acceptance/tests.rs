//! What files say, and what that comes to.

use std::fs;

use gate_core::config::{self, Layer, Origin};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::CheckPolicy;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Tally, named_files};
use crate::check::CheckId;

mod marks;

/// A project with files, and what is asked of them.
struct Case {
    folder: TempDir,
    entries: Vec<String>,
    rules: CheckPolicy,
    task: Option<&'static str>,
}

impl Case {
    /// A project in which the settings name these files.
    fn of(texts: &[(&str, &str)]) -> Self {
        let case = Self::naming(&[]);
        let entries = texts.iter().map(|(file, _)| (*file).to_owned()).collect();
        texts.iter().for_each(|(file, text)| case.write(file, text.as_bytes()));
        Self { entries, ..case }
    }

    fn naming(entries: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let entries = entries.iter().map(|&entry| entry.to_owned()).collect();
        let settings = "[checks.acceptance_criteria]\nfiles = [\"plan.md\"]\n";
        let layer = Layer::parse(Origin::Project("gate.toml".into()), settings).unwrap();
        let mut policy = config::resolve(&[layer], None).unwrap().policy;
        let rules = policy.checks.remove("acceptance_criteria");
        Self { folder, entries, rules: rules.unwrap(), task: None }
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn with(self, file: &str, text: &str) -> Self {
        self.write(file, text.as_bytes());
        self
    }

    fn optional(mut self, headings: &[&str]) -> Self {
        self.rules.optional = headings.iter().map(|&heading| heading.to_owned()).collect();
        self
    }

    fn done_marks(mut self, marks: &[&str]) -> Self {
        self.rules.done_marks = marks.iter().map(|&mark| mark.to_owned()).collect();
        self
    }

    fn task(self, task: &'static str) -> Self {
        Self { task: Some(task), ..self }
    }

    fn verdict(&self) -> Evidence {
        let mut tally = Tally::new(self.task);
        for entry in &self.entries {
            match named_files(self.folder.path(), entry) {
                Ok(files) => files.iter().for_each(|file| tally.read_file(file, &self.rules)),
                Err(error) => tally.add_problem(&error),
            }
        }
        tally.finish(&[]).verdict(&CheckId::new("acceptance_criteria"))
    }

    #[track_caller]
    fn is(self, outcome: Outcome, summary: &str) -> Value {
        let verdict = self.verdict();
        assert_eq!((verdict.outcome, verdict.summary.as_str()), (outcome, summary));
        verdict.detail.unwrap()
    }

    #[track_caller]
    fn fails(self, summary: &str) -> Value {
        self.is(Outcome::Fail, summary)
    }

    #[track_caller]
    fn passes(self, summary: &str) -> Value {
        self.is(Outcome::Pass, summary)
    }

    #[track_caller]
    fn unknown(self, summary: &str) -> Value {
        self.is(Outcome::Inconclusive, summary)
    }
}

/// One Markdown file, and which of its items are open, as `line text`.
#[track_caller]
fn markdown(text: &str, done: usize, open: &[&str]) {
    let verdict = Case::of(&[("plan.md", text)]).verdict();
    let detail = verdict.detail.unwrap();
    let items = detail["open"].as_array().unwrap();
    let items: Vec<_> = items
        .iter()
        .map(|item| format!("{} {}", item["line"], item["text"].as_str().unwrap()))
        .collect();
    let count = detail["files"][0]["done"].as_u64().unwrap();
    assert_eq!(
        (count, items),
        (done as u64, open.iter().map(|&open| open.to_owned()).collect()),
        "{text}"
    );
}

#[test]
fn boxes_of_list_items_are_tasks() {
    markdown("- [x] a\n- [X] b\n* [ ] c\n+ [ ] d\n1. [ ] e\n2) [x] f\n", 3, &["3 c", "4 d", "5 e"]);
    markdown("- [x] a\n  - [ ] b\n    - [ ] c\n- [ ] d\n", 1, &["2 b", "3 c", "4 d"]);
    markdown("> - [ ] quoted\n\n- plain\n  - [ ] below plain\n", 0, &["1 quoted", "4 below plain"]);
    markdown("- [ ] one `--flag`, **bold**\n  and more\n\n  text\n", 0, &["1 one --flag, bold"]);
    markdown("-   [ ] wide\r\n-\t[x] tab\r\n", 1, &["1 wide"]);
    markdown("<details>\n\n- [ ] folded\n\n</details>\n", 0, &["3 folded"]);
    markdown("---\ntitle: a\n---\n- [ ] after front matter\n", 0, &["4 after front matter"]);
    markdown("- [ ] # a heading\n- [x] b\n", 1, &["1 # a heading"]);
}

#[test]
fn a_box_in_doubt_is_open() {
    markdown("- [~] begun\n- [/] half\n- [-] off\n- [x] c\n", 1, &["1 begun", "2 half", "3 off"]);
    markdown("- [] a\n1. [] **b**\n- [ ]\n- [](url)\n", 0, &["1 a", "2 b", "3 "]);
    markdown("-[ ] a\n\ntext\n*[ ] b\n-[x] c\n", 0, &["1 a", "4 b"]);
    markdown("- [x] a\n-[ ] b\n", 1, &["2 b"]);
    markdown(
        "<details>\n- [ ] a\n  * [~] b\n2. [ ] c\n- [x] d\n</details>\n",
        0,
        &["2 a", "3 b", "4 c"],
    );
    markdown("<div>\n<!--\n- [ ] a\n-->\n<!-->- [ ] b\n</div>\n", 0, &["5 b"]);
    markdown("- [~] T1 a\n  - [ ] b\n", 0, &["1 T1 a", "2 b"]);
}

#[test]
fn other_brackets_are_no_tasks() {
    for text in [
        "- \\[~] a",
        "- \\[-] a",
        "- [...] a",
        "- [API] a",
        "- [Fixed] a",
        "- [1] a",
        "- [^1] a",
        "- [todo](https://example.org)",
        "- [-][ref]\n\n[ref]: https://example.org",
        "a [-] b",
        "- `[~]` a",
        "```\n-[ ] a\n- [~] b\n```",
        "    -[ ] a",
        "<div>\n<!-- x\n- [ ] a\n-->\n</div>",
        "- [2026-01-29] a",
        "- [NOTE] a",
        "- [v1.0] a",
        "- [#123] a",
        "- [x](https://example.org)",
        "- [x][ref]\n\n[ref]: https://example.org",
        "- `[ ]` a",
        "- \\[ ] a",
        "[ ] a",
        "a [ ] b",
        "```\n- [ ] a\n```",
        "~~~md\n- [ ] a\n~~~",
        "    - [ ] a",
        "<!--\n- [ ] a\n-->",
        "a <!-- - [ ] b -->",
        "# - [ ] a",
    ] {
        let text = format!("- [x] done\n\ntext\n\n{text}\n");
        markdown(&text, 1, &[]);
    }
}

#[test]
fn items_below_optional_headings_do_not_block() {
    let text = "\
# Plan
- [x] a
## **Nice to Have:**
- [ ] b
### Sub
- [ ] c
## Rest
- [x] d
";
    let case = |text: &str| Case::of(&[("plan.md", text)]).optional(&["nice to have"]);
    let detail = case(text).passes("all 2 criteria are marked as done");
    assert_eq!(detail["files"][0]["optional"], 2);
    case(&text.replace("[x] d", "[ ] d")).fails("1 of 2 criteria are open: d");
    case(&text.replace("to Have", "to haves")).fails("2 of 4 criteria are open: b; c");
    case("Nice to have\n---\n- [ ] a\n").unknown("no criteria were found that count");
    case("> # Nice to have\n\n- [ ] a\n").fails("1 of 1 criterion is open: a");
    case("- # Nice to have\n- [ ] a\n").fails("1 of 1 criterion is open: a");
}

#[test]
fn stories_pass_or_do_not() {
    for list in ["stories", "userStories", "user_stories", "features"] {
        let text = format!(
            "{{\"project\":\"p\",\"{list}\":[\n {{\"id\":\"US-1\",\"title\":\"a\",\"passes\":true}},\n {{\"id\":2,\"name\":\"b\",\"passes\":false}}]}}"
        );
        let detail = Case::of(&[("prd.json", &text)]).fails("1 of 2 criteria are open: 2 b");
        assert_eq!(detail["open"], json!([{"file": "prd.json", "line": 3, "text": "2 b"}]));
        assert_eq!(detail["files"][0]["format"], "prd");
    }
    let prd = |text: &str| Case::of(&[("prd.json", text)]);
    prd("\u{feff} [{\"passes\":true}]").passes("the only criterion is marked as done");
    prd("[{\"passes\":true},{\"description\":\"no word\\nmore\"}]")
        .fails("1 of 2 criteria are open: no word");
    prd("[{\"passes\":true},{\"title\":\"a\",\"passes\":null}]")
        .fails("1 of 2 criteria are open: a");
}

#[test]
fn whatever_has_passes_counts() {
    let prd = |text: &str, summary: &str| Case::of(&[("prd.json", text)]).fails(summary);
    let open = "1 of 2 criteria are open: US-1.1 part";
    let part = r#"{"id":"US-1.1","title":"part","passes":false}"#;
    prd(&format!(r#"[{{"id":"US-1","passes":true,"subtasks":[{part}]}}]"#), open);
    prd(&format!(r#"{{"stories":[{{"passes":true}}],"tasks":[{part}]}}"#), open);
    prd(&format!(r#"{{"epics":[{{"stories":[{{"passes":true}},{part}]}}]}}"#), open);
    prd(
        r#"{"stories":[{"passes":true}],"x":{"passes":null,"passes":true}}"#,
        "1 of 2 criteria are open: prd.json:1",
    );
    let done = r#"{"stories":[{"passes":true,"parts":[{"passes":true}]}],"cpu":{"passes":3}}"#;
    Case::of(&[("prd.json", done)]).passes("all 2 criteria are marked as done");
    let story = format!(
        r#"[{{"id":"US-1","passes":true,"parts":[{part}]}},{{"id":"US-2","passes":true}}]"#
    );
    Case::of(&[("prd.json", &story)]).task("US-1").fails(open);
    Case::of(&[("prd.json", &story)]).task("US-2").passes("the only criterion is marked as done");
}

#[test]
fn stories_that_cannot_be_read_are_no_pass() {
    let prd = |text: &str, summary: &str| Case::of(&[("prd.json", text)]).unknown(summary);
    prd("{\"stories\":[", "prd.json:1: expected JSON with stories: EOF while parsing a list");
    prd(
        "{\n\"stories\": 3}",
        "prd.json:2: expected JSON with stories: invalid type: integer `3`, expected a sequence",
    );
    prd(
        "[\n{\"passes\":true},\n{\"passes\":\"yes\"}]",
        "prd.json:3: expected a story with `passes`: invalid type: string \"yes\", expected a boolean",
    );
    prd(
        "[{\"passes\":false,\"passes\":true}]",
        "prd.json:1: expected a story with `passes`: duplicate field `passes`",
    );
    prd(
        "{\"stories\":[],\"stories\":[]}",
        "prd.json:1: expected JSON with stories: duplicate field `stories`",
    );
    prd("[{\"passes\":true}] x", "prd.json:1: expected JSON with stories: trailing characters");
    prd("{}", "prd.json holds no story with `passes`");
    prd("[{\"title\":\"a\"}]", "prd.json holds no story with `passes`");
    let deep = format!("[{{\"title\":{}", "[".repeat(100_000));
    assert_eq!(Case::of(&[("prd.json", &deep)]).verdict().outcome, Outcome::Inconclusive);
}

const BEADS: &str = "\
{\"id\":\"bd-1\",\"title\":\"epic\",\"issue_type\":\"epic\",\"status\":\"open\"}
{\"id\":\"bd-2\",\"title\":\"part\",\"status\":\"closed\",\"dependencies\":[{\"issue_id\":\"bd-2\",\"depends_on_id\":\"bd-1\",\"type\":\"parent-child\"}]}

{\"id\":\"bd-2.1\",\"title\":\"part of part\",\"status\":\"in_progress\"}
{\"id\":\"bd-3\",\"title\":\"later\",\"status\":\"blocked\",\"dependencies\":[{\"issue_id\":\"bd-3\",\"depends_on_id\":\"bd-1\",\"type\":\"blocks\"}]}
{\"id\":\"bd-4\",\"title\":\"deleted\",\"status\":\"tombstone\"}
{\"id\":\"bd-5\",\"title\":\"alone\",\"status\":\"closed\"}
";

#[test]
fn issues_are_open_until_they_are_closed() {
    let beads = || Case::of(&[(".beads/issues.jsonl", BEADS)]);
    let detail =
        beads().fails("3 of 5 criteria are open: bd-1 epic; bd-2.1 part of part; bd-3 later");
    assert_eq!(detail["open"][1]["line"], 4);
    beads().task("bd-1").fails("2 of 3 criteria are open: bd-1 epic; bd-2.1 part of part");
    beads().task("bd-2").fails("1 of 2 criteria are open: bd-2.1 part of part");
    beads().task("bd-5").passes("the only criterion is marked as done");
    beads().task("bd-9").unknown("no criterion of task bd-9 in .beads/issues.jsonl");
    beads().task("bd").unknown("no criterion of task bd in .beads/issues.jsonl");
}

#[test]
fn issues_that_cannot_be_read_are_no_pass() {
    let beads = |text: &str| Case::of(&[("i.jsonl", text)]).verdict();
    let unknown = |text: &str, part: &str| {
        let verdict = beads(text);
        assert_eq!(verdict.outcome, Outcome::Inconclusive, "{text}");
        assert!(verdict.summary.contains(part), "{}", verdict.summary);
    };
    let closed = "{\"id\":\"bd-1\",\"status\":\"closed\"}\n";
    assert_eq!(beads(closed).outcome, Outcome::Pass);
    unknown(&format!("{closed}<<<<<<< HEAD\n"), "i.jsonl:2: expected an issue");
    unknown(&format!("{closed}{{\"title\":\"a\"}}\n"), "it has no `id`");
    unknown("{\"id\":\"bd-1\",\"status\":\"open\",\"status\":\"closed\"}", "duplicate field");
    unknown("", "i.jsonl holds no issues");
    let circle = "{\"id\":\"a\",\"status\":\"closed\",\"parent\":\"b\"}\n{\"id\":\"b\",\"parent\":\"a\",\"status\":\"x\"}\n";
    assert_eq!(beads(circle).summary, "1 of 2 criteria are open: b");
}

const TASKS: &str = "\
## Phase 3: User Story 1 (US1)

- [x] T001 [P] [US1] Create the model
- [ ] T002 [US1] Serve it
  - [x] with tests
  - [ ] with documents

## Task 7: the rest

- [x] T003 Tidy

## Later

- [ ] T0012 Paint
";

#[test]
fn a_task_selects_by_id_and_by_heading() {
    let tasks = || Case::of(&[("specs/a/tasks.md", TASKS), ("notes.md", "text\n")]);
    tasks().task("T001").passes("the only criterion is marked as done");
    tasks().task("T002").fails("2 of 3 criteria are open: T002 [US1] Serve it; with documents");
    tasks().task("us1").fails("2 of 4 criteria are open: T002 [US1] Serve it; with documents");
    tasks().task("7").passes("the only criterion is marked as done");
    let missing = "no criterion of task T9 in specs/a/tasks.md, notes.md";
    assert_eq!(tasks().task("T9").unknown(missing)["files"][0]["open"], 0);
    let later = || tasks().optional(&["later"]);
    later().task("T0012").fails("1 of 1 criterion is open: T0012 Paint");
    later().task("later").unknown("no criteria were found that count");
}

#[test]
fn a_task_that_no_file_knows_means_all_where_there_are_no_ids() {
    let plan = "- [x] Read both layouts\n- [ ] Drop the old one\n";
    Case::of(&[("p.md", plan)]).task("42").fails("1 of 2 criteria are open: Drop the old one");
    let done = plan.replace("[ ]", "[x]");
    Case::of(&[("p.md", &done)]).task("42").passes("all 2 criteria are marked as done");
    Case::of(&[("p.md", "none\n")]).task("42").unknown("p.md holds no task list");
}

#[test]
fn every_named_file_has_to_hold_criteria() {
    let done = "- [x] a\n";
    Case::of(&[("a.md", done), ("b.md", "# nothing\n")]).unknown("b.md holds no task list");
    Case::of(&[("a.md", ""), ("b.md", "- [ ] b\n")]).fails("1 of 1 criterion is open: b");
    let case = Case::naming(&["a.md", "gone.md"]).with("a.md", done);
    assert_eq!(case.unknown("gone.md: no such file")["problems"], json!(["gone.md: no such file"]));
    let case = Case::naming(&["a.md", "b.md"]).with("a.md", done);
    case.write("b.md", b"- [x] a\n- [x] \xff\n");
    case.unknown("b.md:2 is not UTF-8");
    let case = Case::naming(&["a.md"]);
    case.write("a.md", &vec![b' '; (16 << 20) + 1]);
    case.unknown("a.md is longer than 16777216 bytes");
}

#[test]
fn globs_name_all_files_that_match() {
    let specs = |entry: &str| {
        Case::naming(&[entry])
            .with("specs/a/tasks.md", "- [x] a\n")
            .with("specs/b/tasks.md", "- [ ] b\n")
    };
    for entry in [
        "specs/*/tasks.md",
        "specs/**/*.md",
        "**/tasks.md",
        "specs/{a,b}/tasks.md",
        "./specs/?/tasks.md",
    ] {
        specs(entry).fails("1 of 2 criteria are open: b");
    }
    specs("specs/[a]/tasks.md").passes("the only criterion is marked as done");
    specs("*.md").unknown("*.md: no file matches");
    specs("specs/*.md").unknown("specs/*.md: no file matches");
    specs("specs/[a").unknown("specs/[a is no glob: unclosed character class; missing ']'");
    let odd = Case::of(&[("a[1].md", "- [ ] odd\n")]);
    odd.fails("1 of 1 criterion is open: odd");
    let twice = Case::naming(&["specs/a/tasks.md", "specs/*/tasks.md"]);
    twice.with("specs/a/tasks.md", "- [ ] a\n").fails("1 of 1 criterion is open: a");
}

#[test]
fn many_open_items_are_named_in_part() {
    let text = (1..=60).map(|n| format!("- [ ] item {n}\n")).collect::<String>();
    let summary = "60 of 60 criteria are open: item 1; item 2; item 3; item 4; item 5; and 55 more";
    let detail = Case::of(&[("a.md", &text)]).fails(summary);
    assert_eq!(detail["open"].as_array().unwrap().len(), 50);
}

#[test]
fn what_items_say_is_cleaned() {
    let text = format!("- [ ] a\u{1b}[2J\u{202e}b {}\n", "x".repeat(1000));
    let verdict = Case::of(&[("a.md", &text)]).verdict();
    assert!(verdict.summary.starts_with("1 of 1 criterion is open: ab xxx"), "{}", verdict.summary);
    assert!(verdict.summary.chars().count() < 200 && verdict.summary.ends_with('…'));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_waited_for() {
    let case = Case::naming(&["pipe.md"]);
    let pipe = case.folder.path().join("pipe.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    case.unknown("pipe.md is no regular file");
    let case = Case::naming(&["folder"]);
    fs::create_dir(case.folder.path().join("folder")).unwrap();
    case.unknown("folder is no regular file");
}

#[cfg(unix)]
#[test]
fn links_and_paths_may_lead_out_of_the_project() {
    use gate_platform::symlink;

    let outside = TempDir::new().unwrap();
    fs::create_dir(outside.path().join("specs")).unwrap();
    fs::write(outside.path().join("specs/a.md"), "- [ ] a\n").unwrap();
    for entry in ["link/specs/a.md", "link/*/a.md", "*/specs/a.md"] {
        let case = Case::naming(&[entry]);
        symlink(outside.path(), case.folder.path().join("link")).unwrap();
        case.fails("1 of 1 criterion is open: a");
    }
    let entry = outside.path().join("specs/*.md").display().to_string();
    Case::naming(&[&entry]).fails("1 of 1 criterion is open: a");
    let case = Case::naming(&["**/*.md"]).with("a.md", "- [x] a\n");
    symlink(".", case.folder.path().join("loop")).unwrap();
    case.passes("the only criterion is marked as done");
}

/// Text that is made of what matters in these formats.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "- ",
        "[ ]",
        "[~]",
        "[]",
        "-",
        "<div>",
        "[x]",
        " ",
        "\n",
        "  ",
        "```",
        "<!--",
        "-->",
        "> ",
        "# ",
        "Later",
        "{",
        "}",
        "\"id\":",
        "\"passes\":true",
        "1. ",
        "T001",
        ",",
        "[",
        "]",
        "(a)",
        ": ",
        "---",
        "é",
        "\u{0}",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in pieces(), any in ".{0,60}") {
        for name in ["a.md", "a.json", "a.jsonl"] {
            for text in [&text, &any] {
                let case = Case::of(&[(name, text)]).optional(&["Later", ""]).task("T001");
                prop_assert!(!case.verdict().summary.contains('\n'));
            }
        }
    }

    #[test]
    fn an_open_item_fails_whatever_comes_after_it(text in pieces()) {
        let text = format!("- [ ] open\n\n{text}");
        let verdict = Case::of(&[("a.md", &text)]).optional(&["Later"]).verdict();
        prop_assert_eq!(verdict.outcome, Outcome::Fail);
    }
}
