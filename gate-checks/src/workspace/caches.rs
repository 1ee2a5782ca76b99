//! Caches of the baseline: the output of compilers, for the copy in which tests decide.
//!
//! A compiler's output that a run of the agent's code could write to is not believed: it may stand
//! for another source. So the deciding copy has only the output of the baseline's own run, and before
//! each run its caches are brought back to that. A cache is stored by check, beside the copies.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use gate_platform::{git_name, symlink};

use super::Workspace;
use super::builds::{MAX_DEPTH, profiles};
use super::layout::{Layout, path};
use crate::disk_usage::disk_usage;
use crate::remove::{remove_all, remove_any};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WrittenFiles;

/// The folder of a tree's state with the caches of its baseline, by check.
pub(super) const STORED_CACHES: &str = "deciding-builds";

/// The file that names the baseline whose caches these are. Files that are as in the baseline have one
/// date, so a compiler would take the output for another baseline as up to date.
const BASELINE_NAME: &str = "of";

/// The folder of build output, in the folder that a check runs in and at the top.
const OUTPUT: &str = "target";

/// The largest folder that is stored, in bytes. A larger one is built anew each time.
const MAX_BYTES: u64 = 6 << 30;

/// A folder of compilers' output in the copy.
struct Cache {
    /// The name of the folder in which it is stored.
    name: &'static str,
    path: PathBuf,
    /// Of cargo's output only the folders of profiles are stored: tests may have written others.
    is_of_cargo: bool,
}

impl Workspace {
    /// Stores the output of a run of this baseline: no code of the agent's has written to it.
    pub(crate) fn keep_caches(&self, site: &CheckSite, check: &str, baseline: &str) {
        let Some(stored_folder) = self.stored_caches(site, check) else { return };
        self.forget_compiled_of_tree();
        // Caches that cannot be stored are built anew by the next run.
        let _ = remove_all(&stored_folder);
        let _ = store::make_folder(&stored_folder);
        let _ = store::write_file(&stored_folder.join(BASELINE_NAME), baseline.as_bytes());
        for cache in self.caches(site) {
            let folders = match cache.is_of_cargo {
                true => profiles(&cache.path, MAX_DEPTH),
                false => Vec::from([cache.path.clone()]),
            };
            for folder in folders.iter().filter(|folder| folder.is_dir()) {
                let path_in_cache = folder.strip_prefix(&cache.path).unwrap_or(Path::new(""));
                if disk_usage(folder) <= MAX_BYTES {
                    let stored = stored_folder.join(cache.name).join(path_in_cache);
                    // A part that cannot be stored is built anew.
                    let _ = mirror(folder, &stored, None);
                }
            }
        }
    }

    /// Brings the caches back to the output of this baseline's run. Without a baseline they are empty.
    ///
    /// # Errors
    ///
    /// A cache that cannot be emptied.
    pub(crate) fn restore_caches(
        &self,
        site: &CheckSite,
        check: &str,
        baseline: Option<&str>,
    ) -> io::Result<()> {
        let is_of_baseline = |stored_folder: &PathBuf| {
            let name = fs::read_to_string(stored_folder.join(BASELINE_NAME)).ok();
            name.is_some() && name.as_deref() == baseline
        };
        remove_all(&self.temporary_files())?;
        fs::create_dir_all(self.temporary_files())?;
        let stored_folder = self.stored_caches(site, check).filter(is_of_baseline);
        for cache in self.caches(site) {
            let stored_cache = stored_folder
                .as_ref()
                .map(|folder| folder.join(cache.name))
                .filter(|folder| folder.is_dir());
            let list = self.notes.join(cache.name);
            let is_restored = stored_cache
                .is_some_and(|stored| mirror(&stored, &cache.path, Some(&list)).is_ok());
            if !is_restored {
                remove_all(&cache.path)?;
            }
        }
        Ok(())
    }

    /// Removes Python's bytecode of the work tree itself: if tests load the tree in place of the copy,
    /// its sources have to be seen to be opened.
    pub(crate) fn forget_compiled_of_tree(&self) {
        let path = self.mapping.tree_root.strip_prefix("/").unwrap_or(&self.mapping.tree_root);
        let compiled = self.compiled_python().join(path);
        if !self.is_below_link(&compiled) {
            let _ = remove_all(&compiled);
        }
    }

    /// Dates a layout for this copy. `unlike_baseline` are the files that are not as in the baseline.
    pub(crate) fn date(
        &self,
        layout: &mut Layout,
        unlike_baseline: &BTreeSet<&Path>,
        site: &CheckSite,
    ) {
        let caches = self
            .caches(site)
            .into_iter()
            .filter_map(|cache| Some(cache.path.strip_prefix(self.root()).ok()?.to_owned()));
        layout.date(unlike_baseline, caches.collect());
    }

    fn stored_caches(&self, site: &CheckSite, check: &str) -> Option<PathBuf> {
        let tree_folder = store::tree_folder(site.state.as_ref()?, &self.mapping.tree_root);
        let name = blake3::hash(check.as_bytes()).to_hex();
        Some(tree_folder.join(STORED_CACHES).join(&name[..16]))
    }

