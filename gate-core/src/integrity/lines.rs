//! The lines added and removed between two texts.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Indices, from 0, of the lines that one text alone has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) removed: Vec<usize>,
    pub(super) added: Vec<usize>,
}

/// Compares lines, whatever ends them.
pub(super) fn lines(before: &str, now: &str) -> Difference {
    let [before, now] =
        [before, now].map(|text| text.lines().map(str::trim_end).collect::<Vec<_>>());
    compare(&before, &now)
}

fn compare<T: Eq + std::hash::Hash + Ord>(before: &[T], now: &[T]) -> Difference {
    let mut difference = Difference::default();
    for op in capture_diff_slices(Algorithm::Myers, before, now) {
        if !matches!(op, DiffOp::Equal { .. }) {
            difference.removed.extend(op.old_range());
            difference.added.extend(op.new_range());
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_and_removed() {
        let found = lines("a\nb\nc\n", "a\r\nc\nd");
        assert_eq!(found, Difference { removed: vec![1], added: vec![2] });
        assert_eq!(lines("", "a\n").added, [0]);
        assert_eq!(lines("a\n", "a").removed, [0; 0]);
    }

    #[test]
    fn two_long_texts_without_a_common_line_are_compared_at_once() {
        let text = |word: &str| (0..20_000).map(|at| format!("{word}{at}\n")).collect::<String>();
        let found = lines(&text("a"), &text("b"));
        assert_eq!((found.removed.len(), found.added.len()), (20_000, 20_000));
    }
}
