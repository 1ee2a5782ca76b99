//! A claim beside work that is left: a sentence says so, it stands elsewhere, or nothing uses it.

use super::Case;
use crate::decide::grounds::meets_criterion;
use crate::decide::reason::{Reason, ReasonCode};
use crate::decide::run_state::RefusedWords;
use crate::decide::signal::Status;

impl Case<'_> {
    /// The first sentence about open work that was not refused before on the same files.
    pub(super) fn work_left(&self) -> Option<Reason> {
        let signal = &self.input.signal;
        let tree = self.input.observed.tree.as_ref().map(|tree| tree.before.digest.clone());
        let refused_words = self.input.kept().and_then(|memory| memory.run.work_left.as_ref());
        let refused_words = refused_words.filter(|words| words.tree == tree);
        let is_refused =
            |digest: &String| refused_words.is_some_and(|words| words.sentences.contains(digest));
        let work_left = signal.work_left.iter().find(|work| !is_refused(&work.digest))?;
        (signal.status == Status::Complete).then(|| {
            let message =
                format!("the final message says that work is left: \"{}\"", work_left.sentence);
            Reason::new(ReasonCode::WorkLeft, message)
        })
    }

    /// Work that does not stand in the tree, and that no check has found done.
    pub(super) fn work_elsewhere(&self) -> Option<Reason> {
        let elsewhere = &self.input.observed.elsewhere;
        let missing = elsewhere.iter().find(|work| !work.is_checked())?;
        let message = format!("work elsewhere: {}", missing.words());
        Some(Reason::new(ReasonCode::WorkElsewhere, message))
    }

    /// Nothing but new files that nothing uses: a reason to ask, once. A command of a person that passes
    /// says that they are the work.
    pub(super) fn only_new_files(&self) -> Option<Reason> {
        if self.input.evidence.iter().any(meets_criterion) {
            return None;
        }
        let was_told = self.input.kept().is_some_and(|memory| memory.run.told_of_new_files);
        let unused = self.input.observed.unused_files()?;
        (!was_told).then(|| {
            let message = format!("only new files that nothing uses: {unused}; is that the work?");
            Reason::new(ReasonCode::OnlyNewFiles, message)
        })
    }

    /// The sentences of this claim, with the files as they are now.
    pub(in crate::decide) fn refused_words(&self) -> RefusedWords {
        let sentences = self.input.signal.work_left.iter().map(|work| work.digest.clone());
        let tree = self.input.observed.tree.as_ref().map(|tree| tree.after.digest.clone());
        RefusedWords { sentences: sentences.collect(), tree }
    }
}
