//! A claim beside a sentence that says that work is left.

use super::Case;
use crate::decide::reason::{Reason, ReasonCode};
use crate::decide::run_state::RefusedWords;
use crate::decide::signal::Status;

impl Case<'_> {
    /// The first sentence about open work that was not refused before on the same files.
    pub(super) fn work_left(&self) -> Option<Reason> {
        let signal = &self.input.signal;
        let refused = self.input.kept().and_then(|memory| memory.run.work_left.as_ref());
        let refused = refused.filter(|refused| refused.tree == self.tree_before());
        let is_known =
            |digest: &String| refused.is_some_and(|words| words.sentences.contains(digest));
        let left = signal.work_left.iter().find(|left| !is_known(&left.digest))?;
        (signal.status == Status::Complete).then(|| {
            let message =
                format!("the final message says that work is left: \"{}\"", left.sentence);
            Reason::new(ReasonCode::WorkLeft, message)
        })
    }

    /// The sentences of this claim, with the files as they are now.
    pub(in crate::decide) fn refused_words(&self) -> RefusedWords {
        let sentences = self.input.signal.work_left.iter().map(|left| left.digest.clone());
        let tree = self.input.observed.tree.as_ref().map(|tree| tree.after.digest.clone());
        RefusedWords { sentences: sentences.collect(), tree }
    }

    fn tree_before(&self) -> Option<String> {
        self.input.observed.tree.as_ref().map(|tree| tree.before.digest.clone())
    }
}
