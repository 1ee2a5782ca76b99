//! Tokens: what an agent joins holds, and no echo, replay or guess does.

use super::*;

const RUN: &str = "nightly";

fn required() -> SignalPolicy {
    SignalPolicy { token: TokenMode::Required, ..policy() }
}

fn key() -> TokenKey {
    TokenKey::new(&[7; 32], "shop")
}

fn whole(run: &str, iteration: u64) -> String {
    let TokenHalves { first, second } = key().halves(run, iteration);
    first + &second
}

/// The signal of a text before its token is checked.
fn unchecked(text: &str, policy: &SignalPolicy) -> UncheckedSignal {
    Signal::read(&turn(&[text]), policy)
}

/// The signal of a text in iteration 3 of the run.
fn proven(text: &str) -> Signal {
    let latest = [("nightly#2".to_owned(), 1), ("weekly".to_owned(), 9)];
    let signal = unchecked(text, &required());
    let finding = TokenFinding::check(&signal, &key(), RUN, 3, &latest);
    signal.with_token(&finding)
}

#[track_caller]
fn refused(text: &str, token: TokenState, reason: &str) {
    let signal = proven(text);
    assert_eq!((signal.status, signal.token), (Status::Invalid, Some(token)), "{text}");
    assert!(signal.problems[0].contains(reason), "{text}\n{:?}", signal.problems);
    assert!(signal.near_misses.iter().any(|miss| miss.why.contains(reason)), "{text}");
    assert!(!format!("{signal:?}").contains(&whole(RUN, 3)));
}

/// Every spelling, with a token beside it.
fn spellings(token: &str) -> Vec<String> {
    let json = r#"{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}"#;
    vec![
        format!("EXIT_STATUS: COMPLETE\nEXIT_REASON: all is there\nEXIT_TOKEN: {token}"),
        format!("EXIT_TOKEN: {token}\n\nEXIT_STATUS: COMPLETE\nREMAINING_WORK: none"),
        format!("- **EXIT_STATUS:** COMPLETE\n- **EXIT_TOKEN:** `{token}`"),
        format!("All is there.\n\n<promise>COMPLETE</promise>\nEXIT_TOKEN: {token}"),
        format!("EXIT_TOKEN: {token}\n<promise>COMPLETE</promise>"),
        format!(
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\nEXIT_TOKEN: {token}\n---END_RALPH_STATUS---"
        ),
        format!(
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n\nEXIT_TOKEN: {token}"
        ),
        format!("{json}\nEXIT_TOKEN: {token}"),
        format!("```\nEXIT_STATUS: COMPLETE\nEXIT_TOKEN: {token}\n```"),
    ]
}

#[test]
fn the_whole_token_holds_beside_every_spelling() {
    let token = whole(RUN, 3);
    let bare = spellings("");
    for (text, bare) in spellings(&token).iter().zip(&bare) {
        let signal = proven(text);
        assert_eq!(
            (signal.status, signal.token),
            (Status::Complete, Some(TokenState::Held)),
            "{text}\n{signal:#?}"
        );
        refused(bare, TokenState::Missing, "it carries no EXIT_TOKEN");
    }
    let custom = CustomSignal {
        matcher: Matcher::Literal("ALL_DONE".to_owned()),
        value: SignalValue::Complete,
    };
    let policy = SignalPolicy { custom: vec![custom], ..required() };
    let signal = unchecked(&format!("ALL_DONE\nEXIT_TOKEN: {token}"), &policy);
    let finding = TokenFinding::check(&signal, &key(), RUN, 3, &[]);
    assert_eq!(signal.with_token(&finding).status, Status::Complete);
}

#[test]
fn a_token_is_no_text_beside_its_signal() {
    let whole_message = |before: &str| {
        let token = whole(RUN, 3);
        proven(&format!("{before}<promise>COMPLETE</promise>\nEXIT_TOKEN: {token}")).whole_message
    };
    assert!(whole_message(""));
    assert!(!whole_message("All is there.\n\n"));
}

#[test]
fn case_and_marks_change_nothing() {
    let token = whole(RUN, 3);
    for last_word in [
        token.to_uppercase(),
        format!("**{token}**"),
        format!("\"{token}\"."),
        format!(" `{token}` "),
    ] {
        let signal = proven(&format!("<promise>COMPLETE</promise>\nEXIT_TOKEN: {last_word}"));
        assert_eq!(signal.status, Status::Complete, "{last_word}");
    }
}

