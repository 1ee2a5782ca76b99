//! Whose a tripped breaker is: what one stuck agent does to all others.

use super::talk::*;
use super::*;
use crate::support::{DONE, each};

/// The same prompt in another session of the client.
const AGAIN: Talk = Talk { session: "s2", headless: true };
const OTHER: Talk = Talk { session: "s3", headless: true };
const SECOND_PERSON: Talk = Talk { session: "s4", headless: false };

/// The agent claims to be done until its breaker opens; how often it stopped.
fn stuck(talk: Talk, mut ran: Ran) -> (Ran, usize) {
    for stops in 1..=8 {
        ran = talk.stops(ran, CLAIM);
        if let Answer::Told(message) = answer(&ran) {
            assert!(message.contains("in a row"), "{message}");
            return (ran, stops);
        }
    }
    panic!("it never trips");
}

/// A script's agent that has left a red test, and is stuck with it: what its client
/// was told last.
fn stuck_script() -> Ran {
    let ran = SCRIPT.does(SCRIPT.begins(green(""), "Multiply."), MUL);
    let (ran, stops) = stuck(SCRIPT, ran);
    assert_eq!(stops, 4, "the commit of its first turn was progress");
    ran
}

#[test]
#[ignore = "minutes: many sessions"]
fn a_stuck_session_does_not_switch_the_gate_off_for_the_next_one() {
    let ran = last(stuck_script(), "tripped", None);
    let ran = OTHER.does(OTHER.begins(ran, "Subtract."), "echo sub >>calc");
    let ran = refuses(OTHER.stops(ran, CLAIM), "tests/mul.sh");
    let ran = SECOND_PERSON.does(SECOND_PERSON.begins(ran, "Divide."), "echo div >>calc");
    tells(SECOND_PERSON.stops(ran, CLAIM), "tests/mul.sh was red before the last prompt");
}

#[test]
fn a_stuck_session_does_not_end_the_loops_of_others_nor_other_worktrees() {
    let ran = stuck_script().again("check --json out.log").file("out.log", DONE).code(1);
    assert_eq!(each(&ran.json(), "reasons", "code"), ["required-check-failed"]);
    let setup = "git worktree add -q ../other && echo mul >>../other/calc";
    let output = ran.path("out.log").display().to_string();
    let words = format!("-C ../other check {output} --run elsewhere");
    let ran = ran.again(&words).setup(setup).code(0);
    let words = "run --prompt PROMPT.md --max-iterations 1 --json -- true";
    let ran = ran.again(words).file("PROMPT.md", "Divide.\n").code(1);
    assert_eq!(ran.json()["stopped_by"], "max-iterations");
    assert_eq!(ran.json()["iterations"], 1);
}

#[test]
fn a_script_that_starts_its_client_again_with_the_same_prompt_goes_on_with_one_count() {
    let ran = AGAIN.does(AGAIN.begins(stuck_script(), "Multiply."), "echo more >>calc");
    let ran = tells(AGAIN.stops(ran, CLAIM), "the breaker stopped this loop");
    let ran = ran.again("last --run s2").code(3);
    let ran = ran.again("breaker reset --reason looked").code(0).says("READY").says("one loop");
    refuses(AGAIN.stops(ran, CLAIM), "tests/mul.sh");
}

#[test]
fn who_is_held_and_what_frees_them_is_told_wherever_one_asks() {
    let ran = stuck_script();
    let reply = match answer(&ran) {
        Answer::Told(message) => message,
        other => panic!("{other:?}"),
    };
    assert!(reply.contains("`gate breaker reset --reason …` in another terminal"), "{reply}");
    let ran = ran.again("status").code(0).says("claude-code with one prompt");
    let ran = ran.says("gate breaker reset --run prompt-").says("in a row");
    let ran = ran.again("breaker status --json").code(3);
    let open = ran.json()["open"].clone();
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
    let open = &open[0];
    assert_eq!((&open["owner"], &open["here"]), (&json!("loop"), &json!(true)));
    assert_eq!((&open["session"], &open["agent"]), (&json!("s1"), &json!("claude-code")));
    let name = open["loop"].as_str().unwrap().to_owned();
    let ran = ran.again("status --json").code(0);
    assert_eq!(ran.json()["open"][0]["loop"], name.as_str());
    let ran = ran.again("breaker reset --run nobody --reason x").code(2).tells("is called nobody");
    let ran = ran.again(&format!("breaker reset --run {name} --reason x")).code(0).says("READY");
    ran.again("status").code(0).says("all ready");
}

#[test]
fn the_prompt_of_a_person_closes_the_breaker_of_their_session() {
    let impatient = "[breaker]\nrefused = 2\n";
    let ran = PERSON.begins(green(&format!("{STRICT}{impatient}")), "Multiply.");
    let (ran, stops) = stuck(PERSON, PERSON.does(ran, MUL));
    assert_eq!(stops, 2);
    let ran = tells(PERSON.stops(ran, CLAIM), "the breaker stopped this loop");
    let ran = PERSON.does(PERSON.prompt(ran, "Look at mul.sh again."), "echo x >>calc");
    let ran = refuses(PERSON.stops(ran, CLAIM), "tests/mul.sh");
    // What an operator holds stays.
    let ran = ran
        .again("breaker isolate --session s1 --reason lunch")
        .code(0)
        .says("STOPPED  by an operator");
    let ran = PERSON.does(PERSON.prompt(ran, "Go on."), "echo y >>calc");
    tells(PERSON.stops(ran, CLAIM), "an operator stopped this loop: lunch");
}
