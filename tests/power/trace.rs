//! What programs do with files, read from what strace wrote about them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The calls that are read. One of them that [`Trace::meant`] does not know ends the test if it is
/// about a file of the disk: a write that nobody sees would count as durable.
pub(super) const CALLS: &str = "open,openat,creat,read,lseek,write,pwrite64,writev,pwritev,pwritev2,ftruncate,\
truncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,symlink,symlinkat,\
mkdir,mkdirat,copy_file_range,sendfile,splice,mmap";

/// A change of files, or what makes changes durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// A file is opened, made if it is missing, and emptied if it is `cut`.
    Open {
        path: PathBuf,
        cut: bool,
    },
    MakeFolder {
        path: PathBuf,
    },
    Write {
        path: PathBuf,
        place: Place,
        bytes: Vec<u8>,
    },
    Truncate {
        path: PathBuf,
        length: usize,
    },
    /// What was done to the file or folder before the call with this number is durable.
    Sync {
        path: PathBuf,
        since: usize,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    /// Something was printed.
    Print,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Byte(usize),
    End,
}

/// A reader of what strace writes with `-f -y -xx`.
pub(super) struct Trace<'a> {
    /// Only what is below this folder counts,
    root: &'a Path,
    /// and this file, to which the programs print.
    stdout: &'a Path,
    calls: Vec<Call>,
    /// The calls that have begun and not ended, by process, each with the number of the next call then.
    pending: HashMap<&'a str, (&'a str, usize)>,
    /// Where the next write goes, by path and descriptor.
    positions: HashMap<(PathBuf, u64), Place>,
}

/// The calls of a trace, in the order of their ends. The first one has the number `first`.
pub(super) fn calls(text: &str, root: &Path, stdout: &Path, first: usize) -> Vec<Call> {
    let (pending, positions) = (HashMap::new(), HashMap::new());
    let mut trace = Trace { root, stdout, calls: Vec::new(), pending, positions };
    for line in text.lines() {
        trace.line(line, first);
    }
    trace.calls
}

impl<'a> Trace<'a> {
    fn line(&mut self, line: &'a str, first: usize) {
        let Some((process, rest)) = line.split_once(' ') else { return };
        let (rest, next) = (rest.trim_start(), first + self.calls.len());
        if let Some(begin) = rest.strip_suffix(" <unfinished ...>") {
            self.pending.insert(process, (begin, next));
            return;
        }
        let resumed = rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"));
        let (whole, since) = match resumed {
            Some((_, end)) => {
                let (begin, since) = self.pending.remove(process).expect(line);
                (format!("{begin}{end}"), since)
            }
            None => (rest.to_owned(), next),
        };
        if let Some((call, result)) = whole.rsplit_once(" = ") {
            let (name, arguments) = call.trim_end().split_once('(').expect(line);
            let arguments = arguments.trim_end_matches(')').split(", ").collect::<Vec<_>>();
            if !result.starts_with('-') && !result.starts_with('?') {
                let meant = self.meant(name, &arguments, result, since);
                self.calls.extend(meant);
            }
        }
    }

    fn meant(&mut self, name: &str, with: &[&str], result: &str, since: usize) -> Option<Call> {
        let number = |text: &str| text.parse::<usize>().expect(text);
        let call = match name {
            "open" => return self.opened(&path(None, with[0]), with[1], result),
            "openat" => return self.opened(&path(Some(with[0]), with[1]), with[2], result),
            "read" | "lseek" => {
                let file = descriptor(with[0]);
                let length = number(result.split(' ').next().unwrap_or_default());
                if let Some(Place::Byte(at)) = self.positions.get_mut(&file) {
                    *at = if name == "read" { *at + length } else { length };
                }
                return None;
            }
            "write" if descriptor(with[0]).0 == self.stdout => return Some(Call::Print),
            "write" => {
                let file = descriptor(with[0]);
                if !self.is_on_disk(&file.0) {
                    return None;
                }
                let written = number(result);
                let place = self.positions.get_mut(&file).expect("it was opened to write");
                let (at, bytes) = (*place, bytes(with[1])[..written].to_vec());
                if let Place::Byte(at) = place {
                    *at += written;
                }
                Call::Write { path: file.0, place: at, bytes }
            }
            "pwrite64" => {
                let (path, place) = (descriptor(with[0]).0, Place::Byte(number(with[3])));
                Call::Write { path, place, bytes: bytes(with[1])[..number(result)].to_vec() }
            }
            "ftruncate" => Call::Truncate { path: descriptor(with[0]).0, length: number(with[1]) },
            "fsync" | "fdatasync" => Call::Sync { path: descriptor(with[0]).0, since },
            "mkdir" => Call::MakeFolder { path: path(None, with[0]) },
            "mkdirat" => Call::MakeFolder { path: path(Some(with[0]), with[1]) },
            "unlink" | "rmdir" => Call::Remove { path: path(None, with[0]) },
            "unlinkat" => Call::Remove { path: path(Some(with[0]), with[1]) },
            "rename" => Call::Rename { from: path(None, with[0]), to: path(None, with[1]) },
            "renameat" | "renameat2" => {
                let (from, to) = (path(Some(with[0]), with[1]), path(Some(with[2]), with[3]));
                Call::Rename { from, to }
            }
            "link" => Call::Link { from: path(None, with[0]), to: path(None, with[1]) },
            "linkat" => {
                let (from, to) = (path(Some(with[0]), with[1]), path(Some(with[2]), with[3]));
                Call::Link { from, to }
            }
            "mmap" => {
                let writes = with[2].contains("PROT_WRITE") && with[3].contains("MAP_SHARED");
                let file = if writes && !with[3].contains("ANONYMOUS") { with[4] } else { "" };
                // The index of SQLite's log is never durable: whoever comes first makes it anew.
                let is_known =
                    file.is_empty() || descriptor(file).0.to_string_lossy().ends_with("-shm");
                assert!(is_known || !self.is_on_disk(&descriptor(file).0), "mmap of {file}");
                return None;
            }
            other => {
                let about = with.iter().filter(|text| text.contains('<'));
                let is_seen = about.into_iter().any(|text| self.is_on_disk(&descriptor(text).0));
                assert!(!is_seen, "{other} of a file on the disk is not known: {with:?}");
                return None;
            }
        };
        if self.is_on_disk(call.path()) { Some(call) } else { None }
    }

