//! The living descendants of a process, from /proc.
//!
//! On systems without /proc there is none to be seen, and only process groups
//! can be ended.

use std::collections::BTreeMap;
use std::fs;

/// A living process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: i32,
    pub(super) name: String,
    /// The process group that it is in.
    pub(super) group: i32,
}

/// One process as /proc/ID/stat shows it.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    process: Process,
    parent: i32,
    zombie: bool,
}

/// All living descendants of a process, parents before their children.
pub(super) fn of(ancestor: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for stat in processes() {
        children.entry(stat.parent).or_default().push(stat);
    }
    let mut found = Vec::new();
    let mut next = vec![ancestor];
    while let Some(parent) = next.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.process.id);
            if !child.zombie {
                found.push(child.process);
            }
        }
    }
    found
}

/// The living processes in whose environment a variable has this value.
pub(super) fn marked(variable: &str, value: &str) -> Vec<Process> {
    let wanted = format!("{variable}={value}");
    let has = |stat: &Stat| {
        let environment = fs::read(format!("/proc/{}/environ", stat.process.id));
        let environment = environment.unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    processes().filter(|stat| !stat.zombie).filter(has).map(|stat| stat.process).collect()
}

/// True if a process runs; a zombie does not.
pub(super) fn lives(id: i32) -> bool {
    read(id).is_some_and(|stat| !stat.zombie)
}

fn read(id: i32) -> Option<Stat> {
    let text = fs::read(format!("/proc/{id}/stat")).ok()?;
    stat(id, &String::from_utf8_lossy(&text))
}

fn processes() -> impl Iterator<Item = Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
}

/// Between a process's group and the number of its threads stand so many
/// fields (proc(5)).
const THREADS: usize = 14;

/// `ID (NAME) STATE PARENT …`, where the name may hold anything.
fn stat(id: i32, text: &str) -> Option<Stat> {
    let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let threads = fields.nth(THREADS).and_then(|count| count.parse().ok()).unwrap_or(1);
    Some(Stat {
        process: Process { id, name: name.to_owned(), group },
        parent,
        // Where the first thread has ended and others go on, it looks dead.
        zombie: matches!(state, "Z" | "X") && threads <= 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let read = stat(7, "7 (a) S 1 (b) R 42 7 7 0").unwrap();
        assert_eq!(
            (read.process.name.as_str(), read.parent, read.zombie),
            ("a) S 1 (b", 42, false)
        );
        assert!(stat(7, "7 (sh) Z 1 7").unwrap().zombie);
        let of = |threads| format!("7 (sh) Z 1 7 7 0 -1 4 0 0 0 0 1 2 0 0 20 0 {threads} 0 99 0");
        assert!(stat(7, &of(1)).unwrap().zombie);
        assert!(!stat(7, &of(2)).unwrap().zombie);
        assert_eq!(stat(7, "7 sh S 1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found = of(std::process::id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.iter().any(|process| process.id == child.id() as i32), "{found:?}");
    }
}
