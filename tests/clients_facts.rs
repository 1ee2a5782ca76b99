//! The facts of clients: `docs/clients.md` and a list in gate-core are made from them, and CI runs
//! the versions that they were verified with.
//!
//! `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::` rewrites both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;

use toml::Value;

use crate::needs::root;
use crate::support::clients::{tables, text, texts};

const REWRITE: &str =
    "rewrite it with `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::`";

const HEAD: &str = "# Clients\n\n\
    The agents whose stop gate can hold, as `gate-cli/src/clients.toml` describes them. \"Real client\": gate's\n\
    tests run the latest of these versions with gate as its hook. \"Documentation\": nobody has run the\n\
    client, and gate follows what its maker writes.\n\n";

const GUARDED_HEAD: &str = "//! The files of agents' clients in a project, made from `gate-cli/src/clients.toml` by\n\
    //! `UPDATE=1 cargo test -p gate-cli --test gate -- clients_facts::`.\n\n\
    /// The folders of clients.\n";

const TIMES: &str = "\nThe times are those of a hook whose settings name none. `gate install` writes 600 s for a stop, of \
    which gate takes 540,\nand 30 s for the other events.\n";

const PERMISSIONS_HEAD: &str = "\n## Permissions\n\n`gate run --agent` starts an agent with these options, as `--allow` says:\n\n";

const PERMISSIONS_END: &str = "\n`COMMAND` stands for `git add`, `git commit` and each command of the project's checks, `PROGRAM` \
    for its program alone,\nand `GIT_FOLDER` for git's own folder.\n";

/// A cell with nothing in it.
const NONE: &str = "–";

/// Texts as code, or a dash.
fn codes(texts: &[impl Display]) -> String {
    let codes: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
    if codes.is_empty() { NONE.to_owned() } else { codes.join(", ") }
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

/// A table with this head, and a row for each client that has one.
fn clients<const N: usize>(head: [&str; N], row: impl Fn(&Value) -> Option<[String; N]>) -> String {
    agents(tables("client").iter(), head, row)
}

/// The same for these agents.
fn agents<'f, const N: usize>(
    agents: impl Iterator<Item = &'f Value>,
    head: [&str; N],
    row: impl Fn(&Value) -> Option<[String; N]>,
) -> String {
    let rows = agents.filter_map(row).map(Vec::from);
    table(&[head.map(str::to_owned).to_vec()].into_iter().chain(rows).collect::<Vec<_>>())
}

/// A part of the document that a page of the book includes.
fn anchored(name: &str, table: &str) -> String {
    format!("<!-- ANCHOR: {name} -->\n{table}<!-- ANCHOR_END: {name} -->\n")
}

fn name(client: &Value) -> String {
    codes(&[text(client, "name")])
}

fn sources() -> String {
    clients(["client", "agent", "verified with"], |client| {
        Some([text(client, "title").to_owned(), name(client), source(client)])
    })
}

fn settings() -> String {
    clients(["agent", "your settings", "the project's"], |client| {
        let settings = &client["settings"];
        let variable = settings.get("folder_variable").and_then(Value::as_str);
        let variable = variable.map(|name| format!(" (`{name}`)")).unwrap_or_default();
        let user = format!("{}{variable}", codes(&[text(settings, "user")]));
        let [own, shared] = ["project", "shared"].map(|key| codes(&[text(settings, key)]));
        let both =
            if own == shared { own } else { format!("`--project` {own}, `--shared` {shared}") };
        Some([name(client), user, both])
    })
}

fn managed() -> String {
    clients(["agent", "Linux", "macOS"], |client| {
        let managed = client["settings"].get("managed")?;
        let [linux, macos] = ["linux", "macos"].map(|key| codes(&[text(managed, key)]));
        let macos = if linux == macos { "the same".to_owned() } else { macos };
        Some([name(client), linux, macos])
    })
}

fn events() -> String {
    clients(["agent", "a stop", "a session begins", "a prompt of the person"], |client| {
        let (events, settings) = (&client["hook"]["events"], &client["settings"]);
        let installs = |moment: &str| texts(settings, "installs").contains(&moment);
        let prompts = if installs("prompt") { texts(events, "prompt") } else { Vec::new() };
        let begins = match (installs("start"), prompts.is_empty()) {
            (true, _) => codes(&[text(events, "start")]),
            (false, false) => "the first prompt".to_owned(),
            (false, true) => NONE.to_owned(),
        };
        Some([name(client), codes(&[text(events, "stop")]), begins, codes(&prompts)])
    })
}

fn limits() -> String {
    let head =
        ["agent", "last message", "headless", "waits, gate's own limit", "refusals in a row"];
    clients(head, |client| {
        let hook = &client["hook"];
        let message = hook["keys"].get("message").and_then(Value::as_str);
        let values = hook.get("headless_values").and_then(Value::as_table).into_iter().flatten();
        let values = values.map(|(name, value)| format!("{name}={}", value.as_str().unwrap()));
        let words = texts(hook, "headless_words").into_iter().map(str::to_owned);
        let headless: Vec<_> = values.chain(words).collect();
        let waits = hook.get("default_timeout").map_or("?".to_owned(), |time| format!("{time} s"));
        Some([
            name(client),
            message.map_or("in the transcript".to_owned(), |key| codes(&[key])),
            codes(&headless),
            format!("{waits}, {} s", hook["deadline"]),
            text(hook, "refusal_cap").to_owned(),
        ])
    })
}

