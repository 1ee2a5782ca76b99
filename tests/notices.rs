//! Messages, facts and handoffs of machines that have nothing in common but a database.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::run_work::says;
use crate::support::DONE;
use crate::support::shop::{Said, Shop};

const SETTINGS: &str = "[run]\nfolder = \"runs\"\n[tree]\nignore = [\"runs/**\"]\n\
                        [checks.tests]\ncommand = [\"true\"]\n";

/// The project's bus, from the working folder.
const BUS: &str = "runs/shop/PROJECT-MESSAGE-BUS.md";

fn fleet(machines: usize) -> Option<Shop> {
    Shop::fleet_with(machines, SETTINGS)
}

/// Posts to the project from a machine, and returns the id.
#[track_caller]
fn post(shop: &Shop, machine: usize, words: &str, body: &str) -> String {
    let said = shop.say_on(machine, &format!("bus post --json {words} --body"), &[body]).is(0);
    said.json()["msg_id"].as_str().unwrap().to_owned()
}

/// The bodies of what a machine reads, the oldest first.
#[track_caller]
fn bodies(shop: &Shop, machine: usize, words: &str) -> Vec<String> {
    let said = shop.say_on(machine, &format!("bus read --all --json {words}"), &[]).is(0);
    let messages = said.out.lines().map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).unwrap();
        message["body"].as_str().unwrap().to_owned()
    });
    messages.collect()
}

