//! The extensions of the standard library for Unix, by the same names.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs as windows_fs;
use std::path::Path;

/// The one user: that of each process and the owner of each file. Another one than root, who may do
/// more.
pub(super) const USER: u32 = 1;

/// Added to a time that cannot be relied on, in seconds.
const FUTURE_SECONDS: i64 = 10_000_000_000;

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

/// Options for making a folder.
pub trait DirBuilderExt {
    /// Nothing: a folder has the rights of the one above it, and that is the user's.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Options for opening a file.
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
