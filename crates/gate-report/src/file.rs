//! Report files: what a runner left in the private folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Tally;

/// Largest report file.
const MAX_REPORT_BYTES: u64 = 64 << 20;

/// Most report files that one run may leave, and the deepest folder of one.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 16;

/// The text of a report file. `None` if the file is absent, or if it is not fit to be read, which
/// is then a problem of the report.
pub(super) fn read_text(path: &Path, tally: &mut Tally) -> Option<String> {
    // To read a pipe could block, and to read a device could never end.
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() {
        tally.add_problem(format!("the report `{}` is no plain file", file_name(path)));
        return None;
    }
    let mut bytes = Vec::new();
    let length =
        File::open(path).and_then(|file| file.take(MAX_REPORT_BYTES + 1).read_to_end(&mut bytes));
    match length {
        Ok(length) if length as u64 > MAX_REPORT_BYTES => {
            let limit = MAX_REPORT_BYTES >> 20;
            tally.add_problem(format!(
                "the report `{}` is larger than {limit} MiB",
                file_name(path)
            ));
            None
        }
        Ok(_) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            tally.add_problem(format!(
                "the report `{}` could not be read: {error}",
                file_name(path)
            ));
            None
        }
    }
}

/// The report at a place: the file itself, or the files with this extension
/// in and below the folder, in order.
pub(super) fn report_files(place: &Path, extension: &str, tally: &mut Tally) -> Vec<PathBuf> {
    if fs::symlink_metadata(place).is_ok_and(|metadata| !metadata.is_dir()) {
        return vec![place.to_owned()];
    }
    let mut files = Vec::new();
    walk(place, extension, MAX_DEPTH, &mut files);
    if files.len() > MAX_FILES {
        tally.add_problem(format!("more than {MAX_FILES} report files"));
        files.truncate(MAX_FILES);
    }
    files.sort();
    files
}

fn walk(folder: &Path, extension: &str, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if files.len() > MAX_FILES {
            return;
        }
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&path, extension, depth - 1, files),
            Ok(_) => {
                let file_extension = path.extension().unwrap_or_default();
                if file_extension.eq_ignore_ascii_case(extension) {
                    files.push(path);
                }
            }
            Err(_) => {}
        }
    }
}

/// A file's name, without the private folder that it stands in.
fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A test file's path relative to where the command ran.
pub(super) fn relative(path: &str, cwd: &Path) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    let relative = Path::new(path).strip_prefix(cwd).ok().and_then(Path::to_str);
    relative.unwrap_or(path).to_owned()
}

/// The path of a script. Node reports a file under its path if it ended without
/// reporting a test.
pub(super) fn is_script(name: &str) -> bool {
    let script_extensions = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    // The name of a test may end like a file, but is a sentence.
    extension.is_some_and(|extension| script_extensions.contains(&extension)) && !name.contains(' ')
}

/// The name of a test script. Node runs everything in a folder `test`, helpers too.
pub(super) fn is_test_script(name: &str) -> bool {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let suffixes = [".test", "-test", "_test"];
    stem == "test"
        || stem.starts_with("test-")
        || suffixes.iter().any(|suffix| stem.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn a_report_that_is_no_plain_file_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("report.xml");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let mut tally = Tally::new(Format::Junit);
        assert_eq!(read_text(&link, &mut tally), None);
        assert!(tally.finish().problems[0].contains("no plain file"));
    }

    #[test]
    fn a_report_that_is_too_large_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.xml");
        File::create(&path).unwrap().set_len(MAX_REPORT_BYTES + 1).unwrap();
        let mut tally = Tally::new(Format::Junit);
        assert_eq!(read_text(&path, &mut tally), None);
        assert!(tally.finish().problems[0].contains("larger than 64 MiB"));
    }

    #[test]
    fn reports_are_found_in_nested_folders() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("report/core/test");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("TEST-b.xml"), "").unwrap();
        fs::write(inner.join("TEST-c.XML"), "").unwrap();
        fs::write(inner.join("notes.txt"), "").unwrap();
        let report = folder.path().join("report");
        let files = report_files(&report, "xml", &mut Tally::new(Format::Junit));
        assert_eq!(files, [inner.join("TEST-b.xml"), inner.join("TEST-c.XML")]);
    }

    #[test]
    fn names_of_scripts_that_hold_tests() {
        for name in ["a.test.js", "test/b-test.mjs", "c_test.cjs", "test-d.js", "x/test.ts"] {
            assert!(is_test_script(name), "{name}");
        }
        for name in ["test/helper.js", "test/fixtures/a.js", "latest.js", "testing.js"] {
            assert!(!is_test_script(name), "{name}");
        }
    }

    #[test]
    fn names_are_relative_to_the_working_folder() {
        let check = |path, name| assert_eq!(relative(path, Path::new("/a/b")), name);
        check("/a/b/c/x.test.js", "c/x.test.js");
        check("file:///a/b/x.mjs", "x.mjs");
        check("/elsewhere/x.js", "/elsewhere/x.js");
    }
}
