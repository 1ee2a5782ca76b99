//! Changed tests and settings, as news for the person of a session.

use std::fs;
use std::path::Path;

use gate_checks::baseline::Baseline;
use gate_checks::worktree::WorkTree;
use gate_core::decide::situation::Situation;
use gate_core::integrity::{Guarded, guarded, loaded_by_itself};
use similar::{ChangeTag, TextDiff};

use super::Gate;

impl Gate {
    /// Adds the news of these files to a situation: those that decide what tests are worth. Their
    /// names are relative to the root. An added test is no news.
    pub(crate) fn add_news(&self, situation: &mut Situation, session: &str, files: &[&Path]) {
        let Ok(tree) = WorkTree::open(self.place()) else { return };
        let Ok(Some(prompt_tree)) = Baseline::kept(self.place(), Some(session)) else { return };
        let Ok(prompt_files) = prompt_tree.contents(&tree, files) else { return };
        for (file, prompt_file) in files.iter().zip(prompt_files) {
            let name = file.to_string_lossy();
            let Some(prompt_file) = prompt_file else {
                // What a runner loads by itself may leave tests out.
                if is_of_settings(&name) || loaded_by_itself(&name) {
                    situation.changed_settings.push(format!("{name} (new)"));
                }
                continue;
            };
            let news = match guarded(&name) {
                Some(Guarded::Test | Guarded::Support) => &mut situation.changed_tests,
                Some(Guarded::Runner | Guarded::Ci | Guarded::Hook) => {
                    &mut situation.changed_settings
                }
                Some(Guarded::Manifest | Guarded::Gate) | None => continue,
            };
            match fs::read(tree.root().join(file)) {
                Ok(bytes) if bytes == prompt_file.bytes => {}
                Ok(bytes) => {
                    let LineCounts { added, removed } = line_counts(&prompt_file.bytes, &bytes);
                    news.push(format!("{name} (+{added} -{removed})"));
                }
                Err(_) => news.push(format!("{name} (gone)")),
            }
        }
    }
}

/// A file whose change may be news: it decides what tests are worth.
pub(crate) fn may_be_news(file: &Path) -> bool {
    let name = file.to_string_lossy();
    guarded(&name).is_some_and(|kind| !matches!(kind, Guarded::Manifest | Guarded::Gate))
        || loaded_by_itself(&name)
}

/// Settings of test runners, CI, git hooks and agents.
fn is_of_settings(name: &str) -> bool {
    matches!(guarded(name), Some(Guarded::Runner | Guarded::Ci | Guarded::Hook))
}

/// The numbers of lines that were added and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineCounts {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Compares two texts line by line.
pub(crate) fn line_counts(older: &[u8], newer: &[u8]) -> LineCounts {
    let (older, newer) = (String::from_utf8_lossy(older), String::from_utf8_lossy(newer));
    let diff = TextDiff::from_lines(&older, &newer);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    LineCounts { added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) }
}
