//! More of `gate` in a folder where it ran before: under another program, beside itself, and the
//! files that it keeps there.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{GATE, Ran, Run};

impl Run {
    /// With another program in the place of gate.
    pub(crate) fn program(self, program: impl Into<OsString>) -> Self {
        Self { program: program.into(), ..self }
    }

    /// With more time than a program has by default.
    pub(crate) fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// To be started by another program: these words come before it.
    pub(crate) fn under<S: AsRef<str>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        let mut words = words.into_iter().map(|word| word.as_ref().into());
        let program = std::mem::replace(&mut self.program, words.next().unwrap());
        self.args.splice(0..0, words.chain([program]));
        self
    }
}

impl Ran {
    /// The exit code; `None` if the program was killed.
    pub(crate) fn ended(&self) -> Option<i32> {
        self.code
    }

    /// `gate` in the same folders, to be started while others run there.
    pub(crate) fn beside(&self, words: &str) -> Command {
        let home = self.home();
        let mut command = Command::new(GATE);
        command.args(words.split_whitespace()).current_dir(self.path("")).stdin(Stdio::null());
        command.env_clear().env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("XDG_STATE_HOME", home.join(".local/state"));
        command
    }

    /// The copy of gate that hooks call.
    pub(crate) fn copy_of_gate(&self) -> PathBuf {
        self.home().join(".local/share/gate/bin/gate")
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/state/gate")
    }

    /// The ledger's file.
    pub(crate) fn database(&self) -> PathBuf {
        self.state().join("gate.db")
    }

    /// The folder of the marks.
    pub(crate) fn heads(&self) -> PathBuf {
        self.home().join(".local/share/gate/heads")
    }

    /// The mark of the only ledger.
    #[track_caller]
    pub(crate) fn mark(&self) -> PathBuf {
        let mut marks = fs::read_dir(self.heads()).unwrap();
        let mark = marks.next().expect("a mark").unwrap().path();
        assert!(marks.next().is_none(), "one mark");
        mark
    }

    /// The length of the ledger's log, in bytes.
    pub(crate) fn log_size(&self) -> u64 {
        fs::metadata(self.state().join("gate.db-wal")).map_or(0, |log| log.len())
    }

    /// The files of the ledger and of its mark, and their folders.
    pub(crate) fn places(&self) -> Vec<String> {
        let names = ["gate.db", "gate.db-wal", "gate.db-shm", "gate.db-journal"];
        let files = names.map(|name| self.state().join(name)).into_iter();
        let places = files.chain([self.state(), self.heads(), self.mark()]);
        places.map(|path| path.display().to_string()).collect()
    }

    /// All files that gate keeps, for [`Ran::restore`].
    pub(crate) fn kept(&self) -> Kept {
        let mut files = Vec::new();
        collect(&self.home().join(".local"), &mut files);
        Kept(files)
    }

    /// Lets gate's folders hold these files and no others.
    pub(crate) fn restore(&self, kept: &Kept) {
        let _ = fs::remove_dir_all(self.home().join(".local"));
        for (path, bytes) in &kept.0 {
            let folder = path.parent().unwrap();
            DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
            let mut file =
                File::options().write(true).create_new(true).mode(0o600).open(path).unwrap();
            file.write_all(bytes).unwrap();
        }
    }

    /// The home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }
}

/// A fault that strace puts into a program.
pub(crate) struct Fault<'a> {
    /// At this system call,
    pub(crate) call: &'a str,
    /// this happens: `signal=KILL`, `error=ENOSPC`,
    pub(crate) how: &'a str,
    /// the time that it is called: `3`, or `3+` for all from then on;
    pub(crate) time: String,
    /// only where it is about one of these paths; about anything if there are none.
    pub(crate) about: &'a [String],
}

impl Fault<'_> {
    /// The words that come before the program. `?` lets strace accept a call that the machine does not
    /// have; no program makes it there.
    pub(crate) fn words(&self) -> Vec<String> {
        let Fault { call, how, time, about } = self;
        let trace = format!("trace=?{call}");
        let inject = format!("inject=?{call}:{how}:when={time}");
        // With a filter other calls cost nothing; but strace sends no signals then (6.1).
        let filter = how.starts_with("error").then_some("--seccomp-bpf");
        let words = ["-f", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        let paths = about.iter().flat_map(|path| ["-P", path]);
        ["strace"].into_iter().chain(filter).chain(words).chain(paths).map(str::to_owned).collect()
    }
}

/// Files with their contents.
#[derive(Default)]
pub(crate) struct Kept(Vec<(PathBuf, Vec<u8>)>);

fn collect(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
}
