//! The processes of this machine, read from Linux's /proc (proc(5)).
//!
//! Other systems have no /proc, and a system may hide other users' processes. Then
//! nothing is found: lists are empty, and values are `None`. A build for tests does as they do if
//! [`WITHOUT_PROC`] is set; a program that is shipped does not look at it, because an agent
//! could set it.

use std::fs::{self, File};
use std::io::Read;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Processes at most between this one and the first that [`ancestors`] returns.
const MAX_ANCESTORS: usize = 256;

/// Capacity, in bytes, that holds most files of a process.
const FILE_CAPACITY: usize = 4 << 10;

/// Variable that makes a build for tests a program on a system without /proc and subreapers.
pub(super) const WITHOUT_PROC: &str = "_GATE_WITHOUT_PROC";

/// A process finds its descendants, and those that lost their parent, in /proc.
pub(super) fn has_proc() -> bool {
    cfg!(target_os = "linux")
        && !(cfg!(debug_assertions) && gate_platform::variable(WITHOUT_PROC).is_some())
}

/// The folder of the processes.
fn folder() -> &'static Path {
    static FOLDER: LazyLock<&Path> =
        LazyLock::new(|| Path::new(if has_proc() { "/proc" } else { "/no-proc" }));
    &FOLDER
}

/// The folder of a process.
fn folder_of(pid: i32) -> PathBuf {
    folder().join(pid.to_string())
}

/// One process, as `/proc/PID/stat` shows it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// The number of the process.
    pub pid: i32,
    /// The name of its program, or the name that it gave itself.
    pub name: String,
    /// The number of its parent.
    pub parent: i32,
    /// The number of its process group.
    pub group: i32,
    /// The number of its session's leader; 0 if that one is outside of this process
    /// namespace, as in a container.
    pub session: i32,
    /// Its controlling terminal, as a number of the system's; 0 if it has none.
    pub terminal: i32,
    /// The process group in the foreground of that terminal.
    pub foreground: i32,
    /// When it started, in clock ticks since the machine did.
    pub start_ticks: i64,
    /// It has ended and waits for its parent to notice.
    pub is_zombie: bool,
    /// Its memory that is in use and not swapped out, in pages. Pages that it shares with other
    /// processes count in full.
    pub resident_pages: u64,
}

/// A process above this one.
#[derive(Clone, Debug)]
pub struct Ancestor {
    /// Its number.
    pub pid: i32,
    /// `None` if the system hides it.
    pub stat: Option<ProcessStat>,
}

impl Ancestor {
    /// `None` for the system's first process.
    fn read(pid: i32) -> Option<Self> {
        (pid > 1).then(|| Self { pid, stat: ProcessStat::read(pid) })
    }
}

impl ProcessStat {
    /// Reads one process.
    pub fn read(pid: i32) -> Option<Self> {
        Self::parse(pid, &String::from_utf8_lossy(&read(pid, "stat")?))
    }

    /// Parses `PID (NAME) STATE PARENT …`. The name may hold anything, `)` too.
    fn parse(pid: i32, text: &str) -> Option<Self> {
        let (_pid, named) = text.split_once('(')?;
        let (name, numbers) = named.rsplit_once(')')?;
        let mut fields = numbers.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        let terminal = fields.next()?.parse().ok()?;
        let foreground = fields.next()?.parse().ok()?;
        // `nth` skips the fields between: times, priorities and counts of faults.
        let threads: u32 = fields.nth(11)?.parse().ok()?;
        let start_ticks = fields.nth(1)?.parse().ok()?;
        let resident_pages = fields.nth(1)?.parse().unwrap_or_default();
        // A process whose first thread has ended looks dead while other threads run.
        let is_zombie = matches!(state, "Z" | "X") && threads <= 1;
        Some(Self {
            pid,
            name: name.to_owned(),
            parent,
            group,
            session,
            terminal,
            foreground,
            start_ticks,
            is_zombie,
            resident_pages,
        })
    }

    /// The name of its controlling terminal, such as `pts/3`; `None` without a terminal.
    pub fn terminal_name(&self) -> Option<String> {
        // The bits of a device number, as Linux packs them: the minor number stands around the
        // major one.
        let major = self.terminal >> 8 & 0xfff;
        let minor = self.terminal & 0xff | self.terminal >> 12 & 0xf_ff00;
        match major {
            _ if self.terminal == 0 => None,
            136..=143 => Some(format!("pts/{}", (major - 136) * 256 + minor)),
            4 => Some(format!("tty{minor}")),
            _ => Some(format!("{major}:{minor}")),
        }
    }

    /// When it started, in seconds since the Unix epoch.
    pub fn start_second(&self) -> Option<i64> {
        let ticks_per_second = gate_platform::ticks_per_second();
        let machine = fs::read_to_string(folder().join("stat")).ok()?;
        let boot = machine.lines().find_map(|line| line.strip_prefix("btime "))?;
        Some(boot.trim().parse::<i64>().ok()? + self.start_ticks / ticks_per_second)
    }
}

