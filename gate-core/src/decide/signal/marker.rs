//! Texts without which there is no signal: most messages hold none, and are
//! not looked at any closer.

/// A text, in any case, that a search can begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    text: &'static str,
    /// The index of the byte that the search looks for.
    rare_index: usize,
}

impl Marker {
    /// A text of lower-case ASCII, and the place of the byte in it that is the
    /// rarest in what agents write.
    pub(super) const fn new(text: &'static str, rare_index: usize) -> Self {
        Self { text, rare_index }
    }

    pub(super) fn stands_in(&self, text: &str) -> bool {
        self.offsets(text).next().is_some()
    }

    /// The offsets at which the marker begins in a text, in order.
    pub(super) fn offsets(self, text: &str) -> impl Iterator<Item = usize> {
        let (bytes, rare_byte) = (text.as_bytes(), self.text.as_bytes()[self.rare_index]);
        let hits = memchr::memchr2_iter(rare_byte, rare_byte.to_ascii_uppercase(), bytes);
        hits.filter_map(move |hit| {
            let start = hit.checked_sub(self.rare_index)?;
            let piece = bytes.get(start..start + self.text.len())?;
            piece.eq_ignore_ascii_case(self.text.as_bytes()).then_some(start)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_stands_anywhere_in_any_case() {
        let marker = Marker::new("ralph", 3);
        let offsets = |text| marker.offsets(text).collect::<Vec<_>>();
        assert_eq!(offsets("Ralph, RALPH_STATUS"), [0, 7]);
        assert!(offsets("p ralp alph raph").is_empty());
        assert!(marker.stands_in("über ralph") && !marker.stands_in(""));
    }
}
