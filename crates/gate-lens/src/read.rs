//! Reads files in blocks.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use gate_core::Failure;

/// Bytes that are read at once.
const BLOCK: usize = 512 << 10;

/// Passes all bytes of a file to `take`, in blocks. Returns their number.
///
/// # Errors
///
/// A file that cannot be read.
pub(crate) fn read_blocks(file: &Path, take: &mut dyn FnMut(&[u8])) -> Result<u64, Failure> {
    let unreadable = |error| Failure::file("input-unreadable", "read", file, &error);
    let mut reader = BufReader::with_capacity(BLOCK, File::open(file).map_err(unreadable)?);
    let mut bytes = 0;
    loop {
        let block = reader.fill_buf().map_err(unreadable)?;
        if block.is_empty() {
            return Ok(bytes);
        }
        take(block);
        let length = block.len();
        bytes += length as u64;
        reader.consume(length);
    }
}
