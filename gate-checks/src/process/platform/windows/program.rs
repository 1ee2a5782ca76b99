//! The file of a program by its name, as a shell finds it: `npm` is `npm.cmd`.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use which::which_in;

/// The options of `cmd` before a line that it takes as it is, between two quotes.
const CMD: [&str; 3] = ["/d", "/s", "/c"];

/// The name of the program that reads a line of the settings.
const BASH: &str = "bash";

/// A program with its arguments, the first word being its file.
///
/// A line for bash is one for `cmd` if no bash is installed. Git for Windows has a bash and other
/// tools of Unix, and puts only git itself into `PATH`: they are found beside it.
///
/// # Errors
///
/// A program that is not found in the `PATH` of the environment.
pub(super) fn resolved(
    argv: &[String],
    environment: &[(String, String)],
    folder: &Path,
) -> io::Result<Vec<OsString>> {
    let path = environment.iter().find(|(name, _)| name.eq_ignore_ascii_case("PATH"));
    let path = path.map(|(_, value)| value.as_str());
    let [program, args @ ..] = argv else { return Err(io::ErrorKind::InvalidInput.into()) };
    let file = which_in(program, path, folder).ok().filter(|file| !is_other_bash(file));
    let file = file.or_else(|| beside_git(program, path?, folder));
    if file.is_none()
        && program == BASH
        && let [.., dash, line] = args
        && dash == "-c"
    {
        let words = ["cmd"].into_iter().chain(CMD).map(OsString::from);
        return Ok(words.chain([line.into()]).collect());
    }
    let file = file.ok_or_else(|| {
        let message = format!("{program}: no such program in PATH");
        io::Error::new(io::ErrorKind::NotFound, message)
    })?;
    Ok([file.into_os_string()].into_iter().chain(args.iter().map(OsString::from)).collect())
}

/// A bash in the system's folder starts another system.
fn is_other_bash(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name).and_then(OsStr::to_str);
    file.file_stem().is_some_and(|name| name == BASH)
        && folder.is_some_and(|name| name.eq_ignore_ascii_case("System32"))
}

/// A program that comes with git, whose own file is in `cmd` or `bin` of its folder.
fn beside_git(program: &str, path: &str, folder: &Path) -> Option<PathBuf> {
    let git = which_in("git", Some(path), folder).ok()?;
    let installed = git.parent()?.parent()?;
    let folders = ["bin", r"usr\bin"].map(|name| installed.join(name));
    let places = std::env::join_paths(folders).ok()?;
    which_in(program, Some(places), folder).ok()
}

/// The command of a program with its arguments. `cmd` gets its line as it is: it has no escape for
/// quotes.
pub(super) fn command(argv: &[OsString]) -> Command {
    let mut command = Command::new(&argv[0]);
    match &argv[1..] {
        [d, s, c, line] if [d, s, c].into_iter().eq(CMD.iter()) => {
            let mut quoted = OsString::from("\"");
            quoted.push(line);
            quoted.push("\"");
            command.args(CMD).raw_arg(quoted);
        }
        args => {
            command.args(args);
        }
    }
    command
}
