//! A proposal of `gate tune`: the changed settings, and what they change.

use std::collections::BTreeSet;
use std::fs;

use gate_core::config::Resolved;
use gate_core::decide::signal::NearMiss;
use gate_core::{Failure, Policy};
use schemars::JsonSchema;
use serde::Serialize;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::{Tuning, accuracy, accuracy_at};
use crate::replay::accuracy::Measured;
use crate::replay::{
    Label, Labelled, MAX_THRESHOLD, MarkedDecision, ReplayRecord, ReplayVerdict, exits_under,
};
use gate_card::diff;
use gate_card::page::{Mark, Page};

/// Labels of one kind below which a proposal may be chance.
const MIN_LABELS: u64 = 30;

/// Changed verdicts that a card names.
const MAX_NAMED_CASES: usize = 10;

/// A labelled iteration with its verdicts.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file and iteration, or the number of the decision.
    name: String,
    pub label: Labelled,
    /// The loop may end.
    exits: bool,
    near_misses: Vec<NearMiss>,
    /// By threshold from 0: may the loop end?
    by_threshold: Vec<bool>,
}

impl Case {
    /// A row of a replay; none without a label.
    pub fn labelled(row: ReplayRecord, by_threshold: Vec<bool>) -> Option<Self> {
        let label = Labelled { label: row.label?, ambiguous: row.ambiguous };
        Some(Self {
            name: format!("{}, iteration {}", row.file, row.iteration),
            label,
            exits: row.verdict.is_some_and(ReplayVerdict::lets_end),
            near_misses: row.signal.map(|signal| signal.near_misses).unwrap_or_default(),
            by_threshold,
        })
    }

    /// A decision that an operator has marked.
    pub fn marked(marked: &MarkedDecision, policies: &[Policy]) -> Self {
        Self {
            name: format!("decision {}", marked.seq),
            label: Labelled { label: marked.mistake.into(), ambiguous: false },
            exits: marked.decision.success,
            near_misses: Vec::new(),
            by_threshold: exits_under(policies, &marked.decision),
        }
    }

    /// May the loop end under this threshold? Without one, under the settings in force.
    pub fn exits(&self, threshold: Option<u32>) -> bool {
        match threshold {
            None => self.exits,
            Some(threshold) => self.by_threshold.get(threshold as usize) == Some(&true),
        }
    }

    /// The same under a threshold.
    pub fn under(&self, threshold: Option<u32>) -> Self {
        Self { exits: self.exits(threshold), ..self.clone() }
    }

    /// The text of the promises that were not accepted.
    fn promises(&self) -> impl Iterator<Item = &str> {
        self.near_misses.iter().filter_map(|miss| {
            let text = miss.text.split_once("<promise>")?.1;
            Some(text.split_once("</promise>")?.0.trim())
        })
    }
}

/// A promise that stands in missed exits alone.
#[derive(Clone, Debug)]
pub struct Phrase(String);

impl Phrase {
    /// The phrase that most missed exits promise, and nothing that has to go on.
    pub fn in_missed_exits(cases: &[Case]) -> Option<Self> {
        let is_exit = |case: &Case| case.label.label == Label::Exit;
        let other_phrases: BTreeSet<_> =
            cases.iter().filter(|case| !is_exit(case)).flat_map(Case::promises).collect();
        let mut missed: Vec<_> = cases
            .iter()
            .filter(|case| is_exit(case) && !case.exits)
            .flat_map(|case| case.promises().collect::<BTreeSet<_>>())
            .filter(|phrase| !phrase.is_empty() && !other_phrases.contains(phrase))
            .collect();
        missed.sort_unstable();
        let commonest = missed.chunk_by(|a, b| a == b).max_by_key(|phrases| phrases.len())?;
        Some(Self(commonest[0].to_owned()))
    }

    /// The phrases in force, and this one.
    fn beside<'a>(&'a self, settings: &'a Resolved) -> impl Iterator<Item = &'a str> {
        settings.policy.signal.phrases.iter().chain([&self.0]).map(String::as_str)
    }

