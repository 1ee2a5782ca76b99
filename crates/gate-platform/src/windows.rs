//! Windows.

mod extensions;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs as windows_fs;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

pub use std::os::windows::io::AsHandle as AsStream;

pub use extensions::{
    DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, OsStrExt, OsStringExt, PermissionsExt,
    permissions, set_file_mode, set_mode,
};

use sysinfo::{Disks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use winapi_util::{Handle, file};

use self::extensions::USER;

/// Clients run the lines of hooks in `sh`. Here it may be PowerShell or `cmd` as well.
pub const HAS_SH: bool = false;

/// Flag of [`OpenOptionsExt::custom_flags`]: a link is not followed (`FILE_FLAG_OPEN_REPARSE_POINT`).
pub const NO_FOLLOW: i32 = 0x0020_0000;

/// Flag of [`OpenOptionsExt::custom_flags`]: to open a pipe waits for nobody.
pub const NON_BLOCKING: i32 = 0;

/// Flag of [`OpenOptionsExt::custom_flags`]: a terminal does not become this process's.
pub const NO_TERMINAL: i32 = 0;

/// The number of the signal of a terminal that is closed.
pub const HANG_UP: Option<i32> = None;

/// Flag without which no folder is opened (`FILE_FLAG_BACKUP_SEMANTICS`).
const BACKUP_SEMANTICS: i32 = 0x0200_0000;

/// Flag of a new process: Ctrl-C at the console does not reach it.
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// The variable of the home folder, as other systems have it.
const HOME: &str = "HOME";

/// The variable of the home folder.
const USER_FOLDER: &str = "USERPROFILE";

/// Makes a symbolic link, for which most users need the developer mode.
///
/// # Errors
///
/// A user who may not make one.
pub fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref(), link.as_ref());
    let target = link.parent().map(|folder| folder.join(original));
    match target.is_some_and(|target| target.is_dir()) {
        true => windows_fs::symlink_dir(original, link),
        false => windows_fs::symlink_file(original, link),
    }
}

/// A file may be started: no mode says otherwise.
pub fn is_executable(_: &Metadata) -> bool {
    true
}

/// Opens a folder, to lock it.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(BACKUP_SEMANTICS).open(path)
}

/// A path as git has it: bytes, with `/`.
pub fn git_name(path: &Path) -> Cow<'_, [u8]> {
    let name = path.as_os_str().as_bytes();
    match name.contains(&b'\\') {
        true => name.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect(),
        false => name.into(),
    }
}

/// The name of gate's file.
pub const GATE: &str = "gate.exe";

/// A program that does nothing.
pub const NOTHING: &[&str] = &["cmd", "/d", "/c", "exit", "0"];

/// Sentences about what gate does on Linux and not on this system.
pub const SHORTCOMINGS: &[&str] = &[
    "a check is ended at once: the system has no request to end",
    "no program is confined",
    "`gate demo` and loops of bash need Git for Windows",
    "an agent is known by its variables alone, and not by the programs above gate",
    "files have no modes: the folder of the state is as private as the home folder",
];

/// The name of git's file.
pub const GIT: &str = "git.exe";

/// The character between two folders of a `PATH`.
pub const PATH_SEPARATOR: &str = ";";

/// The error of [`NO_FOLLOW`] at a link: there is none, the link itself is opened.
pub fn is_link_error(_: &io::Error) -> bool {
    false
}

