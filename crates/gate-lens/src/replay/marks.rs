//! The operator's marks on decisions, as labels of the transcripts that were judged.

use gate_core::Decision;
use gate_core::record::Mistake;
use serde::{Deserialize, Serialize};

use super::given::Labelled;

/// A decision with a mark.
#[derive(Clone, Debug)]
pub struct MarkedDecision {
    /// The number of its record.
    pub seq: u64,
    /// The mistake.
    pub mistake: Mistake,
    /// The decision.
    pub decision: Decision,
}

/// A transcript that was judged by a decision with a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedTranscript {
    /// The mistake.
    pub mistake: Mistake,
    /// The transcript.
    pub transcript: JudgedTranscript,
}

/// The identity of a transcript that was judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgedTranscript {
    /// The digest of its bytes.
    pub digest: Option<String>,
    /// The client's id of the session.
    pub session: Option<String>,
    /// The length in bytes.
    pub bytes: u64,
}

/// All marks of the project, the latest first.
#[derive(Debug, Default)]
pub struct Marks(Vec<MarkedTranscript>);

impl Marks {
    /// These marks, the latest first.
    pub fn new(transcripts: Vec<MarkedTranscript>) -> Self {
        Self(transcripts)
    }

    /// Nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label of this transcript: of the same bytes, or as long a part of the same session.
    pub fn get(&self, transcript: &JudgedTranscript) -> Option<Labelled> {
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
