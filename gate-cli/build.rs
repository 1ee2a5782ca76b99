//! How the program `gate` is linked.
//!
//! A start of gate is to cost little more than that of an empty program, and a
//! third of it was the loader's work on a program that may lie anywhere: it
//! writes each address in the program's tables, and each page that it writes is
//! copied. Linked for one place the program needs none of that. Its libraries,
//! its heap and its stack lie anywhere as before. Said here it holds for this one
//! program, however it is built, and no dependency has to be built again.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a build script asks cargo, and tells it"
)]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|it| it == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bin=gate=-no-pie");
    }
}