#[test]
fn another_token_says_whose_it_is() {
    let text = |token: &str| format!("EXIT_STATUS: COMPLETE\nEXIT_TOKEN: {token}");
    refused(&text(&whole(RUN, 1)), TokenState::Earlier, "that of iteration 1, and this is 3");
    refused(&text(&whole("weekly", 9)), TokenState::OtherRun, "iteration 9 of the run weekly");
    refused(&text(&whole(RUN, 4)), TokenState::Wrong, "not this iteration's");
    refused(&text("k7mq"), TokenState::Wrong, "not this iteration's");
    let TokenHalves { first, second } = key().halves(RUN, 3);
    for apart in
        [format!("{first} {second}"), format!("{first}-{second}"), format!("{first} + {second}")]
    {
        refused(&text(&apart), TokenState::Wrong, "not joined");
    }
    refused(&text(&first), TokenState::Wrong, "not this iteration's");
}

#[test]
fn an_echo_of_what_was_told_never_holds() {
    use Spelling::{AgentExit, ExitStatus, Promise, RalphStatus};
    let halves = key().halves(RUN, 3);
    for first in [ExitStatus, RalphStatus, Promise, AgentExit] {
        let prompt_text =
            prompt(&SignalPolicy { accept: vec![first], ..required() }, Some(&halves));
        assert!(!prompt_text.to_lowercase().contains(&whole(RUN, 3)));
        for echo in [
            prompt_text.clone(),
            format!("{prompt_text}\n\n<promise>COMPLETE</promise>"),
            format!("<promise>COMPLETE</promise>\n\n{prompt_text}"),
            format!("EXIT_STATUS: COMPLETE\n{}", halves.prompt_paragraph()),
            prompt_text.lines().map(|line| format!("> {line}\n")).collect(),
        ] {
            let signal = proven(&echo);
            assert!(
                matches!(signal.status, Status::Invalid | Status::Absent),
                "{echo}\n{signal:#?}"
            );
        }
    }
}

#[test]
fn a_token_stands_beside_its_signal_and_in_the_agent_s_own_words() {
    let token = whole(RUN, 3);
    for elsewhere in [
        format!("> EXIT_TOKEN: {token}"),
        format!("```rust\nEXIT_TOKEN: {token}\n```"),
        format!("<!--\nEXIT_TOKEN: {token}\n-->"),
        format!("I was told EXIT_TOKEN: {token}"),
        format!("{}EXIT_TOKEN: {token}", "a line\n".repeat(50)),
    ] {
        refused(
            &format!("<promise>COMPLETE</promise>\n\n{elsewhere}"),
            TokenState::Missing,
            "no EXIT_TOKEN",
        );
    }
    // Of several blocks the last counts, with its own token.
    let (old, new) = (whole(RUN, 2), token);
    let block = |token: &str| format!("EXIT_STATUS: COMPLETE\nEXIT_TOKEN: {token}\n\nI go on.\n\n");
    assert_eq!(proven(&(block(&old) + &block(&new))).status, Status::Complete);
    refused(&(block(&new) + &block(&old)), TokenState::Earlier, "iteration 2");
}

#[test]
fn what_ends_nothing_needs_no_token() {
    for text in
        ["EXIT_STATUS: CONTINUE\nREMAINING_WORK: the docs", "EXIT_SIGNAL: false", "I go on."]
    {
        let signal = proven(text);
        assert_eq!((signal.token, signal.problems.len()), (None, 0), "{text}");
        assert!(matches!(signal.status, Status::Continue | Status::Absent), "{text}");
    }
    let blocked = "EXIT_STATUS: BLOCKED\nEXIT_REASON: no network";
    refused(blocked, TokenState::Missing, "no EXIT_TOKEN");
    let token = whole(RUN, 3);
    assert_eq!(proven(&format!("{blocked}\nEXIT_TOKEN: {token}")).status, Status::Blocked);
}

