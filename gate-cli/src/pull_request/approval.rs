//! A reviewer's approval of changed tests, which holds for one commit.

use schemars::JsonSchema;
use serde::Serialize;

use super::base::short_name;
use super::service::CiJob;
use crate::failure::Failure;

/// The fewest digits of a commit that name it.
const MIN_DIGITS: usize = 7;

/// An approval, and the commit that it holds for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ReviewApproval {
    /// The person's name.
    pub(crate) by: String,
    /// The commit, as it was named.
    pub(crate) commit: String,
    /// It holds for the commit that is judged.
    pub(crate) counts: bool,
}

impl ReviewApproval {
    /// The approval that the caller names, else that of a label which was put on just now. `head` is
    /// the newest commit of the change.
    ///
    /// # Errors
    ///
    /// Code 2: a value that is not `WHO@COMMIT`.
    pub(super) fn find(
        named: Option<&str>,
        label: Option<&str>,
        job: &CiJob,
        head: &str,
    ) -> Result<Option<Self>, Failure> {
        if let Some(text) = named.filter(|text| !text.trim().is_empty()) {
            let (by, commit) = parse(text)?;
            let counts = head.starts_with(&commit);
            return Ok(Some(Self { by, commit, counts }));
        }
        let label = job.label.as_ref().filter(|new_label| Some(new_label.name.as_str()) == label);
        // The label approves what the reviewer saw, which is the event's head.
        let counts = job.head.as_deref() == Some(head);
        Ok(label.map(|label| Self { by: label.person.clone(), commit: head.to_owned(), counts }))
    }

    /// The reason in the allowances that follow from it.
    pub(super) fn reason(&self) -> String {
        format!("approved by {} for {}", self.by, short_name(&self.commit))
    }
}

/// The person and the commit of `WHO@COMMIT`, the commit in small letters.
fn parse(text: &str) -> Result<(String, String), Failure> {
    let expected = || {
        let message = format!(
            "--approve-tests {text}: WHO@COMMIT is expected, with {MIN_DIGITS} digits of the \
             commit or more"
        );
        Failure::usage("usage", message)
    };
    let (by, commit) = text.trim().rsplit_once('@').ok_or_else(expected)?;
    let commit = commit.to_ascii_lowercase();
    let is_commit =
        commit.len() >= MIN_DIGITS && commit.bytes().all(|digit| digit.is_ascii_hexdigit());
    if by.is_empty() || !is_commit {
        return Err(expected());
    }
    Ok((by.to_owned(), commit))
}
