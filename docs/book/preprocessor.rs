//! A preprocessor for mdBook: puts the pages that are made from gate itself into the book.
//!
//! `docs/book/book.toml` starts it. It is an example of the program's crate, so `mdbook build docs/book`
//! builds it first and needs no other tool.

#![allow(clippy::print_stdout, reason = "mdBook reads the book from there")]

mod pages;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use self::pages::Failure;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn main() -> Result<ExitCode, Failure> {
    // The library prints its help and does not return it, so this program calls itself as gate.
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "gate") {
        return Ok(gate_cli::run(arguments));
    }
    let (_context, mut book): (Value, Value) = serde_json::from_reader(std::io::stdin())?;
    pages::insert(&mut book, &pages::all(Path::new(ROOT), &gate)?);
    println!("{book}");
    Ok(ExitCode::SUCCESS)
}

/// What gate prints when it is called with these words.
fn gate(words: &str) -> Result<String, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("gate").args(words.split_whitespace());
    // A variable could set colours or a width.
    let output = command.env_clear().stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("gate {words}: {message}").into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
