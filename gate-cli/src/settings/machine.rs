//! The settings of the machine. They win over those of everybody who works on it, so the file has
//! to be root's, as sudo requires for sudoers: a user who could write it, or a folder above it,
//! could take a lock away.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use gate_core::config::{Layer, MAX_SETTINGS_BYTES, Origin};
use gate_platform::{MetadataExt, NON_BLOCKING, OpenOptionsExt, RealPath};

use super::unreadable;
use crate::failure::Failure;

/// The user who may write the file.
const ROOT: u32 = 0;

/// The bits of a mode that let the group or others write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The bit of a folder in which only its owner renames or removes a file.
const STICKY: u32 = 0o1000;

/// The settings in this file; `None` if there is no such file.
///
/// # Errors
///
/// A file that others than root could change, that cannot be read, or that is wrong.
pub(super) fn layer(file: &Path) -> Result<Option<Layer>, Failure> {
    layer_owned_by(file, ROOT)
}

fn layer_owned_by(file: &Path, owner: u32) -> Result<Option<Layer>, Failure> {
    let open_file = match open(file) {
        Ok(open_file) => open_file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(file, &error)),
    };
    // Looked up on the open file: at its path another one may stand by now.
    let metadata = open_file.metadata().map_err(|error| unreadable(file, &error))?;
    if !metadata.is_file() {
        return Err(unsafe_file(file, file, "is no file"));
    }
    check_protected(file, file, &metadata, owner)?;
    check_folders(file, owner)?;
    let mut text = String::new();
    // One byte more shows the parser that the file is too long.
    let max_bytes = MAX_SETTINGS_BYTES as u64 + 1;
    open_file
        .take(max_bytes)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(file, &error))?;
    Ok(Some(Layer::parse(Origin::Machine(file.to_owned()), &text)?))
}

/// Nobody but root can change a file, or put another one in its place.
pub(crate) fn is_protected(file: &Path) -> bool {
    let check = file
        .metadata()
        .map_err(|error| unreadable(file, &error))
        .and_then(|metadata| check_protected(file, file, &metadata, ROOT))
        .and_then(|()| check_folders(file, ROOT));
    check.is_ok()
}

/// Opens a file without waiting for the other end of a pipe.
fn open(file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(file)
}

/// Checks the folders above a file, and those above the file that a link leads to.
fn check_folders(file: &Path, owner: u32) -> Result<(), Failure> {
    let target = file.real_path().map_err(|error| unreadable(file, &error))?;
    for folder in [file, &target].into_iter().flat_map(|file| file.ancestors().skip(1)) {
        // Nobody replaces the root of a file system.
        if folder.parent().is_none() {
            continue;
        }
        let metadata = folder.metadata().map_err(|error| unreadable(folder, &error))?;
        check_protected(file, folder, &metadata, owner)?;
    }
    Ok(())
}

/// Fails if others than the owner and root could change the file by way of this path: the file's own,
/// or that of a folder above it.
fn check_protected(
    file: &Path,
    path: &Path,
    metadata: &Metadata,
    owner: u32,
) -> Result<(), Failure> {
    let (uid, mode) = (metadata.uid(), metadata.mode());
    if uid != owner && uid != ROOT {
        return Err(unsafe_file(file, path, &format!("belongs to user {uid}, not to root"))
            .hint(format!("chown root {}", path.display())));
    }
    let is_sticky = metadata.is_dir() && mode & STICKY != 0;
    if mode & WRITABLE_BY_OTHERS != 0 && !is_sticky {
        let problem = format!("can be written by others than its owner (mode {:o})", mode & 0o7777);
        return Err(
            unsafe_file(file, path, &problem).hint(format!("chmod go-w {}", path.display()))
        );
    }
    Ok(())
}

fn unsafe_file(file: &Path, path: &Path, problem: &str) -> Failure {
    let message = format!("the machine's settings are not safe: {} {problem}", path.display());
    let failure = Failure::usage("machine-settings-unsafe", message);
    Failure { file: Some(file.display().to_string()), ..failure }
}

#[cfg(test)]
mod tests {
    use gate_platform::{PermissionsExt, symlink};
    use std::fs::{self, Permissions};
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A file `etc/gate.toml` of the user who runs the tests.
    fn settings(text: &str) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("etc/gate.toml");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        for path in [&file, file.parent().unwrap()] {
            let mode = path.metadata().unwrap().permissions().mode() & !WRITABLE_BY_OTHERS;
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }
        (folder, file)
    }

    fn own_layer(file: &Path) -> Result<Option<Layer>, Failure> {
        layer_owned_by(file, rustix::process::getuid().as_raw())
    }

    fn message(file: &Path) -> String {
        let failure = own_layer(file).unwrap_err();
        assert_eq!((failure.exit_code, failure.code.as_str()), (2, "machine-settings-unsafe"));
        failure.message
    }

    #[test]
    fn a_file_that_only_its_owner_writes_is_read() {
        let (folder, file) = settings("[breaker]\nno_exit = 7\n");
        let layer = own_layer(&file).unwrap().unwrap();
        assert_eq!(layer.origin(), &Origin::Machine(file.clone()));
        let link = folder.path().join("link.toml");
        symlink(&file, &link).unwrap();
        assert!(own_layer(&link).unwrap().is_some());
        assert_eq!(own_layer(&folder.path().join("absent/gate.toml")).unwrap(), None);
    }

    #[test]
    fn one_that_others_could_change_is_refused() {
        let (_folder, file) = settings("");
        let set_mode = |path: &Path, mode| {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        for mode in [0o664, 0o646] {
            set_mode(&file, mode);
            assert!(message(&file).contains(&format!("mode {mode:o}")), "{mode:o}");
        }
        set_mode(&file, 0o644);
        let etc = file.parent().unwrap();
        for (mode, is_safe) in [(0o775, false), (0o757, false), (0o1777, true), (0o755, true)] {
            set_mode(etc, mode);
            assert_eq!(own_layer(&file).is_ok(), is_safe, "{mode:o}");
        }
        set_mode(etc, 0o757);
        let second_folder = tempfile::tempdir().unwrap();
        let link = second_folder.path().join("gate.toml");
        symlink(&file, &link).unwrap();
        assert!(message(&link).contains("mode 757"), "the folder that a link leads to");
    }

    #[test]
    fn the_file_of_somebody_else_is_refused() {
        let (_folder, file) = settings("");
        let metadata = file.metadata().unwrap();
        let checked = check_protected(&file, &file, &metadata, metadata.uid() + 1);
        if metadata.uid() == ROOT {
            assert!(checked.is_ok(), "root may always");
        } else {
            assert!(checked.unwrap_err().message.contains("not to root"));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_or_a_pipe_is_no_file() {
        let (folder, file) = settings("");
        assert!(message(file.parent().unwrap()).contains("is no file"));
        let pipe = folder.path().join("pipe");
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, rustix::fs::Mode::from(0o600), 0)
            .unwrap();
        assert!(message(&pipe).contains("is no file"), "and nobody waits for it");
    }
}
