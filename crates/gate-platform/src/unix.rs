//! Linux and macOS.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub use std::os::unix::ffi::{OsStrExt, OsStringExt};
pub use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink,
};

pub use std::os::fd::AsFd as AsStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, FallocateFlags, Mode, OFlags, access, fallocate};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// Clients run the lines of hooks in `sh`.
pub const HAS_SH: bool = true;

/// Flag of [`OpenOptionsExt::custom_flags`]: a link is not followed.
pub const NO_FOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// Flag of [`OpenOptionsExt::custom_flags`]: to open a pipe waits for nobody.
pub const NON_BLOCKING: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// Flag of [`OpenOptionsExt::custom_flags`]: a terminal does not become this process's.
pub const NO_TERMINAL: i32 = OFlags::NOCTTY.bits().cast_signed();

/// Permissions for a file that is to be made.
pub fn permissions(mode: u32) -> Option<Permissions> {
    Some(Permissions::from_mode(mode))
}

/// Gives a file these permissions.
///
/// # Errors
///
/// A file that is not there, or is not this user's.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Gives an open file these permissions.
///
/// # Errors
///
/// A file that is not this user's.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// A file may be started.
pub fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o111 != 0
}

/// Opens a folder, to lock it.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// A path as git has it: bytes, with `/`.
pub fn git_name(path: &Path) -> Cow<'_, [u8]> {
    path.as_os_str().as_bytes().into()
}

/// The name of gate's file.
pub const GATE: &str = "gate";

/// A program that does nothing.
pub const NOTHING: &[&str] = &["true"];

/// Sentences about what gate does on Linux and not on this system.
pub const SHORTCOMINGS: &[&str] = if cfg!(target_os = "linux") {
    &[]
} else {
    &[
        "a process that leaves its group survives its check",
        "no program is confined, and no memory is limited",
        "an agent is known by its variables alone, and not by the programs above gate",
    ]
};

/// The name of git's file.
pub const GIT: &str = "git";

/// The character between two folders of a `PATH`.
pub const PATH_SEPARATOR: &str = ":";

/// The error of [`NO_FOLLOW`] at a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// The device and number of a file: equal for two names of one file.
///
/// # Errors
///
/// A file whose metadata cannot be read.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// The device and number of the file at a path, whose metadata are these.
///
/// # Errors
///
/// None.
pub fn identity_at(_: &Path, metadata: &Metadata) -> io::Result<(u64, u64)> {
    Ok((metadata.dev(), metadata.ino()))
}

/// Makes the names in a folder durable.
///
/// # Errors
///
/// A folder that cannot be opened or synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Gives a file this many bytes of the disk; false if its file system cannot do that.
///
/// # Errors
///
/// A full disk.
pub fn reserve(file: &File, bytes: u64) -> io::Result<bool> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        reserved => Ok(reserved.map(|()| true)?),
    }
}

/// The free space of the disk that has this folder, in bytes.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// This process may write in a folder.
///
/// # Errors
///
/// A folder that it may not write in.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// The number of the user who started this process.
pub fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

/// The number of the user whose rights this process has.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// New files of this process can be read by all, and written by their owner alone.
pub fn let_all_read_new_files() {
    rustix::process::umask(Mode::from(0o022));
}

/// The number of the process that started this one.
pub fn parent_process() -> Option<i32> {
    rustix::process::getppid().map(Pid::as_raw_pid)
}

/// The number of the signal of a terminal that is closed.
pub const HANG_UP: Option<i32> = Some(Signal::HUP.as_raw());

/// The size of a page of memory, in bytes.
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// The ticks of the clock that processes are timed by, in a second.
pub fn ticks_per_second() -> i64 {
    i64::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(i64::MAX)
}

/// The variables of this process.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// A variable of this process; `None` if it is empty.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A process runs in a terminal, as far as that is known without a list of processes.
pub fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

/// The name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Waits at most this long for the reader of a pipe to go; true if it has gone.
///
/// # Errors
///
/// A stream that cannot be watched.
pub fn wait_for_reader_to_go(stream: &impl AsStream, timeout: Duration) -> io::Result<bool> {
    // Without an event to wait for, only the end of the reader is reported.
    let mut descriptors = [PollFd::new(stream, PollFlags::empty())];
    match poll(&mut descriptors, Some(&timespec(timeout))) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Longer waits than the system's are as long as those.
fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}

/// The command of a line for the shell of a client.
pub fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// Makes the program lead a process group, which [`end_group`] ends.
pub fn lead_group(command: &mut Command) -> &mut Command {
    std::os::unix::process::CommandExt::process_group(command, 0)
}

/// Ends the group that a program leads, at once. It may have ended before.
pub fn end_group(leader: u32) {
    if let Some(group) = group_of(leader) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A process is left in the group that a program led.
pub fn has_group(leader: u32) -> bool {
    group_of(leader)
        .is_some_and(|group| !matches!(test_kill_process_group(group), Err(Errno::SRCH)))
}

fn group_of(leader: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(leader).ok()?)
}

/// The id of this start of the machine, and the milliseconds since then, with the time in suspend.
#[cfg(target_os = "linux")]
pub fn boot_and_uptime() -> (String, u64) {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let millis = uptime.tv_sec.saturating_mul(1000).saturating_add(uptime.tv_nsec / 1_000_000);
    (id.trim().to_owned(), u64::try_from(millis).unwrap_or_default())
}

/// Without a boot id only the wall clock counts.
#[cfg(not(target_os = "linux"))]
pub fn boot_and_uptime() -> (String, u64) {
    (String::new(), 0)
}

/// The absolute path without links.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}
