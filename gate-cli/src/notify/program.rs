//! Hands a message to a program.

use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use gate_platform::{end_group, lead_group};

use super::{Problem, TIMEOUT};

/// The pause between two looks at a program that runs.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Runs a program with the message on its standard input. It counts as sent if the program
/// ends with code 0 in time.
pub(super) fn run(
    program: &str,
    args: &[String],
    folder: &Path,
    text: &str,
) -> Result<(), Problem> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = lead_group(&mut command).spawn().map_err(|error| Problem {
        is_passing: !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied),
        message: format!("it cannot be started: {error}"),
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input may still do its work.
        let _ = stdin.write_all(text.as_bytes());
    }
    let until = Instant::now() + TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(passing(format!("it ended with {status}"))),
            Ok(None) if Instant::now() < until => thread::sleep(POLL_INTERVAL),
            Ok(None) => {
                kill_group(&mut child);
                return Err(passing(format!("it did not end within {} s", TIMEOUT.as_secs())));
            }
            Err(error) => return Err(passing(error.to_string())),
        }
    }
}

fn passing(message: String) -> Problem {
    Problem { message, is_passing: true }
}

/// Kills a program and the processes that it started.
fn kill_group(child: &mut Child) {
    end_group(child.id());
    let _ = child.wait();
}
