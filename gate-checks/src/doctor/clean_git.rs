//! Proving that `clean_git` sees uncommitted files.

use std::fs;
use std::io;

use gate_core::decide::evidence::{Evidence, Outcome};

use super::bench::{Bench, Trouble};
use super::finding::{Proof, SelfTestOutcome};

/// Adds a new file and changes one: the check has to fail and to name both.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    if let Some(proof) = bench.prove_unchanged("all is committed")? {
        return Ok(proof);
    }
    let new_file = "gate-self-test-untracked.txt";
    fs::write(bench.copy.project.join(new_file), "gate self-test\n")?;
    let mut planted = vec![new_file.to_owned()];
    planted.extend(change_file(bench)?);
    let evidence = bench.run()?;
    let missed: Vec<_> =
        planted.iter().filter(|file| !has_name(&evidence, file)).cloned().collect();
    let names = planted.join(" and ");
    let (outcome, account) = match evidence.outcome {
        Outcome::Fail if missed.is_empty() => {
            (SelfTestOutcome::CanFail, format!("it failed, and named {names}"))
        }
        Outcome::Fail => (
            SelfTestOutcome::NotShown,
            format!("it failed, but did not name {}", missed.join(" and ")),
        ),
        Outcome::Pass => (
            SelfTestOutcome::CannotFail,
            format!("it passed although {names} was not committed: look at `ignore`"),
        ),
        _ => (
            SelfTestOutcome::NotShown,
            format!("with {names} it gave no answer: {}", evidence.summary),
        ),
    };
    Ok(bench.proof(outcome, account, &evidence))
}

/// Changes a committed file of the project, and returns its name. `None` if no file can be changed.
fn change_file(bench: &Bench<'_>) -> io::Result<Option<String>> {
    let mut files: Vec<_> = bench.copy.files.iter().collect();
    files.retain(|file| {
        let file = bench.copy.root.join(file);
        file.starts_with(&bench.copy.project)
            && file
                .symlink_metadata()
                .is_ok_and(|metadata| metadata.is_file() && !metadata.permissions().readonly())
    });
    // Hidden files last: a changed `.gitignore` could hide the other file.
    files.sort_by_key(|file| file.to_string_lossy().starts_with('.'));
    let Some(file) = files.first() else { return Ok(None) };
    let path = bench.copy.root.join(file);
    let text = [fs::read(&path)?.as_slice(), b"\ngate self-test\n"].concat();
    fs::write(path, text)?;
    Ok(file.to_str().map(str::to_owned))
}

/// A record that names a file, in words or in its detail.
fn has_name(evidence: &Evidence, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let detail = evidence.detail.as_ref().map(ToString::to_string).unwrap_or_default();
    evidence.summary.contains(name) || detail.contains(name)
}
