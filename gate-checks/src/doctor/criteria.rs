//! Proving that `acceptance_criteria` sees an open item.

use std::fs;
use std::io;
use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use serde_json::{Value, json};

use super::bench::{Bench, Trouble, fetch, file};
use super::finding::{Proof, SelfTestOutcome};

/// Text of the added item.
const ITEM: &str = "gate self-test";

/// An open item more in the first file: it has to fail.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    fetch(bench)?;
    let before = bench.run()?;
    let Some(file) = file(bench) else {
        // Without a file, the commands of the settings' criteria decide.
        return Ok(match before.outcome {
            Outcome::Fail => {
                let how = format!("it fails now: {}", before.summary);
                bench.proof(SelfTestOutcome::CanFail, how, &before)
            }
            Outcome::Pass => bench.not_shown("its criteria are met already"),
            _ => bench.not_shown("none of its files is there"),
        });
    };
    let shown = file.strip_prefix(&bench.copy.project).unwrap_or(&file).display().to_string();
    if !matches!(before.outcome, Outcome::Pass | Outcome::Fail) {
        return Ok(bench.proof(SelfTestOutcome::NotShown, before.summary.clone(), &before));
    }
    if !add(&file)? {
        return Ok(bench.not_shown(format!("{shown} has no place for an item more")));
    }
    let after = bench.run()?;
    if after.outcome == Outcome::Fail && before.outcome != Outcome::Pass && !names(&after) {
        let how = format!("it fails as it is: {}", before.summary);
        return Ok(bench.proof(SelfTestOutcome::NotShown, how, &after));
    }
    let [failed, passed] =
        ["failed", "passed"].map(|ended| format!("it {ended} with an open item more in {shown}"));
    Ok(bench.weigh(&after, failed, passed))
}

/// Adds an open item in the file's own format; false if it has no place.
fn add(file: &Path) -> io::Result<bool> {
    let text = fs::read_to_string(file)?;
    let ending = file.extension().and_then(|ending| ending.to_str());
    let text = match ending {
        Some("json") => match with_story(&text) {
            Some(text) => text,
            None => return Ok(false),
        },
        Some("jsonl") => {
            let issue = json!({ "id": "gate-self-test", "title": ITEM, "status": "open" });
            format!("{}\n{issue}\n", text.trim_end())
        }
        // A heading of its own, so that it is below no optional one.
        _ => format!("{text}\n\n# {ITEM}\n\n- [ ] {ITEM}\n"),
    };
    fs::write(file, text)?;
    Ok(true)
}

fn with_story(text: &str) -> Option<String> {
    let mut document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let story = json!({ "id": "gate-self-test", "title": ITEM, "passes": false });
    let names = ["stories", "userStories", "user_stories", "features"];
    let list = match &mut document {
        Value::Array(list) => list,
        other => {
            let name = names.iter().find(|name| other[**name].is_array())?;
            other[*name].as_array_mut()?
        }
    };
    list.push(story);
    Some(document.to_string())
}

fn names(evidence: &Evidence) -> bool {
    evidence.detail.as_ref().is_some_and(|detail| detail.to_string().contains(ITEM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_more_in_any_of_the_usual_lists() {
        for text in ["[]", r#"{"userStories":[]}"#, r#"{"name":"x","features":[{"passes":true}]}"#]
        {
            let added = with_story(text).unwrap();
            assert!(added.contains(r#""passes":false"#), "{added}");
        }
        assert_eq!(with_story("{}"), None);
        assert_eq!(with_story("no"), None);
    }
}
