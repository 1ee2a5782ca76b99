//! Texts without which there is no signal: most messages hold none, and are
//! not looked at any closer.

/// A text, in any case, that a search can begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marker {
    text: &'static str,
    /// The index of the byte that the search looks for.
    rare: usize,
}

impl Marker {
    /// A text of lower-case ASCII, and the place of the byte in it that is the
    /// rarest in what agents write.
    pub(super) const fn new(text: &'static str, rare: usize) -> Self {
        Self { text, rare }
    }

    pub(super) fn stands_in(&self, text: &str) -> bool {
        self.places(text).next().is_some()
    }

    /// The offsets at which the marker begins in a text, in order.
    pub(super) fn places(self, text: &str) -> impl Iterator<Item = usize> {
        let (bytes, rare) = (text.as_bytes(), self.text.as_bytes()[self.rare]);
        let found = memchr::memchr2_iter(rare, rare.to_ascii_uppercase(), bytes);
        found.filter_map(move |at| {
            let begin = at.checked_sub(self.rare)?;
            let text = bytes.get(begin..begin + self.text.len())?;
            text.eq_ignore_ascii_case(self.text.as_bytes()).then_some(begin)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_stands_anywhere_in_any_case() {
        let marker = Marker::new("ralph", 3);
        let places = |text| marker.places(text).collect::<Vec<_>>();
        assert_eq!(places("Ralph, RALPH_STATUS"), [0, 7]);
        assert!(places("p ralp alph raph").is_empty());
        assert!(marker.stands_in("über ralph") && !marker.stands_in(""));
    }
}
