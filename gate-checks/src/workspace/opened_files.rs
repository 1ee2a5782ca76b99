//! Notices that files of the work tree are opened while its copy is tested.
//!
//! It sees that a file is opened, and not by which program: it may be an editor. On systems without
//! inotify it sees nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files of a tree that are watched from now on.
#[derive(Debug)]
pub(crate) struct OpenedFiles {
    #[cfg(target_os = "linux")]
    watch: Option<linux::Watch>,
}

impl OpenedFiles {
    /// Watches files, whose names are relative to the root. Without files it costs nothing.
    pub(crate) fn watch(root: &Path, files: &[PathBuf]) -> Self {
        #[cfg(target_os = "linux")]
        return Self { watch: linux::Watch::start(root, files) };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (root, files);
            Self {}
        }
    }

    /// The watched files that were opened since the last call.
    pub(crate) fn take(&mut self) -> BTreeSet<PathBuf> {
        #[cfg(target_os = "linux")]
        return self.watch.as_mut().map(linux::Watch::take).unwrap_or_default();
        #[cfg(not(target_os = "linux"))]
        BTreeSet::new()
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use gate_platform::OsStrExt;
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};

    /// Room for the events that are read at once, in bytes.
    const BUFFER_BYTES: usize = 16 << 10;

    #[derive(Debug)]
    pub(super) struct Watch {
        inotify: OwnedFd,
        /// The watched folders, relative to the root.
        folders: BTreeMap<i32, PathBuf>,
        files: BTreeSet<PathBuf>,
    }

    impl Watch {
        /// `None` without files, and if the system refuses a watch.
        pub(super) fn start(root: &Path, files: &[PathBuf]) -> Option<Self> {
            let files: BTreeSet<PathBuf> = files.iter().cloned().collect();
            let parents: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
            if parents.is_empty() {
                return None;
            }
            let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            // Folders are watched, not files: the system limits the number of watches.
            let mut folders = BTreeMap::new();
            for folder in parents {
                let flags = WatchFlags::OPEN | WatchFlags::ONLYDIR;
                if let Ok(id) = add_watch(&inotify, root.join(folder), flags) {
                    folders.insert(id, folder.to_owned());
                }
            }
            Some(Self { inotify, folders, files })
        }

        pub(super) fn take(&mut self) -> BTreeSet<PathBuf> {
            let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
            let mut events = Reader::new(&self.inotify, &mut buffer);
            let mut opened = BTreeSet::new();
            // The loop ends once no event is left.
            while let Ok(event) = events.next() {
                if let (Some(name), Some(folder)) =
                    (event.file_name(), self.folders.get(&event.wd()))
                {
                    opened.insert(folder.join(OsStr::from_bytes(name.to_bytes())));
                }
            }
            opened.retain(|file| self.files.contains(file));
            opened
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_watched_file_that_somebody_opens_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("src/own")).unwrap();
        for file in ["top.py", "src/own/a.py", "src/own/b.py"] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let files = ["src/own/a.py", "top.py"].map(PathBuf::from);
        let mut opened = OpenedFiles::watch(root.path(), &files);
        fs::read(root.path().join("src/own/b.py")).unwrap();
        root.path().join("src/own/a.py").metadata().unwrap();
        assert_eq!(opened.take(), BTreeSet::new());
        fs::read(root.path().join("src/own/a.py")).unwrap();
        assert_eq!(opened.take(), BTreeSet::from([PathBuf::from("src/own/a.py")]));
        assert_eq!(opened.take(), BTreeSet::new());
        fs::read(root.path().join("top.py")).unwrap();
        assert_eq!(opened.take(), BTreeSet::from([PathBuf::from("top.py")]));
        assert_eq!(OpenedFiles::watch(root.path(), &[]).take(), BTreeSet::new());
    }
}
