//! The list of paths on the standard input.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::inputs::is_glob;
use crate::failure::Failure;

/// The paths that the standard input lists, separated by line breaks or NUL.
///
/// # Errors
///
/// A standard input that cannot be read, or that holds no list.
pub(super) fn listed(folder: &Path, null: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut list = Vec::new();
    io::stdin().lock().read_to_end(&mut list).map_err(|error| {
        Failure::file("input-unreadable", "read", Path::new("the standard input"), &error)
    })?;
    if !null && list.contains(&b'\0') {
        let message = "the list on the standard input is separated by NUL";
        return Err(Failure::usage("list-invalid", message).hint("add -0 (--null)"));
    }
    let end = if null { b'\0' } else { b'\n' };
    let paths = list.split(|&byte| byte == end);
    let paths = paths.map(|path| if null { path } else { path.trim_ascii_end() });
    let paths: Vec<_> = paths.filter(|path| !path.is_empty()).collect();
    if is_text(folder, &paths) {
        let message = "the standard input is no list of files: none of its lines names one";
        let hint = "name the transcript itself, or give it to `gate scan -`";
        return Err(Failure::usage("list-invalid", message).hint(hint));
    }
    Ok(paths.into_iter().map(|path| OsStr::from_bytes(path).into()).collect())
}

/// True if these are lines of a transcript: words or JSON, and no line of them
/// leads to a file.
fn is_text(folder: &Path, lines: &[&[u8]]) -> bool {
    lines.iter().any(|line| is_prose(line)) && !lines.iter().any(|line| is_file_name(folder, line))
}

/// True for JSON and for words.
fn is_prose(line: &[u8]) -> bool {
    line.starts_with(b"{") || line.contains(&b' ')
}

fn is_file_name(folder: &Path, line: &[u8]) -> bool {
    let path = OsStr::from_bytes(line);
    folder.join(path).exists() || (!is_prose(line) && is_glob(path))
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn a_transcript_is_distinguished_from_a_list_by_the_files_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.log"), "").unwrap();
        let is_prose = |lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
            is_text(folder.path(), &lines)
        };
        assert!(is_prose(&["I fixed the parser.", "Done."]));
        assert!(is_prose(&[r#"{"type":"result"}"#]));
        assert!(is_prose(&["no such.log", "Done."]));
        assert!(!is_prose(&["no such.log", "a b.log"]));
        assert!(!is_prose(&["the rest of it", "t/*.log"]));
        assert!(!is_prose(&["gone.log"]));
        assert!(is_prose(&["all of *.log", "is gone"]), "a glob with words around it is prose");
        assert!(!is_prose(&[]));
    }
}
