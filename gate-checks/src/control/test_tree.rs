//! The files of a tree, and a command in it: the input for choosing a control's file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gate_platform::RealPath;

use super::names::{ControlName, FailureKind};
use crate::report::Test;

/// A tree, and the command that runs its tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestTree<'a> {
    /// The tree's topmost folder.
    pub(crate) root: &'a Path,
    /// The folder that the command runs in.
    pub(crate) cwd: &'a Path,
    /// The tree's files, relative to the root.
    pub(crate) files: &'a [PathBuf],
    /// Arguments of the runner.
    pub(crate) args: &'a [String],
    /// The tests that the command has just run, as far as its report names them.
    pub(crate) reported: &'a [Test],
    /// The changes since the baseline, as far as there is one.
    pub(crate) changed: ChangedFiles<'a>,
}

/// The files that changed since a baseline, relative to the root.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChangedFiles<'a> {
    /// New files, and those that moved.
    pub(crate) added: &'a [PathBuf],
    /// Files that the baseline has too.
    pub(crate) edited: &'a [PathBuf],
}

/// The most files of the baseline that tests are planted in, and the most tests in each. A report
/// keeps the messages of a few failures, and the project's own need room among them.
const MAX_EXTENDED_FILES: usize = 4;
const MAX_ASSERTIONS: usize = 3;

impl TestTree<'_> {
    /// A file is, or would be, in the tree: links and `..` may lead out of it.
    pub(super) fn contains(&self, file: &Path) -> bool {
        let real = file.ancestors().find_map(|ancestor| ancestor.real_path().ok());
        let root = self.root.real_path().ok();
        real.zip(root).is_some_and(|(real, root)| real.starts_with(root))
    }

    /// The files in and below a folder, with their whole paths, those nearest
    /// to it first.
    pub(super) fn files_below(&self, folder: &Path) -> Vec<PathBuf> {
        let paths = self.files.iter().map(|file| self.root.join(file));
        let mut files: Vec<_> = paths.filter(|file| file.starts_with(folder)).collect();
        files.sort_by_key(|file| file.components().count());
        files
    }

    /// The nearest file in or below a folder that fits.
    pub(super) fn nearest(&self, folder: &Path, fits: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        self.files_below(folder).into_iter().find(|file| fits(file))
    }

    /// Additions to files of the baseline in and below a folder, edited files first. A file for
    /// which `draft` gives `None` is passed over.
    pub(super) fn additions(
        &self,
        folder: &Path,
        mut draft: impl FnMut(&Path, &str) -> Option<Draft>,
    ) -> Vec<Draft> {
        let (mut edited, mut unchanged) = (Vec::new(), Vec::new());
        for file in self.files_below(folder) {
            let relative = file.strip_prefix(self.root).unwrap_or(&file).to_owned();
            if self.is_added(&file) || !self.contains(&file) {
                continue;
            }
            match self.changed.edited.contains(&relative) {
                true => edited.push(file),
                false => unchanged.push(file),
            }
        }
        let files = edited.iter().chain(&unchanged);
        let drafts = files.filter_map(|file| draft(file, &read_text(file)));
        drafts.take(MAX_EXTENDED_FILES).collect()
    }

    /// The files that reports name before the names of their tests; empty if they name none.
    pub(super) fn reported_files(&self) -> BTreeSet<PathBuf> {
        let files = self.reported.iter().filter_map(|test| test.id.split_once(" > "));
        files.map(|(file, _)| self.cwd.join(file)).collect()
    }

    /// The file was added since the baseline, relative to the root or not.
    pub(super) fn is_added(&self, file: &Path) -> bool {
        let relative = file.strip_prefix(self.root).unwrap_or(file);
        self.changed.added.iter().any(|added| added == relative)
    }

    /// The value of an option, as `--name value` or `--name=value`.
    pub(super) fn option_value(&self, names: &[&str]) -> Option<&str> {
        let mut words = self.options().peekable();
        while let Some(word) = words.next() {
            if names.contains(&word) {
                return words.peek().copied();
            }
            let value = names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('='));
            if value.is_some() {
                return value;
            }
        }
        None
    }

    pub(super) fn has_option(&self, names: &[&str]) -> bool {
        self.options().any(|word| names.contains(&word))
    }

    /// The words before a `--`.
    pub(super) fn options(&self) -> impl Iterator<Item = &str> {
        self.args.iter().map(String::as_str).take_while(|word| *word != "--")
    }

    /// The paths of files and folders that the arguments name.
    pub(super) fn named_paths(&self) -> Vec<PathBuf> {
        let words = self.args.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
        words.map(|word| self.cwd.join(word)).filter(|path| path.exists()).collect()
    }
}

/// The assertions that a file uses; the first of the list if it uses no other.
pub(super) fn used_assertions<'a>(
    assertions: &[&'a str],
    is_used: impl Fn(&str) -> bool,
) -> Vec<&'a str> {
    let used = assertions.iter().copied().filter(|name| is_used(name));
    let used: Vec<_> = used.take(MAX_ASSERTIONS).collect();
    if used.is_empty() { assertions.iter().copied().take(1).collect() } else { used }
}

/// A file's name; empty if it is no text.
pub(super) fn file_name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// A file's text; empty if it cannot be read.
pub(super) fn read_text(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// Tests before they are planted: a new file, or an addition to one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Draft {
    pub(super) file: PathBuf,
    /// The byte of the file before which the text goes; `None` for the end of the file.
    pub(super) offset: Option<usize>,
    pub(super) text: String,
    pub(super) names: Vec<ControlName>,
}

impl Draft {
    /// A new file, or an addition to the end of one.
    pub(super) fn new(
        file: PathBuf,
        text: String,
        names: impl IntoIterator<Item = ControlName>,
    ) -> Self {
        Self { file, offset: None, text, names: names.into_iter().collect() }
    }

    /// The byte before which the text goes in a file of this length.
    pub(super) fn offset_in(&self, length: usize) -> usize {
        self.offset.unwrap_or(length).min(length)
    }
}

/// Makes a name for a test that fails in this way.
pub(super) type Namer<'n> = &'n mut dyn FnMut(FailureKind) -> ControlName;
