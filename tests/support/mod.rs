//! A program that runs in a folder of its own, and the result.

mod approved;
pub(crate) mod before;
mod beside;
pub(crate) mod clients;
pub(crate) mod dice;
pub(crate) mod json_schema;
mod machine;
mod peak;
#[cfg(feature = "postgres")]
pub(crate) mod postgres;
#[cfg(not(feature = "postgres"))]
#[path = "postgres_absent.rs"]
pub(crate) mod postgres;
mod ran;
pub(crate) mod shelf;
pub(crate) mod shop;
mod terminal;
mod tools;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use self::peak::wait;
pub(crate) use beside::{Fault, Kept};
pub(crate) use ran::Ran;
pub(crate) use tools::go_cache;

/// The program under test.
pub(crate) const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// The longest that a program may run, unless a test sets another limit.
const PATIENCE: Duration = Duration::from_secs(120);

/// The beginning of a message that stops a loop.
pub(crate) const STOP: &str = "gate: STOP, not done: ";

/// Words before a program that give it a terminal. Their exit code is the program's.
pub(crate) const AT_A_TERMINAL: [&str; 3] = [
    "python3",
    "-c",
    "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))",
];

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
    /// Once this file has so many lines, the program is killed.
    kill_once: Option<(String, usize)>,
    /// The folders whose settings the test has written, and a person approves.
    approved_folders: Vec<PathBuf>,
    /// A script runs it: without a terminal, whatever the command.
    is_script: bool,
    /// After this time the program is killed, and the test fails.
    patience: Duration,
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
        Self {
            folder,
            program,
            args: Vec::new(),
            vars: Vec::new(),
            stdin: None,
            stdout: None,
            kill_once: None,
            approved_folders: Vec::new(),
            is_script: false,
            patience: PATIENCE,
        }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// With these words in the place of its arguments.
    pub(crate) fn words(mut self, words: &str) -> Self {
        self.args = words.split_whitespace().map(OsString::from).collect();
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

    /// Runs a shell script in the working folder, before the program.
    #[track_caller]
    pub(crate) fn setup(self, script: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-euc", script]).current_dir(self.path("work")).env("HOME", self.path("home"));
        // A build folder that projects share would mix up their tests.
        shell.env_remove("CARGO_TARGET_DIR");
        for role in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@b.c");
        }
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        self
    }

    /// A repository, in which every file of the working folder is committed.
    #[track_caller]
    pub(crate) fn committed(self) -> Self {
        // Without the template: to copy its sample hooks costs more than the commit.
        let init = "git init -q --template= . && mkdir -p .git/hooks .git/info";
        self.setup(&format!("{init} && git add -A && git commit -qm all"))
    }

    pub(crate) fn folder(self, name: &str) -> Self {
        fs::create_dir_all(self.path("work").join(name)).unwrap();
        self
    }

    /// The user's settings.
    pub(crate) fn user_settings(self, text: &str) -> Self {
        write(&self.path("home/.config/gate/config.toml"), text.as_bytes());
        self
    }

    /// The whole path of a file in the working folder.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    /// To be killed once a file of the working folder has so many lines.
    pub(crate) fn with_kill_once(mut self, file: &str, lines: usize) -> Self {
        self.kill_once = Some((file.to_owned(), lines));
        self
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
        self.approve();
        let (out, err) = (self.path("stdout"), self.path("stderr"));
        let (mut command, terminal) = terminal::command(&self);
        let feed = self.stdin.take();
        command.current_dir(self.path("work")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.path("home")).env("XDG_CONFIG_HOME", self.path("home/.config"));
        command.env("XDG_STATE_HOME", self.path("home/.local/state"));
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        if terminal.is_none() {
            command.stdin(if feed.is_some() { Stdio::piped() } else { Stdio::null() });
        }
        let stdout = self.stdout.clone().unwrap_or_else(|| out.clone());
        command.stdout(File::options().create(true).append(true).open(stdout).unwrap());
        command.stderr(File::create(&err).unwrap());
        let mut child = command.spawn().unwrap();
        let pipe = child.stdin.take();
        let writer = thread::spawn(move || {
            if let (Some(feed), Some(mut pipe)) = (feed, pipe) {
                // A program that does not read to the end is no fault here.
                let _ = feed(&mut pipe);
            }
        });
        if let Some((file, lines)) = &self.kill_once {
            let file = self.path("work").join(file);
            while fs::read_to_string(&file).unwrap_or_default().lines().count() < *lines {
                assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
                thread::sleep(Duration::from_millis(5));
            }
            child.kill().unwrap();
        }
        let (code, peak) = wait(&mut child, self.patience);
        writer.join().unwrap();
        let text =
            |path: &Path| String::from_utf8(fs::read(path).unwrap_or_default()).expect("UTF-8");
        Ran { code, stdout: text(&out), stderr: text(&err), folder: self.folder, peak }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// All cases run: GATE_FULL=1 asks for them, as .ci/full does.
pub(crate) fn is_full() -> bool {
    std::env::var_os("GATE_FULL").is_some_and(|value| value == "1")
}

/// The step of tests that go through hundreds of places, such as system calls to fail at.
pub(crate) fn stride() -> usize {
    if is_full() { 1 } else { 3 }
}

/// The texts of the member `field` of each object in the array `value[list]`.
pub(crate) fn each<'a>(value: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    let objects = value[list].as_array().expect(list);
    objects.iter().map(|object| object[field].as_str().expect(field)).collect()
}

/// The names of an object's members.
pub(crate) fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Another process copies the file: a child that another test starts while this process
/// writes may keep it open, and the system refuses to start a program open for writing.
#[cfg(unix)]
fn make_executable(path: &Path) {
    let script = r#"cp "$1" "$1.copy" && chmod 755 "$1.copy" && mv "$1.copy" "$1""#;
    let status = Command::new("sh").args(["-c", script, "sh"]).arg(path).status();
    assert!(status.unwrap().success(), "{}", path.display());
}
