//! The records of the project's ledger, page after page: one of any length
//! takes the memory of a page. Records never change, so that pages may be read
//! one by one while others append.

use gate_core::ledger::Sealed;

use crate::failure::Failure;
use crate::memory::Memory;
use gate_card::Flow;

/// Records that are read at once.
pub(super) const PAGE_RECORDS: usize = 64;

/// Shows every record from this number on, in order. Returns the number that
/// the next one will have, unless nobody wants to see more.
pub(super) fn each(
    memory: &mut Memory,
    first_seq: u64,
    mut show: impl FnMut(&Sealed) -> Result<Flow, Failure>,
) -> Result<Option<u64>, Failure> {
    let mut next_seq = first_seq;
    loop {
        let page = memory.view()?.entries(next_seq, PAGE_RECORDS)?;
        for sealed in &page {
            if show(sealed)?.is_break() {
                return Ok(None);
            }
            next_seq = sealed.record.seq.saturating_add(1);
        }
        if page.len() < PAGE_RECORDS {
            return Ok(Some(next_seq));
        }
    }
}

/// The number of the record with which the last `count` selected ones begin; the ledger's first if
/// there are fewer.
pub(super) fn start(
    memory: &mut Memory,
    count: u64,
    is_selected: impl Fn(&Sealed) -> bool,
) -> Result<u64, Failure> {
    let mut view = memory.view()?;
    let mut missing = count;
    let mut end_seq = u64::MAX;
    loop {
        let page = view.entries_before(end_seq, PAGE_RECORDS)?;
        let Some(first) = page.first() else { return Ok(1) };
        for sealed in page.iter().rev().filter(|sealed| is_selected(sealed)) {
            missing = missing.saturating_sub(1);
            if missing == 0 {
                return Ok(sealed.record.seq);
            }
        }
        end_seq = first.record.seq;
    }
}

#[cfg(test)]
mod tests;
