//! The pages of reasons, warnings and errors: a section for each code.

use std::fs;
use std::path::Path;

use gate_core::decide::reason::{Explanation, ReasonCode, WarningCode};

use super::Failure;

/// When a reason is a false alarm, for each reason code.
const FALSE_ALARMS: &str = "docs/book/false-alarms.toml";

/// What each error means.
const ERRORS: &str = "gate-cli/src/failure/codes.toml";

fn table(root: &Path, name: &str) -> Result<toml::Table, Failure> {
    Ok(toml::from_str(&fs::read_to_string(root.join(name))?)?)
}

/// The parts of an explanation, as [`section`] takes them.
fn parts(explanation: Explanation) -> [&'static str; 4] {
    [explanation.meaning, explanation.cause, explanation.example, explanation.remedy]
}

fn section(code: &str, [what, why, example, next]: [&str; 4]) -> String {
    format!("## {code}\n\n{what}\n\n{why}\n\n*Example:* {example}\n\n**Do this:** {next}\n\n")
}

pub(super) fn reasons(root: &Path) -> Result<String, Failure> {
    let mut alarms = table(root, FALSE_ALARMS)?;
    let mut page = "# Reasons\n\nA reason says why the verdict is what it is. `gate explain CODE` \
                    prints the first part of a section.\n\n"
        .to_owned();
    for reason in ReasonCode::ALL {
        let code = reason.code();
        let Some(toml::Value::String(alarm)) = alarms.remove(code) else {
            return Err(format!("{FALSE_ALARMS} has no line for {code}").into());
        };
        page.push_str(&section(code, parts(reason.explanation())));
        page.push_str(&format!("**False alarm?** {alarm}\n\n"));
    }
    match alarms.keys().next() {
        Some(code) => Err(format!("{FALSE_ALARMS}: {code} is no reason").into()),
        None => Ok(page),
    }
}

pub(super) fn warnings() -> String {
    let mut page =
        "# Warnings\n\nA warning changes no verdict. It says what is worth a look.\n\n".to_owned();
    for warning in WarningCode::ALL {
        page.push_str(&section(warning.code(), parts(warning.explanation())));
    }
    page
}

pub(super) fn errors(root: &Path) -> Result<String, Failure> {
    let mut page = "# Errors\n\nAfter an error nothing was decided: the exit code is 2 or 5, and \
                    never that of a pass. With `--json`, `code` of `gate.error.v1` is the \
                    error's code.\n\n"
        .to_owned();
    for (code, explanation) in table(root, ERRORS)? {
        let part = |key: &str| explanation.get(key).and_then(toml::Value::as_str);
        let parts = (part("what"), part("why"), part("example"), part("next"));
        let (Some(what), Some(why), Some(example), Some(next)) = parts else {
            return Err(format!("{ERRORS}: {code} lacks a part").into());
        };
        page.push_str(&section(&code, [what, why, example, next]));
    }
    Ok(page)
}