    /// The settings with the phrase.
    pub fn added(&self, settings: &Resolved) -> Resolved {
        let mut settings = settings.clone();
        settings.policy.signal.phrases.push(self.0.clone());
        settings
    }
}

/// The settings to change.
#[derive(Clone, Debug, Default)]
pub struct Proposed {
    pub phrase: Option<Phrase>,
    pub threshold: Option<u32>,
}

impl Proposed {
    /// The text of gate.toml with the changes. Comments and order stay.
    fn settings_text(&self, settings: &Resolved, old_text: &str) -> Result<String, Failure> {
        let mut document: DocumentMut = old_text.parse().map_err(|error| {
            Failure::usage("config-invalid", format!("gate.toml is not TOML: {error}"))
        })?;
        if let Some(threshold) = self.threshold {
            let exit_gate = document.entry("exit_gate").or_insert_with(toml_edit::table);
            exit_gate["indicator_threshold"] = value(i64::from(threshold));
        }
        if let Some(phrase) = &self.phrase {
            let phrases = phrase.beside(settings).collect::<Array>();
            let signal = document.entry("signal").or_insert_with(implicit_table);
            let promise = signal
                .as_table_like_mut()
                .map(|signal| signal.entry("promise").or_insert_with(toml_edit::table));
            if let Some(promise) = promise {
                promise["phrases"] = value(phrases);
            }
        }
        Ok(document.to_string())
    }

    fn changes(&self, settings: &Resolved) -> Vec<TuneChange> {
        let threshold = self.threshold.map(|threshold| TuneChange {
            key: "exit_gate.indicator_threshold",
            from: settings.policy.threshold_in_force().to_string(),
            to: threshold.to_string(),
        });
        let phrase = self.phrase.as_ref().map(|phrase| TuneChange {
            key: "signal.promise.phrases",
            from: settings.policy.signal.phrases.join(", "),
            to: phrase.beside(settings).collect::<Vec<_>>().join(", "),
        });
        threshold.into_iter().chain(phrase).collect()
    }
}

/// A table without a header of its own.
fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// `gate.tune.v1`: a proposal, and what it changes. Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TuneRecord {
    /// Always `gate.tune.v1`.
    pub schema: &'static str,
    /// The number of labelled transcripts that should end the loop.
    pub exits: u64,
    /// The number of those that should not.
    pub others: u64,
    /// There are fewer than 30 of either kind: a proposal may be chance.
    pub few: bool,
    /// The verdicts under the settings in force.
    pub now: Measured,
    /// The verdicts under each threshold from 0, with the other settings as they are.
    pub thresholds: Vec<TuneThreshold>,
    /// The settings to change; empty if no other ones are better.
    pub changes: Vec<TuneChange>,
    /// The verdicts under the proposed settings.
    pub after: Measured,
    /// The verdicts that change.
    pub differences: Vec<TuneDifference>,
    /// The change of gate.toml as a unified diff; empty without a proposal.
    pub diff: String,
}

/// The verdicts under one threshold.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TuneThreshold {
    /// The threshold.
    pub threshold: u32,
    /// The proposal is the one in force.
    pub in_force: bool,
    /// The verdicts under it.
    #[serde(flatten)]
    pub verdicts: Measured,
}

/// A setting to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TuneChange {
    /// The key, with dots.
    pub key: &'static str,
    /// Its value now.
    pub from: String,
    /// Its value then.
    pub to: String,
}

/// A verdict that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TuneDifference {
    /// The file and iteration, or the number of the decision.
    pub name: String,
    /// The label.
    pub label: Label,
    /// The loop may end then, and may not now; false the other way round.
    pub ends: bool,
}

/// The verdicts under each threshold, up to the first one under which nothing may end.
fn thresholds(cases: &[Case], settings: &Resolved) -> Vec<TuneThreshold> {
    let in_force = settings.policy.threshold_in_force();
    let mut rows = Vec::new();
    for threshold in 0..=MAX_THRESHOLD {
        let accuracy = accuracy_at(cases, threshold);
        let verdicts = (&accuracy).into();
        rows.push(TuneThreshold { threshold, in_force: threshold == in_force, verdicts });
        if accuracy.exits == 0 {
            break;
        }
    }
    rows
}

