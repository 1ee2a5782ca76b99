//! The tests of the baseline, compared with those of a run: as sets, never as totals.

mod relocated;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Allowance;
use gate_core::text::{MAX_NAMES, counted, some_names};
use serde_json::{Value, json};

use super::overlay::Overlay;
use crate::report::{Status, Test, TestReport};
use crate::worktree::Globs;

pub(super) use relocated::Sources;

/// Tests of each kind that the detail names.
pub(super) const LISTED: usize = 50;

/// The baseline's tests, compared with those of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Compared {
    /// Set if there is nothing to compare.
    lacking: Option<Lacking>,
    passed: usize,
    /// They are not among the tests any more.
    gone: Vec<String>,
    /// They are there, and do not run.
    skipped: Vec<String>,
    /// They have another name now, as their file has.
    moved: Vec<String>,
    /// They may be gone: the operator allows it.
    allowed: Vec<String>,
}

/// A comparison that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacking {
    /// The baseline's tests are not known. True if the run names its own.
    Baseline { names: bool },
    /// The baseline has so many tests, and the run names none.
    Report { before: usize },
    /// So many tests of the base ran, and fewer run now; neither are named.
    Fewer { of_base: u64, now: u64 },
}

/// Allowed changes of tests' names.
#[derive(Debug, Default)]
pub(super) struct Renamed {
    /// Beginnings of names, and what stands in their place.
    moved: Vec<(String, String)>,
    /// Beginnings of names in files that the operator lets change.
    free: Vec<String>,
}

impl Renamed {
    /// From what became of the files. Names are relative to the root, or to one of the folders that
    /// a runner takes for it.
    pub(super) fn new(overlay: &Overlay<'_>, cwd: &Path) -> Self {
        let moved = overlay.moved().flat_map(|(from, to)| {
            spellings(from, cwd).into_iter().zip(spellings(to, cwd)).collect::<Vec<_>>()
        });
        let free = overlay.approved().flat_map(|change| spellings(&change.path, cwd));
        Self { moved: moved.collect(), free: free.collect() }
    }

    /// The names that a test may have by now.
    fn now<'r>(&'r self, id: &'r str) -> impl Iterator<Item = String> + 'r {
        let renamed = self.moved.iter().flat_map(move |(from, to)| {
            starts(id).filter_map(move |start| {
                let rest = rest(&id[start..], from)?;
                Some(format!("{}{to}{rest}", &id[..start]))
            })
        });
        renamed.chain(std::iter::once(id.to_owned()))
    }

    fn is_free(&self, id: &str) -> bool {
        starts(id).any(|at| self.free.iter().any(|prefix| rest(&id[at..], prefix).is_some()))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    text(&path.with_extension(""))
}

fn is(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// The first [`LISTED`] names.
fn first(names: &[String]) -> &[String] {
    &names[..names.len().min(LISTED)]
}

/// The offsets at which a file's part of a name may begin: cargo puts a program before it, unittest
/// the test's own name.
fn starts(id: &str) -> impl Iterator<Item = usize> {
    let parts = [id.find("::"), id.find(" (")];
    std::iter::once(0).chain(parts.into_iter().flatten().map(|at| at + 2))
}

/// The rest of a name after a prefix that ends with one of its parts.
fn rest<'i>(id: &'i str, beginning: &str) -> Option<&'i str> {
    if beginning.is_empty() {
        return None;
    }
    let rest = id.strip_prefix(beginning)?;
    let ends = rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric() && c != '_');
    ends.then_some(rest)
}

/// The prefixes with which runners name the tests of a file. Each file has as many, in the same
/// order.
fn spellings(path: &Path, cwd: &Path) -> Vec<String> {
    let inside = path.strip_prefix(cwd).unwrap_or(path);
    let source = inside.strip_prefix("src").unwrap_or(inside);
    let module = stem(source).trim_end_matches("/mod").replace('/', "::");
    vec![
        text(path),
        text(inside),
        stem(path).replace('/', "."),
        stem(inside).replace('/', "."),
        // A test program of cargo's is called like its file.
        stem(Path::new(inside.file_name().unwrap_or_default())),
        module,
    ]
}

