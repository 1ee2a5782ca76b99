//! The standard output of commands that print line after line. A reader that has seen enough closes
//! it: that ends the command, and is no error.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use gate_core::Failure;
use gate_platform::wait_for_reader_to_go;

use crate::fitted;

/// The wait between two looks for something new.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A break tells that the reader has gone.
pub type Flow = ControlFlow<()>;

/// Lines on the standard output.
pub struct Lines {
    out: BufWriter<Box<dyn Write>>,
    /// A program reads the lines, and no person.
    for_program: bool,
}

impl Lines {
    /// For a program every byte as it is; for a person no line is longer than the terminal, and
    /// colours only where they can be seen.
    pub fn new(for_program: bool) -> Self {
        let out: Box<dyn Write> = match for_program {
            true => Box::new(io::stdout().lock()),
            false => Box::new(anstream::stdout().lock()),
        };
        Self { out: BufWriter::new(out), for_program }
    }

    /// Prints a line, now or a little later.
    pub fn line(&mut self, line: &str) -> Result<Flow, Failure> {
        let line = if self.for_program { Cow::Borrowed(line) } else { fitted(line).into() };
        let out = &mut self.out;
        flow(out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")))
    }

    /// Prints the buffered lines now.
    pub fn flush(&mut self) -> Result<Flow, Failure> {
        flow(self.out.flush())
    }

    /// Waits a little, or until nobody reads on: a reader may go while there is nothing to print.
    pub fn wait(&self) -> Result<Flow, Failure> {
        match wait_for_reader_to_go(&io::stdout(), POLL_INTERVAL) {
            Ok(false) => Ok(Flow::Continue(())),
            Ok(true) => Ok(Flow::Break(())),
            Err(error) => Err(Failure::output(&error)),
        }
    }
}

fn flow(result: io::Result<()>) -> Result<Flow, Failure> {
    match result {
        Ok(()) => Ok(Flow::Continue(())),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Flow::Break(())),
        Err(error) => Err(Failure::output(&error)),
    }
}
