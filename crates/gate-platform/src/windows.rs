//! Windows.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs as windows_fs;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

pub use std::os::windows::io::AsHandle as AsStream;

use sysinfo::{Disks, Pid, ProcessRefreshKind, ProcessesToUpdate, System};
use winapi_util::{Handle, file};

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

/// The one user: that of each process and the owner of each file. Another one than root, who may do
/// more.
const USER: u32 = 1;

/// Added to a time that cannot be relied on, in seconds.
const FUTURE_SECONDS: i64 = 10_000_000_000;

/// The variable of the home folder, as other systems have it.
const HOME: &str = "HOME";

/// The variable of the home folder.
const USER_FOLDER: &str = "USERPROFILE";

/// Nanoseconds in the unit of the system's times.
const TICK_NANOSECONDS: u64 = 100;

/// From 1601, where the system's times begin, to 1970, in seconds.
const EPOCH_SECONDS: i64 = 11_644_473_600;

/// The bytes of a text of the system's.
pub trait OsStrExt {
    /// The text of these bytes. Bytes that are no UTF-8 name nothing, and give U+FFFD.
    fn from_bytes(bytes: &[u8]) -> &Self;
    /// UTF-8, in which a surrogate stands as three bytes.
    fn as_bytes(&self) -> &[u8];
}

impl OsStrExt for OsStr {
    fn from_bytes(bytes: &[u8]) -> &Self {
        Self::new(str::from_utf8(bytes).unwrap_or("\u{fffd}"))
    }

    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }
}

/// The bytes of a text of the system's.
pub trait OsStringExt {
    /// The text of these bytes; U+FFFD stands for what is no UTF-8.
    fn from_vec(bytes: Vec<u8>) -> Self;
    /// UTF-8, in which a surrogate stands as three bytes.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}

/// Metadata by Unix's names.
pub trait MetadataExt {
    /// The owner: each file is this user's.
    fn uid(&self) -> u32;
    /// The kind as in inode(7), and permissions: its owner's alone, who may not write what is
    /// read-only.
    fn mode(&self) -> u32;
    /// The device: none is known.
    fn dev(&self) -> u64;
    /// The number of the file: none is known; see [`identity`].
    fn ino(&self) -> u64;
    /// Names of the file: one, as far as is known.
    fn nlink(&self) -> u64;
    /// Its size in bytes.
    fn size(&self) -> u64;
    /// Its size in blocks of 512 bytes.
    fn blocks(&self) -> u64;
    /// The last change of the content, in seconds since the Unix epoch.
    fn mtime(&self) -> i64;
    /// Nanoseconds of that.
    fn mtime_nsec(&self) -> i64;
    /// The time of the last change of anything is not known, since a program can set all times
    /// that there are. It lies in the future, and differs between two states whose times do: nobody
    /// then takes a file for an old one that has not changed.
    fn ctime(&self) -> i64;
    /// Nanoseconds of that.
    fn ctime_nsec(&self) -> i64;
}

impl MetadataExt for Metadata {
    fn uid(&self) -> u32 {
        USER
    }

    fn mode(&self) -> u32 {
        let kind = match () {
            () if self.is_symlink() => 0o120_000,
            () if self.is_dir() => 0o040_000,
            () => 0o100_000,
        };
        kind | mode(self.is_dir(), self.permissions().readonly())
    }

    fn dev(&self) -> u64 {
        0
    }

    fn ino(&self) -> u64 {
        0
    }

    fn nlink(&self) -> u64 {
        1
    }

    fn size(&self) -> u64 {
        self.len()
    }

    fn blocks(&self) -> u64 {
        self.len().div_ceil(512)
    }

    fn mtime(&self) -> i64 {
        seconds(windows_fs::MetadataExt::last_write_time(self))
    }

    fn mtime_nsec(&self) -> i64 {
        nanoseconds(windows_fs::MetadataExt::last_write_time(self))
    }

    fn ctime(&self) -> i64 {
        seconds(changed(self)) + FUTURE_SECONDS
    }

