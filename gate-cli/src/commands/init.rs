//! `gate init`: a commented gate.toml, or a loop around an agent.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use super::{DONE, Here, print};
use crate::args::{Init, Language};
use crate::failure::Failure;

/// What `gate init` writes.
struct Template {
    file: &'static str,
    text: &'static str,
    executable: bool,
    next: &'static str,
}

const SETTINGS: Template = Template {
    file: "gate.toml",
    text: include_str!("../templates/gate.toml"),
    executable: false,
    next: "put `gate prompt` into your agent's prompt, then `gate check OUTPUT`",
};

const BASH: Template = Template {
    file: "gate-loop.sh",
    text: include_str!("../templates/gate-loop.sh"),
    executable: true,
    next: "./gate-loop.sh PROMPT.md AGENT [ARGS…]",
};

const PYTHON: Template = Template {
    file: "gate-loop.py",
    text: include_str!("../templates/gate-loop.py"),
    executable: true,
    next: "./gate-loop.py PROMPT.md AGENT [ARGS…]",
};

pub(super) fn run(here: &Here, args: &Init) -> Result<u8, Failure> {
    let template = match args.language {
        None => SETTINGS,
        Some(Language::Bash) => BASH,
        Some(Language::Python) => PYTHON,
    };
    let file = here.places.folder.join(template.file);
    write(&file, &template)?;
    print(&format!("wrote {}\nnext: {}\n", file.display(), template.next))?;
    Ok(DONE)
}

/// Never over a file that is there.
fn write(file: &Path, template: &Template) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    executable(&mut options, template.executable);
    let written = options.open(file).and_then(|mut file| file.write_all(template.text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(
            "file-exists",
            format!("{} exists already; it was not touched", file.display()),
        ),
        _ => Failure::file("file-unwritable", "write", file, &error),
    })
}

#[cfg(unix)]
fn executable(options: &mut OpenOptions, yes: bool) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(if yes { 0o755 } else { 0o644 });
}

#[cfg(not(unix))]
fn executable(_: &mut OpenOptions, _: bool) {}
