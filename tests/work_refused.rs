//! What is refused of work items: in which words, and that nothing has changed
//! then.

use gate_core::exit::{ExitSignal, WorkPhase};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::exit::{DISABLED, FLAG, signal};
use crate::support::shop::{Shop, given};

fn draft_done() -> String {
    signal("DRAFT", "completed", &[]).to_string()
}

#[test]
fn what_is_not_there_and_what_is_there_already() {
    let shop = Shop::new();
    for words in
        ["show", "claim --actor a", "renew --actor a", "release --actor a", "unblock", "ci"]
    {
        let (verb, rest) = words.split_once(' ').unwrap_or((words, ""));
        shop.say(&format!("work {verb} W-9 {rest}")).is(2).tells("work not found: W-9");
    }
    assert_eq!(shop.say("work show W-9 --json").is(2).json()["code"], "work-unknown");
    let refused = shop.submit("--work W-9 --actor a --json", &draft_done()).is(1).json();
    assert_eq!(refused, json!({ "ok": false, "error": "work not found: W-9" }));
    shop.add("W-1", "DRAFT");
    shop.say("work add W-1 --phase REVIEW").is(2).tells("work already exists: W-1");
    assert_eq!(shop.records().len(), 1);
}

#[test]
fn names_that_cannot_be_kept() {
    let shop = Shop::new();
    let long = "x".repeat(129);
    for (words, more, told) in [
        ("work add", "", "the work's id is empty"),
        ("work add", " ", "the work's id is empty"),
        ("work add", &long, "the work's id is longer than 128 bytes"),
        ("work add", "a\nb", "the work's id holds a control character"),
        ("work add W-1 --title", "a\u{1b}b", "the title holds a control character"),
        ("work add W-1 --title", &"x".repeat(513), "the title is longer than 512 bytes"),
        ("work add W-1 --actor", "", "the actor is empty"),
        ("work claim --actor", &long, "the actor is longer than 128 bytes"),
    ] {
        shop.say_with(words, &[more]).is(2).tells(told);
    }
    for words in ["--phase CODING W-1", "W-1 --phase", ""] {
        shop.say(&format!("work add {words}")).is(2);
    }
    for phase in ["CI_PENDING", "COMPLETED", "BLOCKED"] {
        let said = shop.say(&format!("work claim --actor a --phase {phase}")).is(2);
        assert!(said.err.contains("READY_FOR_REVIEW"), "{}", said.err);
    }
    shop.say("work claim --actor a --ttl 0s").is(2);
    assert_eq!(shop.say("work list").is(0).out, "no work items\n");
}

#[test]
fn what_somebody_else_has() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let lease = shop.claim("W-1", "a");
    let held = format!("work item W-1 already has an active lease: {lease}");
    assert_eq!(shop.say("work claim W-1 --actor b").is(1).out, format!("{held}\n"));
    let json = shop.say("work claim W-1 --actor b --json").is(1).json();
    assert_eq!(json, json!({ "work": null, "error": held }));
    let not_yours =
        format!("unauthorized operation on lease {lease}: actor b is not the lease holder");
    shop.say("work release W-1 --actor b").is(2).tells(&not_yours);
    shop.say("work renew W-1 --actor b --ttl 5h").is(2).tells(&not_yours);
    let refused = shop.submit("--work W-1 --actor b --json", &draft_done()).is(1).json();
    assert_eq!(refused["error"], json!(not_yours));
    shop.say("work release W-1 --actor a --lease L-9").is(2).tells("lease not found: L-9");
    let refused = shop.submit("--work W-1 --actor a --lease L-9", &draft_done()).is(1);
    assert_eq!(refused.out, "REFUSED  lease not found: L-9; nothing was changed\n");
    assert_eq!(shop.records().len(), 1);
}

#[test]
fn what_is_over() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let refused = shop.submit("--work W-1 --actor a", &draft_done()).is(1);
    assert_eq!(refused.out, "REFUSED  lease not found: none of W-1; nothing was changed\n");
    let lease = shop.claim("W-1", "a");
    shop.say("work release W-1 --actor a").is(0);
    let over = |state| format!("lease {lease} is already in terminal state: {state}");
    shop.say("work release W-1 --actor a").is(2).tells(&over("RELEASED"));
    shop.say("work renew W-1 --actor a").is(2).tells(&over("RELEASED"));
    let refused = shop.submit("--work W-1 --actor a --json", &draft_done()).is(1).json();
    assert_eq!(refused["error"], json!(over("RELEASED")));
    let short = shop.say("work claim --actor a --ttl 1ms --json").is(0).json();
    let short = short["lease"].as_str().unwrap();
    let over = format!("lease {short} is already in terminal state: EXPIRED");
    let refused = shop.submit("--work W-1 --actor a --json", &draft_done()).is(1).json();
    assert_eq!(refused["error"], json!(over));
    let next = shop.claim("W-1", "b");
    let words = format!("work release W-1 --actor a --lease {short}");
    shop.say(&words).is(2).tells(&format!("lease not found: {short}"));
    assert_eq!(shop.show("W-1")["lease"]["lease"], json!(next));
}

