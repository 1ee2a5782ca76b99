//! Two names of one tree: where it stands, and where a copy of it does.

use std::path::{Path, PathBuf};

use gate_core::decide::policy::CheckPolicy;

/// A tree and its copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// The tree's topmost folder.
    pub(crate) tree_root: PathBuf,
    /// The copy's topmost folder.
    pub(crate) copy: PathBuf,
}

impl Mapping {
    /// A text with the copy in the place of the tree.
    pub(crate) fn to_copy(&self, text: &str) -> String {
        mapped(text, &self.tree_root.display().to_string(), &self.copy.display().to_string())
    }

    /// A text with the tree in the place of the copy: the copy's name means nothing to a reader.
    pub(crate) fn to_tree(&self, text: &str) -> String {
        mapped(text, &self.copy.display().to_string(), &self.tree_root.display().to_string())
    }

    /// The folder of the copy that stands for one of the tree. `None` for a folder outside of the
    /// tree.
    pub(crate) fn folder(&self, real_folder: &Path) -> Option<PathBuf> {
        let path = real_folder.strip_prefix(&self.tree_root).ok()?;
        // An empty path would leave a slash at the end.
        Some(self.copy.join(path).components().collect())
    }

    /// A variable with the copy's environment of Python and its programs in the place of the
    /// tree's. A program that the copy lacks is found in the tree.
    pub(crate) fn variable(&self, name: &str, value: &str) -> String {
        match name {
            "VIRTUAL_ENV" => self.to_copy(value),
            "PATH" => {
                let mut folders = Vec::new();
                for folder in value.split(':') {
                    let copied_folder = self.folder(Path::new(folder));
                    folders.extend(copied_folder.map(|folder| folder.display().to_string()));
                    folders.push(folder.to_owned());
                }
                folders.join(":")
            }
            _ => value.to_owned(),
        }
    }

    /// The settings of a check that runs in the copy alone, any number of times.
    pub(crate) fn settings(&self, check: &CheckPolicy) -> CheckPolicy {
        CheckPolicy {
            command: self.words(&check.command),
            cwd: check.cwd.as_deref().map(|cwd| self.to_copy(cwd)),
            files: self.words(&check.files),
            needs: Vec::new(),
            paths: Vec::new(),
            // The check runs in a copy already.
            control: false,
            sealed: None,
            ..check.clone()
        }
    }

    fn words(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.to_copy(word)).collect()
    }
}

/// The text with one path in the place of another, unless it is only the beginning of a longer
/// name.
fn mapped(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let mut mapped = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer_name = part
            .starts_with(|char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-'));
        mapped.push_str(if is_longer_name { from } else { to });
        mapped.push_str(part);
    }
    mapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_mapped_as_a_whole() {
        let mapping = Mapping { tree_root: "/a/b".into(), copy: "/x".into() };
        for (tree_root, copy) in [
            ("/a/b", "/x"),
            ("--root=/a/b/c", "--root=/x/c"),
            ("cd '/a/b' && ls /a/bc", "cd '/x' && ls /a/bc"),
            ("c", "c"),
        ] {
            assert_eq!(mapping.to_copy(tree_root), copy);
            assert_eq!(mapping.to_tree(copy), tree_root);
        }
        assert_eq!(mapping.folder(Path::new("/a/b/c")), Some("/x/c".into()));
        assert_eq!(mapping.folder(Path::new("/a/bc")), None);
        let path = mapping.variable("PATH", "/bin:/a/b/.venv/bin:/a/bc");
        assert_eq!(path, "/bin:/x/.venv/bin:/a/b/.venv/bin:/a/bc");
        assert_eq!(mapping.variable("VIRTUAL_ENV", "/a/b/.venv"), "/x/.venv");
        assert_eq!(mapping.variable("HOME", "/a/b"), "/a/b");
    }
}
