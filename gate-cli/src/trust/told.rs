//! What a person is told of settings that are not the approved ones: what happened, and
//! what to do, in one line.

use std::path::{Component, Path};

use gate_checks::Program;
use gate_core::text;

use crate::failure::Failure;

/// How many programs an error names.
const NAMED: usize = 5;

/// The longest that is told of a mistake, in characters.
const MISTAKE: usize = 160;

/// Settings that differ from the approved ones.
pub(super) struct Differs<'d> {
    /// Their file; none where there is none.
    pub(super) file: Option<&'d Path>,
    /// The file that was approved.
    pub(super) approved: Option<&'d Path>,
    /// Whether the project is known by another name than when the same was approved.
    pub(super) is_renamed: bool,
    /// The folder that the person is in.
    pub(super) from: &'d Path,
}

/// How settings differ from those that were approved.
pub(super) fn differing(it: &Differs<'_>) -> String {
    let named = |file: &Path| named(file, it.from);
    let (what, look) = match (it.file.map(named), it.approved.map(named)) {
        (Some(file), Some(_)) if it.is_renamed => {
            let known = "while the project was known by another name (its origin)";
            (format!("{file} was approved {known}"), "git remote -v".to_owned())
        }
        (Some(file), Some(approved)) if file == approved => {
            (format!("{file} changed since you approved it"), format!("git diff {file}"))
        }
        (Some(file), Some(approved)) => (
            format!("{file} stands in the place of {approved}, which you approved"),
            format!("git status {file}"),
        ),
        (None, Some(approved)) => (
            format!("{approved} is gone since you approved it"),
            format!("git checkout {approved}"),
        ),
        (Some(file), None) => {
            (format!("{file} is not what was approved"), format!("git diff {file}"))
        }
        (None, None) => {
            ("settings were approved, and there are none".to_owned(), "git status".to_owned())
        }
    };
    line(&what, "`gate trust`", &look)
}

/// The same of settings that hold a mistake.
pub(super) fn mistaken(file: &Path, from: &Path, mistake: &Failure) -> String {
    let file = named(file, from);
    let at = mistake.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let why = text::brief(&format!("{at}{}", mistake.message), MISTAKE);
    let what = format!("{file} changed since you approved it, and cannot be used ({why})");
    line(&what, "mend it, then `gate trust`", &format!("git diff {file}"))
}

fn line(what: &str, act: &str, look: &str) -> String {
    format!("{what}. If that was you: {act}. If not: `{look}`.")
}

/// A file as it is called from a folder.
fn named(file: &Path, from: &Path) -> String {
    let file = match (file.strip_prefix(from), file.parent()) {
        (Ok(below), _) => below.to_owned(),
        (Err(_), Some(folder)) => match from.strip_prefix(folder) {
            Ok(down) => {
                let up = down.components().map(|_| Component::ParentDir);
                up.chain(file.file_name().map(Component::Normal)).collect()
            }
            Err(_) => file.to_owned(),
        },
        (Err(_), None) => file.to_owned(),
    };
    text::clean(&file.display().to_string())
}

/// The programs, as they would be started.
pub(super) fn programs(programs: &[Program]) -> String {
    let line = |it: &Program| format!("{}: {:?}", text::clean(&it.check), it.argv);
    let mut lines: Vec<_> = programs.iter().take(NAMED).map(line).collect();
    if programs.len() > NAMED {
        lines.push(format!("{} more", programs.len() - NAMED));
    }
    if lines.is_empty() { String::new() } else { format!("; it would start {}", lines.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: Option<&str>, approved: Option<&str>, is_renamed: bool) -> String {
        let (file, approved) = (file.map(Path::new), approved.map(Path::new));
        differing(&Differs { file, approved, is_renamed, from: Path::new("/w") })
    }

    #[test]
    fn what_to_do_is_in_one_line() {
        let own = Some("/w/gate.toml");
        assert_eq!(
            of(own, own, false),
            "gate.toml changed since you approved it. If that was you: `gate trust`. \
             If not: `git diff gate.toml`."
        );
        for (file, approved, begins) in [
            (None, own, "gate.toml is gone since you approved it. "),
            (Some("/w/a/gate.toml"), own, "a/gate.toml stands in the place of gate.toml, which "),
            (own, None, "gate.toml is not what was approved. "),
            (Some("/gate.toml"), None, "../gate.toml is not what was approved. "),
            (Some("/v/gate.toml"), None, "/v/gate.toml is not what was approved. "),
        ] {
            assert!(of(file, approved, false).starts_with(begins), "{}", of(file, approved, false));
        }
        assert!(of(own, own, true).contains("known by another name"));
    }
}
