//! Aider's chat history.

use super::{Format, check, words};
use crate::Role;

const START: &str = "\n# aider chat started at 2025-12-24 16:45:52\n\n";

#[test]
fn a_whole_chat() {
    let input = format!(
        "{START}> /bin/aider --message # Task\n\n**Say** EXIT_SIGNAL: true\n> Aider v0.86.1  \n> Main model: m1 with diff edit format  \n\n#### Go.  \n#### Now.  \n\nI begin.\n\n##### Steps\n> quoted\n\nDone.\n\n> Tokens: 2.1k sent, 300 received. Cost: $0.01 message, $0.03 session.  \n> Applied edit to x  \n\nMore.\n"
    );
    check(
        Format::AiderHistory,
        &input,
        &[
            "2 --- prompt",
            "2 system: # aider chat started at 2025-12-24 16:45:52⏎⏎> /bin/aider --message # Task⏎⏎**Say** EXIT_SIGNAL: true⏎> Aider v0.86.1  ⏎> Main model: m1 with diff edit format  ⏎⏎",
            "10 --- prompt",
            "10 user: #### Go.  ⏎#### Now.  ⏎⏎",
            "13 assistant: I begin.⏎⏎##### Steps⏎> quoted⏎⏎Done.⏎⏎",
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

#[test]
fn a_file_that_the_agent_writes_is_not_its_word() {
    let edit = "a.md\n```\n<<<<<<< SEARCH\n=======\n> COMPLETE\n>>>>>>> REPLACE\n```\n";
    let whole = "docs/a.txt\n```\nCOMPLETE\n\nIt is.\n```\n";
    for file in [edit, whole] {
        let input =
            format!("{START}#### Go.  \n\nI write:\n\n{file}\nNot yet.\n\n> Applied edit to a  \n");
        let words = words(&input);
        let [word] = &*words else { panic!("{words:?}") };
        assert!(word.starts_with("I write:") && word.trim().ends_with("Not yet."), "{word}");
        assert!(!word.contains("COMPLETE"), "{word}");
        assert_eq!(super::says(&input, Role::Tool).len(), 1);
    }
    let alone = format!("{START}#### Go.  \n\nCOMPLETE\n\n#### On.  \n\n{whole}");
    assert!(!words(&alone).iter().any(|word| word.contains("COMPLETE")));
}

#[test]
fn prompts_without_the_blanks_at_their_ends() {
    let chat = format!("{START}#### Go.  \n\nCOMPLETE\n");
    assert!(words(&format!("{chat}\n#### Tests fail.\n")).is_empty());
    let stripped = format!("{START}> Aider v0.86.1\n\n#### Go.\n####\n#### Now.\n\nCOMPLETE\n\n");
    assert_eq!(words(&format!("{stripped}> Tokens: 1k sent\n")), ["COMPLETE\n\n"]);
    assert!(words(&format!("{stripped}#### Tests fail.\n")).is_empty());
}

#[test]
fn what_failed_goes_back_to_the_agent() {
    let chat = format!("{START}#### Go.  \n\nCOMPLETE\n\n> Attempt to fix lint errors? (Y)es/(N)o");
    assert!(words(&format!("{chat} [Yes]: y  \n")).is_empty());
    assert_eq!(words(&format!("{chat} [Yes]: n  \n")), ["COMPLETE\n\n"]);
}
