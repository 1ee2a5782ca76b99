//! Inputs that are made to be slow: whoever looks at something twice for each
//! time that it stands there takes four times as long for twice as much.

use std::io::{self, Write};

/// A hostile input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hostile {
    /// What it is.
    pub(crate) name: &'static str,
    /// What it holds again and again.
    again: &'static str,
    /// How often, in the single size.
    times: usize,
}

const MILLION: usize = 1_000_000;

/// All of them.
pub(crate) const ALL: [Hostile; 7] = [
    Hostile { name: "tags that are never closed", again: "<promise>", times: MILLION },
    Hostile { name: "quotes within quotes", again: "> \"'`", times: MILLION },
    Hostile {
        name: "a million lines that are almost a signal",
        again: "EXIT_STATUS: {COMPLETE|CONTINUE}\n",
        times: MILLION,
    },
    Hostile {
        name: "signals between lines that sound like open work",
        again: "<promise>COMPLETE</promise>\nThe queue was still open when nobody had pending tasks, \
                so we kept what remains of the next steps, as the tests would fail without a task \
                that is left.\n",
        times: 10_000,
    },
    Hostile { name: "a million short lines", again: "a\n", times: MILLION },
    Hostile { name: "one line of phrases", again: "all tasks are not yet ", times: MILLION },
    Hostile { name: "braces that are never closed", again: "{\"type\":", times: MILLION },
];

impl Hostile {
    /// Writes it, so many times as long.
    pub(crate) fn write(self, long: usize, to: &mut impl Write) -> io::Result<()> {
        (0..self.times * long).try_for_each(|_| to.write_all(self.again.as_bytes()))?;
        to.write_all(b"\n")
    }
}
