//! A reset of state that was lost: the queue of a project outlives it.

use serde_json::json;

use crate::support::shop::Shop;

/// Items in each kind of phase, and a ledger whose tail is gone.
fn cut(shop: &Shop) -> u64 {
    shop.add("blocked", "REVIEW");
    shop.ends("blocked", "blocked");
    shop.add("held", "IMPLEMENTATION");
    shop.claim("held", "agent");
    shop.add("free", "DRAFT");
    let records = shop.records().len() as u64;
    shop.run("DELETE FROM ledger WHERE seq > 3");
    assert!(records > 3);
    3
}

fn a_reset_says_what_it_sets_aside_and_keeps_the_queue(shop: &Shop) {
    let left = cut(shop);
    let said = shop.say_with("breaker reset --json --reason", &["looked at it"]).is(0).json();
    let expected = json!({ "records": left, "work_items": 3, "leases": 1 });
    assert_eq!(said["set_aside"], expected, "{said}");
    let listed = shop.say("work list --json").is(0).out;
    for id in ["blocked", "held", "free"] {
        assert!(listed.contains(&format!("\"{id}\"")), "{listed}");
    }
    assert_eq!(shop.show("blocked")["phase"], "BLOCKED");
    shop.claim("held", "another");
    shop.say("work unblock blocked").is(0);
    assert_eq!(shop.show("blocked")["phase"], "REVIEW");
    shop.claim("free", "agent");
    shop.say("ledger verify").is(0);
}

#[test]
fn a_lost_tail_does_not_empty_the_queue() {
    a_reset_says_what_it_sets_aside_and_keeps_the_queue(&Shop::new());
}

#[test]
fn a_failover_does_not_empty_the_queue_of_a_fleet() {
    if let Some(shop) = Shop::fleet(1) {
        a_reset_says_what_it_sets_aside_and_keeps_the_queue(&shop);
    }
}
