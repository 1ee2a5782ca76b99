//! The few settings of a repository that say how the file system and the checkout are, and that
//! cannot hide an edit.

use crate::cancellation::Cancellation;
use crate::worktree::error::WorktreeError;
use crate::worktree::git::Git;
use crate::worktree::repository::Repository;

/// The settings that are read, as a pattern of names.
const NAMES: &str = "^core\\.(autocrlf|eol|filemode|symlinks|sparsecheckout)$";

/// Settings as they are in effect, from the user's files and the
/// repository's. `git clone` writes them itself where the file system needs
/// it, so that they cannot be passed over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `core.autocrlf`: the conversion can hide line ends and nothing else.
    pub(super) autocrlf: Option<&'static str>,
    /// `core.eol`.
    pub(super) eol: Option<&'static str>,
    /// `core.fileMode = false`: files have no executable bit of their own.
    pub(super) no_file_mode: bool,
    /// `core.symlinks = false`: links are checked out as plain files.
    pub(super) no_symlinks: bool,
    /// `core.sparseCheckout`: files may be left out of the work tree.
    pub(super) sparse: bool,
}

impl Settings {
    pub(super) fn load(
        git: &Git,
        repository: &Repository,
        cancel: &Cancellation,
    ) -> Result<Self, WorktreeError> {
        let args = ["config", "-z", "--get-regexp", NAMES];
        let output = git.output(repository.place(), &args, &[], cancel)?;
        match output.code {
            Some(0) => Ok(Self::parse(&String::from_utf8_lossy(&output.stdout))),
            Some(1) => Ok(Self::default()),
            _ => Err(output.to_error(repository.place(), &args)),
        }
    }

    /// Reads `name\nvalue\0`. The last value of a name holds, and a name without a value means true.
    fn parse(text: &str) -> Self {
        let mut settings = Self::default();
        for record in text.split_terminator('\0') {
            let (name, value) = record.split_once('\n').unwrap_or((record, "true"));
            let value = value.to_ascii_lowercase();
            match name {
                "core.autocrlf" if value == "input" => settings.autocrlf = Some("input"),
                "core.autocrlf" => settings.autocrlf = parse_bool(&value).map(spelled_bool),
                "core.eol" => {
                    settings.eol =
                        ["lf", "crlf", "native"].into_iter().find(|ending| *ending == value);
                }
                "core.filemode" => settings.no_file_mode = parse_bool(&value) == Some(false),
                "core.symlinks" => settings.no_symlinks = parse_bool(&value) == Some(false),
                "core.sparsecheckout" => settings.sparse = parse_bool(&value) == Some(true),
                _ => {}
            }
        }
        settings
    }
}

fn spelled_bool(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn parse_bool(value: &str) -> Option<bool> {
    match value {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_name_holds() {
        let text = "core.autocrlf\ntrue\0core.autocrlf\nINPUT\0core.filemode\nno\0core.eol\ncrlf\0";
        let settings = Settings::parse(text);
        assert_eq!((settings.autocrlf, settings.eol), (Some("input"), Some("crlf")));
        assert!(settings.no_file_mode && !settings.no_symlinks && !settings.sparse);
    }

    #[test]
    fn a_name_alone_is_true_and_an_odd_value_is_none() {
        assert!(Settings::parse("core.sparsecheckout\0").sparse);
        assert_eq!(Settings::parse("core.autocrlf\n$(x)\0core.eol\nx\n[y]\0"), Settings::default());
    }
}