/// The volume and index of a file: equal for two names of one file.
///
/// # Errors
///
/// A file whose metadata cannot be read.
pub fn identity(file: &File) -> io::Result<(u64, u64)> {
    let information = file::information(file)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// The volume and index of the file at a path, whose metadata are these.
///
/// # Errors
///
/// A path that is free, or that cannot be read.
pub fn identity_at(path: &Path, _: &Metadata) -> io::Result<(u64, u64)> {
    let information = file::information(Handle::from_path_any(path)?)?;
    Ok((information.volume_serial_number(), information.file_index()))
}

/// Nothing: the file system's journal keeps names.
///
/// # Errors
///
/// None.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Gives a file this many bytes of the disk; false if its file system cannot do that.
///
/// # Errors
///
/// A full disk.
pub fn reserve(file: &File, bytes: u64) -> io::Result<bool> {
    file.set_len(bytes).map(|()| true)
}

/// The free space of the disk that has this folder, in bytes.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let folder = std::path::absolute(folder).ok()?;
    let disks = Disks::new_with_refreshed_list();
    let above = disks.list().iter().filter(|disk| folder.starts_with(disk.mount_point()));
    let nearest = above.max_by_key(|disk| disk.mount_point().as_os_str().len());
    nearest.map(sysinfo::Disk::available_space)
}

/// This process may write in a folder.
///
/// # Errors
///
/// A folder that it may not write in.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    match folder.metadata()?.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// The number of the user who started this process: the same for all.
pub fn user() -> u32 {
    USER
}

/// The number of the user whose rights this process has: the same for all.
pub fn effective_user() -> u32 {
    USER
}

/// Nothing: a file has the rights of its folder.
pub fn let_all_read_new_files() {}

/// The number of the process that started this one.
pub fn parent_process() -> Option<i32> {
    let system = processes();
    let parent = system.process(Pid::from_u32(std::process::id()))?.parent()?;
    i32::try_from(parent.as_u32()).ok()
}

/// The ticks of the clock that processes are timed by, in a second.
pub fn ticks_per_second() -> i64 {
    100
}

/// The variables of this process, with names in capitals: the system does not tell letters of
/// different case apart. The home folder is `HOME` as well.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    let home = std::env::var_os(HOME).is_none().then(|| variable(HOME)).flatten();
    let upper_case = std::env::vars_os().map(|(name, value)| (name.to_ascii_uppercase(), value));
    upper_case.chain(home.map(|home| (HOME.into(), home)))
}

/// A variable of this process; `None` if it is empty.
pub fn variable(name: &str) -> Option<OsString> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set(name).or_else(|| if name == HOME { set(USER_FOLDER) } else { None })
}

/// A process runs in a console.
pub fn has_terminal() -> bool {
    File::open("CONIN$").is_ok()
}

/// The name of this machine.
pub fn host_name() -> String {
    System::host_name().unwrap_or_default()
}

/// Waits this long. A reader that goes is noticed at the next line.
///
/// # Errors
///
/// None.
pub fn wait_for_reader_to_go<T>(_: &T, timeout: Duration) -> io::Result<bool> {
    thread::sleep(timeout);
    Ok(false)
}

/// The command of a line for the shell of a client. `cmd` takes the line as it is, between two
/// quotes, and has no escape for them.
pub fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    command.args(["/d", "/s", "/c"]).raw_arg(format!("\"{line}\""));
    command
}

/// Keeps Ctrl-C at the console from the program; [`end_group`] ends it.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Ends a program and the processes below it, at once. It may have ended before.
pub fn end_group(leader: u32) {
    let system = processes();
    let mut ending = vec![Pid::from_u32(leader)];
    while let Some(id) = ending.pop() {
        let below = system.processes().values().filter(|process| process.parent() == Some(id));
        ending.extend(below.map(sysinfo::Process::pid).filter(|below| *below != id));
        if let Some(process) = system.process(id) {
            process.kill();
        }
    }
}

/// The program that led a group runs.
pub fn has_group(leader: u32) -> bool {
    processes().process(Pid::from_u32(leader)).is_some()
}

/// The processes of this machine with their names and parents.
fn processes() -> System {
    let mut system = System::new();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, ProcessRefreshKind::nothing());
    system
}

/// Without a boot id only the wall clock counts.
pub fn boot_and_uptime() -> (String, u64) {
    (String::new(), 0)
}

/// The absolute path without links, and without the `\\?\` that many programs do not take.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}
