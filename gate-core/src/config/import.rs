//! The dual-condition exit gate's JSON, rewritten as settings.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toml::Value;

use super::error::{ConfigError, Problem};
use super::json::{Document, Member, Node};
use super::matcher::{self, Room};
use super::nearest;

/// Result of `gate config import`.
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
    let root = Document { file: file_name, text: json_text }.root()?;
    let gate = only_member(&root, "exit_gate")?;
    let seed = Seed::read(&gate)?;
    Ok(Imported { notes: seed.notes(), toml: seed.toml() })
}

/// The seed's settings; none if the JSON is silent.
#[derive(Default)]
struct Seed {
    enabled: Option<bool>,
    threshold: Option<u32>,
    require_explicit_signal: Option<bool>,
    evidence: Vec<&'static str>,
    patterns: Option<Vec<String>>,
}

const KEYS: [&str; 5] =
    ["enabled", "indicator_threshold", "require_explicit_signal", "evidence_checks", "patterns"];
const EVIDENCE: [&str; 4] = ["tests", "build", "acceptance_criteria", "clean_git"];

/// The seed's threshold if its JSON gives none.
const SEED_THRESHOLD: u32 = 2;

impl Seed {
    fn read(gate: &Node<'_>) -> Result<Self, ConfigError> {
        let mut seed = Self::default();
        for member in gate.members()? {
            let value = &member.value;
            match known(&member, &KEYS)? {
                "enabled" => seed.enabled = Some(value.read("true or false")?),
                "indicator_threshold" => seed.threshold = Some(value.read(NUMBER)?),
                "require_explicit_signal" => {
                    seed.require_explicit_signal = Some(value.read("true or false")?);
                }
                "evidence_checks" => seed.evidence = evidence(value)?,
                _ => seed.patterns = Some(patterns(value)?),
            }
        }
        if seed.enabled == Some(false) && seed.require_explicit_signal == Some(false) {
            let message = "neither threshold nor signal is left to decide".to_owned();
            let hint = "set `enabled` or `require_explicit_signal` to true".to_owned();
            return Err(gate.error(Problem::Conflict(message), Some(hint)));
        }
        Ok(seed)
    }

    fn toml(&self) -> String {
        let mut text = String::from("# Imported from the JSON of the dual-condition exit gate.\n");
        self.write_gate(&mut text);
        text.push_str(
            "\n# Its explicit signal is EXIT_STATUS alone.\n[signal]\naccept = [\"exit_status\"]\n",
        );
        self.write_patterns(&mut text);
        self.evidence.iter().for_each(|name| write_check(&mut text, name));
        text
    }

    fn write_gate(&self, text: &mut String) {
        let (enabled, signal) =
            (self.enabled.unwrap_or(true), self.require_explicit_signal.unwrap_or(true));
        let threshold = self.threshold.unwrap_or(SEED_THRESHOLD);
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
            .evidence
            .iter()
            .filter(|name| example(name).is_some())
            .map(|name| format!("checks.{name} has no command yet: the JSON names none, write it"))
            .collect();
        if self.threshold.is_none() {
            notes.push(format!("indicator_threshold is written as {SEED_THRESHOLD}, its default"));
        }
        if self.evidence.is_empty() {
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

const NUMBER: &str = "a whole number from 0 to 4294967295";

/// The value of an object's one member that may be there, and must.
fn only_member<'a>(root: &Node<'a>, name: &'static str) -> Result<Node<'a>, ConfigError> {
    let mut members = root.members()?.into_iter();
    let Some(member) = members.next() else {
        return Err(root.error(Problem::Missing(name), None));
    };
    known(&member, &[name])?;
    match members.next() {
        Some(other) => Err(unknown(&other, &[name])),
        None => Ok(member.value),
    }
}

fn known(member: &Member<'_>, names: &[&'static str]) -> Result<&'static str, ConfigError> {
    let found = names.iter().find(|name| **name == member.name);
    found.copied().ok_or_else(|| unknown(member, names))
}

fn unknown(member: &Member<'_>, names: &[&str]) -> ConfigError {
    let hint = nearest::hint(&member.name, names);
    member.error(Problem::UnknownKey(member.name.clone()), hint)
}

fn evidence(node: &Node<'_>) -> Result<Vec<&'static str>, ConfigError> {
    let mut wanted = Vec::new();
    for member in node.members()? {
        let name = known(&member, &EVIDENCE)?;
        if member.value.read("true or false")? {
            wanted.push(name);
        }
    }
    Ok(wanted)
}

fn patterns(node: &Node<'_>) -> Result<Vec<String>, ConfigError> {
    let mut room = Room::default();
    node.items()?.iter().map(|node| pattern(node, &mut room)).collect()
}

fn pattern(node: &Node<'_>, room: &mut Room) -> Result<String, ConfigError> {
    let regex: String = node.read("a string")?;
    match matcher::usable(&regex, room) {
        Ok(()) => Ok(regex),
        Err(reason) => Err(node.error(Problem::Regex { id: regex, reason }, None)),
    }
}

/// A name for each pattern, made of its words and different from the others.
fn ids(patterns: &[String]) -> Vec<String> {
    let (mut taken, mut ids) = (BTreeSet::new(), Vec::new());
    for pattern in patterns {
        let words = slug(pattern);
        let (mut id, mut number) = (words.clone(), 2);
        while !taken.insert(id.clone()) {
            id = format!("{words}-{number}");
            number += 1;
        }
        ids.push(id);
    }
    ids
}

fn slug(pattern: &str) -> String {
    let lower = pattern.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
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
