//! The documents are true: their commands are known, and their links lead to files.

use std::collections::BTreeMap;
use std::fs;

use gate_core::decide::reason::{ReasonCode, WarningCode};

use crate::book;
use crate::explain::ERROR_PAGES;
use crate::needs::root;
use crate::support::gate;

/// A command of the program, as a document shows it.
#[derive(Debug)]
struct Shown {
    place: String,
    words: Vec<String>,
}

fn document(name: &str) -> String {
    let file = root().join(name);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name} is missing: {error}"))
}

/// The lines of a document's fences in these languages, with their numbers.
fn fenced(text: &str, languages: &[&str]) -> Vec<(usize, String)> {
    let mut open = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), open) {
            (Some(language), None) => open = Some(languages.contains(&language.trim())),
            (Some(_), Some(_)) => open = None,
            (None, Some(true)) => lines.push((index + 1, line.to_owned())),
            (None, _) => {}
        }
    }
    lines
}

/// The calls of gate in a line of shell.
fn calls(line: &str) -> Vec<Vec<String>> {
    let code = line.split(" # ").next().unwrap_or_default();
    let parts = code.split(['|', ';', '&', '(', ')', '`', '{', '}', '<', '>']);
    parts.filter_map(call).collect()
}

fn call(part: &str) -> Option<Vec<String>> {
    let mut words: Vec<&str> = part.split_whitespace().collect();
    let prefixes = ["$", "!", "if", "while", "until", "do", "then", "else", "exec"];
    while words.first().is_some_and(|word| prefixes.contains(word) || is_assignment(word)) {
        words.remove(0);
    }
    if words.starts_with(&["cargo", "run"]) {
        let dashes = words.iter().position(|word| *word == "--")?;
        words.splice(..=dashes, ["gate"]);
    }
    (words.first() == Some(&"gate"))
        .then(|| words[1..].iter().map(|&word| word.to_owned()).collect())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
}

fn shown() -> Vec<Shown> {
    let mut shown = Vec::new();
    let pages = book::pages().into_iter().map(|page| (book::read(&page), page));
    let readme = "README.md".to_owned();
    for (text, name) in pages.chain([(document(&readme), readme)]) {
        // Of a console, the typed lines alone; the others are output.
        let typed = fenced(&text, &["console"]).into_iter();
        let typed = typed.filter_map(|(number, line)| {
            let command = line.strip_prefix("$ ").or_else(|| line.strip_prefix("> "));
            command.map(|command| (number, command.to_owned()))
        });
        for (number, line) in fenced(&text, &["sh", "bash"]).into_iter().chain(typed) {
            let place = format!("{name}:{number}");
            let calls = calls(&line).into_iter();
            shown.extend(calls.map(|words| Shown { place: place.clone(), words }));
        }
    }
    for (code, next) in remedies() {
        let commands = next.split('`').skip(1).step_by(2).flat_map(calls);
        shown.extend(commands.map(|words| Shown { place: format!("explain {code}"), words }));
    }
    shown
}

/// The next step of `gate explain`, for each code.
fn remedies() -> Vec<(String, String)> {
    let pages: toml::Table = toml::from_str(&document(ERROR_PAGES)).unwrap();
    let errors =
        pages.into_iter().map(|(code, page)| (code, page["next"].as_str().unwrap().into()));
    let reasons = ReasonCode::ALL.iter().map(|code| (code.code(), code.explanation()));
    let warnings = WarningCode::ALL.iter().map(|code| (code.code(), code.explanation()));
    let decisions = reasons.chain(warnings);
    errors.chain(decisions.map(|(code, page)| (code.into(), page.remedy.into()))).collect()
}

/// The help of the command that the words begin with. `helps` keeps the helps by command.
fn help(words: &[String], helps: &mut BTreeMap<String, Option<String>>) -> Option<String> {
    let has_folder = words.first().is_some_and(|word| word == "-C");
    let words = &words[if has_folder { 2.min(words.len()) } else { 0 }..];
    let (mut command, mut help_above) = (String::new(), None);
    for word in words.iter().take_while(|word| !word.starts_with('-')) {
        command = format!("{command} {word}");
        let text = helps.entry(command.clone()).or_insert_with(|| print_help(&command));
        match text {
            Some(text) if text.contains("Commands:") => help_above = Some(text.clone()),
            // A command with subcommands may take words of its own, too.
            None => return help_above.filter(|text| text.contains("Arguments:")),
            text => return text.clone(),
        }
    }
    helps.entry(command.clone()).or_insert_with(|| print_help(&command)).clone()
}

fn print_help(command: &str) -> Option<String> {
    let ran = gate(&format!("{command} --help")).run();
    ran.stdout.contains("Usage:").then_some(ran.stdout)
}

