//! The tests of the baseline, compared with those of a run: as sets, never as totals.

mod relocated;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gate_core::decide::policy::Allowance;
use gate_core::text::{MAX_NAMES, counted, some_names};
use gate_platform::RealPath;
use serde_json::{Value, json};

use super::overlay::Overlay;
use crate::report::{Status, Test, TestReport};
use crate::worktree::Globs;

pub(super) use relocated::SourceTests;

/// Tests of each kind that the detail names.
pub(super) const MAX_LISTED: usize = 50;

/// The baseline's tests, compared with those of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    /// Set if there is nothing to compare.
    obstacle: Option<Obstacle>,
    /// The number of tests that ran.
    executed: usize,
    /// The tests that the run does not name any more.
    missing: Vec<String>,
    /// The tests that the run names as skipped.
    skipped: Vec<String>,
    /// The tests that have another name now, as their file has.
    moved: Vec<String>,
    /// The tests that did not run, and that the operator lets go.
    allowed: Vec<String>,
    /// The tests that did not run, and that something else takes the place of.
    superseded: Vec<String>,
}

/// The reason why names cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Obstacle {
    /// The baseline's tests are not known.
    UnknownBaseline { is_run_named: bool },
    /// The baseline's tests are known, and the run names no tests.
    UnnamedRun { baseline_count: usize },
    /// Fewer tests run now than on the base's files; neither are named.
    FewerTests { base_count: u64, run_count: u64 },
}

/// Allowed changes of tests' names.
#[derive(Debug, Default)]
pub(super) struct NameChanges {
    moved: Vec<MovedPrefix>,
    /// Beginnings of names in files that the operator lets change.
    approved_prefixes: Vec<String>,
}

/// The beginning of the names of a moved file's tests.
#[derive(Debug)]
struct MovedPrefix {
    old: String,
    new: String,
}

impl NameChanges {
    /// From what became of the files. ControlNames are relative to the root, or to one of the folders that
    /// a runner takes for it.
    pub(super) fn new(overlay: &Overlay<'_>, cwd: &Path) -> Self {
        let moved = overlay.moved_files().flat_map(|(from, to)| moved_prefixes(from, to, cwd));
        let approved =
            overlay.approved_changes().flat_map(|change| name_prefixes(&change.path, cwd));
        Self { moved: moved.collect(), approved_prefixes: approved.collect() }
    }

    /// The names that a test may have by now.
    fn current_names<'r>(&'r self, id: &'r str) -> impl Iterator<Item = String> + 'r {
        let moved_names = self.moved.iter().flat_map(move |prefix| {
            file_part_offsets(id).filter_map(move |offset| {
                let end = after_prefix(&id[offset..], &prefix.old)?;
                Some(format!("{}{}{end}", &id[..offset], prefix.new))
            })
        });
        moved_names.chain(std::iter::once(id.to_owned()))
    }

    /// The test's file is one that the operator lets change.
    fn is_approved(&self, id: &str) -> bool {
        has_prefix(id, &self.approved_prefixes)
    }
}

fn moved_prefixes(from: &Path, to: &Path, cwd: &Path) -> Vec<MovedPrefix> {
    name_prefixes(from, cwd)
        .into_iter()
        .zip(name_prefixes(to, cwd))
        .map(|(old, new)| MovedPrefix { old, new })
        .collect()
}

/// The prefixes with which runners name the tests of a file. Each file has as many, in the same
/// order.
fn name_prefixes(path: &Path, cwd: &Path) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let stem = |path: &Path| text(&path.with_extension(""));
    let in_project = path.strip_prefix(cwd).unwrap_or(path);
    let in_source = in_project.strip_prefix("src").unwrap_or(in_project);
    let module = stem(in_source).trim_end_matches("/mod").replace('/', "::");
    vec![
        text(path),
        text(in_project),
        stem(path).replace('/', "."),
        stem(in_project).replace('/', "."),
        // A test program of cargo's is called like its file.
        stem(Path::new(in_project.file_name().unwrap_or_default())),
        module,
    ]
}

fn has_prefix(id: &str, prefixes: &[String]) -> bool {
    file_part_offsets(id)
        .any(|offset| prefixes.iter().any(|prefix| after_prefix(&id[offset..], prefix).is_some()))
}

/// The offsets at which a file's part of a name may begin: cargo puts a program before it, unittest
/// the test's own name.
fn file_part_offsets(id: &str) -> impl Iterator<Item = usize> {
    let separators = [id.find("::"), id.find(" (")];
    std::iter::once(0).chain(separators.into_iter().flatten().map(|offset| offset + 2))
}

/// The end of a name after a prefix, which has to end with one of the name's parts.
fn after_prefix<'i>(id: &'i str, prefix: &str) -> Option<&'i str> {
    if prefix.is_empty() {
        return None;
    }
    let end = id.strip_prefix(prefix)?;
    let is_whole_part =
        end.is_empty() || end.starts_with(|char: char| !char.is_alphanumeric() && char != '_');
    is_whole_part.then_some(end)
}

