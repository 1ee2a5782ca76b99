//! Verdicts under each threshold, beside labels.

use arrow_array::RecordBatch;
use gate_core::Failure;
use gate_lens::replay::accuracy::Accuracy;
use gate_lens::replay::{Label, Labelled, TranscriptText, with_thresholds};

use crate::batch::Texts;
use crate::judge::Judge;

impl Judge {
    /// The numbers of verdicts, by threshold.
    pub(crate) fn under_thresholds(
        &self,
        batch: &RecordBatch,
        column: &str,
        label: Option<&str>,
    ) -> Result<Vec<Accuracy>, Failure> {
        let texts = Texts::named(batch, column)?;
        let labels = label.map(|label| Texts::named(batch, label)).transpose()?;
        let policies = with_thresholds(&self.replayer.policy);
        let mut counts = vec![Accuracy::default(); policies.len()];
        for row in 0..batch.num_rows() {
            let Some(bytes) = texts.bytes(row) else { continue };
            let label =
                labels.as_ref().and_then(|labels| labels.bytes(row)).map(parse).transpose()?;
            let transcript = TranscriptText { name: "", bytes, format: self.format };
            let mut rows = Vec::new();
            self.replayer.judge(transcript, &policies, &mut |row| rows.push(row.exits));
            // A label is about the last iteration of its transcript.
            let last = rows.len().saturating_sub(1);
            for (position, exits) in rows.into_iter().enumerate() {
                let labelled = if position == last { label } else { None };
                for (count, exits) in counts.iter_mut().zip(exits) {
                    count.add_as(exits, labelled);
                }
            }
        }
        Ok(counts)
    }
}

/// A label, as `gate replay --labels` has it.
fn parse(label: &[u8]) -> Result<Labelled, Failure> {
    let name = String::from_utf8_lossy(label);
    let label: Result<Label, _> = serde_json::from_value(name.as_ref().into());
    let label = label.map_err(|_| {
        let message = format!("`{name}` is no label");
        let hint = "a label is exit, claims-done, continue, blocked, unrelated, or null";
        Failure::usage("labels-invalid", message).hint(hint)
    })?;
    Ok(Labelled { label, ambiguous: false })
}
