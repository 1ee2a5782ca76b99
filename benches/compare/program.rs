//! The programs that are timed: gate, and what is installed beside it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// The argument by which this bench calls itself to parse every line.
pub(crate) const TYPED: &str = "parse-every-line";

/// One program with its arguments, in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    name: String,
    args: Vec<OsString>,
    folder: PathBuf,
    /// The file that is its standard input.
    stdin: Option<PathBuf>,
}

impl Program {
    /// Gate, with the settings of the folder.
    pub(crate) fn gate(folder: &Path, args: &[&str]) -> Self {
        let copy = folder.with_file_name("gate");
        if !copy.exists() {
            install(GATE.as_ref(), &copy);
        }
        Self::new(copy.to_str().unwrap(), folder, args)
    }

    /// Another program by its name or path.
    pub(crate) fn new(name: &str, folder: &Path, args: &[&str]) -> Self {
        let args = args.iter().map(OsString::from).collect();
        Self { name: name.to_owned(), args, folder: folder.to_owned(), stdin: None }
    }

    /// With a file as its standard input.
    pub(crate) fn reading(self, file: &Path) -> Self {
        Self { stdin: Some(file.to_owned()), ..self }
    }

    /// This bench, which parses every line of the file into a type.
    pub(crate) fn typed(folder: &Path, file: &str) -> Self {
        let this = env::current_exe().unwrap();
        Self::new(this.to_str().unwrap(), folder, &[TYPED, file])
    }

    /// How it is called in the table.
    pub(crate) fn name(&self) -> &str {
        Path::new(&self.name).file_name().map_or("", |name| name.to_str().unwrap_or(""))
    }

    /// Whether it is installed.
    pub(crate) fn is_there(&self) -> bool {
        let path = env::var_os("PATH").unwrap_or_default();
        self.name.contains('/')
            || env::split_paths(&path).any(|folder| folder.join(&self.name).is_file())
    }

    /// How long one run takes. What it prints goes nowhere.
    pub(crate) fn time(&self) -> Duration {
        let began = Instant::now();
        let status = self.command().status().unwrap();
        let took = began.elapsed();
        assert!(self.answered(status.code()), "{self:?}: {status}");
        took
    }

    /// The most memory that it ever held, in bytes; none where the system does
    /// not tell (there is no /proc).
    pub(crate) fn memory(&self) -> Option<u64> {
        let mut child = self.command().spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut most = None;
        while child.try_wait().unwrap().is_none() {
            // The system remembers the peak, so that it is enough to look often.
            most = most.max(fs::read_to_string(&status).ok().and_then(|text| peak(&text)));
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    }

    /// Gate says by its code what it found; 2 and 5 say that it found nothing.
    fn answered(&self, code: Option<i32>) -> bool {
        code.is_some_and(
            |code| if self.name() == "gate" { code != 2 && code != 5 } else { code < 2 },
        )
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.args).current_dir(&self.folder).env("HOME", &self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(file) = &self.stdin {
            command.stdin(fs::File::open(file).unwrap());
        }
        command
    }
}

/// Copies a program, as one is that was installed: what a linker has just written
/// lies in the page cache in small pieces, and starts slower.
fn install(program: &Path, to: &Path) {
    fs::copy(program, to).unwrap();
}

fn peak(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The medians of two programs, run in turns, after one turn that does not
/// count.
pub(crate) fn in_turns(one: &Program, other: &Program, times: usize) -> (Duration, Duration) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for turn in 0..=times {
        let (took, other_took) = (one.time(), other.time());
        if turn > 0 {
            ones.push(took);
            others.push(other_took);
        }
    }
    (median(ones), median(others))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
