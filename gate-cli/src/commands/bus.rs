//! `gate bus`: what runs and agents tell each other.

mod place;
mod post;
mod read;

use std::io::{self, IsTerminal, Read as _};

use super::common::DONE;
use crate::args::{self, Bus};
use crate::context::Here;
use crate::failure::Failure;
use crate::render::{self, print};

pub(super) use place::project;

/// The most that is read from the standard input, in bytes: what is longer than
/// a body may be is told so.
const LONGEST: u64 = 2 << 20;

pub(super) fn run(here: &Here, args: &Bus) -> Result<u8, Failure> {
    match args {
        Bus::Post(args) => post::run(here, args),
        Bus::Read(args) => read::run(here, args),
        Bus::Poll(args) => read::poll(here, args),
        Bus::Discover { place, json } => discover(here, place, *json),
    }
}

fn discover(here: &Here, place: &args::Place, json: bool) -> Result<u8, Failure> {
    let meant = place::meant(here, place, &place::caller(here, place)?)?;
    let there = meant.bus.path().is_file();
    let shown = meant.bus.path().display();
    print(&if json {
        render::json(&serde_json::json!({
            "bus": shown.to_string(), "exists": there,
            "project_id": meant.project_id, "task_id": meant.task_id,
        }))?
    } else {
        format!("{shown}{}\n", if there { "" } else { " (nothing was posted there yet)" })
    })?;
    Ok(DONE)
}

/// What a flag says, else the standard input.
pub(super) fn said(flag: Option<&str>, what: &str) -> Result<String, Failure> {
    if let Some(text) = flag {
        return Ok(text.to_owned());
    }
    let nothing = || {
        Failure::usage("usage", format!("there is no {what}"))
            .hint("give it with --body, or on the standard input")
    };
    if io::stdin().is_terminal() {
        return Err(nothing());
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(LONGEST).read_to_string(&mut text);
    read.map_err(|error| {
        Failure::usage("input-unreadable", format!("the {what} on the standard input: {error}"))
    })?;
    if text.trim().is_empty() { Err(nothing()) } else { Ok(text) }
}

impl Bus {
    /// Whether the answer is JSON.
    pub(super) fn json(&self) -> bool {
        match self {
            Self::Post(args) => args.json,
            Self::Read(args) => args.json,
            Self::Poll(args) => args.json,
            Self::Discover { json, .. } => *json,
        }
    }
}
