//! The alternatives at the top of an expression, each compiled when a text holds its literals.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::meta::{Config, Regex};
use regex_syntax::hir::{Hir, HirKind};

use super::{find_at, regex};
use crate::decide::literal::{self, Group};

/// An alternative of an expression, or several that follow each other.
#[derive(Debug)]
pub(super) struct Alternative {
    tree: Hir,
    /// The groups of literals that its matches hold.
    required: Vec<Group>,
    /// `None` if it cannot be compiled.
    slow_search: OnceLock<Option<Regex>>,
}

impl Alternative {
    /// All of an expression as one.
    pub(super) fn whole(tree: Hir) -> Self {
        Self { tree, required: Vec::new(), slow_search: OnceLock::new() }
    }

    /// The alternatives of an expression, in their order.
    pub(super) fn all(tree: &Hir) -> Vec<Self> {
        let mut alternatives: Vec<Self> = Vec::new();
        for branch in branches(tree) {
            let required = literal::required(&branch);
            match alternatives.last_mut().filter(|last| last.required.is_empty()) {
                // What is tried on each text is compiled in one piece.
                Some(last) if required.is_empty() => {
                    let tree = std::mem::replace(&mut last.tree, Hir::empty());
                    last.tree = Hir::alternation(vec![tree, branch]);
                }
                _ => alternatives.push(Self { required, ..Self::whole(branch) }),
            }
        }
        alternatives
    }

    #[cfg(test)]
    pub(super) fn required(&self) -> &Vec<Group> {
        &self.required
    }

    /// The leftmost match at or after a byte.
    pub(super) fn find(&self, text: &str, start: usize) -> Option<Range<usize>> {
        if !literal::may_match(&self.required, &text.as_bytes()[start..]) {
            return None;
        }
        // No reversed automaton, no cache of states and no literals for a search ahead.
        let config = Config::new().hybrid(false).onepass(false).auto_prefilter(false);
        let slow_search = self.slow_search.get_or_init(|| regex(&self.tree, config).ok());
        find_at(slow_search.as_ref()?, text, start)
    }
}

/// The branches of an alternation, with the assertions that the parser took out of all of them.
fn branches(tree: &Hir) -> Vec<Hir> {
    let HirKind::Concat(parts) = tree.kind() else {
        return match tree.kind() {
            HirKind::Alternation(branches) => branches.clone(),
            _ => vec![tree.clone()],
        };
    };
    let (alternation, assertions) = match parts.split_last() {
        Some((last, assertions)) if assertions.iter().all(is_assertion) => (last, assertions),
        _ => return vec![tree.clone()],
    };
    let behind_assertions =
        |branch: Hir| Hir::concat(assertions.iter().cloned().chain([branch]).collect());
    branches(alternation).into_iter().map(behind_assertions).collect()
}

fn is_assertion(tree: &Hir) -> bool {
    matches!(tree.kind(), HirKind::Look(_))
}