/// The words of a command line that permit something.
fn granted(grant: &Value) -> Vec<String> {
    let quoted = |value: &str| match value.chars().all(char::is_alphanumeric) {
        true => value.to_owned(),
        false => format!("'{value}'"),
    };
    let variables = grant.get("variables").and_then(Value::as_table).into_iter().flatten();
    let variables =
        variables.map(|(name, value)| format!("{name}={}", quoted(value.as_str().unwrap())));
    let args = grant.get("args").map(|_| texts(grant, "args")).unwrap_or_default();
    let args = args.into_iter().map(|word| word.replace("{git}", "GIT_FOLDER"));
    variables.chain(args).collect()
}

/// The grant of single commands.
fn granted_commands(commands: &Value) -> String {
    if let Some(variable) = commands.get("rules") {
        let variable = variable.as_str().unwrap();
        return format!("`{variable}` with edits and a rule for each command");
    }
    let (flag, value) = (text(&commands["flag"], "name"), text(&commands["flag"], "value"));
    let each = match value.contains("{program}") {
        true => "for each program, of git for each command",
        false => "for each command",
    };
    let value = value.replace("{program}", "PROGRAM").replace("{command}", "COMMAND");
    format!("`{flag} '{value}'` {each}")
}

fn permissions() -> String {
    let head = ["agent", "version tried", "`edits`", "`checks`", "`all`", "limits"];
    agents(tables("client").iter().chain(tables("program")), head, |agent| {
        let run = agent.get("run")?;
        let of = |level: &str| run.get(level).map(granted);
        let edits = of("edits").unwrap_or_default();
        let checks = of("checks").unwrap_or_else(|| edits.clone());
        let all = of("all").unwrap_or_default();
        let words = |words: &[String]| match words {
            [] => None,
            words => Some(format!("`{}`", words.join(" "))),
        };
        // The grant for checks is mostly that for edits, and some more.
        let more = checks.strip_prefix(edits.as_slice());
        let parts = [words(more.unwrap_or(&checks)), run.get("commands").map(granted_commands)];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let same = || if edits.is_empty() { NONE } else { "the same" }.to_owned();
        let in_checks = match more {
            _ if parts.is_empty() => same(),
            Some(_) if !edits.is_empty() => format!("and {parts}"),
            _ => parts,
        };
        let in_all = if all == edits { same() } else { words(&all).unwrap_or(NONE.to_owned()) };
        let version = texts(&agent["verified"], "versions").last().copied().unwrap_or("not tried");
        let note = run.get("note").and_then(Value::as_str);
        Some([
            name(agent),
            version.to_owned(),
            words(&edits).unwrap_or(NONE.to_owned()),
            in_checks,
            in_all,
            note.unwrap_or(NONE).to_owned(),
        ])
    })
}

/// The document that shows the facts.
fn document() -> String {
    let programs = tables("program").iter();
    let programs: String = programs
        .map(|program| format!("- {}: {}.\n", text(program, "title"), source(program)))
        .collect();
    [
        HEAD,
        &anchored("verified", &sources()),
        "\n## Settings\n\n",
        &anchored("settings", &settings()),
        "\nFor all users of a machine:\n\n",
        &anchored("managed", &managed()),
        "\n## Hooks\n\n",
        &anchored("events", &events()),
        "\n",
        &limits(),
        TIMES,
        "\n## Without a hook\n\n`gate check` judges what they print:\n\n",
        &programs,
        PERMISSIONS_HEAD,
        &anchored("permissions", &format!("{}{PERMISSIONS_END}", permissions())),
    ]
    .concat()
}

/// A constant of the list in gate-core.
fn constant(head: &str, texts: &BTreeSet<&str>) -> String {
    let lines: String = texts.iter().map(|text| format!("    {text:?},\n")).collect();
    format!("#[rustfmt::skip]\n{head}: [&str; {}] = [\n{lines}];\n", texts.len())
}

/// The list of the files and folders that gate-core guards: a check reads no TOML for them.
fn guarded_files() -> String {
    let (mut folders, mut files) = (BTreeSet::new(), BTreeSet::new());
    for client in tables("client") {
        let settings = &client["settings"];
        files.extend(["project", "shared"].map(|key| text(settings, key)));
        if settings.get("also_reads").is_some() {
            files.extend(texts(settings, "also_reads"));
        }
        folders.extend(settings.get("project_folder").and_then(Value::as_str));
    }
    [
        GUARDED_HEAD,
        &constant("pub(super) const AGENT_FOLDERS", &folders),
        "\n/// The settings of agents in a project that say which hooks run.\n",
        &constant("pub const AGENT_SETTINGS", &files),
    ]
    .concat()
}

#[track_caller]
fn compare(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        fs::write(&path, text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "{file} is stale: {REWRITE}");
}

#[test]
fn the_document_shows_the_facts() {
    compare("docs/clients.md", &document());
}

#[test]
fn the_settings_of_each_client_are_in_the_list_of_guarded_files() {
    compare("gate-core/src/integrity/agents.rs", &guarded_files());
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
    let script = fs::read_to_string(root().join(".ci/clients")).unwrap();
    let clients = tables("client").iter().filter_map(|client| {
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
