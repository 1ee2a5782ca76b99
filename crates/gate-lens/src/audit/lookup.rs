//! Claims that can be looked up now: a commit in its repository, a file on the disk.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use schemars::JsonSchema;
use serde::Serialize;

/// The most claims of a message that are looked up.
const MAX_LOOKUPS: usize = 5;

/// The shortest and the longest name of a commit, in hexadecimal digits.
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 40;

/// A claim, and if it holds now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lookup {
    /// The claim: `commit HASH` or `file PATH`.
    pub claim: String,
    /// It is there now; null if its project is not on this
    /// machine. Later work may have changed it.
    pub holds: Option<bool>,
}

impl Lookup {
    /// The claims of a message that can be looked up, with the files of its turn.
    pub fn all(message: &str, files: &[String], git: fn(&Path) -> Option<Command>) -> Vec<Self> {
        let root = files.iter().find_map(|file| repository(Path::new(file)));
        let commits = commits(message).into_iter().map(|commit| Self {
            holds: root.as_deref().and_then(|root| has_commit(git(root)?, commit)),
            claim: format!("commit {commit}"),
        });
        let files = created(message, files).map(|file| Self {
            holds: root.as_ref().map(|_| Path::new(file).exists()),
            claim: format!("file {file}"),
        });
        commits.chain(files).take(MAX_LOOKUPS).collect()
    }
}

/// The names of commits in lines about committing.
fn commits(message: &str) -> Vec<&str> {
    let lines = message.lines().filter(|line| line.to_lowercase().contains("commit"));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric()));
    let mut found: Vec<_> = words.filter(|word| is_commit(word)).collect();
    found.dedup();
    found
}

fn is_commit(word: &str) -> bool {
    (MIN_DIGITS..=MAX_DIGITS).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// The files of the turn that the message says were created.
fn created<'a>(message: &'a str, files: &'a [String]) -> impl Iterator<Item = &'a String> {
    let is_claimed = |file: &str| {
        let name = file.rsplit('/').next().unwrap_or(file);
        message.lines().any(|line| {
            let lower = line.to_lowercase();
            line.contains(name)
                && ["created", "added", "wrote"].iter().any(|word| lower.contains(word))
        })
    };
    files.iter().filter(move |file| file.starts_with('/') && is_claimed(file))
}

/// The repository of a file, if its folder is on this machine.
fn repository(file: &Path) -> Option<PathBuf> {
    if !file.is_absolute() {
        return None;
    }
    file.ancestors().skip(1).find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

fn has_commit(mut git: Command, commit: &str) -> Option<bool> {
    git.args(["cat-file", "-e"]).arg(format!("{commit}^{{commit}}"));
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().ok().map(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_in_a_line_about_committing() {
        assert_eq!(commits("Committed as 1a2b3c4.\nBuild 9f8e7d6 is ready."), ["1a2b3c4"]);
        assert_eq!(commits("Committed the defaced page and 12 files"), [""; 0]);
    }

    #[test]
    fn what_is_not_on_this_machine_is_not_known() {
        let files = ["/nowhere/else/a.py".to_owned()];
        let lookups = Lookup::all("Created `a.py`, committed 1a2b3c4", &files, |_| None);
        let expected = [("commit 1a2b3c4", None), ("file /nowhere/else/a.py", None)];
        assert_eq!(
            lookups.iter().map(|one| (one.claim.as_str(), one.holds)).collect::<Vec<_>>(),
            expected
        );
    }
}