fn has_flag(help: &str, flag: &str) -> bool {
    let name = flag.split('=').next().unwrap_or(flag);
    help.split([' ', ',', '\n']).any(|word| word == name)
}

#[test]
fn every_command_that_the_documents_show_is_known() {
    let mut helps = BTreeMap::new();
    let shown = shown();
    assert!(shown.len() >= 5, "the documents show hardly any command: {shown:?}");
    for Shown { place, words } in shown {
        let Some(help) = help(&words, &mut helps) else {
            panic!("{place}: gate {}", words.join(" "))
        };
        // Behind `--` are the flags of another program.
        let arguments = words.iter().take_while(|word| *word != "--");
        for flag in arguments.filter(|word| word.starts_with("--")) {
            assert!(has_flag(&help, flag), "{place}: gate {}: no {flag}", words.join(" "));
        }
    }
}

#[test]
fn commands_are_found_in_lines_of_shell() {
    let commands = |line| calls(line).into_iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    assert_eq!(
        commands("while agent >out.log; gate check --while out.log; do :; done"),
        ["check --while out.log"]
    );
    assert_eq!(commands("$ claude -p | gate check - # done?"), ["check -"]);
    assert_eq!(
        commands("cargo run -- check examples/finished.log"),
        ["check examples/finished.log"]
    );
    assert_eq!(
        commands("GATE_EXIT_THRESHOLD=1 gate check x && gate -C a scan x"),
        ["check x", "-C a scan x"]
    );
    assert_eq!(commands("protocol=$(gate prompt)"), ["prompt"]);
    assert_eq!(commands("cargo install gate"), [""; 0]);
}

#[test]
fn links_in_the_documents_lead_to_files() {
    let entries = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let documents: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    assert!(documents.iter().any(|path| path.ends_with("README.md")), "README.md is missing");
    for path in documents {
        let text = fs::read_to_string(&path).unwrap();
        for target in links(&text) {
            let file = target.split('#').next().unwrap_or_default();
            assert!(root().join(file).exists(), "{}: ({target})", path.display());
        }
    }
}

/// The relative targets of a document's links.
fn links(text: &str) -> Vec<String> {
    let mut inside = false;
    let prose = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    });
    let targets =
        prose.flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    let own = targets.filter(|target| !target.contains(':') && !target.starts_with('#'));
    own.map(str::to_owned).collect()
}

/// The book's page is tried, so the README shows what gate prints.
#[test]
fn the_refusal_in_the_readme_is_the_one_of_the_book() {
    let readme = document("README.md");
    let (_, refusal) = readme.split_once("```text\n$ gate check").expect("it shows a refusal");
    let (refusal, _) = refusal.split_once("```").unwrap();
    assert!(book::read("start.md").contains(refusal), "{refusal}");
}

const DECISIONS: &str = "docs/decisions";

/// A title as the name of a file: in lower case, with hyphens, without other marks.
fn slug(title: &str) -> String {
    let title = title.to_lowercase().replace(' ', "-");
    title.chars().filter(|letter| letter.is_alphanumeric() || *letter == '-').collect()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').map(|part| (part.len(), part.parse::<u16>())).collect();
    matches!(parts[..], [(4, Ok(_)), (2, Ok(1..=12)), (2, Ok(1..=31))])
}

#[test]
fn decisions_have_whole_names_dates_and_rows() {
    let folder = root().join(DECISIONS);
    let list = document(&format!("{DECISIONS}/README.md"));
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    for name in names.filter(|name| name != "README.md") {
        let text = document(&format!("{DECISIONS}/{name}"));
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).expect(&name);
        let number = &name[..4];
        assert_eq!(name, format!("{number}-{}.md", slug(title)), "the name is the title");
        let date = text.lines().find_map(|line| line.strip_prefix("- Date: ")).unwrap_or_default();
        assert!(is_date(date), "{name}: a line `- Date: YYYY-MM-DD` follows the title");
        let successor = text.lines().find_map(|line| line.strip_prefix("- Replaced by "));
        let status = successor.map_or("in force".to_owned(), |link| format!("replaced by {link}"));
        let row = format!("| {number} | [{title}]({name}) | {date} | {status} |");
        assert!(list.lines().any(|line| line == row), "{DECISIONS}/README.md lacks {row}");
        for target in links(&text) {
            assert!(folder.join(&target).exists(), "{name}: ({target})");
        }
        if let Some(link) = successor {
            let file = links(link).pop().expect(link);
            let replaced = format!("[{number}]({name})");
            let lines = document(&format!("{DECISIONS}/{file}"));
            let mut lines = lines.lines().filter(|line| line.starts_with("- Replaces "));
            assert!(lines.any(|line| line.contains(&replaced)), "{file} replaces {name}");
        }
    }
}