/// The files of a machine's folder whose names begin so.
fn files(shop: &Shop, machine: usize, folder: &str, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(shop.machines[machine].path(folder)).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Makes a machine's agent, which writes its prompt to the file `told` and then runs these lines.
fn set_agent(shop: &Shop, machine: usize, lines: &str) {
    let script = shop.machines[machine].path("agent.sh");
    fs::write(&script, format!("#!/bin/sh\ncat >told\n{lines}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_one_machine_posts_all_read() {
    let Some(shop) = fleet(2) else { return };
    let question = post(&shop, 0, "--type QUESTION", "which\n---\nport?");
    assert_eq!(bodies(&shop, 1, ""), ["which\n---\nport?"]);
    let answer = post(&shop, 1, &format!("--type ANSWER --parent {question}"), "8080");
    post(&shop, 0, "--task t1", "of the task");
    for machine in [0, 1, 1] {
        assert_eq!(bodies(&shop, machine, ""), ["which\n---\nport?", "8080"]);
        assert_eq!(bodies(&shop, machine, "--task t1"), ["of the task"]);
        assert_eq!(bodies(&shop, machine, &format!("--since-id {question}")), ["8080"]);
        assert_eq!(bodies(&shop, machine, &format!("--thread {question}")).len(), 2);
        // Agents read the file.
        let bus = shop.machines[machine].file(BUS);
        assert_eq!(bus.matches("\nmsg_id: ").count(), 2, "{bus}");
    }
    shop.say_on(0, &format!("bus poll --since-id {answer}"), &[]).is(1);
    let poll = format!("bus poll --wait 60s --json --since-id {answer}");
    let waiting = shop.command(0, &poll).spawn().unwrap();
    post(&shop, 1, "", "late");
    let polled = waiting.wait_with_output().unwrap();
    let told = String::from_utf8(polled.stdout).unwrap();
    assert!(polled.status.success() && told.contains("\"body\":\"late\""), "{told}");
    // The ledger is the project's: its chain holds, and its log names the messages.
    shop.say("ledger verify").is(0);
    let log = shop.say("log").is(0).out;
    assert!(log.contains("ANSWER: 8080"), "{log}");
}

#[test]
fn another_projects_bus_stays_on_its_machine() {
    let Some(shop) = fleet(2) else { return };
    post(&shop, 0, "--project other", "here alone");
    assert_eq!(bodies(&shop, 0, "--project other"), ["here alone"]);
    assert_eq!(bodies(&shop, 1, "--project other"), [""; 0]);
    assert!(shop.records().is_empty());
}

#[test]
fn without_the_database_nothing_is_posted_anywhere() {
    let Some(shop) = fleet(2) else { return };
    post(&shop, 0, "", "before");
    let say_alone = |words: &str| {
        let mut command = shop.command(0, words);
        command.env("GATE_DATABASE_URL", "postgres://gate:x@127.0.0.1:1/shop");
        Said::of(&command.env("GATE_STORE_PATIENCE", "1s").output().unwrap())
    };
    for words in ["bus post --body lost", "fact add port --body lost"] {
        say_alone(words).is(5);
    }
    // The file is here, and who reads it is told what may be missing.
    let read = say_alone("bus read").is(0);
    assert!(read.out.contains("before"), "{}", read.out);
    let note = "gate: messages of the other machines may be missing here: ";
    assert!(read.err.starts_with(note) && read.err.lines().count() == 1, "{}", read.err);
    assert!(!shop.machines[0].file(BUS).contains("lost"));
    assert_eq!(files(&shop, 0, "runs/shop", "FACT-").len(), 0);
    assert_eq!(bodies(&shop, 1, ""), ["before"]);
}

#[test]
fn facts_of_one_machine_are_promoted_on_another() {
    let Some(shop) = fleet(2) else { return };
    shop.say_on(0, "fact add db --body", &["It is SQLite."]).is(0);
    shop.say_on(0, "fact add port --task t1 --title Port --body 8080", &[]).is(0);
    let promoted = shop.say_on(1, "fact promote --all --json", &[]).is(0).json();
    assert_eq!(promoted["facts"][0]["title"], "Port", "{promoted}");
    assert_eq!(files(&shop, 1, "runs/shop/t1", "TASK-FACTS-").len(), 1);
    let again = shop.say_on(0, "fact promote --all --json", &[]).is(0).json();
    assert_eq!(again["facts"][0]["outcome"], "known", "{again}");
    for machine in [0, 1] {
        assert_eq!(files(&shop, machine, "runs/shop", "FACT-").len(), 2);
    }
}

#[test]
fn whoever_claims_next_gets_the_handoff() {
    let Some(shop) = fleet(2) else { return };
    shop.add("W-1", "implementation");
    set_agent(&shop, 0, &says("IMPLEMENTATION", "blocked", "no credentials"));
    let words = "run --work W-1 --max-iterations 1 --json -- ./agent.sh";
    let end = shop.say_on(0, words, &[]).is(1).json();
    let left = fs::read_to_string(end["handoff"].as_str().unwrap()).unwrap();
    shop.say_on(1, "work unblock W-1", &[]).is(0);
    let lease = shop.say_on(1, "work claim W-1 --actor b --json", &[]).is(0).json();
    let file = lease["handoff"].as_str().unwrap();
    assert!(file.starts_with(&*shop.machines[1].path("runs").to_string_lossy()), "{file}");
    assert_eq!(fs::read_to_string(file).unwrap(), left);
    shop.say_on(1, "work release W-1 --actor b", &[]).is(0);
    set_agent(&shop, 1, "");
    shop.say_on(1, words, &[]).is(1);
    let told = shop.machines[1].file("told");
    assert!(told.contains(&format!("Read it first: {file}")), "{told}");
}

#[test]
fn a_handoff_is_shared_once_by_the_loop_that_left_it() {
    let Some(shop) = fleet(2) else { return };
    set_agent(&shop, 0, "echo 'I need the credentials.'");
    let words = "run --task t1 --prompt gate.toml --max-iterations 1 --json -- ./agent.sh";
    let end = shop.say_on(0, words, &[]).is(1).json();
    // A stop keeps the next loop from starting, which so names the same file and leaves none.
    let task = shop.machines[0].path("runs/shop/t1");
    fs::write(task.join("STOP-REQUESTED"), "permanent").unwrap();
    let held = shop.say_on(0, words, &[]).json();
    assert_eq!((&held["handoff"], &held["iterations"]), (&end["handoff"], &0.into()));
    let records = shop.records();
    let handoffs = records.iter().filter(|record| record["type"] == "handoff_left");
    assert_eq!(handoffs.count(), 1, "{records:#?}");
}

#[test]
fn a_handoff_that_cannot_be_shared_leaves_the_end_as_it_is() {
    let Some(shop) = fleet(1) else { return };
    let folder = "folder=$(sed -n 's/^JRUN_RUN_FOLDER=//p' told)";
    let lines = format!("{folder}\nmkdir \"$folder/handoff.md\"\ncat <<'END'\n{DONE}END");
    set_agent(&shop, 0, &lines);
    let run = shop.say_on(0, "run --task t1 --prompt gate.toml --json -- ./agent.sh", &[]).is(0);
    assert_eq!(run.json()["stopped_by"], "completed");
    let warning = "the other machines did not get the handoff /";
    assert!(run.err.contains(&format!("gate: {warning}")), "{}", run.err);
    assert!(shop.machines[0].file("runs/shop/t1/TASK-MESSAGE-BUS.md").contains(warning));
}

#[test]
fn a_restored_database_goes_on_and_nothing_is_written_twice() {
    let Some(shop) = fleet(3) else { return };
    let kept = post(&shop, 0, "", "kept");
    assert_eq!(bodies(&shop, 1, ""), ["kept"]);
    post(&shop, 0, "", "not in the backup");
    shop.run("DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)");
    let told = shop.say_on(0, "bus read", &[]).is(5).err;
    let step = "`gate ledger accept --reason …` goes on with the records that are there";
    assert!(told.contains(step), "{told}");
    // The breaker's status names the same step as any other command.
    let status = shop.say_on(0, "breaker status --json", &[]).is(3).json();
    assert!(status["next"].as_str().unwrap().contains(step), "{status}");
    shop.say_on(0, "ledger accept --reason", &["restored"]).is(0);
    post(&shop, 1, &format!("--parent {kept}"), "later");
    post(&shop, 0, "", "last");
    assert_eq!(bodies(&shop, 0, ""), ["kept", "not in the backup", "later", "last"]);
    // One that has seen nothing yet has all that the database holds.
    for machine in [1, 2] {
        assert_eq!(bodies(&shop, machine, ""), ["kept", "later", "last"]);
    }
}
