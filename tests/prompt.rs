//! `gate prompt`: the protocol that it prints is one that gate reads, and an
//! echo of it says nothing.

use std::path::PathBuf;

use serde_json::Value;

use crate::here::files;
use crate::needs::root;
use crate::support::gate;

/// Settings in which a spelling is the first that is accepted.
const FIRST: [&str; 5] = [
    "",
    "[signal]\naccept = [\"exit_status\", \"promise\", \"ralph_status\"]\n",
    "[signal]\naccept = [\"ralph_status\", \"exit_status\"]\n",
    "[signal]\naccept = [\"promise\", \"exit_status\"]\n",
    "[signal]\naccept = [\"agent_exit\", \"exit_status\"]\n",
];

/// Settings in which a phrase of one's own is also a claim of completion.
const PHRASES: &str =
    "[signal]\naccept = [\"promise\"]\n[signal.promise]\nphrases = [\"SHIPPED\", \"ALL DONE\"]\n";

/// The protocol of the origin's document, in words of our own.
const ORIGIN: &str = "\
## How to report

Once you believe that the task is done:
1. Make sure that all acceptance criteria are met
2. Check that the tests pass
3. Confirm that there is no remaining work
4. Give your status like this:

EXIT_STATUS: {COMPLETE|CONTINUE}
EXIT_REASON: {why}
REMAINING_WORK: {none|what is still to be done}
";

fn scan(settings: &str, output: &str) -> Value {
    gate("scan --json out.log").settings(settings).file("out.log", output).code(0).json()
}

fn prompt(settings: &str) -> String {
    gate("prompt").settings(settings).code(0).stderr("").stdout
}

/// A text as agents repeat it: alone, introduced, fenced, quoted, worked on,
/// in a log of messages.
fn echoes(text: &str) -> Vec<String> {
    let quoted = text.lines().map(|line| format!("> {line}\n")).collect::<String>();
    let listed = text.lines().map(|line| format!("- {line}\n")).collect::<String>();
    let message = |role: &str| {
        let content = serde_json::json!([{"type": "text", "text": text}]);
        let message = serde_json::json!({"role": role, "content": content});
        format!("{}\n", serde_json::json!({"type": role, "message": message, "session_id": "s"}))
    };
    vec![
        text.to_owned(),
        format!("{text}\n{text}"),
        format!("I was given this protocol:\n\n{text}\nI begin with the first file."),
        format!("```\n{text}```\n"),
        format!("```markdown\n{text}```\nNow the work.\n"),
        quoted,
        listed,
        text.replace('\n', "\r\n"),
        message("assistant"),
        message("user"),
    ]
}

#[track_caller]
fn says_nothing(settings: &str, text: &str) {
    for echo in echoes(text) {
        let record = scan(settings, &echo);
        assert_eq!(record["signal"]["status"], "absent", "{echo}\n{record:#}");
        assert_eq!(record["indicators"]["score"], 0, "{echo}\n{record:#}");
        assert_eq!(record["indicators"]["hits"], serde_json::json!([]), "{echo}");
    }
}

/// The protocol as an agent fills it in.
fn filled(prompt: &str, phrase: &str) -> String {
    let value = |line: &str| {
        let key = line.split(':').next().unwrap_or_default();
        match key {
            "EXIT_STATUS" | "STATUS" => format!("{key}: COMPLETE\n"),
            "EXIT_SIGNAL" => format!("{key}: true\n"),
            "TESTS_STATUS" => format!("{key}: PASSING\n"),
            "REMAINING_WORK" => format!("{key}: none\n"),
            "EXIT_REASON" | "RECOMMENDATION" => format!("{key}: both layouts are read\n"),
            _ if line.starts_with("---") => format!("{line}\n"),
            _ if line.starts_with("<promise>") => format!("<promise>{phrase}</promise>\n"),
            _ => String::new(),
        }
    };
    "Both layouts are read now.\n\n".to_owned() + &prompt.lines().map(value).collect::<String>()
}

#[test]
fn an_echo_of_the_protocol_says_nothing_in_any_spelling() {
    for settings in FIRST {
        says_nothing(settings, &prompt(settings));
    }
}

#[test]
fn an_echo_of_one_spelling_says_nothing_where_all_are_accepted() {
    for settings in FIRST {
        says_nothing("", &prompt(settings));
    }
}

#[test]
fn an_echo_of_a_phrase_of_ones_own_says_nothing() {
    says_nothing(PHRASES, &prompt(PHRASES));
}

#[test]
fn an_echo_of_the_origins_protocol_says_nothing() {
    says_nothing("", ORIGIN);
    says_nothing("[patterns]\npacks = [\"seed\"]\n", ORIGIN);
}

#[test]
fn an_echo_of_a_plug_ins_skill_or_command_says_nothing() {
    let files = files(&root().join("integrations"));
    let of_plugins = |path: &&PathBuf| {
        let folders = ["commands", "skills"];
        path.iter().any(|part| folders.iter().any(|folder| part == *folder))
    };
    let files: Vec<_> = files.iter().filter(of_plugins).collect();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        says_nothing("", &text);
        let result = serde_json::json!({"type": "result", "subtype": "success", "result": text});
        for place in [
            format!("{text}\n\nAPI Error: 529 {{\"type\":\"error\"}}\n"),
            format!("{text}\n\nI have fixed the date parser and committed the change.\n"),
            format!("{result}\n"),
            format!("Here is the skill:\n\n````markdown\n{text}````\n"),
        ] {
            assert_eq!(scan("", &place)["signal"]["status"], "absent", "{place}");
        }
    }
}

#[test]
fn a_filled_in_protocol_is_a_complete_signal() {
    let first = FIRST.map(|settings| (settings, "COMPLETE"));
    for (settings, phrase) in first.into_iter().chain([(PHRASES, "SHIPPED")]) {
        let record = scan(settings, &filled(&prompt(settings), phrase));
        assert_eq!(record["signal"]["status"], "complete", "{settings}\n{record:#}");
    }
}

#[test]
fn the_protocol_is_one_that_is_accepted() {
    for spelling in ["exit_status", "ralph_status", "promise", "agent_exit"] {
        let settings = format!("[signal]\naccept = [\"{spelling}\"]\n");
        let text = prompt(&settings);
        let own = match spelling {
            "exit_status" => "EXIT_STATUS:",
            "ralph_status" => "---RALPH_STATUS---",
            "promise" => "<promise>",
            _ => "apm2_agent_exit",
        };
        assert!(text.contains(own), "{spelling}:\n{text}");
    }
}

#[test]
fn a_task_type_has_its_own_protocol() {
    let settings = "[task_types.story]\nsignal.accept = [\"promise\"]\n";
    gate("prompt --task-type story").settings(settings).code(0).says("<promise>");
    gate("prompt").settings(settings).code(0).says("EXIT_STATUS:");
}
