//! `gate prune --older`: the folders of runs that ended before go, and no other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::run::{SAYS, project, task};
use crate::run_work;
use crate::support::Ran;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The folders of a task's runs.
fn runs(task: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(task.join("runs")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Lets a run be ten days old.
fn age(run: &Path) {
    let then = SystemTime::now() - 10 * DAY;
    let record = run.join("run-info.yaml");
    let text = fs::read_to_string(&record).unwrap();
    let old = |line: &str| match line.split_once(": ") {
        Some((key @ ("start_time" | "end_time"), _)) => format!("{key}: 2026-01-02T03:04:05Z\n"),
        _ => format!("{line}\n"),
    };
    fs::write(&record, text.lines().map(old).collect::<String>()).unwrap();
    fs::File::open(run).unwrap().set_modified(then).unwrap();
}

fn aged(task: &Path) {
    runs(task).iter().for_each(|run| age(run));
}

/// Removed folders of runs, after these words.
fn pruned(ran: &Ran, words: &str) -> Value {
    let output = ran.beside(&format!("prune --json {words}")).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    record["removed"]["runs"].clone()
}

#[test]
fn old_runs_go_with_an_age_and_what_else_a_task_has_stays() {
    let ran = project(&format!("test \"$(wc -l <count)\" -ge 2 && touch fixed\n{SAYS}")).code(0);
    let task = task(&ran);
    fs::write(task.join("TASK_STATE.md"), "half of it\n").unwrap();
    assert_eq!(runs(&task).len(), 2);
    assert_eq!(pruned(&ran, "--older 2d")["count"], 0, "they are new");
    aged(&task);
    assert_eq!(pruned(&ran, "")["count"], 0, "without an age they stay");
    assert_eq!(pruned(&ran, "--older 2d")["count"], 2);
    assert_eq!(fs::read_to_string(task.join("TASK_STATE.md")).unwrap(), "half of it\n");
    ran.again("ledger verify").code(0);
}

#[test]
fn a_dry_run_shows_them_and_removes_none() {
    let ran = project(&format!("touch fixed\n{SAYS}")).code(0);
    let task = task(&ran);
    fs::write(task.join("FACT-1.md"), "a fact\n").unwrap();
    aged(&task);
    let ran = ran.again("prune --older 2d --dry-run").code(0).says("folders of runs  1, ");
    assert_eq!(runs(&task).len(), 1);
    let ran = ran.again("prune --older 2d").code(0).says("freed ").says("folders of runs  1, ");
    assert!(runs(&task).is_empty());
    for file in ["TASK-MESSAGE-BUS.md", "FACT-1.md", "TASK.md"] {
        assert!(task.join(file).exists(), "{file}");
    }
    ran.again("report t1").code(0);
}

#[test]
fn a_task_whose_youngest_run_is_new_keeps_all() {
    let ran = project(&format!("test \"$(wc -l <count)\" -ge 2 && touch fixed\n{SAYS}")).code(0);
    let runs = runs(&task(&ran));
    age(&runs[0]);
    assert_eq!(pruned(&ran, "--older 2d")["count"], 0);
    assert!(runs[0].exists() && runs[1].exists());
}

#[test]
fn runs_of_leased_work_stay_until_the_lease_is_over() {
    let agent = run_work::says("IMPLEMENTATION", "completed", "n");
    let ran = run_work::project("implementation", &agent);
    let mut looped = ran.beside(run_work::WORDS);
    let looped = looped.env("AGENT_EXIT_PROTOCOL_ENABLED", "true").output().unwrap();
    assert_eq!(looped.status.code(), Some(1), "{looped:?}");
    let projects = ran.home().join(".local/share/gate/runs");
    let project = fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
    let task = project.join("work-W-1-0-implementation");
    let count = runs(&task).len();
    aged(&task);
    let ran = ran.again("work claim W-1 --actor a").code(0);
    assert_eq!(pruned(&ran, "--older 2d")["count"], 0, "somebody has the item");
    let ran = ran.again("work release W-1 --actor a").code(0);
    assert_eq!(pruned(&ran, "--older 2d")["count"], count);
}

#[test]
fn settings_that_nobody_approved_name_no_folder_to_empty() {
    let ran = project(&format!("touch fixed\n{SAYS}")).code(0);
    aged(&task(&ran));
    let foreign = ran.path("mine/shop/t1/runs/20260102-0304050000-1-1");
    fs::create_dir_all(&foreign).unwrap();
    fs::copy(runs(&task(&ran))[0].join("run-info.yaml"), foreign.join("run-info.yaml")).unwrap();
    age(&foreign);
    let settings = fs::read_to_string(ran.path("gate.toml")).unwrap();
    let settings = settings.replace("[run]\n", "[run]\nfolder = \"mine\"\n");
    fs::write(ran.path("gate.toml"), settings).unwrap();
    assert_eq!(pruned(&ran, "--older 2d")["count"], 1);
    assert!(foreign.exists() && runs(&task(&ran)).is_empty());
}
