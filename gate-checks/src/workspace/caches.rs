//! Caches of the baseline: the output of compilers, for the copy in which tests decide.
//!
//! A compiler's output that a run of the agent's code could write to is not believed: it may stand
//! for another source. So the deciding copy has only what the baseline's own run has built, and before
//! each run its caches are brought back to that. A cache is kept by check, beside the copies.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::Workspace;
use super::builds::{MAX_DEPTH, profiles};
use super::layout::{Layout, path};
use crate::disk_usage::disk_usage;
use crate::remove::{remove_all, remove_any};
use crate::site::CheckSite;
use crate::store;
use crate::worktree::WrittenFiles;

/// The folder of a tree's state with the caches of its baseline, by check.
pub(super) const KEPT: &str = "deciding-builds";

/// The file that names the baseline whose caches these are. Files that are as in the baseline have one
/// date, by which a compiler would take the output of another one for theirs.
const OF: &str = "of";

/// Folders of build output, in the folder that a check runs in and at the top.
const OUTPUT: &str = "target";

/// A larger cache is made anew each time, in bytes.
const MAX_BYTES: u64 = 6 << 30;

/// A cache: its name, its place in the copy, and if all of it is one.
struct Cache {
    name: &'static str,
    place: PathBuf,
    /// Of cargo's output only the folders of profiles: tests may have written others.
    is_of_cargo: bool,
}

impl Workspace {
    /// Keeps what a run of this baseline has built here: it was made by no code of the agent's.
    pub(crate) fn keep_caches(&self, site: &CheckSite, check: &str, baseline: &str) {
        let Some(kept) = self.kept(site, check) else { return };
        self.forget_compiled_of_tree();
        // Without it the next run builds.
        let _ = remove_all(&kept);
        let _ = store::make_folder(&kept);
        let _ = store::write_file(&kept.join(OF), baseline.as_bytes());
        for cache in self.caches(site) {
            let folders = match cache.is_of_cargo {
                true => profiles(&cache.place, MAX_DEPTH),
                false => Vec::from([cache.place.clone()]),
            };
            for folder in folders.iter().filter(|folder| folder.is_dir()) {
                let inside = folder.strip_prefix(&cache.place).unwrap_or(Path::new(""));
                if disk_usage(folder) <= MAX_BYTES {
                    // A part that cannot be kept is built anew.
                    let _ = bring(folder, &kept.join(cache.name).join(inside), None);
                }
            }
        }
    }

    /// Brings the caches back to what this baseline's run has built; without one they are empty.
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
        let is_of = |kept: &PathBuf| {
            let of = fs::read_to_string(kept.join(OF)).ok();
            of.is_some() && of.as_deref() == baseline
        };
        remove_all(&self.temporary_files())?;
        fs::create_dir_all(self.temporary_files())?;
        let kept = self.kept(site, check).filter(is_of);
        for cache in self.caches(site) {
            let from = kept.as_ref().map(|kept| kept.join(cache.name));
            let from = from.filter(|from| from.is_dir());
            let list = self.notes.join(cache.name);
            let is_restored =
                from.is_some_and(|from| bring(&from, &cache.place, Some(&list)).is_ok());
            if !is_restored {
                remove_all(&cache.place)?;
            }
        }
        Ok(())
    }

    /// Removes what Python has compiled of the work tree itself: if tests load that in place of the copy,
    /// the source has to be seen to be opened.
    pub(crate) fn forget_compiled_of_tree(&self) {
        let inside = self.mapping.real.strip_prefix("/").unwrap_or(&self.mapping.real);
        let _ = remove_all(&self.compiled_python().join(inside));
    }

    /// Dates a layout for this copy: these files are not as in the baseline.
    pub(crate) fn date(&self, layout: &mut Layout, changed: &BTreeSet<&Path>, site: &CheckSite) {
        let places = self.caches(site).into_iter().map(|cache| cache.place);
        let inside =
            places.filter_map(|place| Some(place.strip_prefix(self.root()).ok()?.to_owned()));
        layout.date(changed, inside.collect());
    }

    fn kept(&self, site: &CheckSite, check: &str) -> Option<PathBuf> {
        let tree = store::tree_folder(site.state.as_ref()?, &self.mapping.real);
        let name = blake3::hash(check.as_bytes()).to_hex();
        Some(tree.join(KEPT).join(&name[..16]))
    }

    /// The caches, each with a name of its own.
    fn caches(&self, site: &CheckSite) -> Vec<Cache> {
        let project = self.mapping.folder(&site.project).unwrap_or_else(|| self.root().to_owned());
        let folders = BTreeSet::from([self.root().join(OUTPUT), project.join(OUTPUT)]);
        let cargo = ["first", "second"].into_iter().zip(folders);
        let chosen = ("chosen", self.folder().join("builds"));
        let mut caches: Vec<_> = [chosen]
            .into_iter()
            .chain(cargo)
            .map(|(name, place)| Cache { name, place, is_of_cargo: true })
            .collect();
        caches.push(Cache { name: "python", place: self.compiled_python(), is_of_cargo: false });
        caches
    }
}

