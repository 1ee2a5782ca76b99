//! `gate version`: which gate this is, down to its bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use gate_checks::process::program_link;
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::failure::Failure;
use crate::record::VERSION;
use crate::render::{self, print};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Version {
    /// Print the file that runs, and the digest of its bytes.
    #[arg(long)]
    pub(crate) digest: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Bytes of the program that are read at once.
const BLOCK_BYTES: usize = 1 << 20;

/// `gate.version.v1`: which gate this is.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VersionRecord {
    /// Always `gate.version.v1`.
    pub schema: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The file that runs; with `--digest`.
    pub program: Option<String>,
    /// The digest of its bytes, as `blake3:` and 64 hexadecimal digits; with `--digest`.
    pub digest: Option<String>,
}

pub(super) fn run(args: &Version) -> Result<u8, Failure> {
    let program = args.digest.then(program).transpose()?;
    let (program, digest) = program.unzip();
    let program = program.map(|path| path.display().to_string());
    let record = VersionRecord { schema: "gate.version.v1", version: VERSION, program, digest };
    print(&if args.json { render::json(&record)? } else { card(&record) })?;
    Ok(DONE)
}

fn card(record: &VersionRecord) -> String {
    let lines = [Some(format!("gate {}", record.version))];
    let lines = lines.into_iter().chain([record.program.clone(), record.digest.clone()]);
    lines.flatten().map(|line| line + "\n").collect()
}

/// The running program and the digest of its bytes: of those that run, even if the file was
/// replaced since.
fn program() -> Result<(PathBuf, String), Failure> {
    let path = std::env::current_exe().map_err(|error| unknown(&error))?;
    let running = program_link(std::process::id() as i32);
    let file = File::open(&running).or_else(|_| File::open(&path));
    let digest = file.and_then(digest).map_err(|error| unknown(&error))?;
    Ok((path, digest))
}

fn digest(mut file: File) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(format!("blake3:{}", hasher.finalize().to_hex())),
            length => drop(hasher.update(&block[..length])),
        }
    }
}

fn unknown(error: &io::Error) -> Failure {
    Failure::internal("program-unknown", format!("the running program cannot be read: {error}"))
}
