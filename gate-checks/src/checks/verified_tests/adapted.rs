//! Edits of tests that assert what their old texts did.

use std::collections::BTreeSet;

use gate_core::integrity::{ChangedProduct, TestEdit, compare_test_edit, selects_the_same_tests};

use super::VerifiedTests;
use super::overlay::{Overlay, Replacement, ReplacementKind};
use crate::baseline::What;
use crate::worktree::WorkTree;

impl VerifiedTests<'_> {
    /// True if an edited file asserts what its old text did: it decides in its place.
    pub(super) fn is_adapted(
        &self,
        tree: &WorkTree,
        overlay: &Overlay<'_>,
        file: &Replacement,
    ) -> bool {
        let before = overlay.baseline.content(tree, &file.path).ok().flatten();
        let (Some(before), Some(now)) = (before, tree.bytes(&file.path)) else { return false };
        let name = file.path.to_string_lossy();
        if file.kind == ReplacementKind::Recipe {
            let folder = self.inside(tree).to_string_lossy().into_owned();
            let command = (folder, self.settings.command.clone());
            return selects_the_same_tests(&name, (&before.bytes, &now), &[command]);
        }
        match compare_test_edit(&name, (&before.bytes, &now), overlay.changed_product(tree)) {
            TestEdit::Same => true,
            TestEdit::Changed => false,
            // A name that is tested no more, and that the work still has, may be broken.
            TestEdit::Adapted => {
                let dropped = dropped_names(&before.bytes, &now);
                !overlay.product(tree).any(|text| words(&text).any(|word| dropped.contains(word)))
            }
        }
    }
}

impl Overlay<'_> {
    /// The files of the product that the work changes.
    fn changed_product(&self, tree: &WorkTree) -> &ChangedProduct {
        self.changed_product.get_or_init(|| {
            let mut product = ChangedProduct::default();
            for change in self.changes.iter().filter(|change| change.guarded.is_none()) {
                let before = self.baseline.content(tree, &change.path).ok().flatten();
                let before = before.as_ref().map(|file| file.bytes.as_slice());
                let now = tree.bytes(&change.path);
                product.add(&change.path.to_string_lossy(), before, now.as_deref());
            }
            product
        })
    }

    /// The texts of files of the product that were changed.
    fn product(&self, tree: &WorkTree) -> impl Iterator<Item = Vec<u8>> {
        let changes = self.changes.iter();
        let product =
            changes.filter(|change| change.guarded.is_none() && change.what != What::Removed);
        product.filter_map(|change| tree.bytes(&change.path))
    }
}

/// The names that the old text of a test has and the new one has not.
fn dropped_names<'t>(before: &'t [u8], now: &[u8]) -> BTreeSet<&'t [u8]> {
    let now: BTreeSet<_> = words(now).collect();
    words(before).filter(|word| !now.contains(word)).collect()
}

/// The words of a text that may be names of functions or types.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words =
        text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii()));
    words.filter(|word| word.first().is_some_and(|first| !first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_function_is_dropped() {
        let before = b"assert add(2, 2) == 4\n";
        let names = |now| -> Vec<&[u8]> { dropped_names(before, now).into_iter().collect() };
        assert!(names(b"assert add(2, 2, 0) == 4\n").is_empty());
        assert_eq!(names(b"assert plus(2, 2) == 4\n"), [b"add"]);
    }
}
