//! Messages about settings that differ from the approved ones: what happened and what to
//! do, in one line.

use std::path::{Component, Path};

use gate_checks::Program;
use gate_core::text;

use crate::failure::Failure;

/// Programs that an error names.
const MAX_PROGRAMS: usize = 5;

const MAX_MISTAKE_CHARS: usize = 160;

/// Settings that differ from the approved ones.
pub(super) struct Difference<'d> {
    /// The settings file, if there is one.
    pub(super) file: Option<&'d Path>,
    /// The file that was approved.
    pub(super) approved: Option<&'d Path>,
    /// The person's folder. Paths are relative to this.
    pub(super) person_folder: &'d Path,
}

/// The message about settings that differ.
pub(super) fn difference(difference: &Difference<'_>) -> String {
    let file = difference.file.map(|file| relative(file, difference.person_folder));
    let approved = difference.approved.map(|file| relative(file, difference.person_folder));
    let (change, look_command) = match (file, approved) {
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
    line(&change, "`gate trust`", &look_command)
}

/// The message if the changed settings have a mistake.
pub(super) fn mistake(file: &Path, person_folder: &Path, mistake: &Failure) -> String {
    let file = relative(file, person_folder);
    let place = mistake.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let problem = text::brief(&format!("{place}{}", mistake.message), MAX_MISTAKE_CHARS);
    let change = format!("{file} changed since you approved it, and cannot be used ({problem})");
    line(&change, "mend it, then `gate trust`", &format!("git diff {file}"))
}

fn line(change: &str, act: &str, look_command: &str) -> String {
    format!("{change}. If that was you: {act}. If not: `{look_command}`.")
}

/// A file's path relative to a folder at or below its own; else its whole path.
fn relative(file: &Path, person_folder: &Path) -> String {
    let path = match (file.strip_prefix(person_folder), file.parent()) {
        (Ok(inner_path), _) => inner_path.to_owned(),
        (Err(_), Some(folder)) => match person_folder.strip_prefix(folder) {
            Ok(path_down) => {
                let path_up = path_down.components().map(|_| Component::ParentDir);
                path_up.chain(file.file_name().map(Component::Normal)).collect()
            }
            Err(_) => file.to_owned(),
        },
        (Err(_), None) => file.to_owned(),
    };
    text::clean(&path.display().to_string())
}

/// The end of a sentence that lists programs with their arguments.
pub(super) fn programs(programs: &[Program]) -> String {
    let mut lines: Vec<_> = programs
        .iter()
        .take(MAX_PROGRAMS)
        .map(|program| format!("{}: {:?}", text::clean(&program.check), program.argv))
        .collect();
    if programs.len() > MAX_PROGRAMS {
        lines.push(format!("{} more", programs.len() - MAX_PROGRAMS));
    }
    if lines.is_empty() { String::new() } else { format!("; it would start {}", lines.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(file: Option<&str>, approved: Option<&str>) -> String {
        let (file, approved) = (file.map(Path::new), approved.map(Path::new));
        difference(&Difference { file, approved, person_folder: Path::new("/w") })
    }

    #[test]
    fn what_to_do_is_in_one_line() {
        let approved_file = Some("/w/gate.toml");
        assert_eq!(
            message(approved_file, approved_file),
            "gate.toml changed since you approved it. If that was you: `gate trust`. \
             If not: `git diff gate.toml`."
        );
        for (file, approved, beginning) in [
            (None, approved_file, "gate.toml is gone since you approved it. "),
            (
                Some("/w/a/gate.toml"),
                approved_file,
                "a/gate.toml stands in the place of gate.toml, which ",
            ),
            (approved_file, None, "gate.toml is not what was approved. "),
            (Some("/gate.toml"), None, "../gate.toml is not what was approved. "),
            (Some("/v/gate.toml"), None, "/v/gate.toml is not what was approved. "),
        ] {
            let message = message(file, approved);
            assert!(message.starts_with(beginning), "{message}");
        }
    }
}
