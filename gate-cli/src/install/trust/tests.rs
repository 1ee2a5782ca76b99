//! Trust is as Codex computes it, and comes and goes without a trace.

use super::super::command::Commands;
use super::*;
use crate::agent::Agent;
use crate::clients::facts;

fn form(moment: Moment) -> Form {
    let facts = facts(Agent::Codex);
    let (event, entry) =
        (facts.hook.events.name(moment).unwrap(), facts.settings.entry.as_ref().unwrap());
    let mut form = Form::new(event, entry, &Commands::unwritten(Agent::Codex), moment);
    form.entry.insert("command".to_owned(), "gate hook codex".into());
    form
}

/// A stop's entry that shows nothing while the hook runs.
fn silent() -> Form {
    let mut form = form(Moment::Stop);
    form.entry.remove(STATUS);
    form
}

fn trust() -> HookTrust {
    let form = silent();
    let entries = form.find_entries(&form.merged("").unwrap().text).unwrap();
    HookTrust::new(Path::new("/home/a b/.codex/hooks.json"), &entries[0], &form)
}

#[test]
fn the_digest_is_that_of_the_sorted_compact_json() {
    let text = r#"{"event_name":"stop","hooks":[{"async":false,"command":"gate hook codex","timeout":600,"type":"command"}]}"#;
    let digest = Sha256::digest(text.as_bytes());
    let hash = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(trust().hash, format!("sha256:{hash}"));
    assert_eq!(trust().key, "/home/a b/.codex/hooks.json:stop:0:0");
}

#[test]
fn the_digest_knows_what_is_shown_while_the_hook_runs() {
    let form = form(Moment::Stop);
    let entries = form.find_entries(&form.merged("").unwrap().text).unwrap();
    let with_status = HookTrust::new(Path::new("/home/a b/.codex/hooks.json"), &entries[0], &form);
    assert_eq!(with_status.key, trust().key);
    assert_ne!(with_status.hash, trust().hash);
}

#[test]
fn each_event_has_a_digest_of_its_own() {
    let trust_at = |moment, name: &str| {
        let form = form(moment);
        let entries = form.find_entries(&form.merged("").unwrap().text).unwrap();
        let trust = HookTrust::new(Path::new("/home/a b/.codex/hooks.json"), &entries[0], &form);
        assert_eq!(trust.key, format!("/home/a b/.codex/hooks.json:{name}:0:0"));
        trust
    };
    let start = trust_at(Moment::Start, "session_start");
    let prompt = trust_at(Moment::Prompt, "user_prompt_submit");
    let trusts = [trust(), start, prompt];
    let original = "model = \"x\"\n";
    let merged = merged(&trusts, original).unwrap();
    assert!(
        trusts.iter().all(|trust| trust.is_in(&merged.text) == Ok(Some(true))),
        "{}",
        merged.text
    );
    let cleaned = without(&trusts, &merged.text, &merged.made).unwrap().unwrap();
    assert_eq!(cleaned.trim_end(), original.trim_end());
    assert_eq!(without(&trusts, original, &[]).unwrap(), None);
}

#[track_caller]
fn comes_and_goes(text: &str) {
    let merged = trust().merged(text).unwrap();
    assert!(merged.text.starts_with(text), "{}", merged.text);
    assert_eq!(trust().is_in(&merged.text).unwrap(), Some(true));
    assert_eq!(trust().merged(&merged.text).unwrap().text, merged.text);
    let remaining = trust().without(&merged.text, &merged.made).unwrap().unwrap();
    assert_eq!(trust().is_in(&remaining).unwrap(), None);
    assert_eq!(remaining.trim_end(), text.trim_end());
}

#[test]
fn nothing_else_is_touched() {
    comes_and_goes("");
    comes_and_goes("# mine\nmodel = \"x\"   # why\n\n[features]\nhooks = true\n");
    comes_and_goes("[hooks]\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = \"x\"\n");
    comes_and_goes("[hooks.state.\"/other:stop:0:0\"]\ntrusted_hash = \"sha256:1\"");
    comes_and_goes("model = \"x\"\r\n[a]\r\nb = 1\r\n");
}

#[test]
fn an_old_digest_is_replaced_in_its_place() {
    let text = "[hooks.state.\"/home/a b/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = 'sha256:0' # old\n[b]\n";
    assert_eq!(trust().is_in(text).unwrap(), Some(false));
    let merged = trust().merged(text).unwrap();
    assert_eq!(merged.text, text.replace("'sha256:0'", &format!("\"{}\"", trust().hash)));
    assert!(merged.made.is_empty());
}

#[test]
fn settings_that_cannot_be_changed_are_reported() {
    assert_eq!(trust().merged("a = 1\nb = \n").unwrap_err().line, 2);
    let flaw = trust().merged("hooks = { state = {} }\n").unwrap_err();
    assert_eq!(flaw.key.as_deref(), Some("hooks.state"));
}