#[test]
fn a_renewal_only_extends() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    let lease = shop.claim("W-1", "a");
    let until = shop.show("W-1")["lease"]["expires_at"].as_str().unwrap().to_owned();
    let refused = shop.say("work renew W-1 --actor a --ttl 1m").is(2);
    let told = format!("renewal for lease {lease} must extend expiration: current={until}, new=");
    assert!(refused.err.starts_with(&format!("gate: {told}")), "{}", refused.err);
    assert_eq!(shop.show("W-1")["lease"]["expires_at"], json!(until));
    shop.say("work renew W-1 --actor a --ttl 2h").is(0);
}

#[test]
fn what_another_phase_asks_for() {
    let shop = Shop::new();
    shop.add("W-1", "DRAFT");
    shop.claim("W-1", "a");
    let ahead = signal("REVIEW", "completed", &[]).to_string();
    let refused = shop.submit("--work W-1 --actor a --json", &ahead).is(1).json();
    let told = "phase mismatch: exit signal claims 'REVIEW' but session is in 'DRAFT'";
    assert_eq!(refused["error"], told);
    shop.say("work unblock W-1").is(2).tells("invalid transition from DRAFT via unblocked");
    shop.say("work ci W-1").is(2).tells("invalid transition from DRAFT via ci_passed");
    let failed = shop.say("work ci W-1 --result failed").is(2);
    failed.tells("invalid transition from DRAFT via ci_failed");
    let unblock = shop.say("work unblock W-1 --phase DRAFT").is(2);
    unblock.tells("transition from DRAFT to DRAFT is not allowed");
    let mut off = shop.command(0, "exit submit - --work W-1 --actor a --json");
    let refused = given(off.env(FLAG, "false"), &draft_done()).is(1).json();
    assert_eq!(refused["error"], DISABLED);
    assert_eq!(shop.records().len(), 1);
}

/// What is submitted: by whom, for what, and which text.
#[derive(Clone, Debug)]
struct Tried {
    actor: &'static str,
    work: &'static str,
    text: String,
}

/// An item of every phase, which `a` has where it can be had; and `idle`, which
/// nobody has.
fn stocked(shop: &Shop) {
    shop.add("idle", "REVIEW");
    for phase in WorkPhase::ALL {
        shop.add(phase.as_str(), phase.as_str());
        shop.say(&format!("work claim {phase} --actor a"));
    }
}

fn tried() -> impl Strategy<Value = Tried> {
    let phase = || select(&WorkPhase::NAMES[..]);
    let member = select(vec![
        ("protocol", json!("other")),
        ("protocol", json!("apm2_agent_exit ")),
        ("version", json!("2.0.0")),
        ("version", json!("1.")),
        ("version", Value::Null),
        ("phase_completed", json!("CODING")),
        ("phase_completed", json!({ "DRAFT": null })),
        ("exit_reason", json!("success")),
        ("pr_url", json!("http://x")),
        ("pr_url", json!("https://x;y")),
        ("evidence_bundle_ref", json!("../x")),
        ("notes", json!("x".repeat(10_241))),
        ("notes", json!(7)),
        ("more", json!("x")),
        ("notes", json!("it holds")),
    ]);
    let reason = select(&["completed", "blocked", "error"][..]);
    let text =
        (phase(), reason, member, 0..4_usize).prop_map(|(phase, reason, (name, value), how)| {
            let mut signal = signal(phase, reason, &[]);
            signal[name] = value;
            match how {
                0 => format!("[{signal}]"),
                1 => signal.to_string()[1..].to_owned(),
                _ => signal.to_string(),
            }
        });
    let work = prop_oneof![5 => phase(), 1 => Just("idle"), 1 => Just("unknown")];
    let actor = prop_oneof![3 => Just("a"), 1 => Just("b")];
    (actor, work, text).prop_map(|(actor, work, text)| Tried { actor, work, text })
}

impl Tried {
    /// Whether it has to be accepted.
    fn holds(&self) -> bool {
        let signal = ExitSignal::from_json(&self.text);
        let fits = signal.is_ok_and(|signal| signal.phase_completed.as_str() == self.work);
        let claimed = gate_fleet::work::CLAIMABLE.iter().any(|phase| phase.as_str() == self.work);
        self.actor == "a" && claimed && fits
    }
}

fn what_is_refused_changes_nothing(shop: &Shop, cases: u32) {
    stocked(shop);
    let (rows, exported) = (shop.rows(), shop.say("ledger export").is(0).out);
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let found = TestRunner::new(config).run(&tried(), |tried| {
        prop_assume!(!tried.holds());
        let Tried { actor, work, text } = &tried;
        let said = shop.submit(&format!("--work {work} --actor {actor} --json"), text);
        prop_assert_eq!(said.code, Some(1), "{:?} {}", tried, said.err);
        prop_assert_eq!(&said.json()["ok"], &json!(false));
        prop_assert_eq!(&shop.rows(), &rows);
        Ok(())
    });
    found.unwrap();
    assert_eq!(shop.say("ledger export").is(0).out, exported);
    shop.say("ledger verify").is(0);
    let right = signal("REVIEW", "completed", &[]).to_string();
    shop.submit("--work REVIEW --actor a", &right).is(0);
    assert_ne!(shop.rows(), rows, "what is accepted changes them");
}

#[test]
fn what_is_refused_changes_nothing_on_one_machine() {
    what_is_refused_changes_nothing(&Shop::new(), 100);
}

#[test]
fn what_is_refused_changes_nothing_in_a_fleet() {
    if let Some(shop) = Shop::fleet(1) {
        what_is_refused_changes_nothing(&shop, 40);
    }
}
