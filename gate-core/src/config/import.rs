//! The dual-condition exit gate's JSON, rewritten as settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;
use toml::{Table, Value};

use super::error::{ConfigError, Fault, Problem};
use super::key::KeyPath;
use super::matcher::{self, Room};
use super::{layer, locate, nearest, serde_message};

/// The result of `gate config import`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Settings with comments, the text of a gate.toml.
    pub toml: String,
    /// Things that a person has to do or to know, one sentence each.
    pub notes: Vec<String>,
}

/// Rewrites the seed's JSON as settings that mean the same formula: threshold 2 if none is given,
/// `EXIT_STATUS` alone as the signal, no guards, and each piece of evidence counting one.
///
/// # Errors
///
/// No JSON; unknown or repeated keys, wrong types, patterns that do not
/// compile: with line and column.
pub fn import(file_name: &str, json_text: &str) -> Result<Imported, ConfigError> {
    let seed = read(file_name, json_text)?;
    Ok(Imported { notes: seed.notes(), toml: seed.toml() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SeedFile {
    exit_gate: Option<Seed>,
}

/// The seed's settings; `None` for a key that the JSON leaves out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seed {
    enabled: Option<bool>,
    indicator_threshold: Option<u32>,
    require_explicit_signal: Option<bool>,
    evidence_checks: Option<BTreeMap<String, bool>>,
    patterns: Option<Vec<String>>,
}

const EVIDENCE: [&str; 4] = ["tests", "build", "acceptance_criteria", "clean_git"];

/// The seed's threshold if its JSON gives none.
const SEED_THRESHOLD: u32 = 2;

/// Reads the JSON as a table, and the table as settings are read, so that the errors are theirs.
fn read(file: &str, json: &str) -> Result<Seed, ConfigError> {
    let table: Table =
        serde_json::from_str(json).map_err(|error| unreadable(file, json, &error))?;
    let seed_file = layer::read::<SeedFile>(file, &table.to_string())
        .map_err(|error| error.with_place_in(json, locate::in_json))?;
    let missing = || Fault::new(KeyPath::default(), Problem::Missing("exit_gate"));
    let seed = seed_file.exit_gate.ok_or_else(missing).and_then(Seed::checked);
    seed.map_err(|fault| {
        let span = locate::in_json(json, &fault.path, &fault.problem);
        ConfigError::in_text(file, json, span, fault)
    })
}

fn unreadable(file: &str, json: &str, error: &serde_json::Error) -> ConfigError {
    let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
    let column = error.column().saturating_sub(1);
    let offset = json.floor_char_boundary(lines.map(str::len).sum::<usize>() + column);
    let message_and_place = error.to_string();
    let message = message_and_place.split(" at line ").next().unwrap_or_default();
    let fault = serde_message::fault(KeyPath::default(), message);
    ConfigError::in_text(file, json, offset..offset, fault)
}

impl Seed {
    fn checked(self) -> Result<Self, Fault> {
        let gate_path = KeyPath::dotted("exit_gate");
        for name in self.evidence_checks.iter().flat_map(BTreeMap::keys) {
            if !EVIDENCE.contains(&name.as_str()) {
                let problem = Problem::UnknownKey(name.clone());
                let hint = nearest::hint(name, &EVIDENCE);
                return Err(Fault {
                    path: gate_path.key("evidence_checks").key(name),
                    problem,
                    hint,
                });
            }
        }
        let mut room = Room::default();
        for (index, regex) in self.patterns.iter().flatten().enumerate() {
            matcher::check_regex(regex, &mut room).map_err(|reason| {
                let problem = Problem::Regex { id: regex.clone(), reason };
                Fault::new(gate_path.key("patterns").index(index), problem)
            })?;
        }
        if self.enabled == Some(false) && self.require_explicit_signal == Some(false) {
            let message = "neither threshold nor signal is left to decide".to_owned();
            return Err(Fault::new(gate_path, Problem::Conflict(message))
                .hint("set `enabled` or `require_explicit_signal` to true"));
        }
        Ok(self)
    }

    /// The evidence that is looked at.
    fn evidence(&self) -> impl Iterator<Item = &'static str> {
        let checks = self.evidence_checks.as_ref();
        EVIDENCE
            .into_iter()
            .filter(move |name| checks.is_some_and(|checks| checks.get(*name) == Some(&true)))
    }

    fn toml(&self) -> String {
        let mut text = String::from("# Imported from the JSON of the dual-condition exit gate.\n");
        self.write_gate(&mut text);
        text.push_str(
            "\n# Its explicit signal is EXIT_STATUS alone.\n[signal]\naccept = [\"exit_status\"]\n",
        );
        self.write_patterns(&mut text);
        self.evidence().for_each(|name| write_check(&mut text, name));
        text
    }

    fn write_gate(&self, text: &mut String) {
        let (enabled, signal) =
            (self.enabled.unwrap_or(true), self.require_explicit_signal.unwrap_or(true));
        let threshold = self.indicator_threshold.unwrap_or(SEED_THRESHOLD);
        let _ = write!(
            text,
            "\n[exit_gate]\nenabled = {enabled}\nrequire_explicit_signal = {signal}\n\
             indicator_threshold = {threshold}\n"
        );
    }

    fn write_patterns(&self, text: &mut String) {
        let Some(patterns) = &self.patterns else {
            text.push_str(
                "\n# The patterns that the exit gate lists.\n[patterns]\npacks = [\"seed\"]\n",
            );
            return;
        };
        text.push_str(
            "\n# Its own patterns only. It has no guards: \"not ready for review\" counts.\n",
        );
        text.push_str("[patterns]\npacks = []\n");
        for (id, regex) in ids(patterns).iter().zip(patterns) {
            let regex = Value::from(regex.as_str());
            let _ = write!(text, "\n[[patterns.custom]]\nid = \"{id}\"\nregex = {regex}\n");
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self
            .evidence()
            .filter(|name| example(name).is_some())
            .map(|name| format!("checks.{name} has no command yet: the JSON names none, write it"))
            .collect();
        if self.indicator_threshold.is_none() {
            notes.push(format!("indicator_threshold is written as {SEED_THRESHOLD}, its default"));
        }
        if self.evidence().next().is_none() {
            notes.push("no evidence is looked at: evidence_checks switches nothing on".to_owned());
        } else {
            let advice = "each piece of evidence counts one and can be outvoted by phrases; \
                          mode = \"require\" makes it a condition";
            notes.push(advice.to_owned());
        }
        notes.push("patterns search the agent's final turn, not all of its output".to_owned());
        notes
    }
}

/// A name for each pattern, made of its words and different from the others.
fn ids(patterns: &[String]) -> Vec<String> {
    let mut used_ids = BTreeSet::new();
    let mut ids = Vec::new();
    for pattern in patterns {
        let words = slug(pattern);
        let (mut id, mut number) = (words.clone(), 2);
        while !used_ids.insert(id.clone()) {
            id = format!("{words}-{number}");
            number += 1;
        }
        ids.push(id);
    }
    ids
}

fn slug(pattern: &str) -> String {
    let lower = pattern.to_ascii_lowercase();
    let words =
        lower.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() { "pattern".to_owned() } else { slug }
}

fn write_check(text: &mut String, name: &str) {
    let _ = write!(text, "\n[checks.{name}]\n");
    if let Some(example) = example(name) {
        let _ = write!(text, "# The JSON names no command: write yours.\n#command = {example}\n");
    }
    text.push_str("mode = \"count\"\n");
}

/// The command of a check that needs one, as an example.
fn example(name: &str) -> Option<&'static str> {
    match name {
        "tests" => Some(r#"["cargo", "test"]"#),
        "build" => Some(r#"["cargo", "build"]"#),
        _ => None,
    }
}