/// A test's name without what changes with the lines above it.
pub(super) fn stable_name(id: &str) -> String {
    match id.split_once(" (line ") {
        Some((name, line)) if line.ends_with(')') => name.to_owned(),
        _ => id.to_owned(),
    }
}

/// A test that is named after a file; `cwd` is the folder of the check, and both are relative to the
/// root.
pub(super) fn is_named_after(id: &str, file: &Path, cwd: &Path) -> bool {
    has_prefix(id, &name_prefixes(file, cwd))
}

/// A report that names every test that it counts.
pub(super) fn is_fully_named(report: &TestReport) -> bool {
    !report.tests.is_empty() && report.tests.len() as u64 >= report.executed() + report.skipped
}

/// Compares the baseline's tests with a report.
pub(super) fn compare(
    baseline_tests: &[Test],
    report: &TestReport,
    name_changes: &NameChanges,
    allow: &[Allowance],
) -> Comparison {
    // Several tests can share a name once the lines are left out. One that runs is enough of them.
    let mut statuses_by_name: BTreeMap<String, BTreeSet<Status>> = BTreeMap::new();
    for test in &report.tests {
        statuses_by_name.entry(stable_name(&test.id)).or_default().insert(test.status);
    }
    let demanded: BTreeSet<_> = baseline_tests
        .iter()
        .filter(|test| test.status != Status::Skipped)
        .map(|test| stable_name(&test.id))
        .collect();
    let mut comparison = Comparison::default();
    for id in demanded {
        let reported = name_changes
            .current_names(&id)
            .find_map(|name| Some((name != id, statuses_by_name.get(&stable_name(&name))?)));
        let with_run = reported
            .filter(|(_, statuses)| !statuses.contains(&Status::Skipped) || statuses.len() > 1);
        match (reported, with_run) {
            (_, Some((has_moved, _))) => {
                comparison.executed += 1;
                if has_moved {
                    comparison.moved.push(id);
                }
            }
            _ if name_changes.is_approved(&id) || is_allowed(&id, allow) => {
                comparison.allowed.push(id);
            }
            (Some(_), None) => comparison.skipped.push(id),
            (None, None) => comparison.missing.push(id),
        }
    }
    comparison
}

/// A test that one of these allowances lets fail, or be gone. `id` is its name in a report.
pub fn is_allowed(id: &str, allow: &[Allowance]) -> bool {
    // An allowance of a rule is about findings of the integrity check.
    allow.iter().filter(|allowance| allowance.rule.is_none()).any(|allowance| {
        let Some(pattern) = &allowance.test else { return false };
        let is_in_path = allowance.path.as_ref().is_none_or(|path| {
            let file =
                id.split("::").next().and_then(|part| part.split(" > ").next()).unwrap_or(id);
            Globs::new(std::slice::from_ref(path)).is_ok_and(|globs| globs.matches(file.as_bytes()))
        });
        is_in_path && name_suffixes(id).any(|suffix| matches_pattern(pattern, suffix))
    })
}

/// A pattern names this test: the whole name, or its last parts, with or without parameters.
pub(super) fn is_name_of(pattern: &str, id: &str) -> bool {
    // Of Go's subtests and pytest's parameters.
    let case_start = if id.contains(" > ") { None } else { id.find('[').or_else(|| subtest(id)) };
    let without_case = &id[..case_start.unwrap_or(id.len())];
    [id, without_case]
        .into_iter()
        .flat_map(name_suffixes)
        .any(|suffix| matches_pattern(pattern, suffix))
}

/// The place where the name of a subtest of Go begins: a package's path has slashes, too.
fn subtest(id: &str) -> Option<usize> {
    let function = id.rfind(".Test")? + 1;
    Some(function + id[function..].find('/')?)
}

/// A name, and what of it follows each of its parts.
pub(super) fn name_suffixes(id: &str) -> impl Iterator<Item = &str> {
    let suffixes = ["::", " > ", "."].into_iter().flat_map(move |separator| {
        id.match_indices(separator).map(move |(offset, _)| &id[offset + separator.len()..])
    });
    std::iter::once(id).chain(suffixes)
}

/// Compares a text with a pattern, in which `*` stands for anything.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((prefix, more)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut unmatched) = text.strip_prefix(prefix) else { return false };
    let parts: Vec<_> = more.split('*').collect();
    let (suffix, middle) = parts.split_last().unwrap_or((&"", &[]));
    for part in middle {
        let Some(offset) = unmatched.find(part) else { return false };
        unmatched = &unmatched[offset + part.len()..];
    }
    unmatched.ends_with(suffix)
}

impl Comparison {
    /// The baseline's tests are not known; `is_run_named` says that the run names its own.
    pub(super) fn without_baseline(is_run_named: bool) -> Self {
        Self { obstacle: Some(Obstacle::UnknownBaseline { is_run_named }), ..Self::default() }
    }

    /// So many tests of the base ran, and fewer run now; neither are named.
    pub(super) fn fewer(base_count: u64, run_count: u64) -> Self {
        let obstacle = Some(Obstacle::FewerTests { base_count, run_count });
        Self { obstacle, ..Self::default() }
    }

