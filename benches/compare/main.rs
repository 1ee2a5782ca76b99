//! Gate beside what is installed: whole processes in turns, and one table of
//! ratios, each with the bar that it has to clear.
//!
//! `cargo bench --bench compare` reads 100 MB of each kind; `GATE_BENCH_LARGE=1`
//! adds 1 GB where memory and the last word are measured, and words after `--`
//! choose the parts: `cold`, `text`, `json`, `last`, `memory`, `replay`,
//! `hostile`. `benches/README.md` says what the figures are worth.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a bench that cannot go on fails; its figures are rounded"
)]

mod field;
mod hostile;
mod parts;
mod patterns;
mod program;
mod random;
mod speech;
mod table;
mod transcript;
mod typed;

use std::env;
use std::path::Path;

use field::Field;
use parts::PARTS;

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [first, file] = args.as_slice()
        && first == program::TYPED
    {
        return typed::run(Path::new(file));
    }
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let field = Field::new(folder.path());
    let asked = |name: &str| {
        let mut named =
            args.iter().filter(|arg| PARTS.iter().any(|(part, _)| arg == part)).peekable();
        named.peek().is_none() || named.any(|arg| arg == name)
    };
    table::head();
    for (name, part) in PARTS.iter().filter(|(name, _)| asked(name)) {
        println!("{name}");
        part(&field);
    }
}