/// Brings a folder up to another one: bytes, links, modes and times, by which tools know that they
/// are up to date. `list` is the file with what is known of both from the last time: what is known to
/// be the same is neither read nor written.
fn bring(from: &Path, to: &Path, list: Option<&Path>) -> io::Result<()> {
    let lists = list.map(|list| [list.with_extension("kept"), list.with_extension("laid")]);
    let known = |at: usize| {
        let lists = lists.as_ref();
        WrittenFiles::read(lists.and_then(|lists| fs::read(&lists[at]).ok()))
    };
    let mut copying = Copying { from, to, kept: known(0), laid: known(1) };
    let mut files = BTreeSet::new();
    copying.folder(Path::new(""), &mut files)?;
    // Lookups have to come in order.
    for file in &files {
        copying.file(path(file))?;
    }
    for (at, written) in [&copying.kept, &copying.laid].into_iter().enumerate() {
        if let (Some(lists), Some(renewed)) = (&lists, written.renewed()) {
            // What is not known is read again.
            let _ = store::write_file(&lists[at], &renewed);
        }
    }
    Ok(())
}

struct Copying<'a> {
    from: &'a Path,
    to: &'a Path,
    kept: WrittenFiles,
    laid: WrittenFiles,
}

impl Copying<'_> {
    /// Makes the folders, takes away what is not in the original, and collects the names of files.
    fn folder(&mut self, inside: &Path, files: &mut BTreeSet<Vec<u8>>) -> io::Result<()> {
        let place = self.to.join(inside);
        if place.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
            remove_any(&place)?;
        }
        fs::create_dir_all(&place)?;
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(self.from.join(inside))? {
            let entry = entry?;
            let name = inside.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.folder(&name, files)?;
            } else {
                files.insert(name.into_os_string().into_vec());
            }
            names.insert(entry.file_name());
        }
        for entry in fs::read_dir(place)? {
            let entry = entry?;
            if !names.contains(&entry.file_name()) {
                remove_any(&entry.path())?;
            }
        }
        Ok(())
    }

    fn file(&mut self, inside: &Path) -> io::Result<()> {
        let (from, to) = (self.from.join(inside), self.to.join(inside));
        let name = inside.as_os_str().as_bytes();
        let original = from.symlink_metadata()?;
        let (_, hash) = self.kept.look(name, &from, &original);
        self.kept.remember(name, hash, &original);
        if let Ok(about) = to.symlink_metadata() {
            if about.file_type() == original.file_type()
                && about.modified()? == original.modified()?
                && self.laid.look(name, &to, &about).1 == hash
            {
                self.laid.remember(name, hash, &about);
                return Ok(());
            }
            remove_any(&to)?;
        }
        if original.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if original.is_file() {
            // The blocks are shared where the file system can.
            fs::copy(&from, &to)?;
            File::open(&to)?.set_modified(original.modified()?)?;
        } else {
            return Ok(());
        }
        self.laid.remember(name, hash, &to.symlink_metadata()?);
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
            bring(&from, &to, Some(&list)).unwrap();
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
