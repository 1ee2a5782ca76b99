//! The answers about a handoff, as JSON and as a card for a person.

use gate_card::{Mark, Page, brief};
use gate_core::Failure;
use gate_core::text::counted;
use serde::Serialize;

use super::problem::Problem;
use super::{Format, LONGEST};

/// The result of checking a handoff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HandoffReport<'p> {
    ok: bool,
    problems: &'p [Problem],
}

/// A handoff that was written in another format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConvertedHandoff<'c> {
    /// Its problems.
    #[serde(flatten)]
    pub report: HandoffReport<'c>,
    /// The format that it was written in.
    pub format: Format,
    /// The handoff; `None` if a part of it could not be read.
    pub text: Option<&'c str>,
}

impl<'p> HandoffReport<'p> {
    /// The report of these problems.
    pub fn new(problems: &'p [Problem]) -> Self {
        Self { ok: problems.is_empty(), problems }
    }

    /// The same for a person. `praise` says what holds if nothing is wrong.
    pub fn card(&self, file: &str, praise: &str) -> String {
        let mut page = Page::new();
        match self.problems.len() {
            0 => page.head(Mark::Good, "HOLDS", praise),
            count => {
                let about = format!("{} in {file}", counted(count, "problem"));
                page.head(Mark::Bad, "WANTING", &about);
                page.blank();
            }
        }
        for problem in self.problems {
            page.item(&brief(&problem.to_string()));
        }
        page.into_text()
    }
}

/// The text in a file's bytes. Of a file that is too long any text will do: reading it as a
/// handoff refuses it.
///
/// # Errors
///
/// The bytes are no UTF-8 (code 2).
pub fn text_of(bytes: Vec<u8>, file: &str) -> Result<String, Failure> {
    if bytes.len() > LONGEST {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("{file}:{line}: UTF-8 is expected");
        let failure = Failure::usage("input-unreadable", message);
        Failure { file: Some(file.to_owned()), line: Some(line), ..failure }
    })
}
