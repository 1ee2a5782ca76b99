//! Proving that `clean_git` sees what is not committed.

use std::fs;
use std::io;

use gate_core::decide::evidence::{Evidence, Outcome};

use super::bench::{Bench, Trouble};
use super::finding::{Proof, SelfTestOutcome};

/// A new file and a changed one: it has to fail and to name both.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    if let Some(proof) = bench.does_not_begin("all is committed")? {
        return Ok(proof);
    }
    let new = "gate-self-test-untracked.txt";
    fs::write(bench.copy.project.join(new), "gate self-test\n")?;
    let changed = change(bench)?;
    let after = bench.run()?;
    let planted = [Some(new.to_owned()), changed].into_iter().flatten().collect::<Vec<_>>();
    let missed: Vec<_> = planted.iter().filter(|file| !names(&after, file)).cloned().collect();
    let planted = planted.join(" and ");
    let (standing, how) = match after.outcome {
        Outcome::Fail if missed.is_empty() => {
            (SelfTestOutcome::CanFail, format!("it failed, and named {planted}"))
        }
        Outcome::Fail => (
            SelfTestOutcome::NotShown,
            format!("it failed, but did not name {}", missed.join(" and ")),
        ),
        Outcome::Pass => (
            SelfTestOutcome::CannotFail,
            format!("it passed although {planted} was not committed: look at `ignore`"),
        ),
        _ => (
            SelfTestOutcome::NotShown,
            format!("with {planted} it gave no answer: {}", after.summary),
        ),
    };
    Ok(bench.proof(standing, how, &after))
}

/// Changes a committed file of the project; none if there is none.
fn change(bench: &Bench<'_>) -> io::Result<Option<String>> {
    let mut files: Vec<_> = bench.copy.files.iter().collect();
    files.retain(|file| {
        let file = bench.copy.root.join(file);
        file.starts_with(&bench.copy.project)
            && file
                .symlink_metadata()
                .is_ok_and(|about| about.is_file() && !about.permissions().readonly())
    });
    // Hidden files last: a changed `.gitignore` could change what else is seen.
    files.sort_by_key(|file| file.to_string_lossy().starts_with('.'));
    let Some(file) = files.first() else { return Ok(None) };
    let path = bench.copy.root.join(file);
    let text = [fs::read(&path)?.as_slice(), b"\ngate self-test\n"].concat();
    fs::write(path, text)?;
    Ok(file.to_str().map(str::to_owned))
}

/// True if a record names a file, in words or in its detail.
fn names(evidence: &Evidence, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let detail = evidence.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    evidence.summary.contains(name) || detail.contains(name)
}
