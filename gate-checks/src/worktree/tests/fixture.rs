//! A work tree in a temporary folder, with a home of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gate_platform::PermissionsExt;
use tempfile::TempDir;

use crate::site::CheckSite;
use crate::worktree::{Snapshot, WorkTree};

/// `tree/` is the work tree, `home/` the user's, `state/` gate's; it all goes
/// when it is dropped.
pub(crate) struct Fixture {
    pub(crate) site: CheckSite,
    base: PathBuf,
    _folder: TempDir,
}

impl Fixture {
    /// A folder outside of git.
    pub(crate) fn plain() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["tree", "home", "state"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        let mut site = CheckSite::new(base.join("tree"));
        let home = base.join("home").to_str().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        site.environment = vec![("PATH".to_owned(), path), ("HOME".to_owned(), home)];
        Self { site, base, _folder: folder }
    }

    /// A repository without a commit.
    pub(crate) fn empty() -> Self {
        let fixture = Self::plain();
        fixture.git(&["init", "-q", "--template="]);
        fixture
    }

    /// A repository with `a` ("one") and `src/b` ("two") committed.
    pub(crate) fn repository() -> Self {
        let fixture = Self::empty();
        fixture.write("a", "one\n");
        fixture.write("src/b", "two\n");
        fixture.commit();
        fixture
    }

    /// The same with an outer repository's submodule at `libs/x`, which holds
    /// `c` ("three"), committed.
    pub(crate) fn with_submodule() -> Self {
        let fixture = Self::repository();
        let inner = fixture.base.join("inner");
        fs::create_dir(&inner).unwrap();
        fixture.git_in(&inner, &["init", "-q"]);
        fs::write(inner.join("c"), "three\n").unwrap();
        fixture.git_in(&inner, &["add", "-A"]);
        fixture.git_in(&inner, &["commit", "-qm", "inner"]);
        fixture.git(&["submodule", "--quiet", "add", inner.to_str().unwrap(), "libs/x"]);
        fixture.commit();
        fixture
    }

    pub(crate) fn keeping_state(mut self) -> Self {
        self.site.state = Some(self.base.join("state"));
        self
    }

    /// A folder beside the work tree.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.base.join("tree").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    pub(crate) fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A program beside the work tree; its path.
    pub(crate) fn program(&self, name: &str, script: &str) -> String {
        let path = self.beside(name);
        // Another process writes it: a child that another test's thread forks meanwhile would have
        // the file open for writing, and then it cannot be started (ETXTBSY).
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" >\"$1\" && chmod 755 \"$1\"";
        let mut shell = Command::new("sh");
        let written = shell.args(["-c", write, "sh"]).arg(&path).arg(script).status().unwrap();
        assert!(written.success());
        path.to_str().unwrap().to_owned()
    }

    /// Writes other bytes of the same length, and sets the time back.
    pub(crate) fn write_in_secret(&self, name: &str, text: &str) {
        let path = self.path(name);
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), text.len() as u64);
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "work"]);
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.path(""), args)
    }

    #[track_caller]
    pub(crate) fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let mut command = Command::new("git");
        command.args(identity).args(["-c", "protocol.file.allow=always"]).args(args);
        let own = self.site.environment.iter().filter(|(name, _)| !name.starts_with("GIT_"));
        command.env_clear().envs(own.cloned()).current_dir(folder);
        let output = command.output().unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        WorkTree::open(&self.site).unwrap().snapshot().unwrap()
    }

    /// The names of the snapshot's files.
    pub(crate) fn names(&self) -> Vec<String> {
        self.snapshot().files().map(|file| file.path().display().to_string()).collect()
    }
}
