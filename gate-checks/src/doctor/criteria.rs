//! Proving that `acceptance_criteria` sees an open item.

use std::fs;
use std::path::Path;

use gate_core::decide::evidence::{Evidence, Outcome};
use serde_json::{Value, json};

use super::bench::{Bench, Trouble, copy_ignored_files, first_file};
use super::finding::{Proof, SelfTestOutcome};

/// Text of the added item.
const ITEM: &str = "gate self-test";

/// Adds an open item to the first file: the check has to fail.
pub(super) fn prove(bench: &Bench<'_>) -> Result<Proof, Trouble> {
    copy_ignored_files(bench)?;
    let unchanged = bench.run()?;
    let Some(file) = first_file(bench) else {
        // Without a file, the commands of the settings' criteria decide.
        return Ok(match unchanged.outcome {
            Outcome::Fail => {
                let account = format!("it fails now: {}", unchanged.summary);
                bench.proof(SelfTestOutcome::CanFail, account, &unchanged)
            }
            Outcome::Pass => bench.not_shown("its criteria are met already"),
            _ => bench.not_shown("none of its files is there"),
        });
    };
    let name = file.strip_prefix(&bench.copy.project).unwrap_or(&file).display().to_string();
    if !matches!(unchanged.outcome, Outcome::Pass | Outcome::Fail) {
        return Ok(bench.proof(SelfTestOutcome::NotShown, unchanged.summary.clone(), &unchanged));
    }
    let Some(text) = with_item(&file, &fs::read_to_string(&file)?) else {
        return Ok(bench.not_shown(format!("{name} has no place for an item more")));
    };
    fs::write(&file, text)?;
    let evidence = bench.run()?;
    // Of many open items a record names the first ones: the added one may be the reason or not.
    let is_new_failure = unchanged.outcome == Outcome::Pass || has_item(&evidence);
    if evidence.outcome == Outcome::Fail && !is_new_failure {
        let account = format!("it fails as it is: {}", unchanged.summary);
        return Ok(bench.proof(SelfTestOutcome::NotShown, account, &evidence));
    }
    let [failed, passed] =
        ["failed", "passed"].map(|result| format!("it {result} with an open item more in {name}"));
    Ok(bench.weigh(&evidence, failed, passed))
}

/// The text with an open item in the file's own format. `None` if it has no place.
fn with_item(file: &Path, text: &str) -> Option<String> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json") => with_story(text),
        Some("jsonl") => {
            let issue = json!({ "id": "gate-self-test", "title": ITEM, "status": "open" });
            Some(format!("{}\n{issue}\n", text.trim_end()))
        }
        // The item has a heading of its own, so that it is below no optional one.
        _ => Some(format!("{text}\n\n# {ITEM}\n\n- [ ] {ITEM}\n")),
    }
}

fn with_story(text: &str) -> Option<String> {
    let mut document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let story = json!({ "id": "gate-self-test", "title": ITEM, "passes": false });
    let names = ["stories", "userStories", "user_stories", "features"];
    let list = match &mut document {
        Value::Array(list) => list,
        object => {
            let name = names.iter().find(|name| object[**name].is_array())?;
            object[*name].as_array_mut()?
        }
    };
    list.push(story);
    Some(document.to_string())
}

/// A record that names the added item.
fn has_item(evidence: &Evidence) -> bool {
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
