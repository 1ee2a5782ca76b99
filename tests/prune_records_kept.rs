//! `gate prune --records`: what stays in the store, who may archive, and what a kill leaves.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::needs::needs;
use crate::prune_records::{PRUNE, age, archives, decide, files, old, shop, stored, verified};
use crate::support::shop::{Said, Shop};
use crate::support::{DONE, Fault, GATE, UNDONE, stride};

/// Marks this record as the head that a machine knows.
fn mark(shop: &Shop, machine: usize, seq: u64) {
    // A decision makes the file.
    decide(shop, machine, "--run marks", UNDONE, 1);
    let records = shop.records();
    let record = records.iter().find(|record| record["seq"] == seq).unwrap();
    let text = spelled(&format!("{seq:020} {}", record["hash"].as_str().unwrap()));
    fs::write(shop.machines[machine].mark(), text).unwrap();
}

/// A head with the digest that its mark has.
fn spelled(head: &str) -> String {
    format!("{head} {}\n", &blake3::hash(head.as_bytes()).to_hex()[..16])
}

#[test]
fn the_record_that_is_marked_as_the_head_stays() {
    let shop = shop();
    mark(&shop, 0, 2);
    assert_eq!(shop.say(PRUNE).is(0).json()["records"]["count"], 2);
    assert!(stored(&shop).contains(&2));
}

#[test]
fn a_machine_goes_on_whose_mark_was_archived_by_another_one() {
    let Some(shop) = Shop::fleet(2) else { return };
    old(&shop);
    let on_other = |words: &str| Said::of(&shop.command(1, words).output().unwrap());
    decide(&shop, 1, "--run other", UNDONE, 1);
    mark(&shop, 1, 2);
    let pruned = shop.say(PRUNE).is(0).json();
    assert_eq!(pruned["records"]["count"], 3);
    on_other("last").is(1);
    decide(&shop, 1, "--run other", UNDONE, 1);
    // The archive is on the machine that pruned, and the other one cannot see it.
    let there = shop.machines[1].state().join("archive");
    let away = shop.machines[0].state().join("away");
    fs::rename(archives(&shop), &away).unwrap();
    let problem = on_other("ledger verify --json").is(1).json()["problem"].clone();
    let (message, host) =
        (problem["message"].as_str().unwrap(), &pruned["records"]["archive"]["host"]);
    assert!(message.contains(host.as_str().unwrap()) && problem["seq"] == 1, "{message}");
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::rename(away, &there).unwrap();
    assert_eq!(on_other("ledger verify --json").is(0).json()["archived"], 3);
    // Without a record about an archive it is lost.
    fs::rename(there, archives(&shop)).unwrap();
    mark(&shop, 1, 2);
    shop.run("DELETE FROM ledger WHERE type = 'ledger_archived'");
    assert_eq!(on_other("last --json").is(5).json()["code"], "state-lost");
}

#[test]
fn a_fleets_role_may_not_archive() {
    let Some(shop) = Shop::fleet(1) else { return };
    old(&shop);
    let database = shop.database.as_ref().unwrap();
    let session = database.session();
    let role = format!("{}_role", session.run("SELECT current_database()")[0]);
    session.run(&format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'x'; \
         GRANT SELECT, INSERT ON ledger, policies TO {role}; \
         GRANT SELECT, INSERT, UPDATE ON work TO {role}"
    ));
    let mut command = shop.command(0, PRUNE);
    let refused = command.env("GATE_DATABASE_URL", database.url_as(&role, "x")).output().unwrap();
    let refused = Said::of(&refused).is(5).json();
    assert_eq!(refused["code"], "state-refused", "{refused}");
    let hint = refused["hint"].as_str().unwrap();
    assert!(hint.contains("DELETE on the table `ledger`") && hint.contains("owner"), "{hint}");
    assert_eq!(files(&archives(&shop)).len(), 0);
    let owner = shop.say(PRUNE).is(0).json();
    assert_eq!((&owner["records"]["count"], &verified(&shop)["archived"]), (&3.into(), &3.into()));
    session.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn what_decisions_rest_on_stays() {
    let shop = Shop::new();
    decide(&shop, 0, "--run a", UNDONE, 1);
    decide(&shop, 0, "--run a", DONE, 0);
    shop.say("wrong 1 --reason late").is(0);
    decide(&shop, 0, "--run c --task t1", UNDONE, 1);
    decide(&shop, 0, "--run c --task t1", UNDONE, 1);
    decide(&shop, 0, "--run a", UNDONE, 1);
    let all = shop.records();
    let decisions = |records: &[Value]| -> Vec<u64> {
        let decisions = records.iter().filter(|record| record["body"]["decision"].is_object());
        decisions.map(|record| record["seq"].as_u64().unwrap()).collect()
    };
    let decided = decisions(&all);
    // The last decision of the run c is young, so all of the run stays.
    age(&shop, decided[3] - 1);
    let dry = shop.say(&format!("{PRUNE} --dry-run")).is(0).json();
    assert_eq!(dry["records"]["count"], 1, "the exit alone: record 1 is marked as wrong");
    shop.say(PRUNE).is(0);
    let stored = stored(&shop);
    assert!(!stored.contains(&decided[1]));
    let others = all.iter().filter(|record| record["seq"] != decided[1]);
    assert!(others.into_iter().all(|record| stored.contains(&record["seq"].as_u64().unwrap())));
    verified(&shop);
    // A record whose time cannot be read, or that is young, keeps what is behind it.
    age(&shop, 0);
    assert_eq!(shop.say(PRUNE).is(0).json()["records"]["count"], 0);
}

#[test]
#[ignore = "a minute: many processes, killed at any step"]
fn a_kill_at_any_step_loses_nothing_and_archives_nothing_twice() {
    if !needs("strace") {
        return;
    }
    let shop = shop();
    let machine = &shop.machines[0];
    let (kept, before) = (machine.kept(), shop.records());
    let mut kills = 0;
    for call in
        ["openat", "write", "pwrite64", "fsync", "fdatasync", "rename", "unlink", "ftruncate"]
    {
        let about = match call {
            "openat" => vec![machine.database().display().to_string()],
            _ => Vec::new(),
        };
        for time in (1_u64..).step_by(stride()) {
            machine.restore(&kept);
            let fault = Fault { call, how: "signal=KILL", time: time.to_string(), about: &about };
            let words = fault.words();
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).arg(GATE).args(PRUNE.split_whitespace());
            let like = shop.command(0, "");
            command.current_dir(like.get_current_dir().unwrap()).env_clear();
            command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let killed = command.output().unwrap().status.code().is_none();
            let at = format!("{call} {time}");
            assert_eq!(shop.records()[..before.len()], before, "{at}");
            verified(&shop);
            shop.say(PRUNE).is(0);
            let after = shop.records();
            assert_eq!(
                (after.len(), &after[..before.len()]),
                (before.len() + 1, &before[..]),
                "{at}"
            );
            assert_eq!(
                (verified(&shop)["archived"].clone(), files(&archives(&shop)).len()),
                (3.into(), 1),
                "{at}"
            );
            if !killed {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills * stride() > 30, "{kills}");
}
