//! The operating system, with one name for each thing on Unix and on Windows.
//!
//! On Unix the extensions are those of the standard library. On Windows they have the same names:
//! a path is bytes of UTF-8 with `/` or `\`, every file is this user's and closed to others, and
//! what has no counterpart (modes, inodes, signals) is a constant that decides nothing.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// The real path of a file.
pub trait RealPath {
    /// The absolute path without links, as other programs take it.
    ///
    /// # Errors
    ///
    /// A path that leads to nothing.
    fn real_path(&self) -> io::Result<PathBuf>;
}

impl RealPath for Path {
    fn real_path(&self) -> io::Result<PathBuf> {
        real_path(self)
    }
}

#[cfg(test)]
mod tests;
