//! The table: each line a comparison, what it has to hold, and whether it does.

use std::time::Duration;

use crate::program::{Program, in_turns};

/// What a comparison has to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    /// Gate is at least so many times as fast.
    Faster(f64),
    /// Gate takes at most so many times as long.
    Longer(f64),
    /// Nothing: it is there to be known.
    Known,
}

/// Two programs that are held against each other.
pub(crate) struct Comparison {
    /// What is compared.
    pub(crate) what: String,
    /// Gate.
    pub(crate) gate: Program,
    /// What it is held against.
    pub(crate) other: Program,
    /// What has to hold.
    pub(crate) bar: Bar,
    /// How often each runs.
    pub(crate) times: usize,
}

/// Prints the heads of the columns.
pub(crate) fn head() {
    println!("{:<58}{:>12}{:>12}{:>9}{:>10}  holds", "", "gate", "other", "ratio", "bar");
}

impl Comparison {
    /// Runs both, and prints the line.
    pub(crate) fn print(&self) {
        let what = format!("{} : {}", self.what, self.other.name());
        if !self.other.is_there() {
            return println!("{what:<58}  not installed");
        }
        let (gate, other) = in_turns(&self.gate, &self.other, self.times);
        let (ratio, bar, holds) = self.bar.of(gate, other);
        println!("{what:<58}{:>12}{:>12}{ratio:>9.2}{bar:>10}  {holds}", shown(gate), shown(other));
    }
}

impl Bar {
    /// The ratio, what it has to be, and whether it is.
    fn of(self, gate: Duration, other: Duration) -> (f64, String, &'static str) {
        let (gate, other) = (gate.as_secs_f64(), other.as_secs_f64());
        match self {
            Self::Faster(least) => {
                (other / gate, format!(">= {least}"), holds(other / gate >= least))
            }
            Self::Longer(most) => (gate / other, format!("<= {most}"), holds(gate / other <= most)),
            Self::Known => (other / gate, String::new(), ""),
        }
    }
}

/// Prints how much memory a program held, and whether that is little enough.
pub(crate) fn memory(what: &str, program: &Program, most: u64) {
    let Some(held) = program.memory() else {
        return println!("{what:<58}  the system does not tell");
    };
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let bar = format!("< {}", most >> 20);
    println!("{what:<58}{:>12}{:>12}{:>9}{bar:>10}  {}", mib(held), "", "", holds(held < most));
}

fn holds(it: bool) -> &'static str {
    if it { "yes" } else { "NO" }
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
