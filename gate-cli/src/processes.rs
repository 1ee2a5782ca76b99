//! What the system tells of processes: on Linux, in /proc. Elsewhere nothing is told,
//! nor of processes that it hides.

use std::fs::File;
use std::io::Read;
use std::iter;

/// The longest row of processes that is walked.
const DEEPEST: usize = 256;

/// What is told of nearly every process fits in so many bytes.
const ROOM: usize = 4 << 10;

/// A process above another.
#[derive(Clone, Debug)]
pub(crate) struct Above {
    pub(crate) pid: i64,
    /// None where nothing is told of it.
    pub(crate) status: Option<Status>,
}

/// What /proc/PID/stat tells (proc(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// Its program, or as it calls itself.
    pub(crate) name: String,
    pub(crate) parent: i64,
    /// The leader of its session. It is 0 where that one stands outside of the process
    /// namespace, as in a container, and is no process here.
    pub(crate) session: i64,
    /// When it began, in ticks of the clock since the machine did.
    pub(crate) began: i64,
}

/// The processes above this one, the nearest first, as far as is told. The first one
/// of the system is not among them.
pub(crate) fn above() -> impl Iterator<Item = Above> {
    let of = |pid: i64| (pid > 1).then(|| Above { pid, status: Status::of(pid) });
    let parent = rustix::process::getppid().map(|pid| i64::from(pid.as_raw_pid()));
    let next = move |it: &Above| of(it.status.as_ref()?.parent);
    iter::successors(parent.and_then(of), next).take(DEEPEST)
}

/// A process's program and its arguments; none where they are not told.
pub(crate) fn words(pid: i64) -> Vec<String> {
    entries(pid, "cmdline")
}

/// The environment that a process was started with, as `NAME=VALUE`; none where it is
/// another user's.
pub(crate) fn environment(pid: i64) -> Vec<String> {
    entries(pid, "environ")
}

impl Status {
    /// What is told of a process.
    pub(crate) fn of(pid: i64) -> Option<Self> {
        Self::read(&String::from_utf8_lossy(&told(pid, "stat")?))
    }

    /// `PID (NAME) STATE PARENT …`, where the name may hold anything.
    fn read(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let mut fields = rest.split_whitespace().skip(1);
        let mut after = |count: usize| fields.nth(count)?.parse().ok();
        Some(Self {
            name: name.to_owned(),
            parent: after(0)?,
            session: after(1)?,
            began: after(15)?,
        })
    }
}

fn entries(pid: i64, file: &str) -> Vec<String> {
    let bytes = told(pid, file).unwrap_or_default();
    if bytes.is_empty() {
        return Vec::new();
    }
    let entries = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    entries.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into()).collect()
}

/// A file of a process. Each of them claims to be empty, so that a reader that asks
/// for its length first begins with very little.
fn told(pid: i64, file: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(ROOM);
    let file = File::open(format!("/proc/{pid}/{file}")).ok()?;
    file.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let after = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 4711 99";
        let read = |name: &str| Status::read(&format!("7 ({name}) R 42 7 31 {after}\n"));
        for name in ["sh", "a) S 1 (b", "tmux: server", ""] {
            let status = Status { name: name.into(), parent: 42, session: 31, began: 4711 };
            assert_eq!(read(name), Some(status), "{name}");
        }
        assert_eq!(Status::read("7 (sh) R 42 7"), None);
        assert_eq!(Status::read("7 sh R 42 7 31"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_nearest_process_comes_first() {
        let parent = i64::from(rustix::process::getppid().unwrap().as_raw_pid());
        let all: Vec<_> = above().collect();
        assert_eq!(all[0].pid, parent);
        let rows = all.windows(2).map(|pair| (&pair[0].status, pair[1].pid));
        assert!(rows.into_iter().all(|(it, next)| it.as_ref().unwrap().parent == next), "{all:?}");
        assert!(!words(parent)[0].is_empty());
        let own = std::env::args().collect::<Vec<_>>();
        assert_eq!(words(i64::from(std::process::id())), own);
        assert_eq!(words(i64::from(i32::MAX)), [""; 0]);
    }
}