/// A test's name without what changes with the lines above it.
pub(super) fn name(id: &str) -> String {
    match id.split_once(" (line ") {
        Some((name, rest)) if rest.ends_with(')') => name.to_owned(),
        _ => id.to_owned(),
    }
}

/// True if a test is named after a file; `cwd` is the folder of the check, and both are relative
/// to the root.
pub(super) fn owns(file: &Path, cwd: &Path, id: &str) -> bool {
    let spellings = spellings(file, cwd);
    starts(id).any(|at| spellings.iter().any(|prefix| rest(&id[at..], prefix).is_some()))
}

/// True if a report names every test that it counts.
pub(super) fn names_all(report: &TestReport) -> bool {
    !report.tests.is_empty() && report.tests.len() as u64 >= report.executed() + report.skipped
}

/// Compares the baseline's tests with a report.
pub(super) fn compare(
    before: &[Test],
    now: &TestReport,
    renamed: &Renamed,
    allow: &[Allowance],
) -> Compared {
    let mut statuses: BTreeMap<String, BTreeSet<Status>> = BTreeMap::new();
    for test in &now.tests {
        statuses.entry(name(&test.id)).or_default().insert(test.status);
    }
    let demanded: BTreeSet<_> = before
        .iter()
        .filter(|test| test.status != Status::Skipped)
        .map(|test| name(&test.id))
        .collect();
    let mut compared = Compared::default();
    for id in demanded {
        let found = renamed.now(&id).find_map(|now| Some((now != id, statuses.get(&name(&now))?)));
        let ran = found
            .filter(|(_, statuses)| !statuses.contains(&Status::Skipped) || statuses.len() > 1);
        match (found, ran) {
            (_, Some((moved, _))) => {
                compared.passed += 1;
                if moved {
                    compared.moved.push(id);
                }
            }
            _ if renamed.is_free(&id) || is_allowed(&id, allow) => compared.allowed.push(id),
            (Some(_), None) => compared.skipped.push(id),
            (None, None) => compared.gone.push(id),
        }
    }
    compared
}

/// True if one of these allowances lets a test fail, or be gone. `id` is its name in a report.
pub fn is_allowed(id: &str, allow: &[Allowance]) -> bool {
    allow.iter().filter(|allowance| allowance.rule.is_none()).any(|allowance| {
        let Some(glob) = &allowance.test else { return false };
        let in_path = allowance.path.as_ref().is_none_or(|path| {
            let file =
                id.split("::").next().and_then(|part| part.split(" > ").next()).unwrap_or(id);
            Globs::new(std::slice::from_ref(path)).is_ok_and(|globs| globs.matches(file.as_bytes()))
        });
        in_path && ends(id).any(|end| fits(glob, end))
    })
}

/// A name, and what of it follows each of its parts.
fn ends(id: &str) -> impl Iterator<Item = &str> {
    let after = ["::", " > ", "."].into_iter().flat_map(move |between| {
        id.match_indices(between).map(move |(at, between)| &id[at + between.len()..])
    });
    std::iter::once(id).chain(after)
}

