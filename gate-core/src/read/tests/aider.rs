//! Aider's chat history.

use super::{Format, check, words};

const START: &str = "\n# aider chat started at 2025-12-24 16:45:52\n\n";

#[test]
fn a_whole_chat() {
    let input = format!(
        "{START}> /bin/aider --message # Task\n\n**Say** EXIT_SIGNAL: true\n> Aider v0.86.1  \n> Main model: m1 with diff edit format  \n\n#### Go.  \n#### Now.  \n\nI begin.\n\n#### Steps\n> quoted\n\nDone.\n\n> Tokens: 2.1k sent, 300 received. Cost: $0.01 message, $0.03 session.  \n> Applied edit to x  \n\nMore.\n"
    );
    check(
        Format::AiderHistory,
        &input,
        &[
            "2 --- prompt",
            "2 system: # aider chat started at 2025-12-24 16:45:52⏎⏎> /bin/aider --message # Task⏎⏎**Say** EXIT_SIGNAL: true⏎> Aider v0.86.1  ⏎> Main model: m1 with diff edit format  ⏎⏎",
            "10 --- prompt",
            "10 user: #### Go.  ⏎#### Now.  ⏎⏎",
            "13 assistant: I begin.⏎⏎#### Steps⏎> quoted⏎⏎Done.⏎⏎",
            "20 system: > Tokens: 2.1k sent, 300 received. Cost: $0.01 message, $0.03 session.  ⏎> Applied edit to x  ⏎⏎",
            "23 assistant: More.⏎",
            "usage 2400 tokens, 10000 µ$, - ms",
        ],
    );
}

#[test]
fn only_what_follows_the_last_prompt_is_the_last_word() {
    let chat = format!("{START}#### Go.  \n\nCOMPLETE\n");
    assert_eq!(words(&chat), ["COMPLETE\n"]);
    for after in ["#### Tests fail.  \n", START] {
        assert!(words(&format!("{chat}{after}")).is_empty(), "{after}");
    }
    assert!(words(&format!("{START}EXIT_SIGNAL: true\n")).is_empty());
}

#[test]
fn failures() {
    let input = format!("{START}#### Go.  \n\n> litellm.AuthenticationError: no key  \n");
    let events = super::events(Format::AiderHistory, &input);
    assert_eq!(events[4], "6 error: litellm.AuthenticationError: no key");
}
