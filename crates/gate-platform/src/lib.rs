//! The operating system, with one name for each thing on Unix and on Windows.
//!
//! On Unix the extensions are those of the standard library. On Windows they have the same names:
//! a path is bytes of UTF-8 with `/` or `\`, every file is this user's and closed to others, and
//! what has no counterpart (modes, inodes, signals) is a constant that decides nothing.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[cfg(test)]
mod tests;
