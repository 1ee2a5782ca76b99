//! gate as a plug-in: the clients put it in by their own commands, from the folders of this
//! repository and without a network.

use super::claude_code::CLAUDE_CODE;
use super::gemini::GEMINI;
use super::scenes::{plugged, told};
use crate::needs::{needs, root};

/// The calls by which Claude Code adds the repository as a marketplace and installs from it.
fn claude_code<T>(scene: impl FnOnce(&[&[&str]]) -> T) -> Option<T> {
    let folder = root().to_str().unwrap();
    let calls: [&[&str]; 4] = [
        &["plugin", "validate", folder],
        &["plugin", "marketplace", "add", folder],
        &["plugin", "install", "gate@gate"],
        &["plugin", "list"],
    ];
    needs(CLAUDE_CODE.name).then(|| scene(&calls))
}

/// The calls by which Gemini CLI installs the extension.
fn gemini<T>(scene: impl FnOnce(&[&[&str]]) -> T) -> Option<T> {
    let folder = root().join("integrations/gemini-extension");
    let folder = folder.to_str().unwrap();
    let calls: [&[&str]; 2] =
        [&["extensions", "validate", folder], &["extensions", "install", "--consent", folder]];
    needs(GEMINI.name).then(|| scene(&calls))
}

#[test]
#[ignore = "starts a real client"]
fn claude_code_with_the_plug_in_of_a_local_marketplace_is_refused_a_red_stop() {
    if let Some(ended) = claude_code(|calls| plugged(&CLAUDE_CODE, calls)) {
        ended.reads(0, "gate:finish");
    }
}

#[test]
#[ignore = "starts a real client"]
fn a_person_in_claude_code_asks_for_the_status() {
    if let Some(ended) = claude_code(|calls| told(&CLAUDE_CODE, calls, "/gate:status")) {
        ended.reads(0, "stops are checked here").reads(0, "sh check.sh");
    }
}

#[test]
#[ignore = "starts a real client"]
fn a_person_in_claude_code_asks_why_before_anything_was_decided() {
    if let Some(ended) = claude_code(|calls| told(&CLAUDE_CODE, calls, "/gate:why")) {
        ended.reads(0, "gate has decided nothing here yet");
    }
}

#[test]
#[ignore = "starts a real client"]
fn gemini_cli_with_the_extension_of_a_folder_is_refused_a_red_stop() {
    if let Some(ended) = gemini(|calls| plugged(&GEMINI, calls)) {
        ended.reads(0, "Finish a task in a project that has a gate.toml");
    }
}

#[test]
#[ignore = "starts a real client"]
fn a_person_in_gemini_cli_asks_for_the_status() {
    if let Some(ended) = gemini(|calls| told(&GEMINI, calls, "/gate:status")) {
        ended.reads(0, "stops are checked here").reads(0, "sh check.sh");
    }
}
