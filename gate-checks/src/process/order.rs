//! The order of gate to the process that starts a job, as its arguments.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::confine::Confinement;

/// The job that the supervisor runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Time between SIGTERM and SIGKILL, for a job of a session: its process is reported
    /// and waits for a byte, and processes that it leaves running stay until gate ends
    /// them. `None` for other jobs, which have [`GRACE`](super::GRACE).
    pub(super) grace: Option<Duration>,
    /// File for the job's standard input; empty without one.
    pub(super) stdin: Option<PathBuf>,
    /// Most memory of the job's processes together, in bytes.
    pub(super) memory: Option<u64>,
    /// The job's processes get less of the processor than others.
    pub(super) is_low_priority: bool,
    /// The limits of a job that must not carry anything out.
    pub(super) confinement: Option<Confinement>,
    /// The job's program and its arguments.
    pub(super) argv: Vec<OsString>,
}

impl Order {
    /// The order to run a program, without anything else.
    pub(super) fn new(argv: Vec<OsString>) -> Self {
        Self {
            grace: None,
            stdin: None,
            memory: None,
            is_low_priority: false,
            confinement: None,
            argv,
        }
    }

    /// Writes the order as arguments: `[--grace MS] [--stdin FILE] [--memory BYTES]
    /// [--low-priority] [--confine FOLDER [--namespaces] [--hide FOLDER]…] -- PROGRAM ARGS…`.
    pub(super) fn args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        if let Some(grace) = self.grace {
            args.extend(["--grace".into(), grace.as_millis().to_string().into()]);
        }
        if let Some(file) = &self.stdin {
            args.extend(["--stdin".into(), file.into()]);
        }
        if let Some(bytes) = self.memory {
            args.extend(["--memory".into(), bytes.to_string().into()]);
        }
        if self.is_low_priority {
            args.push("--low-priority".into());
        }
        if let Some(confinement) = &self.confinement {
            args.extend(["--confine".into(), confinement.folder.clone().into()]);
            if confinement.has_namespaces {
                args.push("--namespaces".into());
            }
            for folder in &confinement.hidden {
                args.extend(["--hide".into(), folder.clone().into()]);
            }
        }
        args.push("--".into());
        args.extend(self.argv.iter().cloned());
        args
    }

    /// The standard input of the job.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened.
    pub(super) fn stdin(&self) -> io::Result<Stdio> {
        match &self.stdin {
            Some(file) => File::open(file).map(Stdio::from),
            None => Ok(Stdio::null()),
        }
    }

    /// Reads the order from arguments.
    pub(super) fn parse(args: &[OsString]) -> Option<Self> {
        let mut order = Self::new(Vec::new());
        let mut words = args.iter();
        loop {
            match words.next()?.to_str()? {
                "--grace" => order.grace = Some(Duration::from_millis(number(words.next()?)?)),
                "--stdin" => order.stdin = Some(words.next()?.into()),
                "--memory" => order.memory = Some(number(words.next()?)?),
                "--low-priority" => order.is_low_priority = true,
                "--confine" => {
                    order.confinement = Some(Confinement {
                        folder: words.next()?.into(),
                        hidden: Vec::new(),
                        has_namespaces: false,
                    });
                }
                "--namespaces" => order.confinement.as_mut()?.has_namespaces = true,
                "--hide" => order.confinement.as_mut()?.hidden.push(words.next()?.into()),
                "--" => break,
                _ => return None,
            }
        }
        order.argv = words.cloned().collect();
        (!order.argv.is_empty()).then_some(order)
    }
}

fn number(word: &OsString) -> Option<u64> {
    word.to_str()?.parse().ok()
}
