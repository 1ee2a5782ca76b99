//! The facts of clients: `docs/clients.md` shows them, and CI runs the versions that they
//! were verified with.
//!
//! `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::` rewrites the document.

use std::collections::BTreeMap;
use std::fs;

use toml::{Table, Value};

use crate::needs::root;

const REWRITE: &str =
    "rewrite it with `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::`";

const HEAD: &str = "# Clients\n\n\
    The agents whose stop gate can hold, as `gate-cli/src/clients.toml` describes them. \"Real client\": gate's\n\
    tests run the latest of these versions with gate as its hook. \"Documentation\": nobody has run the\n\
    client, and gate follows what its maker writes.\n\n";

const OTHERS: &str =
    "\nWithout a hook that could hold a stop; `gate check` judges what they print:\n\n";

fn facts() -> Table {
    let file = root().join("gate-cli/src/clients.toml");
    toml::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn tables<'f>(facts: &'f Table, name: &str) -> Vec<&'f Value> {
    facts[name].as_array().unwrap().iter().collect()
}

fn text<'f>(table: &'f Value, key: &str) -> &'f str {
    table[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {table}"))
}

fn texts<'f>(table: &'f Value, key: &str) -> Vec<&'f str> {
    table[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Texts as code, or a dash.
fn codes(texts: &[&str]) -> String {
    let codes: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
    if codes.is_empty() { "–".to_owned() } else { codes.join(", ") }
}

/// The source of a client's facts.
fn source(client: &Value) -> String {
    let verified = &client["verified"];
    let versions = texts(verified, "versions").join(", ");
    let source = format!("{}, {}", text(verified, "by"), verified["date"].as_datetime().unwrap());
    if versions.is_empty() { source } else { format!("{versions} ({source})") }
}

/// Rows of Markdown with as many cells as the first one.
fn table(rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let dashes = vec!["---".to_owned(); rows[0].len()];
    let mut lines = vec![line(&rows[0]), line(&dashes)];
    lines.extend(rows[1..].iter().map(|cells| line(cells)));
    lines.concat()
}

fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

/// The document that shows the facts.
fn document() -> String {
    let facts = facts();
    let clients = tables(&facts, "client");
    let mut verified = vec![names([
        "client",
        "`gate install`",
        "verified with",
        "settings",
        "for all users of a machine (Linux)",
    ])];
    let mut hooks = vec![names([
        "client",
        "stop, session, prompt",
        "last message",
        "headless",
        "waits, gate's own limit",
        "refusals in a row",
    ])];
    for client in clients {
        let (title, hook, settings) = (text(client, "title"), &client["hook"], &client["settings"]);
        let mut files = vec![text(settings, "user"), text(settings, "project")];
        files.push(text(settings, "shared"));
        files.dedup();
        let name = codes(&[text(client, "name")]);
        let managed = settings.get("managed").map(|managed| text(managed, "linux"));
        let managed = codes(&managed.into_iter().collect::<Vec<_>>());
        verified.push(vec![title.to_owned(), name, source(client), codes(&files), managed]);
        let events = &hook["events"];
        let mut all = vec![text(events, "stop"), text(events, "start")];
        all.extend(texts(events, "prompt"));
        let message = hook["keys"].get("message").and_then(Value::as_str);
        let waits = hook.get("default_timeout").map_or("?".to_owned(), |time| format!("{time} s"));
        hooks.push(vec![
            title.to_owned(),
            codes(&all),
            message.map_or("in the transcript".to_owned(), |key| codes(&[key])),
            codes(&texts(hook, "headless_words")),
            format!("{waits}, {} s", hook["deadline"]),
            text(hook, "refusal_cap").to_owned(),
        ]);
    }
    let programs = tables(&facts, "program").into_iter();
    let programs =
        programs.map(|program| format!("{}: {}.\n", text(program, "title"), source(program)));
    let programs: String = programs.map(|line| format!("- {line}")).collect();
    let times = "\nThe times are those of a hook whose settings name none. `gate install` writes 600 s for a stop, of \
        which gate takes 540,\nand 30 s for the other events.\n";
    [HEAD, &table(&verified), "\n", &table(&hooks), times, OTHERS, &programs].concat()
}

#[test]
fn the_document_shows_the_facts() {
    let file = root().join("docs/clients.md");
    let document = document();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(&file, &document).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == document, "{} is stale: {REWRITE}", file.display());
}

/// The versions that CI installs, by client.
fn installed(script: &str) -> BTreeMap<&str, &str> {
    let (_, list) = script.split_once("for client in ").expect("CI installs clients");
    let (list, _) = list.split_once("; do").unwrap();
    let words = list.split_whitespace().filter(|word| word.contains('='));
    let clients = words.map(|word| word.trim_matches('\'').split_once('=').unwrap());
    clients.map(|(client, package)| (client, package.rsplit_once('@').unwrap().1)).collect()
}

#[test]
fn ci_runs_the_versions_that_the_facts_were_verified_with() {
    let facts = facts();
    let script = fs::read_to_string(root().join(".ci/run")).unwrap();
    let clients = tables(&facts, "client").into_iter().filter_map(|client| {
        let latest = *texts(&client["verified"], "versions").last()?;
        Some((text(client, "name"), latest))
    });
    assert_eq!(installed(&script), clients.collect());
}

#[test]
fn versions_are_read_from_a_loop_of_shell() {
    let script = "for client in a=@x/a@1.2 \\\n  'b=b@3 @y/b@4'; do\n  npm install c=d@5\n";
    assert_eq!(installed(script), BTreeMap::from([("a", "1.2"), ("b", "3")]));
}
