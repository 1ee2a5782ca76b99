//! Facts: written down for a task, made known to the project.

use std::fs;

use gate_fleet::fact::{Fact, Scope};

use crate::support::{Ran, gate};

const SHOP: &str = "[project]\nid = \"shop\"\n[run]\nfolder = \"runs\"\n";

/// The files in a folder whose names begin so.
fn files(ran: &Ran, folder: &str, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(ran.path(folder)).into_iter().flatten().flatten();
    let names = entries.map(|it| it.file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    names
}

/// A run's record, for a run that somebody says to be.
fn record(run: &str, parent: &str) -> String {
    format!(
        "version: 1\nrun_id: {run}\n{parent}project_id: shop\ntask_id: t1\nagent: codex\npid: 0\npgid: 0\n\
         start_time: 2026-02-20T15:30:45Z\nend_time: 2026-02-20T15:31:45Z\nexit_code: 0\n\
         status: completed\nagent_version: \"\"\n"
    )
}

#[test]
fn a_projects_fact_is_a_file_in_its_folder() {
    let add = gate("fact add --scope project --body").settings(SHOP);
    let ran = add.args(["It is SQLite.", "DB schema"]).code(0).stderr("");
    let names = files(&ran, "runs/shop", "FACT-");
    assert!(names.len() == 1 && names[0].ends_with("-db-schema.md"), "{names:?}");
    assert!(ran.out().ends_with(&format!("runs/shop/{}\n", names[0])));
    let text = ran.file(&format!("runs/shop/{}", names[0]));
    let fact = Fact::parse(&text).unwrap();
    assert_eq!((fact.scope, fact.title.as_str()), (Scope::Project, "DB schema"));
    assert_eq!((fact.run_id.as_str(), fact.body.as_str()), ("", "It is SQLite.\n"));
    let lines: Vec<_> =
        text.lines().skip(1).take(4).filter_map(|line| line.split(':').next()).collect();
    assert_eq!(lines, ["created_at", "scope", "run_id", "title"]);
}

#[test]
fn a_tasks_fact_stands_in_its_folder() {
    let add = gate("fact add cart --task t1 --title Cart --run 9 --json").settings(SHOP);
    let ran = add.stdin("It holds 7.").code(0);
    assert_eq!(ran.json()["scope"], "task");
    let names = files(&ran, "runs/shop/t1", "TASK-FACTS-");
    assert_eq!(names.len(), 1);
    let fact = Fact::parse(&ran.file(&format!("runs/shop/t1/{}", names[0]))).unwrap();
    assert_eq!((fact.run_id.as_str(), fact.title.as_str()), ("9", "Cart"));
    let ran = ran.again("fact add all --scope global --body x").code(0);
    assert_eq!(files(&ran, "runs/global", "FACT-").len(), 1);
    ran.again("fact add cart --scope task --body x").code(2).tells("--task has to say which");
}

#[test]
fn a_name_leads_nowhere_else() {
    for name in ["../../evil", "..", "/etc/passwd", "a/b", "", "???"] {
        let ran = gate("fact add --body x").settings(SHOP).args([name]).code(2);
        let ran = ran.tells("names no fact");
        assert!(!ran.path("runs").exists(), "{name}");
    }
}

#[test]
fn what_tasks_found_becomes_the_projects_once() {
    let ran = gate("bus post --task t1 --type FACT --run 9 --body").settings(SHOP);
    let ran = ran.args(["# The cart\nholds 7"]).code(0);
    let ran = ran.again("bus post --task t1 --type INFO --body chatter").code(0);
    let ran = ran.again("fact add port --task t2 --body 8080").code(0);
    let ran = ran.again("fact promote --all --dry-run").code(0).says("would promote MSG-");
    assert_eq!(files(&ran, "runs/shop", "FACT-"), [""; 0]);
    let ran = ran.again("fact promote --all --json").code(0);
    let told = ran.json();
    let facts = told["facts"].as_array().unwrap();
    assert!(facts.len() == 2 && facts.iter().all(|fact| fact["outcome"] == "promoted"), "{told}");
    let names = files(&ran, "runs/shop", "FACT-");
    assert_eq!(names.len(), 2);
    assert!(names[0].ends_with("-the-cart.md") && names[1].ends_with("-port.md"), "{names:?}");
    let fact = Fact::parse(&ran.file(&format!("runs/shop/{}", names[0]))).unwrap();
    assert_eq!((fact.scope, fact.run_id.as_str()), (Scope::Project, "9"));
    let ran = ran.again("fact promote --all").code(0).says("known MSG-");
    assert_eq!(files(&ran, "runs/shop", "FACT-").len(), 2);
}

#[test]
fn one_fact_is_promoted_by_its_name() {
    let ran = gate("fact add port --task t2 --body 8080").settings(SHOP).code(0);
    let name = files(&ran, "runs/shop/t2", "TASK-FACTS-").remove(0);
    let ran = ran.again("fact promote --name web-port").args([name]).code(0);
    assert!(files(&ran, "runs/shop", "FACT-")[0].ends_with("-web-port.md"));
    let ran = ran.again("fact promote MSG-0").code(2).tells("MSG-0: no message of type FACT");
    ran.again("fact promote").code(2).tells("<MSG_ID|FILE>");
}

#[test]
fn a_run_that_another_started_does_not_promote() {
    let child = record("2", "parent_run_id: \"1\"\n");
    let ran = gate("fact add port --task t1 --run 2 --body 8080").settings(SHOP);
    let ran = ran.file("runs/shop/t1/runs/2/run-info.yaml", child);
    let ran = ran.file("runs/shop/t1/runs/1/run-info.yaml", record("1", "")).code(0);
    for words in ["fact promote --all --run 2", "fact add x --scope project --body y --run 2"] {
        let ran = gate(words).settings(SHOP);
        let ran =
            ran.file("runs/shop/t1/runs/2/run-info.yaml", record("2", "parent_run_id: \"1\"\n"));
        let ran = ran.code(2).tells("run 2 was started by run 1").tells("hint: propose it");
        assert_eq!(files(&ran, "runs/shop", "FACT-"), [""; 0]);
    }
    let ran = ran.again("fact promote --all --run 1").code(0);
    assert_eq!(files(&ran, "runs/shop", "FACT-").len(), 1);
}