    /// The caches, each with a name of its own.
    fn caches(&self, site: &CheckSite) -> Vec<Cache> {
        let project = self.mapping.folder(&site.project).unwrap_or_else(|| self.root().to_owned());
        let outputs = BTreeSet::from([self.root().join(OUTPUT), project.join(OUTPUT)]);
        let chosen_by_user = ("chosen", self.folder().join("builds"));
        let mut caches: Vec<_> = [chosen_by_user]
            .into_iter()
            .chain(["first", "second"].into_iter().zip(outputs))
            .map(|(name, path)| Cache { name, path, is_of_cargo: true })
            .collect();
        caches.push(Cache { name: "python", path: self.compiled_python(), is_of_cargo: false });
        caches
    }
}

/// Brings a folder up to another one: bytes, links, modes and times, by which tools know that they
/// are up to date. `list` is the path of two files with the hashes of both folders from the last time:
/// unchanged files are neither read nor written.
fn mirror(source: &Path, target: &Path, list: Option<&Path>) -> io::Result<()> {
    let list_files = list.map(|list| [list.with_extension("kept"), list.with_extension("laid")]);
    let read_list = |index: usize| {
        let text = list_files.as_ref().and_then(|files| fs::read(&files[index]).ok());
        WrittenFiles::read(text)
    };
    let mut mirror =
        Mirror { source, target, source_files: read_list(0), target_files: read_list(1) };
    let mut files = BTreeSet::new();
    mirror.sync_folder(Path::new(""), &mut files)?;
    // The lists are sorted, and lookups have to come in their order.
    for file in &files {
        mirror.sync_file(path(file))?;
    }
    let lists = [&mirror.source_files, &mirror.target_files];
    for (list_file, list) in list_files.iter().flatten().zip(lists) {
        if let Some(text) = list.renewed() {
            // Files without an entry are read again.
            let _ = store::write_file(list_file, &text);
        }
    }
    Ok(())
}

struct Mirror<'a> {
    source: &'a Path,
    target: &'a Path,
    source_files: WrittenFiles,
    target_files: WrittenFiles,
}

impl Mirror<'_> {
    /// Makes the folders, removes from the target all that is not in the source, and collects the
    /// names of files.
    fn sync_folder(&mut self, folder: &Path, files: &mut BTreeSet<Vec<u8>>) -> io::Result<()> {
        let target = self.target.join(folder);
        // A run may have put a link in the place of a folder.
        if target.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            remove_any(&target)?;
        }
        fs::create_dir_all(&target)?;
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.source.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.sync_folder(&path, files)?;
            } else {
                files.insert(git_name(&path).into_owned());
            }
            names.insert(entry.file_name());
        }
        for entry in fs::read_dir(target)? {
            let entry = entry?;
            if !names.contains(&entry.file_name()) {
                remove_any(&entry.path())?;
            }
        }
        Ok(())
    }

    fn sync_file(&mut self, file: &Path) -> io::Result<()> {
        let (source, target) = (self.source.join(file), self.target.join(file));
        let name = &*git_name(file);
        let source_metadata = source.symlink_metadata()?;
        let (_, hash) = self.source_files.content(name, &source, &source_metadata);
        self.source_files.remember(name, hash, &source_metadata);
        if let Ok(target_metadata) = target.symlink_metadata() {
            if target_metadata.file_type() == source_metadata.file_type()
                && (target_metadata.is_symlink()
                    || target_metadata.modified()? == source_metadata.modified()?)
                && self.target_files.content(name, &target, &target_metadata).1 == hash
            {
                self.target_files.remember(name, hash, &target_metadata);
                return Ok(());
            }
            remove_any(&target)?;
        }
        if source_metadata.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if source_metadata.is_file() {
            // The blocks are shared where the file system can.
            fs::copy(&source, &target)?;
            File::open(&target)?.set_modified(source_metadata.modified()?)?;
        } else {
            return Ok(());
        }
        self.target_files.remember(name, hash, &target.symlink_metadata()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_cache_is_brought_back_with_its_times_whatever_was_done_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to, list] = ["from", "to", "list"].map(|name| folder.path().join(name));
        fs::create_dir_all(from.join("deps")).unwrap();
        fs::write(from.join("deps/a"), "a").unwrap();
        symlink("deps/a", from.join("b")).unwrap();
        File::open(from.join("deps/a")).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let check = || {
            mirror(&from, &to, Some(&list)).unwrap();
            let a = to.join("deps/a");
            assert_eq!(fs::read_to_string(&a).unwrap(), "a");
            assert_eq!(fs::metadata(&a).unwrap().modified().unwrap(), SystemTime::UNIX_EPOCH);
            assert_eq!(fs::read_link(to.join("b")).unwrap(), Path::new("deps/a"));
            assert!(!to.join("more").exists());
        };
        check();
        let poison = |text: &str| {
            fs::write(to.join("deps/a"), text).unwrap();
            let file = File::open(to.join("deps/a")).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        };
        poison("b");
        check();
        fs::create_dir(to.join("more")).unwrap();
        fs::remove_file(to.join("b")).unwrap();
        fs::create_dir(to.join("b")).unwrap();
        check();
        fs::remove_dir_all(to.join("deps")).unwrap();
        symlink(folder.path(), to.join("deps")).unwrap();
        check();
        File::open(to.join("deps/a")).unwrap().set_modified(SystemTime::now()).unwrap();
        check();
    }
}