    fn opened(&mut self, path: &Path, flags: &str, result: &str) -> Option<Call> {
        if !self.is_on_disk(path) || flags.contains("O_DIRECTORY") {
            return None;
        }
        assert!(!flags.contains("O_TMPFILE"), "a file without a name is not known");
        let place = if flags.contains("O_APPEND") { Place::End } else { Place::Byte(0) };
        self.positions.insert(descriptor(result), place);
        let (creates, cut) = (flags.contains("O_CREAT"), flags.contains("O_TRUNC"));
        if creates || cut { Some(Call::Open { path: path.to_owned(), cut }) } else { None }
    }

    fn is_on_disk(&self, path: &Path) -> bool {
        path.starts_with(self.root)
    }
}

impl Call {
    /// The file or folder that it is about.
    fn path(&self) -> &Path {
        match self {
            Self::Open { path, .. }
            | Self::MakeFolder { path }
            | Self::Write { path, .. }
            | Self::Truncate { path, .. }
            | Self::Sync { path, .. }
            | Self::Remove { path }
            | Self::Link { to: path, .. }
            | Self::Rename { to: path, .. } => path,
            Self::Print => Path::new(""),
        }
    }
}

/// The bytes of `"\x2f\x74"`.
fn bytes(text: &str) -> Vec<u8> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let inner = inner.unwrap_or_else(|| panic!("a whole string is expected: {text}"));
    unescaped(inner)
}

fn unescaped(text: &str) -> Vec<u8> {
    let digits = text.split("\\x").skip(1);
    digits.map(|digits| u8::from_str_radix(digits, 16).expect(text)).collect()
}

/// The path and the number of `4<\x2f\x74>`.
fn descriptor(text: &str) -> (PathBuf, u64) {
    let (number, path) = text.split_once('<').unwrap_or((text, ""));
    let path = path.split('>').next().unwrap_or_default();
    (PathBuf::from(OsString::from_vec(unescaped(path))), number.parse().unwrap_or(u64::MAX))
}

/// A path, seen from a folder that is open.
fn path(folder: Option<&str>, text: &str) -> PathBuf {
    let path = PathBuf::from(OsString::from_vec(bytes(text)));
    let folder = folder.map(|folder| descriptor(folder).0).unwrap_or_default();
    let mut plain = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn calls_are_read_in_the_order_of_their_ends() {
    let hex = |text: &str| text.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>();
    let (file, folder) = (hex("/d/f"), hex("/d"));
    let text = format!(
        "7  openat(AT_FDCWD<{folder}>, \"{}\", O_WRONLY|O_CREAT|O_CLOEXEC, 0600) = 3<{file}>\n\
         7  write(3<{file}>, \"\\x61\\x62\", 2) = 2\n\
         7  fsync(3<{file}> <unfinished ...>\n\
         8  pwrite64(4<{file}>, \"\\x63\", 1, 9) = 1\n\
         7  <... fsync resumed>)        = 0\n\
         7  write(3<{file}>, \"\\x64\", 1) = 1\n\
         7  unlink(\"{}\") = -1 ENOENT (No such file or directory)\n\
         7  renameat(AT_FDCWD<{folder}>, \"{file}\", AT_FDCWD<{folder}>, \"{}\") = 0\n\
         7  write(1<{}>, \"\\x64\", 1) = 1\n\
         7  +++ exited with 0 +++\n",
        hex("f"),
        hex("/d/g"),
        hex("/d/h"),
        hex("/out"),
    );
    let path = PathBuf::from("/d/f");
    let write = |at: usize, text: &str| Call::Write {
        path: path.clone(),
        place: Place::Byte(at),
        bytes: text.into(),
    };
    let expected = [
        Call::Open { path: path.clone(), cut: false },
        write(0, "ab"),
        write(9, "c"),
        // It does not cover the write that came while it was under way.
        Call::Sync { path: path.clone(), since: 12 },
        write(2, "d"),
        Call::Rename { from: path.clone(), to: "/d/h".into() },
        Call::Print,
    ];
    assert_eq!(calls(&text, Path::new("/d"), Path::new("/out"), 10), expected);
}
