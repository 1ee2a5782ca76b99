//! Files that a person gives beside the transcripts: labels, and an earlier replay. They are JSON
//! Lines: each line one object, and a complaint names file, line and key, and what was expected
//! there.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use gate_core::text::brief;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::inputs::FileId;
use crate::replay::{Changed, Label, ROW, ReplayRecord, ReplayVerdict, SUMMARY};
use gate_core::Failure;

/// Characters of a wrong value that are shown.
const SHOWN: usize = 60;

/// Kind of a list, for error messages.
#[derive(Clone, Copy)]
struct Kind {
    /// The code of a line that is wrong.
    code: &'static str,
    /// Name of the list.
    name: &'static str,
    /// Name of a line.
    line: &'static str,
}

const LABELS: Kind = Kind {
    code: "labels-invalid",
    name: "labels",
    line: "an object such as {\"file\": \"a.log\", \"label\": \"exit\"}",
};

const EARLIER: Kind = Kind {
    code: "comparison-invalid",
    name: "earlier replay",
    line: "a row of `gate replay --json`",
};

/// The allowed labels, for error messages.
const LABEL_NAMES: &str = "one of exit, claims-done, continue, blocked, unrelated, or null";

/// The allowed numbers of an iteration, for error messages.
const FROM_ONE: &str = "a whole number from 1";

/// One object, and where it stands.
struct Object<'a> {
    path: &'a Path,
    kind: Kind,
    /// Its line, from 1.
    line: usize,
    keys: BTreeMap<String, &'a RawValue>,
}

impl Object<'_> {
    /// The value of a key; `None` if it is absent.
    fn get<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<Option<T>, Failure> {
        let Some(value) = self.keys.get(key) else { return Ok(None) };
        serde_json::from_str(value.get()).map(Some).map_err(|_| {
            let value = brief(value.get(), SHOWN);
            self.wrong(key, &format!("`{key}` is {value}; expected {expected}"))
        })
    }

    /// The value of a key that has to be there.
    fn need<T: DeserializeOwned>(&self, key: &str, expected: &str) -> Result<T, Failure> {
        self.get(key, expected)?
            .ok_or_else(|| self.wrong(key, &format!("`{key}` is missing; expected {expected}")))
    }

    /// A complaint about a key.
    fn wrong(&self, key: &str, problem: &str) -> Failure {
        // Whoever prints a failure that has a key puts the file before it.
        let failure = Failure::usage(self.kind.code, format!("line {}: {problem}", self.line));
        Failure { key: Some(key.to_owned()), ..placed(failure, self.path, self.line) }
    }
}

/// Reads all objects, with their lines. Blank lines are passed over.
fn each(
    path: &Path,
    kind: Kind,
    take: &mut dyn FnMut(&Object<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let action = format!("read the {}", kind.name);
    let unreadable = |error| Failure::file("input-unreadable", &action, path, &error);
    let file = File::open(path).map_err(unreadable)?;
    for (line, text) in (1..).zip(BufReader::new(file).lines()) {
        let text = text.map_err(unreadable)?;
        if text.trim().is_empty() {
            continue;
        }
        let keys = serde_json::from_str(&text).map_err(|error| {
            let problem = match error.is_eof() {
                true => "the line ends within its object",
                false => "this is no JSON object",
            };
            let (file, expected) = (path.display(), kind.line);
            let message = format!("{file}: line {line}: {problem}; expected {expected}");
            placed(Failure::usage(kind.code, message), path, line)
        })?;
        take(&Object { path, kind, line, keys })?;
    }
    Ok(())
}

fn placed(failure: Failure, path: &Path, line: usize) -> Failure {
    Failure { file: Some(path.display().to_string()), line: Some(line), ..failure }
}

/// A person's labels of transcripts. A label is about the last iteration of its file, unless
/// `"iteration": N` names another one. `null` judges nothing.
#[derive(Debug, Default)]
pub struct Labels {
    entries: BTreeMap<(FileId, Option<u64>), Entry>,
    /// Labels that match no file.
    idle: Vec<Idle>,
}

/// One label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// The right answer.
    pub label: Label,
    /// The label is marked as worth a second look.
    pub ambiguous: bool,
}

#[derive(Debug)]
struct Entry {
    labelled: Labelled,
    line: usize,
    file: String,
    /// An iteration was judged by it.
    used: AtomicBool,
}

/// A label that judges nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Idle {
    /// Its line, from 1.
    pub line: usize,
    /// The reason, as the end of a sentence.
    pub why: String,
}