#[test]
fn a_signal_that_nobody_proved_is_invalid_and_knows_what_it_claims() {
    let text = format!("EXIT_STATUS: COMPLETE\nEXIT_TOKEN: {}", whole(RUN, 3));
    let signal = unchecked(&text, &required());
    assert_eq!((signal.status(), signal.claimed_status()), (Status::Invalid, Status::Complete));
    let without_token = signal.clone().without_token();
    assert_eq!(
        (without_token.status, without_token.token),
        (Status::Invalid, Some(TokenState::Unchecked))
    );
    assert!(without_token.problems[0].contains("not looked at"));
    let signal = signal.with_token(&TokenFinding::unchecked("no state is kept"));
    assert_eq!(signal.status, Status::Invalid);
    assert_eq!(signal.problems, ["its EXIT_TOKEN cannot be checked: no state is kept"]);
}

#[test]
fn a_held_token_heals_no_contradiction() {
    let token = whole(RUN, 3);
    let text = format!("EXIT_STATUS: COMPLETE\nREMAINING_WORK: the docs\nEXIT_TOKEN: {token}");
    let signal = proven(&text);
    assert_eq!((signal.status, signal.token), (Status::Continue, None));
    let lost = unchecked(&format!("EXIT_STATUS: COMPLETE\nEXIT_TOKEN: {token}"), &required());
    let finding = TokenFinding::check(&lost, &key(), RUN, 3, &[]);
    let mut lost = lost;
    lost.doubt("something could not be read".to_owned());
    assert_eq!(lost.with_token(&finding).status, Status::Invalid);
}

#[test]
fn a_prompt_holds_the_protocol_of_its_first_spelling_and_both_halves() {
    use Spelling::{AgentExit, Custom, ExitStatus, Promise, RalphStatus};
    let halves = key().halves(RUN, 3);
    for (accept, part) in [
        (vec![ExitStatus, Promise], "EXIT_STATUS: {COMPLETE|CONTINUE|BLOCKED}"),
        (vec![RalphStatus], "---RALPH_STATUS---\nSTATUS: {"),
        (vec![AgentExit, Promise], "<promise>{COMPLETE|BLOCKED}</promise>"),
        (vec![AgentExit], "\"exit_reason\": \"{completed|blocked|error}\""),
        (vec![Custom], "as your instructions describe it"),
        (vec![], "EXIT_STATUS: {"),
    ] {
        let prompt_text = prompt(&SignalPolicy { accept, ..required() }, Some(&halves));
        assert!(prompt_text.contains(part), "{prompt_text}");
        assert!(prompt_text.contains("\nEXIT_TOKEN: {"), "{prompt_text}");
        assert!(
            prompt_text.contains(&halves.first) && prompt_text.contains(&halves.second),
            "{prompt_text}"
        );
    }
    assert_eq!(format!("{:?}", key()), "TokenKey", "no log shows it");
}

#[test]
fn a_file_that_says_done_speaks_for_an_agent_that_said_nothing() {
    let with_file = |text: &str, policy: &SignalPolicy| {
        unchecked(text, policy).or_done_file(policy, text).claimed_status()
    };
    assert_eq!(with_file("I am through.", &policy()), Status::Complete);
    assert_eq!(with_file("EXIT_STATUS: CONTINUE", &policy()), Status::Continue);
    let signal = unchecked("I am through.", &policy()).or_done_file(&policy(), "I am through.");
    assert!(signal.clone().without_token().reason.unwrap().contains("DONE"));
    assert_eq!(signal.status(), Status::Complete);
    let proven = |last_word: &str| {
        let signal = unchecked(last_word, &required()).or_done_file(&required(), last_word);
        let finding = TokenFinding::check(&signal, &key(), RUN, 3, &[]);
        signal.with_token(&finding).status
    };
    assert_eq!(proven("I am through."), Status::Invalid);
    let last_word = format!("I am through.\nEXIT_TOKEN: {}", whole(RUN, 3));
    assert_eq!(proven(&last_word), Status::Complete);
}

#[test]
fn tokens_differ_and_stay_what_they_are() {
    let tokens: std::collections::BTreeSet<_> =
        (1..200).map(|iteration| whole(RUN, iteration)).collect();
    assert_eq!(tokens.len(), 199);
    assert_ne!(whole(RUN, 1), whole("weekly", 1));
    let other_halves = TokenKey::new(&[7; 32], "garden").halves(RUN, 1);
    assert_ne!(key().halves(RUN, 1), other_halves);
    // What was told before gate was started again still holds.
    assert_eq!(whole(RUN, 1), "4fk39vp8");
}
