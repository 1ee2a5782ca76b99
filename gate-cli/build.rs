//! How the program `gate` is linked.
//!
//! A start of gate is to cost little more than that of an empty program. What the
//! loader does for a program cost half of it, so there is to be nothing for it to
//! do:
//!
//! * The program is linked for one place. Where it may lie anywhere, each address
//!   in its tables is written at each start, and each page that is written is
//!   copied. Heap and stack lie anywhere as before.
//! * The C library is a part of it, where the linker has it as an archive
//!   (Debian's `libc6-dev`, Fedora's `glibc-static`). Then no library is
//!   looked for, and none that an agent's environment names is loaded.
//!
//! Said here it holds for this one program, however it is built, and no dependency
//! has to be built again: `-C target-feature=+crt-static` would need a target of
//! its own, because macros that are compiled cannot be linked that way.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script asks cargo, and tells it"
)]

use std::env;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The libraries that Rust's own one needs, and the archive of each: `gcc_s` is
/// the dynamic form of `gcc_eh`, which unwinds the stack after a panic.
const LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "gcc_eh"),
    ("c", "c"),
    ("m", "m"),
    ("rt", "rt"),
    ("pthread", "pthread"),
    ("util", "util"),
    ("dl", "dl"),
];

/// These need each other: GNU's linker has to look at them more than once.
const TOGETHER: &str = "-Wl,--start-group,-lgcc_s,-lgcc,-lc,--end-group";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    let is_static = env::var("CARGO_CFG_TARGET_FEATURE")
        .is_ok_and(|all| all.split(',').any(|it| it == "crt-static"));
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") || is_static {
        return;
    }
    println!("cargo::rustc-link-arg-bin=gate=-no-pie");
    let folder = Path::new(&asked("OUT_DIR")).join("archives");
    let alone = ["-static".to_owned(), format!("-L{}", folder.display()), TOGETHER.to_owned()];
    if collect(&folder).is_ok() && links(&alone) {
        for argument in alone {
            println!("cargo::rustc-link-arg-bin=gate={argument}");
        }
    } else if archive("gcc_eh").is_ok() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Makes a folder of the archives, under the names that rustc asks for. A linker
/// that looks there first finds nothing else: rustc asks for libraries that are
/// loaded, which an option alone does not change.
fn collect(folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (name, of) in LIBRARIES {
        let archive = archive(of)?;
        // Another version of the compiler may have it somewhere else.
        println!("cargo::rerun-if-changed={}", archive.display());
        symlink(archive, folder.join(format!("lib{name}.a")))?;
    }
    Ok(())
}

/// Where the linker finds an archive. It answers with a path where it does, else
/// with the name.
fn archive(name: &str) -> io::Result<PathBuf> {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name=lib{name}.a")).output()?;
    let path = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    if path.is_absolute() { path.canonicalize() } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Whether a small program can be linked with these arguments, as cargo has gate
/// linked: not every linker that is set takes them.
fn links(arguments: &[String]) -> bool {
    let mut rustc = Command::new(asked("RUSTC"));
    rustc.args(["-", "--crate-name=probe", "--crate-type=bin", "-Clink-arg=-no-pie"]);
    rustc.arg("-o").arg(Path::new(&asked("OUT_DIR")).join("probe"));
    rustc.arg("--target").arg(asked("TARGET"));
    rustc.args(arguments.iter().map(|argument| format!("-Clink-arg={argument}")));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let rustc = rustc.stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let linked = rustc.and_then(|mut rustc| {
        if let Some(mut source) = rustc.stdin.take() {
            source.write_all(b"fn main() { println!(\"{}\", std::env::args().count()); }")?;
        }
        rustc.wait()
    });
    linked.is_ok_and(|status| status.success())
}

/// What cargo says to each build script.
fn asked(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