    fn ctime_nsec(&self) -> i64 {
        nanoseconds(changed(self))
    }
}

fn changed(metadata: &Metadata) -> u64 {
    let written = windows_fs::MetadataExt::last_write_time(metadata);
    written.max(windows_fs::MetadataExt::creation_time(metadata))
}

fn seconds(ticks: u64) -> i64 {
    (ticks / (1_000_000_000 / TICK_NANOSECONDS)).cast_signed() - EPOCH_SECONDS
}

fn nanoseconds(ticks: u64) -> i64 {
    (ticks % (1_000_000_000 / TICK_NANOSECONDS) * TICK_NANOSECONDS).cast_signed()
}

fn mode(is_folder: bool, is_read_only: bool) -> u32 {
    match (is_folder, is_read_only) {
        (true, _) => 0o700,
        (false, true) => 0o400,
        (false, false) => 0o600,
    }
}

/// Permissions by Unix's names.
pub trait PermissionsExt {
    /// The bits of its owner.
    fn mode(&self) -> u32;
    /// Makes it writable, or read-only, as the bits say of its owner.
    fn set_mode(&mut self, mode: u32);
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        mode(false, self.readonly())
    }

    fn set_mode(&mut self, mode: u32) {
        self.set_readonly(mode & 0o200 == 0);
    }
}

/// Permissions for a file that is to be made: those of its folder.
pub fn permissions(_: u32) -> Option<Permissions> {
    None
}

/// Makes a file writable, or read-only, as the bits say of its owner.
///
/// # Errors
///
/// A file that is not there, or is not this user's.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = path.metadata()?.permissions();
    permissions.set_mode(mode);
    fs::set_permissions(path, permissions)
}

/// Makes an open file writable, or read-only, as the bits say of its owner.
///
/// # Errors
///
/// A file that is not this user's.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_mode(mode);
    file.set_permissions(permissions)
}

/// How a folder is made.
pub trait DirBuilderExt {
    /// Nothing: a folder has the rights of the one above it, and that is the user's.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// How a file is opened.
pub trait OpenOptionsExt {
    /// Nothing: a file has the rights of its folder.
    fn mode(&mut self, mode: u32) -> &mut Self;
    /// Flags of this module.
    fn custom_flags(&mut self, flags: i32) -> &mut Self;
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        windows_fs::OpenOptionsExt::custom_flags(self, flags.cast_unsigned())
    }
}

/// Reads and writes at an offset, which move the cursor of the file.
pub trait FileExt {
    /// Reads at an offset, at most as many bytes as there is room for.
    ///
    /// # Errors
    ///
    /// A file that cannot be read.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Reads at an offset until the room is full.
    ///
    /// # Errors
    ///
    /// A file that ends before.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all bytes at an offset.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

impl FileExt for File {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        match windows_fs::FileExt::seek_read(self, bytes, offset) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }

    fn read_exact_at(&self, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.read_at(bytes, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                length => {
                    bytes = &mut bytes[length..];
                    offset += length as u64;
                }
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match windows_fs::FileExt::seek_write(self, bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                length => {
                    bytes = &bytes[length..];
                    offset += length as u64;
                }
            }
        }
        Ok(())
    }
}

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
    "an agent is known by its variables alone, and not by the programs above gate",
    "files have no modes: the folder of the state is as private as the home folder",
];

/// The name of git's file.
pub const GIT: &str = "git.exe";

/// What stands between two folders of a `PATH`.
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

/// The size of a page of memory, in bytes.
pub fn page_bytes() -> u64 {
    4096
}

/// The ticks of the clock that processes are timed by, in a second.
pub fn ticks_per_second() -> i64 {
    100
}

/// The variables of this process, with names in capitals: the system does not tell letters of
/// different case apart. The home folder is `HOME` as well.
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    let home = std::env::var_os(HOME).is_none().then(|| variable(HOME)).flatten();
    let all = std::env::vars_os().map(|(name, value)| (name.to_ascii_uppercase(), value));
    all.chain(home.map(|home| (HOME.into(), home)))
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

/// Asks a program to end: the system has no such request.
pub fn ask_group_to_end(_: u32) -> bool {
    false
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

/// The real path of a file.
pub trait RealPath {
    /// The absolute path without links, and without the `\\\\?\\` that many programs do not take.
    ///
    /// # Errors
    ///
    /// A path that leads to nothing.
    fn real_path(&self) -> io::Result<PathBuf>;
}

impl RealPath for Path {
    fn real_path(&self) -> io::Result<PathBuf> {
        dunce::canonicalize(self)
    }
}
