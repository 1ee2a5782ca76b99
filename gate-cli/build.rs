//! How the program `gate` is linked.
//!
//! A start of gate is to cost little more than that of an empty program, and a
//! third of it was the loader's work on a program that may lie anywhere: it
//! writes each address in the program's tables, and each page that it writes is
//! copied. Linked for one place the program needs none of that. Its libraries,
//! its heap and its stack lie anywhere as before. Said here it holds for this one
//! program, however it is built, and no dependency has to be built again.
//!
//! The library that unwinds the stack after a panic is one more to be loaded;
//! where the linker has it as an archive, it becomes a part of the program.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script asks cargo, and tells it"
)]

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=gate=-no-pie");
        if has_archive("libgcc_eh.a") {
            println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
        }
    }
}

/// Whether the linker finds an archive. It answers with a path where it does,
/// else with the name.
fn has_archive(name: &str) -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name={name}")).output();
    answer.is_ok_and(|answer| {
        let path = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        Path::new(&path).is_absolute() && Path::new(&path).exists()
    })
}