impl TuneRecord {
    /// Compares labelled iterations under the settings in force and under the proposed ones.
    ///
    /// # Errors
    ///
    /// A settings file that is not TOML.
    pub fn new(
        tuning: &Tuning<'_>,
        proposed: &Proposed,
        cases: &[Case],
        proposed_cases: &[Case],
    ) -> Result<Self, Failure> {
        let Tuning { settings, file } = *tuning;
        let is_exit = |case: &&Case| case.label.label == Label::Exit;
        let exits = cases.iter().filter(is_exit).count() as u64;
        let others = cases.len() as u64 - exits;
        let changes = proposed.changes(settings);
        let proposed_cases = if changes.is_empty() { cases } else { proposed_cases };
        let differences = cases
            .iter()
            .zip(proposed_cases)
            .filter(|(case, proposed_case)| case.exits != proposed_case.exits);
        let diff = if changes.is_empty() {
            String::new()
        } else {
            let old = fs::read(file).ok();
            let old_text = String::from_utf8_lossy(old.as_deref().unwrap_or_default());
            let new_text = proposed.settings_text(settings, &old_text)?;
            diff(file, old.as_deref(), Some(new_text.as_bytes()))
        };
        Ok(Self {
            schema: "gate.tune.v1",
            exits,
            others,
            few: exits < MIN_LABELS || others < MIN_LABELS,
            now: (&accuracy(cases)).into(),
            thresholds: thresholds(cases, settings),
            changes,
            after: (&accuracy(proposed_cases)).into(),
            differences: differences
                .map(|(case, proposed_case)| TuneDifference {
                    name: case.name.clone(),
                    label: case.label.label,
                    ends: proposed_case.exits,
                })
                .collect(),
            diff,
        })
    }

    /// The proposal, for a person.
    pub fn card(&self) -> String {
        let mut page = Page::new();
        let word = if self.changes.is_empty() { "NO PROPOSAL" } else { "PROPOSAL" };
        let wrong = self.now.counts.wrong();
        let sentence = match (wrong, self.changes.as_slice()) {
            (_, []) if self.exits + self.others == 0 => "no labelled transcript was found".into(),
            (0, []) => "the settings in force judge every labelled transcript as labelled".into(),
            (_, []) => format!("no other threshold or phrase judges fewer than {wrong} wrong"),
            (_, changes) => {
                let pairs = changes.iter().map(|change| format!("{} = {}", change.key, change.to));
                pairs.collect::<Vec<_>>().join("; ")
            }
        };
        page.head(Mark::None, word, &sentence);
        page.row("labels", &format!("{} to end, {} to go on", self.exits, self.others));
        if self.few {
            let many = format!("fewer than {MIN_LABELS} of a kind: what helps here may be chance");
            page.marked(Mark::Unsure, "few", &many);
        }
        let thresholds = self.thresholds.iter().map(|row| {
            let in_force = if row.in_force { " (in force)" } else { "" };
            format!("threshold {}{in_force}: {}", row.threshold, row.verdicts.sentence())
        });
        page.rows("now", [self.now.sentence()].into_iter().chain(thresholds));
        if self.changes.is_empty() {
            return page.into_text();
        }
        let differences = self.differences.iter().take(MAX_NAMED_CASES).map(|change| {
            let ends = if change.ends { "ends then" } else { "goes on then" };
            format!("{}: {ends} (label {})", change.name, change.label.name())
        });
        page.rows("then", [self.after.sentence()].into_iter().chain(differences));
        let more = self.differences.len().saturating_sub(MAX_NAMED_CASES);
        if more > 0 {
            page.row("", &format!("and {more} more: see --json"));
        }
        page.row("next", "nothing is written: change gate.toml if you agree");
        format!("{}\n{}", page.into_text(), self.diff)
    }
}
