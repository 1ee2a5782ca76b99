//! The memory of a program that runs.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// Waits for the end of a program. Returns its exit code, and the most memory that it was seen to hold.
pub(super) fn wait(child: &mut Child, patience: Duration) -> (Option<i32>, Option<u64>) {
    let start = Instant::now();
    let mut peak = None;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), peak);
        }
        peak = memory(child.id()).max(peak);
        if start.elapsed() > patience {
            child.kill().unwrap();
            panic!("it did not end within {patience:?}");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The peak of a living process in KiB.
fn memory(id: u32) -> Option<u64> {
    // For a moment, a process that begins has the memory of the one that started it.
    let program = |id: &str| fs::read_link(format!("/proc/{id}/exe")).ok();
    if program(&id.to_string())? == program("self")? {
        return None;
    }
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
