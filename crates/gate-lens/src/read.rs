//! Reads transcripts in blocks.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use gate_core::Failure;

/// Bytes that are read at once.
pub const BLOCK: usize = 512 << 10;

/// Passes all bytes of a file to `take`, in blocks. Returns their number.
///
/// # Errors
///
/// A file that cannot be read.
pub fn read_file(path: &Path, take: &mut dyn FnMut(&[u8])) -> Result<u64, Failure> {
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        read_blocks(&mut file, block_for(length), take)
    });
    read.map_err(|error| Failure::file("input-unreadable", "read", path, &error))
}

/// The buffer for a file of this length, in bytes: a small file should not pay for a large buffer.
/// Pipes have no length.
pub fn block_for(length: u64) -> usize {
    match usize::try_from(length) {
        Ok(0) | Err(_) => BLOCK,
        Ok(length) => BLOCK.min(length + 1),
    }
}

/// Reads up to the end, a block of so many bytes at a time. Returns the number of bytes.
///
/// # Errors
///
/// A source that cannot be read.
pub fn read_blocks(
    source: &mut impl Read,
    block: usize,
    take: &mut dyn FnMut(&[u8]),
) -> io::Result<u64> {
    let mut block = vec![0; block];
    let mut bytes = 0;
    loop {
        match source.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Ok(length) => {
                take(&block[..length]);
                bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
