//! The parts of a file that each client reads, and a plug-in that is recognised.

use super::super::command::Commands;
use super::super::json::Dialect;
use super::super::opencode::plugin;
use super::super::settings_text::{decode, split_mark};
use super::super::{clients, scope::Scope};
use super::roots;
use crate::agent::Agent;
use crate::clients::Moment;
use crate::install::client::Content;

/// Checks the line of the first place that a reader of each dialect does not read: plain JSON, behind a
/// byte order mark, with comments, anything.
#[track_caller]
fn check(text: &str, expected: [Option<usize>; 4]) {
    let dialects = [Dialect::PLAIN, Dialect::MARKED, Dialect::COMMENTED, Dialect::ANY];
    let lines = dialects.map(|dialect| dialect.unread(text).map(|flaw| flaw.line));
    assert_eq!(lines, expected, "{text:?}");
}

#[test]
fn a_client_reads_so_much_and_no_more() {
    check("{\n\"a\": 1\n}\n", [None; 4]);
    check("\u{feff}{}", [Some(1), None, Some(1), None]);
    check("{\n\n// why\n}", [Some(3), Some(3), None, None]);
    check("{\n\"a\": 1,\n}", [Some(2), Some(2), Some(2), None]);
    check("{\n'a': 1}", [Some(2); 4]);
    check("{\n\"a\": 1\n\"b\": 2}", [Some(2); 4]);
    let flaw = Dialect::PLAIN.unread("\u{feff}{}").unwrap();
    assert_eq!(flaw.message, "a byte order mark is not allowed");
}

#[test]
fn text_that_is_no_utf_8_is_told_with_its_line() {
    let file = std::path::Path::new("/h/s.json");
    assert_eq!(decode(file, None), Ok(None));
    assert_eq!(decode(file, Some("é".as_bytes())), Ok(Some("é".to_owned())));
    let failure = decode(file, Some(b"{\n\"a\": \"\xff\"}")).unwrap_err();
    assert_eq!(failure.message, "/h/s.json, line 2: it is not UTF-8; nothing was changed");
    assert_eq!((failure.line, failure.exit_code), (Some(2), 2));
    assert_eq!(split_mark("\u{feff}{}"), ("\u{feff}", "{}"));
    assert_eq!(split_mark("{}\u{feff}"), ("", "{}\u{feff}"));
}

/// OpenCode's plug-in as an installation for this user writes it.
fn plugin_text(program: &str) -> String {
    let (_folder, roots) = roots(&[]);
    let program = std::path::Path::new(program);
    let commands = Commands::new(Agent::Opencode, Scope::User, program);
    match clients::targets(&commands, &roots, Scope::User).remove(0).content {
        Content::Own { text, .. } => text,
        content => panic!("{content:?}"),
    }
}

#[test]
fn a_plug_in_of_gates_is_known_by_the_command_in_it() {
    let current = plugin_text("/opt/it's \"here\"/gate");
    let found_plugin = plugin(&current).unwrap();
    assert_eq!(found_plugin.command, {
        Commands::calling(Agent::Opencode, "/opt/it's \"here\"/gate").for_event(Moment::Stop)
    });
    assert!(found_plugin.is_current && found_plugin.calls_at_start && found_plugin.calls_at_prompt);
    let edited = current.replacen("prompt_id: ", "prompt: ", 99);
    let found_plugin = plugin(&edited).unwrap();
    assert!(
        !found_plugin.is_current && found_plugin.calls_at_start && !found_plugin.calls_at_prompt
    );
    let older = current.replace("\"chat.message\": ", "\"chat.other\": ");
    let found_plugin = plugin(&older).unwrap();
    assert!(
        !found_plugin.is_current && !found_plugin.calls_at_start && !found_plugin.calls_at_prompt
    );
    for text in ["", "const COMMAND = \"say done\";\n", "const COMMAND = gate;\n", "// gate hook"] {
        assert!(plugin(text).is_none(), "{text}");
    }
}
