//! Facts, their files and names.

use proptest::prelude::*;

use super::*;
use crate::Stamp;

fn fact(title: &str, body: &str) -> Fact {
    Fact::new("2026-02-20T15:30:45.25Z".parse().unwrap(), Scope::Task, title, body)
}

#[test]
fn a_file_says_what_it_has_to() {
    let text = fact("DB: schema", "It is *flat*.").to_markdown();
    assert_eq!(
        text,
        "---\ncreated_at: 2026-02-20T15:30:45.25Z\nscope: task\nrun_id: \"\"\ntitle: 'DB: schema'\n---\n\nIt is *flat*.\n"
    );
    let more = text.replace("title", "colour: red\ntitle");
    assert!(Fact::parse(&more).unwrap().to_markdown().contains("colour: red\n"));
    let promoted = Fact::parse(&text).unwrap().promoted("2026-02-21T00:00:00Z".parse().unwrap());
    assert!(promoted.has_same_text(&fact("other", "It is *flat*.")));
    assert!(promoted.to_markdown().contains("scope: project\n"));
}

#[test]
fn what_is_no_fact_is_told() {
    let error = |text: &str| Fact::parse(text).unwrap_err().to_string();
    let front = "line 1: a front matter between two lines `---` is expected";
    assert_eq!(error("just words"), front);
    assert_eq!(error("---\ntitle: x\n"), front);
    let time = "created_at: 2026-02-20T15:30:45Z\n";
    assert_eq!(
        error("---\ntitle: x\n---\n"),
        "created_at: a time such as 2026-02-20T15:30:45Z is expected"
    );
    assert_eq!(
        error(&format!("---\n{time}title: x\nscope: all\n---\n")),
        "scope: task, project or global is expected"
    );
    assert_eq!(
        error(&format!("---\n{time}scope: task\n---\n")),
        "title: what the fact is about is expected"
    );
    assert!(error("---\na: [\n---\n").starts_with("line "));
}

#[test]
fn a_name_leads_nowhere() {
    assert_eq!(slug("DB schema, v2"), Ok("db-schema-v2".to_owned()));
    for bad in ["../../evil", "..", "/etc/x", "a\\b", "", "  ", "é"] {
        assert!(slug(bad).is_err(), "{bad}");
    }
    let stamp = Stamp { time: "2026-02-20T15:30:45Z".parse().unwrap(), pid: 7, seq: 2 };
    let name = file_name(Scope::Project, stamp, "db-schema");
    assert_eq!(name, "FACT-20260220-1530450000-7-2-db-schema.md");
    assert!(is_fact_file(Scope::Project, &name) && !is_fact_file(Scope::Task, &name));
    let task = file_name(Scope::Task, stamp, "");
    assert_eq!(task, "TASK-FACTS-20260220-1530450000-7-2.md");
    assert!(
        is_fact_file(Scope::Task, &task) && is_fact_file(Scope::Task, "TASK-FACTS-20260220.md")
    );
    assert!(
        !is_fact_file(Scope::Project, "FACT-x.md") && !is_fact_file(Scope::Project, "README.md")
    );
}

proptest! {
    #[test]
    fn any_fact_comes_back(title in "\\PC{1,20}", body in any::<String>()) {
        let body = format!("{body}\n");
        let fact = fact(&title, &body);
        let body_line = fact.to_markdown();
        prop_assert_eq!(Fact::parse(&body_line), Ok(fact));
    }
}