/// True if a text matches a pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, more)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<_> = more.split('*').collect();
    let (last, middle) = parts.split_last().unwrap_or((&"", &[]));
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl Compared {
    /// Settings that a person has approved may leave tests out.
    pub(super) fn allow_what_is_not_run(&mut self) {
        self.allowed.append(&mut self.gone);
        self.allowed.append(&mut self.skipped);
    }

    /// The baseline's tests are not known; `names` is true if the run names its own.
    pub(super) fn unknown(names: bool) -> Self {
        Self { lacking: Some(Lacking::Baseline { names }), ..Self::default() }
    }

    /// So many tests of the base ran, and fewer run now; neither are named.
    pub(super) fn fewer(of_base: u64, now: u64) -> Self {
        Self { lacking: Some(Lacking::Fewer { of_base, now }), ..Self::default() }
    }

    /// The baseline has so many tests, and the run names none.
    pub(super) fn unlisted(before: usize) -> Self {
        Self { lacking: Some(Lacking::Report { before }), ..Self::default() }
    }

    /// Leaves demanded tests out of the number of those that ran: they are reported apart.
    pub(super) fn count_without(&mut self, names: &[String]) {
        let ran = names.iter().filter(|name| !self.missing().any(|missing| missing == *name));
        self.passed = self.passed.saturating_sub(ran.count());
    }

    /// The tests of the baseline that did not run.
    pub(super) fn missing(&self) -> impl Iterator<Item = &String> {
        self.gone.iter().chain(&self.skipped)
    }

    /// True if the run names its tests, and those of the baseline are not known.
    pub(super) fn is_without_baseline(&self) -> bool {
        matches!(self.lacking, Some(Lacking::Baseline { names: true }))
    }

    /// The difference as a sentence, if there is one.
    pub(super) fn wrong(&self) -> Option<String> {
        if let Some(Lacking::Fewer { of_base, now }) = self.lacking {
            return Some(format!("{of_base} tests ran on the base's files, and {now} run now"));
        }
        if let Some(Lacking::Report { before }) = self.lacking {
            return Some(format!(
                "the report names none of the baseline's {before} tests any more"
            ));
        }
        match (self.gone.len(), self.skipped.len()) {
            (0, 0) => None,
            (gone, 0) => Some(format!(
                "{} of the baseline {} gone: {}",
                counted(gone, "test"),
                is(gone),
                some_names(&self.gone, MAX_NAMES)
            )),
            (0, skipped) => Some(format!(
                "{} of the baseline {} skipped now: {}",
                counted(skipped, "test"),
                is(skipped),
                some_names(&self.skipped, MAX_NAMES)
            )),
            (gone, skipped) => Some(format!(
                "{} of the baseline {} gone: {}; {skipped} {} skipped now: {}",
                counted(gone, "test"),
                is(gone),
                some_names(&self.gone, MAX_NAMES),
                is(skipped),
                some_names(&self.skipped, MAX_NAMES)
            )),
        }
    }

    /// As it stands in records.
    pub(super) fn detail(&self) -> Value {
        if let Some(Lacking::Fewer { of_base, now }) = self.lacking {
            return json!({ "known": false, "lost": of_base - now });
        }
        if self.lacking.is_some() {
            return json!({ "known": false });
        }
        json!({
            "known": true,
            "passed": self.passed,
            "missing": first(&self.gone),
            "skipped": first(&self.skipped),
            "moved": first(&self.moved),
            "allowed": first(&self.allowed),
        })
    }
}

/// The tests of a report that passed and are not among those that were there before.
pub(super) fn new_and_passed(before: &[Test], now: &TestReport) -> Vec<String> {
    let known: BTreeSet<_> = before.iter().map(|test| name(&test.id)).collect();
    let passed = now.named(Status::Passed).map(name);
    passed.filter(|id| !known.contains(id)).collect()
}

/// The tests of a report that fail without the work and need it: new ones, and those that did not
/// fail in the baseline.
pub(super) fn needing_the_work(before: &[Test], now: &TestReport) -> Vec<String> {
    let failed = before.iter().filter(|test| test.status == Status::Failed);
    let red_before: BTreeSet<_> = failed.map(|test| name(&test.id)).collect();
    let failing = now.named(Status::Failed).map(name);
    failing.filter(|id| !red_before.contains(id)).collect()
}

/// The project's folder relative to the root.
pub(super) fn inside(cwd: &Path, root: &Path) -> PathBuf {
    let real = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    real.strip_prefix(root).map(Path::to_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests;
