//! The program `gate`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gate_cli::run(std::env::args_os())
}
