//! `gate run --decide-first` with real clients.

use std::fs;

use serde_json::json;

use super::claude_code::CLAUDE_CODE;
use super::client::Client;
use super::codex::CODEX;
use super::looped::looped;
use super::model::Reply::{self, Runs, Says};
use crate::needs::needs;
use crate::support::gate;

/// The list, as models like to write it.
const LIST: Reply = Says(
    "I have read the shelf. Two things are open:\n\n1. **DECISION:** word for a mended shelf => \
     `even`\n2. **DECISION:** name of the function => level\n",
);

const DONE: Reply = Says("It is mended.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is mended\n");

const SHELF: &str = "exports.level = () => 'crooked';\n";

/// The work, begun before anything was decided.
const BEGIN: Reply = Runs("sed -i \"s/'crooked'/'even'/\" shelf.cjs");

const UNDO: Reply = Runs("git checkout -q shelf.cjs");

/// The work as the agent would have it, then as the person decided.
const EVEN: Reply = BEGIN;
const STRAIGHT: Reply = Runs("sed -i \"s/'even'/'straight'/\" shelf.cjs");

#[test]
#[ignore = "starts a real client"]
fn claude_code_lists_what_is_open_and_does_as_a_person_decides() {
    decided_first(&CLAUDE_CODE);
}

#[test]
#[ignore = "starts a real client"]
fn codex_lists_what_is_open_and_does_as_a_person_decides() {
    decided_first(&CODEX);
}

fn decided_first(client: &'static Client) {
    if !needs(client.name) {
        return;
    }
    let ran = gate("--version")
        .settings("[checks.build]\ncommand = [\"node\", \"--check\", \"shelf.cjs\"]\n")
        .file("shelf.cjs", SHELF)
        .file("PROMPT.md", "The shelf is crooked. Mend it.\n")
        .committed()
        .code(0);
    let words = format!(
        "run --allow none --decide-first --agent {} --prompt PROMPT.md --max-iterations 3 --json",
        client.name
    );
    // It begins with the work, is told, and takes it back.
    let end = looped(&ran, &words, &[(client, &[BEGIN, LIST, UNDO, LIST])]);
    assert_eq!((&end["stopped_by"], &end["iterations"]), (&"blocked".into(), &2.into()), "{end}");
    let open = json!([{ "question": "word for a mended shelf", "choice": "even" },
                      { "question": "name of the function", "choice": "level" }]);
    assert_eq!(end["decisions"]["open"], open, "{end}");
    assert_eq!(ran.file("shelf.cjs"), SHELF);
    let file = end["decisions"]["file"].as_str().unwrap();
    let page = fs::read_to_string(file).unwrap();
    let page = page.replacen("[ ] even", "[ ] straight", 1).replacen("[ ] level", "[x] level", 1);
    let page = page.replacen("command:", "command: grep -q straight shelf.cjs", 1);
    fs::write(file, page).unwrap();
    let end = looped(&ran, &words, &[(client, &[EVEN, DONE, STRAIGHT, DONE])]);
    assert_eq!((&end["success"], &end["iterations"]), (&true.into(), &2.into()), "{end}");
    assert_eq!(end["decisions"]["decided"][0]["answer"], "straight", "{end}");
    assert_eq!(ran.file("shelf.cjs"), SHELF.replace("crooked", "straight"));
}
