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
    from: u64,
    mut show: impl FnMut(&Sealed) -> Result<Flow, Failure>,
) -> Result<Option<u64>, Failure> {
    let mut next = from;
    loop {
        let page = memory.view()?.entries(next, PAGE_RECORDS)?;
        for sealed in &page {
            if show(sealed)?.is_break() {
                return Ok(None);
            }
            next = sealed.record.seq.saturating_add(1);
        }
        if page.len() < PAGE_RECORDS {
            return Ok(Some(next));
        }
    }
}

/// The number from which on there are so many records that are wanted; the
/// first if there are fewer.
pub(super) fn start(
    memory: &mut Memory,
    count: u64,
    is_wanted: impl Fn(&Sealed) -> bool,
) -> Result<u64, Failure> {
    let mut view = memory.view()?;
    let mut left = count;
    let mut before = u64::MAX;
    loop {
        let page = view.entries_before(before, PAGE_RECORDS)?;
        let Some(first) = page.first() else { return Ok(1) };
        for sealed in page.iter().rev().filter(|sealed| is_wanted(sealed)) {
            left = left.saturating_sub(1);
            if left == 0 {
                return Ok(sealed.record.seq);
            }
        }
        before = first.record.seq;
    }
}

#[cfg(test)]
mod tests;
