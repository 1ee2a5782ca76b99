//! The descendants of a process: their numbers, and their memory together.

use std::collections::BTreeMap;

use crate::process::system::{ProcessStat, WITHOUT_PROC, has_proc, processes, read};

/// The variable for a supervisor of a program that does without /proc.
pub(super) fn switch() -> Option<(&'static str, &'static str)> {
    (cfg!(target_os = "linux") && !has_proc()).then_some((WITHOUT_PROC, "1"))
}

/// All living descendants of a process, parents before their children.
pub(super) fn descendants(ancestor: i32) -> Vec<ProcessStat> {
    let mut children: BTreeMap<i32, Vec<ProcessStat>> = BTreeMap::new();
    for process in processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut descendants = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            parents.push(child.pid);
            if !child.is_zombie {
                descendants.push(child);
            }
        }
    }
    descendants
}

/// The processes use more memory together than the limit, in bytes.
///
/// Resident memory is cheap to read, but counts what processes share once for each. Only if their
/// sum is too much, each one's share of it (PSS) is read, for which the kernel walks the page
/// tables.
pub(super) fn are_over_memory(processes: &[ProcessStat], limit: u64) -> bool {
    if processes.iter().map(resident_bytes).sum::<u64>() <= limit {
        return false;
    }
    processes.iter().map(|process| share_of_memory(process.pid)).sum::<u64>() > limit
}

/// The memory of a process in bytes, of which a shared page counts in part, if the system reports
/// its share. A process that has just ended has none.
fn share_of_memory(pid: i32) -> u64 {
    proportional_memory(pid)
        .or_else(|| ProcessStat::read(pid).as_ref().map(resident_bytes))
        .unwrap_or(0)
}

/// The resident memory of a process in bytes.
fn resident_bytes(process: &ProcessStat) -> u64 {
    process.resident_pages.saturating_mul(gate_platform::page_bytes())
}

fn proportional_memory(pid: i32) -> Option<u64> {
    let text = String::from_utf8(read(pid, "smaps_rollup")?).ok()?;
    let size = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = size.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The living processes in whose environment a variable has this value.
pub(super) fn with_variable(variable: &str, value: &str) -> Vec<ProcessStat> {
    let expected = format!("{variable}={value}");
    let living = processes().filter(|process| !process.is_zombie);
    living
        .filter(|process| {
            let environment = read(process.pid, "environ").unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == expected.as_bytes())
        })
        .collect()
}

/// A process runs; a zombie does not.
pub(super) fn is_alive(pid: i32) -> bool {
    ProcessStat::read(pid).is_some_and(|process| !process.is_zombie)
}

/// Makes this process the parent of its descendants whose own parents have ended, and keeps the job from
/// opening its socket.
#[cfg(target_os = "linux")]
pub(super) fn become_subreaper() {
    use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior};
    if !has_proc() {
        return;
    }
    // If the kernel refuses, the process group is still ended.
    let _ = set_child_subreaper(Some(getpid()));
    // Not dumpable: the job cannot open this process's socket through /proc and write a
    // report of its own.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn become_subreaper() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_is_found() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let children = descendants(std::process::id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(children.iter().any(|process| process.pid == child.id() as i32), "{children:?}");
    }
}
