//! The operator's marks on decisions, as labels of the transcripts that were judged.

use std::time::Duration;

use gate_core::Policy;

use super::given::Labelled;
use crate::context::Here;
use crate::failure::Failure;
use crate::memory::{JudgedTranscript, MarkedTranscript, Memory};

/// The time that a store may take to answer. A replay does not need it.
const PATIENCE: Duration = Duration::from_secs(2);

/// All marks of the project, the latest first.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<MarkedTranscript>);

impl Marks {
    /// The marks in the ledger of the project here; none without a place for state.
    ///
    /// # Errors
    ///
    /// A store that cannot be read.
    pub(super) fn read(here: &Here, policy: &Policy) -> Result<Self, Failure> {
        let places = &here.places;
        if places.state.is_none() && !places.names_database() {
            return Ok(Self::default());
        }
        let mut memory = Memory::open_within(places, policy.project.id.as_deref(), PATIENCE)?;
        memory.marked_transcripts().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of this transcript: of the same bytes, or as long a part of the same session.
    pub(super) fn get(&self, transcript: &JudgedTranscript) -> Option<Labelled> {
        let marked = self.0.iter().find(|marked| {
            let judged = &marked.transcript;
            let same_bytes = judged.digest.is_some() && judged.digest == transcript.digest;
            let same_session = judged.session.is_some()
                && judged.session == transcript.session
                && judged.bytes == transcript.bytes;
            same_bytes || same_session
        })?;
        Some(Labelled { label: marked.mistake.into(), ambiguous: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Mistake;
    use crate::replay::Label;

    fn judged(digest: Option<&str>, session: Option<&str>, bytes: u64) -> JudgedTranscript {
        let [digest, session] = [digest, session].map(|text| text.map(str::to_owned));
        JudgedTranscript { digest, session, bytes }
    }

    #[track_caller]
    fn check(marked: JudgedTranscript, now: &JudgedTranscript, expected: Option<Label>) {
        let marked = MarkedTranscript { mistake: Mistake::FalseRefusal, transcript: marked };
        let found = Marks(vec![marked]).get(now);
        assert_eq!(found.map(|labelled| labelled.label), expected, "{now:?}");
    }

    #[test]
    fn a_mark_is_a_label_of_the_transcript_that_was_judged_and_of_no_other() {
        let exit = Some(Label::Exit);
        check(judged(Some("a"), None, 5), &judged(Some("a"), None, 5), exit);
        check(judged(Some("a"), None, 5), &judged(Some("b"), None, 5), None);
        check(judged(None, Some("s"), 5), &judged(Some("b"), Some("s"), 5), exit);
        check(judged(None, Some("s"), 5), &judged(Some("b"), Some("s"), 6), None);
        check(judged(None, None, 5), &judged(None, None, 5), None);
    }
}