/// The processes above this one, the nearest first, without the system's first
/// process. The list ends at a process that the system hides.
pub fn ancestors() -> impl Iterator<Item = Ancestor> {
    let parent = gate_platform::parent_process().and_then(Ancestor::read);
    iter::successors(parent, |child| Ancestor::read(child.stat.as_ref()?.parent))
        .take(MAX_ANCESTORS)
}

/// A process's program and its arguments.
pub fn command_line(pid: i32) -> Vec<String> {
    entries(&read(pid, "cmdline").unwrap_or_default())
}

/// The environment that a process was started with, as `NAME=VALUE`. Empty for another
/// user's process.
pub fn started_environment(pid: i32) -> Vec<String> {
    entries(&read(pid, "environ").unwrap_or_default())
}

/// The path of the file that a process runs.
pub fn program(pid: i32) -> Option<PathBuf> {
    fs::read_link(program_link(pid)).ok()
}

/// A path that opens the file that a process runs, also after that file was replaced.
pub fn program_link(pid: i32) -> PathBuf {
    folder_of(pid).join("exe")
}

/// The folder that a process works in.
pub fn working_folder(pid: i32) -> Option<PathBuf> {
    fs::read_link(folder_of(pid).join("cwd")).ok()
}

/// The files that a process writes its standard output and error to.
pub fn output_files(pid: i32) -> Vec<PathBuf> {
    let links = ["fd/1", "fd/2"].map(|link| fs::read_link(folder_of(pid).join(link)));
    links.into_iter().flatten().filter(|file| file.is_file()).collect()
}

/// This program was started with a signal ignored, as `nohup` does.
pub fn is_signal_ignored(signal: i32) -> bool {
    let status = fs::read_to_string(folder().join("self/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// The living processes of a process group.
pub fn group_members(id: i32) -> Vec<ProcessStat> {
    processes().filter(|process| process.group == id && !process.is_zombie).collect()
}

pub(super) fn processes() -> impl Iterator<Item = ProcessStat> {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    entries.filter_map(|entry| ProcessStat::read(entry.file_name().to_str()?.parse().ok()?))
}

/// The texts of a file in which each ends with a NUL.
fn entries(bytes: &[u8]) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let entries = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    entries.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into()).collect()
}

pub(super) fn read(pid: i32, file: &str) -> Option<Vec<u8>> {
    let file = File::open(folder_of(pid).join(file)).ok()?;
    // The system reports a length of 0 for these files. `take` hides it, which would
    // otherwise make the first reads very short.
    let mut bytes = Vec::with_capacity(FILE_CAPACITY);
    file.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, state: &str, threads: u32) -> String {
        format!("7 ({name}) {state} 42 8 31 0 -1 4 0 0 0 0 1 2 0 0 20 0 {threads} 0 4711 99 12 0\n")
    }

    #[test]
    fn a_name_may_hold_anything() {
        for name in ["sh", "a) S 1 (b", "tmux: server", ""] {
            let expected = ProcessStat {
                pid: 7,
                name: name.to_owned(),
                parent: 42,
                group: 8,
                session: 31,
                terminal: 0,
                foreground: -1,
                start_ticks: 4711,
                is_zombie: false,
                resident_pages: 12,
            };
            assert_eq!(ProcessStat::parse(7, &stat(name, "R", 1)), Some(expected), "{name}");
        }
        assert_eq!(ProcessStat::parse(7, "7 (sh) R 42 7"), None);
        assert_eq!(ProcessStat::parse(7, "7 sh R 42 7 31"), None);
        let old = "7 (sh) S 42 8 31 0 -1 4 0 0 0 0 1 2 0 0 20 0 1 0 4711";
        assert_eq!(ProcessStat::parse(7, old), None);
    }

    #[test]
    fn a_process_with_a_living_thread_is_no_zombie() {
        assert!(ProcessStat::parse(7, &stat("sh", "Z", 1)).unwrap().is_zombie);
        assert!(!ProcessStat::parse(7, &stat("sh", "Z", 2)).unwrap().is_zombie);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_nearest_process_comes_first() {
        let parent = rustix::process::getppid().unwrap().as_raw_pid();
        let all: Vec<_> = ancestors().collect();
        assert_eq!(all[0].pid, parent);
        for pair in all.windows(2) {
            assert_eq!(pair[0].stat.as_ref().unwrap().parent, pair[1].pid, "{all:?}");
        }
        assert!(!command_line(parent)[0].is_empty());
        let own = std::env::args().collect::<Vec<_>>();
        assert_eq!(command_line(std::process::id() as i32), own);
        assert_eq!(command_line(i32::MAX), [""; 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_has_started_before_now() {
        let second = ProcessStat::read(std::process::id() as i32).unwrap().start_second().unwrap();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert!(second > 0 && second <= now.as_secs() as i64, "{second}");
    }
}
