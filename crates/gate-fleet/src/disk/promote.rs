//! Promotes facts of one task to the whole project.

use std::path::{Path, PathBuf};

use gate_core::Failure;
use gate_core::mask::Masker;
use jiff::Timestamp;
use serde::Serialize;

use super::facts::FactFile;
use super::project::Project;
use super::task::Task;
use crate::bus::Message;
use crate::fact::{Fact, Scope};

/// The type of messages that propose a fact.
const FACT: &str = "FACT";

/// The longest title that is taken from a text, in characters.
const TITLE: usize = 80;

/// The origin of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A message of type `FACT`, by its id.
    Message(String),
    /// A task's file.
    File(PathBuf),
}

/// A fact that may be promoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// The origin.
    pub source: Source,
    /// The fact.
    pub fact: Fact,
}

/// Writes a fact under a name, and returns its file.
pub type AddFact<'a> = &'a mut dyn FnMut(Fact, &str) -> Result<PathBuf, Failure>;

/// The outcome of a promotion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promoted {
    /// The fact is in this file now.
    Written(PathBuf),
    /// The fact would be written, but this is a dry run.
    Would,
    /// The project knows it already, from this file.
    Known(PathBuf),
}

/// A fact with what became of it, as `gate fact promote --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromotionRecord {
    source: String,
    title: String,
    outcome: &'static str,
    /// The project's file; `None` in a dry run.
    file: Option<String>,
}

impl PromotionRecord {
    /// The record of a promotion.
    pub fn new(source: &Source, title: String, promoted: &Promoted) -> Self {
        let (outcome, path) = match promoted {
            Promoted::Written(path) => ("promoted", Some(path)),
            Promoted::Would => ("would-promote", None),
            Promoted::Known(path) => ("known", Some(path)),
        };
        let source = match source {
            Source::Message(id) => id.clone(),
            Source::File(path) => path.display().to_string(),
        };
        Self { source, title, outcome, file: path.map(|path| path.display().to_string()) }
    }

    /// The same for a person.
    pub fn line(&self) -> String {
        let Self { source, title, outcome, file } = self;
        match file {
            None => format!("would promote {source}: {title}\n"),
            Some(file) if *outcome == "known" => format!("known {source}, from {file}\n"),
            Some(file) => format!("promoted {source} to {file}\n"),
        }
    }
}

impl Promotion {
    /// All that these tasks have found: their files, and what was proposed on
    /// their buses.
    ///
    /// # Errors
    ///
    /// A folder or bus that cannot be read.
    pub fn all(tasks: &[Task]) -> Result<Vec<Self>, Failure> {
        let mut promotions = Vec::new();
        for task in tasks {
            let (facts, _) = task.facts()?;
            promotions.extend(facts.into_iter().map(Self::from_file));
            let messages = task.bus()?.read()?.messages;
            let proposed = messages.iter().filter(|message| {
                message.kind.eq_ignore_ascii_case(FACT) && !message.body.trim().is_empty()
            });
            promotions.extend(proposed.map(Self::from_message));
        }
        Ok(promotions)
    }

    /// Those of what these tasks have found that are named, all of them or none: by the id of a
    /// message, by a path or by a file's name.
    ///
    /// # Errors
    ///
    /// A name that is none of these (code 2), a folder or bus that cannot be read.
    pub fn chosen(tasks: &[Task], names: &[String]) -> Result<Vec<Self>, Failure> {
        let mut promotions = Self::all(tasks)?;
        let mut chosen = Vec::new();
        for name in names {
            let position = promotions
                .iter()
                .position(|promotion| promotion.is_named(name))
                .ok_or_else(|| {
                    let message =
                        format!("{name}: no message of type FACT and no file of a fact here");
                    Failure::usage("unknown-fact", message)
                        .hint("`gate fact promote --all --dry-run` lists what there is")
                })?;
            chosen.push(promotions.swap_remove(position));
        }
        Ok(chosen)
    }

    /// The fact is called so: by the id of a message, a path or a file's name.
    pub fn is_named(&self, name: &str) -> bool {
        match &self.source {
            Source::Message(id) => id == name,
            Source::File(path) => path == Path::new(name) || path.ends_with(name),
        }
    }

    /// Makes it the project's, under this name or one that its title gives. What
    /// the project knows already is not written twice. `masker` covers the secrets in it, and `add`
    /// writes it under a name, and returns its file; there is none in a dry run.
    ///
    /// # Errors
    ///
    /// Those of `add`.
    pub fn promote(
        self,
        project: &Project,
        name: Option<&str>,
        masker: &Masker,
        add: Option<AddFact<'_>>,
    ) -> Result<Promoted, Failure> {
        let (known, _) = project.facts()?;
        if let Some(file) = known.iter().find(|file| file.fact.has_same_text(&self.fact)) {
            return Ok(Promoted::Known(file.path.clone()));
        }
        let Some(add) = add else { return Ok(Promoted::Would) };
        let mut fact = self.fact.promoted(Timestamp::now());
        masker.cover(&mut fact.title);
        masker.cover(&mut fact.body);
        let name = name.map_or_else(|| plain(&fact.title), str::to_owned);
        Ok(Promoted::Written(add(fact, &name)?))
    }

    fn from_file(file: FactFile) -> Self {
        Self { source: Source::File(file.path), fact: file.fact }
    }

    fn from_message(message: &Message) -> Self {
        let time = message.time().unwrap_or(Timestamp::UNIX_EPOCH);
        let title = title(&message.body);
        let mut fact = Fact::new(time, Scope::Task, &title, message.body.trim());
        fact.run_id.clone_from(&message.run_id);
        Self { source: Source::Message(message.msg_id.clone()), fact }
    }
}

/// A text's first line, as a title.
pub(super) fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    gate_core::text::brief(line.trim_start_matches(['#', ' ']), TITLE)
}

/// A name that leads nowhere, from a title that may say anything.
fn plain(title: &str) -> String {
    let words: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    if words.trim().is_empty() { "fact".to_owned() } else { words }
}