impl Labels {
    /// Reads labels; files are named from the folder that they stand in.
    ///
    /// # Errors
    ///
    /// A line that is no label, an unknown label, a file with two labels.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut labels = Self::default();
        each(path, LABELS, &mut |line| labels.add(folder, line))?;
        Ok(labels)
    }

    /// Adds the label in a line. Other keys are the owner's, and are ignored.
    fn add(&mut self, folder: &Path, object: &Object<'_>) -> Result<(), Failure> {
        let file: String = object.need("file", "the name of a file")?;
        let iteration: Option<Option<NonZeroU64>> = object.get("iteration", FROM_ONE)?;
        let iteration = iteration.flatten().map(NonZeroU64::get);
        let ambiguous = object.get("ambiguous", "true or false")?.unwrap_or(false);
        let label: Option<Label> = object.need("label", LABEL_NAMES)?;
        let Some(label) = label else { return Ok(()) };
        let (line, path) = (object.line, folder.join(&file));
        let metadata = fs::metadata(&path).ok();
        let is_folder = metadata.as_ref().is_some_and(fs::Metadata::is_dir);
        let id = match &metadata {
            Some(metadata) if !is_folder => FileId::new(&path, metadata),
            _ => None,
        };
        let id = match id {
            Some(id) => id,
            None => {
                let state = if is_folder { "is a folder" } else { "is not there" };
                self.idle.push(Idle { line, why: format!("{file} {state}") });
                return Ok(());
            }
        };
        let labelled = Labelled { label, ambiguous };
        let entry = Entry { labelled, line, file, used: AtomicBool::new(false) };
        match self.entries.insert((id, iteration), entry) {
            Some(old) if old.labelled != labelled => {
                let problem = format!("`file` {} has another label in line {}", old.file, old.line);
                Err(object.wrong("file", &problem))
            }
            _ => Ok(()),
        }
    }

    /// The labelled files, as they are named from the folder of the labels.
    pub fn paths(&self, labels: &Path) -> Vec<PathBuf> {
        let folder = labels.parent().unwrap_or(Path::new("."));
        self.entries.values().map(|entry| folder.join(&entry.file)).collect()
    }

    /// A label names this file.
    pub fn has(&self, id: FileId) -> bool {
        self.entries.range((id, None)..=(id, Some(u64::MAX))).next().is_some()
    }

    /// The label of an iteration, which may be the last of its file.
    pub fn get(&self, id: FileId, iteration: u64, last: bool) -> Option<Labelled> {
        let of_iteration = self.entries.get(&(id, Some(iteration)));
        // The label of a file is about its last iteration, even if that one has its own.
        let of_file = if last { self.entries.get(&(id, None)) } else { None };
        let both = of_iteration.into_iter().chain(of_file);
        both.for_each(|entry| entry.used.store(true, Ordering::Relaxed));
        of_iteration.or(of_file).map(|entry| entry.labelled)
    }

    /// The labels that judge nothing, now that these files were read: their file is missing, or has
    /// no such iteration. Labels of other files may be used another time.
    pub fn idle(&self, read: &HashSet<FileId>) -> Vec<Idle> {
        let mut idle = self.idle.clone();
        for ((id, iteration), entry) in &self.entries {
            if let Some(iteration) = iteration
                && read.contains(id)
                && !entry.used.load(Ordering::Relaxed)
            {
                let why = format!("{} has no iteration {iteration}", entry.file);
                idle.push(Idle { line: entry.line, why });
            }
        }
        idle.sort();
        idle
    }
}

/// The verdicts of an earlier replay, by file and iteration; what was compared is taken out.
#[derive(Debug, Default)]
pub struct EarlierReplay(BTreeMap<(String, u64), Option<ReplayVerdict>>);

impl EarlierReplay {
    /// Reads the output of `gate replay --json`.
    ///
    /// # Errors
    ///
    /// A line that is no row of a replay; a file without any.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let mut earlier = Self::default();
        each(path, EARLIER, &mut |row| {
            let schema = row.need::<String>("schema", ROW)?;
            if schema == SUMMARY {
                return Ok(());
            }
            if schema != ROW {
                let problem = format!("`schema` is \"{schema}\"; expected \"{ROW}\"");
                return Err(row.wrong("schema", &problem));
            }
            let file = row.need("file", "the name of a file")?;
            let iteration = row.need("iteration", "a whole number")?;
            let verdict = row.need("verdict", "a verdict or null")?;
            earlier.0.insert((file, iteration), verdict);
            Ok(())
        })?;
        if earlier.0.is_empty() {
            let shown = path.display().to_string();
            let message =
                format!("{shown}: no row in it; expected the output of `gate replay --json`");
            return Err(Failure { file: Some(shown), ..Failure::usage(EARLIER.code, message) });
        }
        Ok(earlier)
    }

    /// The change of this row's verdict.
    pub fn compare(&mut self, row: &ReplayRecord) -> Option<Changed> {
        let from = self.0.remove(&(row.file.clone(), row.iteration)).flatten();
        (from != row.verdict).then_some(Changed { from, to: row.verdict })
    }

    /// Number of rows without a counterpart now.
    pub fn gone(&self) -> usize {
        self.0.len()
    }
}
