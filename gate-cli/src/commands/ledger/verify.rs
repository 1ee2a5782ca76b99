//! `gate ledger verify`: whether a ledger holds.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use gate_core::protocol::ledger::{Chain, Fault, LONGEST_LINE, Problem, Sealed};

use crate::args::Verify;
use crate::commands::{DONE, Here, entries::PAGE, log, print};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::render::{self, Verified, Wrong};
use crate::store::StoreError;

/// Exit code of a ledger that does not hold.
const BROKEN: u8 = 1;

pub(super) fn run(here: &Here, args: &Verify) -> Result<u8, Failure> {
    let chain = args.head.into_iter().fold(Chain::new(), Chain::against);
    let verified = match &args.file {
        Some(file) => exported(chain, here, file)?,
        None => recorded(chain, &mut log::opened(here)?)?,
    };
    print(&if args.json { render::json(&verified)? } else { render::verified_card(&verified) })?;
    Ok(if verified.ok { DONE } else { BROKEN })
}

/// Follows the chain through an export.
fn exported(mut chain: Chain, here: &Here, file: &Path) -> Result<Verified, Failure> {
    let followed = if file == Path::new("-") {
        lines(&mut io::stdin().lock(), &mut chain)
    } else {
        File::open(here.places.folder.join(file))
            .and_then(|file| lines(&mut BufReader::new(file), &mut chain))
    };
    let problem = followed.map_err(|error| {
        let failure = Failure::file("input-unreadable", "read the ledger", file, &error);
        Failure { exit_code: 2, ..failure }
    })?;
    Ok(Verified::new(&chain, problem.err().map(Wrong::from)))
}

fn lines(from: &mut impl BufRead, chain: &mut Chain) -> io::Result<Result<(), Problem>> {
    let mut line = Vec::new();
    // One byte more than a line may have: its end, or one too many.
    let longest = LONGEST_LINE as u64 + 1;
    while from.by_ref().take(longest).read_until(b'\n', &mut line)? > 0 {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if let Err(problem) = chain.push_line(&line) {
            return Ok(Err(problem));
        }
        line.clear();
    }
    Ok(Ok(()))
}

/// Follows the chain through the project's own ledger, up to the head that is
/// marked and on. Damage that the store finds is a problem like any other.
fn recorded(chain: Chain, memory: &mut Memory) -> Result<Verified, Failure> {
    let marked = memory.examine(|_, marked| Ok(marked))?;
    let mut chain = marked.into_iter().fold(chain, Chain::against);
    loop {
        let (page, damage) = page(memory, chain.head().seq + 1)?;
        let problem = page.iter().find_map(|sealed| chain.push(sealed).err());
        let wrong = problem.map(Wrong::from).or(damage.map(|wrong| behind(&chain, wrong)));
        if wrong.is_some() || page.len() < PAGE {
            return Ok(Verified::new(&chain, wrong));
        }
    }
}

/// Damage behind the records of a chain, where none is missing in between.
fn behind(chain: &Chain, damage: Wrong) -> Wrong {
    let seq = chain.head().seq + 1;
    match damage.seq {
        Some(found) if found > seq => Problem { seq, what: Fault::Number { found } }.into(),
        _ => damage,
    }
}

/// The next records, and what is wrong with the row behind them.
fn page(memory: &mut Memory, from: u64) -> Result<(Vec<Sealed>, Option<Wrong>), Failure> {
    memory.examine(|reading, _| match reading.entries(from, PAGE) {
        Err(error @ StoreError::Corrupt { .. }) => {
            let before = (0..PAGE).rev().find_map(|limit| reading.entries(from, limit).ok());
            Ok((before.unwrap_or_default(), Some(error.into())))
        }
        page => Ok((page?, None)),
    })
}
