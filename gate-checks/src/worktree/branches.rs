//! The tips of a repository's branches.
//!
//! A commit is progress wherever it is made: on another branch, or in another work tree of the
//! same repository. So the branches belong to a state of the work, beside the commit that is
//! checked out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{git, repository};

/// The deepest folder of branch names that is read.
const MAX_FOLDER_DEPTH: usize = 16;

/// A digest of all branches and their commits, in loose files or packed; none if there is no
/// branch.
pub(super) fn digest(root: &Path) -> Option<String> {
    let common = repository::common(&git::git_dir(&root.join(".git")).ok()?);
    let packed = fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let mut branches: BTreeMap<String, String> = packed.lines().filter_map(branch).collect();
    loose(&common.join("refs/heads"), "refs/heads", MAX_FOLDER_DEPTH, &mut branches);
    let text: String = branches.iter().map(|(name, at)| format!("{at} {name}\n")).collect();
    (!text.is_empty()).then(|| gate_core::digest(text.as_bytes()))
}

/// A branch in a line of packed references.
fn branch(line: &str) -> Option<(String, String)> {
    let (commit, name) = line.split_once(' ')?;
    name.starts_with("refs/heads/").then(|| (name.to_owned(), commit.to_owned()))
}

fn loose(folder: &Path, name: &str, depth: usize, branches: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            loose(&entry.path(), &name, depth - 1, branches);
        } else if kind.is_file()
            && let Ok(commit) = fs::read_to_string(entry.path())
        {
            branches.insert(name, commit.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_changes_nothing_and_a_commit_does() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        fs::create_dir_all(git.join("refs/heads/feature")).unwrap();
        assert_eq!(digest(folder.path()), None);
        fs::write(git.join("refs/heads/main"), "aaa\n").unwrap();
        fs::write(git.join("refs/heads/feature/one"), "bbb\n").unwrap();
        let two = digest(folder.path());
        let packed = "# pack-refs with: peeled\nbbb refs/heads/feature/one\nccc refs/tags/v1\n";
        fs::write(git.join("packed-refs"), packed).unwrap();
        fs::remove_file(git.join("refs/heads/feature/one")).unwrap();
        assert_eq!(digest(folder.path()), two);
        fs::write(git.join("refs/heads/feature/one"), "ddd\n").unwrap();
        assert_ne!(digest(folder.path()), two);
    }
}
