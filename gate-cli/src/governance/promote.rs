//! Promotes facts of one task to the whole project.

use std::path::{Path, PathBuf};

use gate_fleet::bus::Message;
use gate_fleet::fact::{Fact, Scope};
use jiff::Timestamp;

use super::facts::{self, Found};
use super::project::Project;
use super::task::Task;
use crate::failure::Failure;
use crate::secrets;

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

impl Promotion {
    /// All that these tasks have found: their files, and what was proposed on
    /// their buses.
    ///
    /// # Errors
    ///
    /// A folder or bus that cannot be read.
    pub fn all(tasks: &[Task]) -> Result<Vec<Self>, Failure> {
        let mut all = Vec::new();
        for task in tasks {
            let (found, _) = task.facts()?;
            all.extend(found.into_iter().map(Self::from_file));
            let messages = task.bus()?.read()?.messages;
            let proposed = messages.iter().filter(|message| {
                message.kind.eq_ignore_ascii_case(FACT) && !message.body.trim().is_empty()
            });
            all.extend(proposed.map(Self::from_message));
        }
        Ok(all)
    }

    /// Compares with an id, a path or a file's name.
    pub fn is(&self, named: &str) -> bool {
        match &self.source {
            Source::Message(id) => id == named,
            Source::File(path) => path == Path::new(named) || path.ends_with(named),
        }
    }

    /// Makes it the project's, under this name or one that its title gives. What
    /// the project knows already is not written twice.
    ///
    /// # Errors
    ///
    /// A name that leads elsewhere (code 2), a folder that cannot be written.
    pub fn promote(
        self,
        project: &Project,
        name: Option<&str>,
        dry_run: bool,
    ) -> Result<Promoted, Failure> {
        let (known, _) = project.facts()?;
        if let Some(same) = known.iter().find(|known| known.fact.says_the_same(&self.fact)) {
            return Ok(Promoted::Known(same.path.clone()));
        }
        if dry_run {
            return Ok(Promoted::Would);
        }
        let mut fact = self.fact.promoted(Timestamp::now());
        secrets::masker().cover(&mut fact.title);
        secrets::masker().cover(&mut fact.body);
        let given = name.map_or_else(|| plain(&fact.title), str::to_owned);
        let found = facts::add(&project.folder(), fact, &given)?;
        Ok(Promoted::Written(found.path))
    }

    fn from_file(found: Found) -> Self {
        Self { source: Source::File(found.path), fact: found.fact }
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
pub(crate) fn title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    gate_core::text::brief(line.trim_start_matches(['#', ' ']), TITLE)
}

/// A name that leads nowhere, from a title that may say anything.
fn plain(title: &str) -> String {
    let words: String =
        title.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
    if words.trim().is_empty() { "fact".to_owned() } else { words }
}
