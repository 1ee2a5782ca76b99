//! What `gate baseline` says to a person.

use std::fmt::Write;

use crate::commands::BaselineRecord;

/// The baseline that was taken, or that waits for runs.
pub(crate) fn baseline_card(record: &BaselineRecord, forgotten: bool) -> String {
    let (Some(digest), Some(commit)) = (&record.baseline, &record.commit) else {
        return if forgotten {
            "no baseline waits for runs: they compare with history\n".to_owned()
        } else {
            "no baseline: none was taken, or this is outside of git, or nothing was committed\n"
                .to_owned()
        };
    };
    let time = record.time.as_deref().unwrap_or_default();
    let mut text = format!("baseline {digest}\n  taken     {time}, above commit {commit}\n");
    let guarded = record.guarded;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  guarded   {guarded} files: tests, and what decides what they mean");
    for tool in &record.tools {
        let _ = writeln!(text, "  tool      {}: {}", tool.name, tool.path);
    }
    text.push_str("runs that begin from now on compare the work tree with it\n");
    text
}
