//! A program run in a folder of its own, and what came of it.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::needs::search_path;

/// The program under test.
pub(crate) const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// After this time a program is killed, and its test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a message begins that stops a loop.
pub(crate) const STOP: &str = "gate: STOP, not done: ";

/// An agent's output that passes without checks.
pub(crate) const DONE: &str = "\
The importer reads both layouts now, and the old one is gone. It is ready for review.

EXIT_STATUS: COMPLETE
EXIT_REASON: both layouts are read
";

/// An agent's output that says that work remains.
pub(crate) const UNDONE: &str = "\
The importer reads the new layout.

EXIT_STATUS: CONTINUE
EXIT_REASON: the old layout is still missing
REMAINING_WORK: the old layout
";

/// An agent's output that says that it cannot go on.
pub(crate) const STUCK: &str = "\
EXIT_STATUS: BLOCKED
EXIT_REASON: the sample files are not readable
";

type Feed = Box<dyn FnOnce(&mut ChildStdin) -> io::Result<()> + Send>;

/// A program that is about to run: its working folder is `work` in a temporary
/// folder, beside a `home` of its own.
pub(crate) struct Run {
    folder: TempDir,
    program: OsString,
    args: Vec<OsString>,
    vars: Vec<(String, OsString)>,
    stdin: Option<Feed>,
    stdout: Option<PathBuf>,
}

/// What came of a run.
pub(crate) struct Ran {
    folder: TempDir,
    code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The most memory that it was seen to hold, in KiB, where /proc tells.
    pub(crate) peak: Option<u64>,
}

/// `gate` with these words as arguments.
pub(crate) fn gate(words: &str) -> Run {
    Run::new(GATE).args(words.split_whitespace())
}

/// `gate` with these words as arguments and a file `out.log`.
pub(crate) fn judge(words: &str, output: &str) -> Run {
    gate(words).file("out.log", output)
}

impl Run {
    pub(crate) fn new(program: impl Into<OsString>) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let program = program.into();
        Self { folder, program, args: Vec::new(), vars: Vec::new(), stdin: None, stdout: None }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn stdin(self, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.feed(move |stdin| stdin.write_all(&bytes))
    }

    /// Standard input that is made while it is read.
    pub(crate) fn feed(
        mut self,
        write: impl FnOnce(&mut ChildStdin) -> io::Result<()> + Send + 'static,
    ) -> Self {
        self.stdin = Some(Box::new(write));
        self
    }

    /// Standard output to this file instead.
    pub(crate) fn stdout_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.stdout = Some(file.into());
        self
    }

    /// A file in the working folder.
    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        write(&self.path("work").join(name), text.as_ref());
        self
    }

    /// A program in the working folder.
    pub(crate) fn script(self, name: &str, text: &str) -> Self {
        let run = self.file(name, text);
        make_executable(&run.path("work").join(name));
        run
    }

    pub(crate) fn folder(self, name: &str) -> Self {
        fs::create_dir_all(self.path("work").join(name)).unwrap();
        self
    }

    /// The project's settings.
    pub(crate) fn settings(self, text: &str) -> Self {
        self.file("gate.toml", text)
    }

    /// The user's settings.
    pub(crate) fn user_settings(self, text: &str) -> Self {
        write(&self.path("home/.config/gate/config.toml"), text.as_bytes());
        self
    }

    /// With the built gate as the first of PATH.
    #[cfg(unix)]
    pub(crate) fn with_gate_in_path(self) -> Self {
        let bin = self.path("bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(GATE, bin.join("gate")).unwrap();
        let path = [vec![bin], path_without_gate()].concat();
        self.env("PATH", std::env::join_paths(path).unwrap())
    }

    /// With no gate in PATH at all.
    pub(crate) fn without_gate_in_path(self) -> Self {
        self.env("PATH", std::env::join_paths(path_without_gate()).unwrap())
    }

    /// Runs it; it must end with this code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Ran {
        let ran = self.run();
        assert_eq!(ran.code, Some(code), "\nstdout: {}\nstderr: {}", ran.stdout, ran.stderr);
        ran
    }

    /// Runs it.
    pub(crate) fn run(mut self) -> Ran {
        let (out, err) = (self.path("stdout"), self.path("stderr"));
        let feed = self.stdin.take();
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(self.path("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("home/.config"));
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command.stdin(if feed.is_some() { Stdio::piped() } else { Stdio::null() });
        let to = self.stdout.clone().unwrap_or_else(|| out.clone());
        command.stdout(File::options().create(true).append(true).open(to).unwrap());
        command.stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let pipe = child.stdin.take();
        let writer = thread::spawn(move || {
            if let (Some(feed), Some(mut pipe)) = (feed, pipe) {
                // A program that does not read to the end is no fault here.
                let _ = feed(&mut pipe);
            }
        });
        let (code, peak) = wait(&mut child);
        writer.join().unwrap();
        let text =
            |path: &Path| String::from_utf8(fs::read(path).unwrap_or_default()).expect("UTF-8");
        Ran { code, stdout: text(&out), stderr: text(&err), folder: self.folder, peak }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Ran {
    /// Stdout is this text, in which `[..]` stands for anything in a line.
    #[track_caller]
    pub(crate) fn stdout(self, expected: &str) -> Self {
        snapbox::assert_data_eq!(&self.stdout, expected.to_owned());
        self
    }

    /// Stderr is this text, in which `[..]` stands for anything in a line.
    #[track_caller]
    pub(crate) fn stderr(self, expected: &str) -> Self {
        snapbox::assert_data_eq!(&self.stderr, expected.to_owned());
        self
    }

    /// Stdout holds this text.
    #[track_caller]
    pub(crate) fn says(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "stdout without {part:?}:\n{}", self.stdout);
        self
    }

    /// Stderr holds this text.
    #[track_caller]
    pub(crate) fn tells(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "stderr without {part:?}:\n{}", self.stderr);
        self
    }

    /// Stderr begins with the line that stops a loop.
    #[track_caller]
    pub(crate) fn stops(self) -> Self {
        assert!(self.stderr.starts_with(STOP), "stderr:\n{}", self.stderr);
        self
    }

    /// Stdout is exactly one JSON object.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).expect(&self.stdout);
        assert!(value.is_object(), "{value}");
        value
    }

    /// Stdout is one JSON object a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }

    /// A file of the working folder; empty where there is none.
    pub(crate) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("work").join(name)).unwrap_or_default()
    }
}

/// The words in the array `value[key]` of objects under `field`.
pub(crate) fn each<'a>(value: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    let items = value[list].as_array().expect(list);
    items.iter().map(|item| item[field].as_str().expect(field)).collect()
}

/// The names of an object's members.
pub(crate) fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn path_without_gate() -> Vec<PathBuf> {
    search_path().into_iter().filter(|folder| !folder.join("gate").exists()).collect()
}

/// The exit code, and the most memory that was seen on the way.
fn wait(child: &mut Child) -> (Option<i32>, Option<u64>) {
    let began = Instant::now();
    let mut peak = None;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak);
        }
        peak = memory(child.id()).max(peak);
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it did not end within {PATIENCE:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The peak of a living process in KiB.
fn memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
