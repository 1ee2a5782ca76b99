//! Prepares what gate would otherwise do at each of its starts: its own
//! expressions and those of the shipped packs become automata, the embedded
//! settings and packs become Rust.
//!
//! A start of gate is to cost little more than an empty program; compiling
//! fifty expressions costs twenty times as much. `decide/expression/` reads
//! what is made here, and so does `config/`. Nothing has to be listed: the
//! expressions are found in the sources and in `patterns/`.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::panic,
    reason = "a build script reads, writes, tells cargo, and stops where something is wrong"
)]

mod automaton;
#[allow(dead_code, unreachable_pub, reason = "the core uses the rest")]
#[path = "../src/decide/expression/dialect.rs"]
mod dialect;
mod embedded;
mod expressions;
mod integrity;
#[allow(dead_code, reason = "the core uses the rest")]
#[path = "../src/decide/literal.rs"]
mod literal;
mod states;
mod table;

use std::path::PathBuf;
use std::{env, fs};

use embedded::Pack;

/// The packs that feed the circuit breaker. Settings cannot name them, and
/// their expressions are read as gate's own are.
const OF_BREAKER: [&str; 2] = ["errors", "limits"];

/// The pack of rules about changes.
const OF_CHANGES: &str = "integrity";

fn main() {
    let from = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the folder"));
    let to = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    for read in ["build", "src/decide", "src/integrity", "src/config/default.toml", "patterns"] {
        println!("cargo::rerun-if-changed={read}");
    }
    let packs = embedded::packs(&from.join("patterns"));
    let of_changes = |pack: &Pack| pack.name == OF_CHANGES;
    let (changes, packs): (Vec<_>, Vec<_>) = packs.into_iter().partition(of_changes);
    let of_breaker = |pack: &Pack| OF_BREAKER.contains(&pack.name.as_str());
    let (breaker, packs): (Vec<_>, Vec<_>) = packs.into_iter().partition(of_breaker);
    let own = ["src/decide", "src/integrity"].map(|it| expressions::own(&from.join(it))).concat();
    let of_packs = packs.iter().flat_map(expressions::of_pack);
    let of_breaker = breaker.iter().flat_map(expressions::of_breaker);
    let of_changes = changes.iter().flat_map(integrity::expressions);
    let all = own.into_iter().chain(of_packs).chain(of_breaker).chain(of_changes).collect();
    let write = |name: &str, bytes: &[u8]| fs::write(to.join(name), bytes).expect("it is written");
    write("prepared.bin", &expressions::prepare(all));
    let default = embedded::default(&from.join("src/config/default.toml"));
    write("shipped.rs", (default + &embedded::shipped(&packs)).as_bytes());
    write("breaker.rs", embedded::statics(&breaker).as_bytes());
    let rules: String = changes.iter().map(integrity::rules).collect();
    write("integrity.rs", rules.as_bytes());
}