    /// The baseline has so many tests, and the run names none.
    pub(super) fn unlisted(baseline_count: usize) -> Self {
        Self { obstacle: Some(Obstacle::UnnamedRun { baseline_count }), ..Self::default() }
    }

    /// Settings that a person has approved may leave tests out.
    pub(super) fn allow_not_run(&mut self) {
        self.allowed.append(&mut self.missing);
        self.allowed.append(&mut self.skipped);
    }

    /// Lets those tests not run that something else takes the place of.
    pub(super) fn supersede(&mut self, is_superseded: impl Fn(&str) -> bool) {
        for not_run in [&mut self.missing, &mut self.skipped] {
            self.superseded.extend(not_run.extract_if(.., |id| is_superseded(id)));
        }
    }

    /// Leaves demanded tests out of the number of those that ran: they are reported apart.
    pub(super) fn leave_out(&mut self, names: &[String]) {
        let ran = names.iter().filter(|name| !self.not_run().any(|not_run| not_run == *name));
        self.executed = self.executed.saturating_sub(ran.count());
    }

    /// The tests of the baseline that did not run.
    pub(super) fn not_run(&self) -> impl Iterator<Item = &String> {
        self.missing.iter().chain(&self.skipped)
    }

    /// The run names its tests, and those of the baseline are not known.
    pub(super) fn is_without_baseline(&self) -> bool {
        matches!(self.obstacle, Some(Obstacle::UnknownBaseline { is_run_named: true }))
    }

    /// The difference as a sentence, if there is one.
    pub(super) fn difference(&self) -> Option<String> {
        match self.obstacle {
            Some(Obstacle::FewerTests { base_count, run_count }) => {
                return Some(format!(
                    "{base_count} tests ran on the base's files, and {run_count} run now"
                ));
            }
            Some(Obstacle::UnnamedRun { baseline_count }) => {
                return Some(format!(
                    "none of the baseline's {baseline_count} tests is in the report any more"
                ));
            }
            Some(Obstacle::UnknownBaseline { .. }) | None => {}
        }
        let is_or_are = |count: usize| if count == 1 { "is" } else { "are" };
        match (self.missing.len(), self.skipped.len()) {
            (0, 0) => None,
            (missing, 0) => Some(format!(
                "{} of the baseline {} gone: {}",
                counted(missing, "test"),
                is_or_are(missing),
                some_names(&self.missing, MAX_NAMES)
            )),
            (0, skipped) => Some(format!(
                "{} of the baseline {} skipped now: {}",
                counted(skipped, "test"),
                is_or_are(skipped),
                some_names(&self.skipped, MAX_NAMES)
            )),
            (missing, skipped) => Some(format!(
                "{} of the baseline {} gone: {}; {skipped} {} skipped now: {}",
                counted(missing, "test"),
                is_or_are(missing),
                some_names(&self.missing, MAX_NAMES),
                is_or_are(skipped),
                some_names(&self.skipped, MAX_NAMES)
            )),
        }
    }

    /// The comparison as it stands in records.
    pub(super) fn detail(&self) -> Value {
        if let Some(Obstacle::FewerTests { base_count, run_count }) = self.obstacle {
            return json!({ "known": false, "lost": base_count - run_count });
        }
        if self.obstacle.is_some() {
            return json!({ "known": false });
        }
        let mut detail = json!({
            "known": true,
            "passed": self.executed,
            "missing": listed(&self.missing),
            "skipped": listed(&self.skipped),
            "moved": listed(&self.moved),
            "allowed": listed(&self.allowed),
        });
        if !self.superseded.is_empty() {
            detail["superseded"] = json!(listed(&self.superseded));
        }
        detail
    }
}

/// The first [`MAX_LISTED`] names.
pub(super) fn listed<T>(names: &[T]) -> &[T] {
    &names[..names.len().min(MAX_LISTED)]
}

/// The tests of a report that passed, and that the baseline does not have.
pub(super) fn new_and_passed(baseline_tests: &[Test], report: &TestReport) -> Vec<String> {
    let old_names: BTreeSet<_> = baseline_tests.iter().map(|test| stable_name(&test.id)).collect();
    let passed = report.named(Status::Passed).map(stable_name);
    passed.filter(|id| !old_names.contains(id)).collect()
}

/// The tests of a report that fail without the work and need it: new ones, and those that did not
/// fail in the baseline.
pub(super) fn failing_without_work(baseline_tests: &[Test], report: &TestReport) -> Vec<String> {
    let failed_in_baseline: BTreeSet<_> = baseline_tests
        .iter()
        .filter(|test| test.status == Status::Failed)
        .map(|test| stable_name(&test.id))
        .collect();
    let failing = report.named(Status::Failed).map(stable_name);
    failing.filter(|id| !failed_in_baseline.contains(id)).collect()
}

/// The project's folder relative to the root.
pub(super) fn relative_folder(cwd: &Path, root: &Path) -> PathBuf {
    let real_path = cwd.real_path().unwrap_or_else(|_| cwd.to_owned());
    real_path.strip_prefix(root).map(Path::to_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests;
