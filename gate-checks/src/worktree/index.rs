//! Git's lists of its index (`ls-files --stage`) and of a commit's tree (`ls-tree`).

/// Bytes that are hashed at once; many small updates are slow.
const HASH_BATCH_BYTES: usize = 1 << 16;

/// The mode of a submodule.
const SUBMODULE: u32 = 0o160_000;

/// The entries of an index or of a commit's tree, sorted by name, in the text that git printed. There
/// may be a million of them: an entry costs its text and a [`Span`].
#[derive(Clone, Debug, Default)]
pub(crate) struct GitEntries {
    text: Vec<u8>,
    spans: Vec<Span>,
}

/// The offsets of an entry's `object` and `path` in the text. The path ends with the record.
#[derive(Clone, Debug)]
struct Span {
    mode: u32,
    stage: u8,
    may_be_absent: bool,
    object_length: u8,
    object: u32,
    path: u32,
    end: u32,
}

/// One file that git knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GitEntry<'e> {
    /// The mode, such as `0o100644`.
    pub(crate) mode: u32,
    /// 0, or the side of a merge that was not ended.
    pub(crate) stage: u8,
    /// The file may be absent from the work tree (git's skip-worktree).
    pub(crate) may_be_absent: bool,
    /// The object's name, in hex digits.
    pub(crate) object: &'e [u8],
    /// The file's name, relative to the repository's work tree.
    pub(crate) path: &'e [u8],
}

impl<'e> GitEntry<'e> {
    pub(crate) fn is_submodule(&self) -> bool {
        self.mode == SUBMODULE
    }

    /// The key by which entries are sorted. Only equal entries have equal keys.
    pub(crate) fn sort_key(&self) -> (&'e [u8], u8, u32, &'e [u8]) {
        (self.path, self.stage, self.mode, self.object)
    }
}

/// The part of a record before the tab.
struct RecordHead {
    mode: u32,
    stage: u8,
    may_be_absent: bool,
    /// The offset of the object from the start of the record.
    object: usize,
    object_length: usize,
}

impl GitEntries {
    /// Reads `ls-files --stage -t -z`: `H 100644 <object> 0\t<path>\0`. `None` if git
    /// printed something else.
    pub(super) fn parse_index(text: Vec<u8>) -> Option<Self> {
        Self::parse(text, |head| {
            let mut fields = head.splitn(4, |byte| *byte == b' ');
            let (tag, mode) = (fields.next()?, fields.next()?);
            let (object, stage) = (fields.next()?, fields.next()?);
            Some(RecordHead {
                mode: parse_octal(mode)?,
                stage: stage.first()?.checked_sub(b'0')?,
                may_be_absent: tag == b"S",
                object: tag.len() + mode.len() + 2,
                object_length: object.len(),
            })
        })
    }

    /// Reads `ls-tree -r -z`: `100644 blob <object>\t<path>\0`. `None` if git printed something
    /// else.
    pub(super) fn parse_tree(text: Vec<u8>) -> Option<Self> {
        Self::parse(text, |head| {
            let mut fields = head.splitn(3, |byte| *byte == b' ');
            let (mode, kind, object) = (fields.next()?, fields.next()?, fields.next()?);
            Some(RecordHead {
                mode: parse_octal(mode)?,
                stage: 0,
                may_be_absent: false,
                object: mode.len() + kind.len() + 2,
                object_length: object.len(),
            })
        })
    }

    fn parse(text: Vec<u8>, parse_head: impl Fn(&[u8]) -> Option<RecordHead>) -> Option<Self> {
        let mut spans = Vec::with_capacity(text.len() / 80);
        let mut start = 0;
        while start < text.len() {
            let (record, _) = split_at_byte(&text[start..], 0)?;
            let (head, path) = split_at_byte(record, b'\t')?;
            let RecordHead { mode, stage, may_be_absent, object, object_length } =
                parse_head(head)?;
            let end = start + record.len();
            spans.push(Span {
                mode,
                stage,
                may_be_absent,
                object_length: object_length.try_into().ok()?,
                object: u32::try_from(start + object).ok()?,
                path: u32::try_from(end - path.len()).ok()?,
                end: u32::try_from(end).ok()?,
            });
            start = end + 1;
        }
        // Git prints them sorted, but a tree that was written by hand may be in any order.
        if !spans.is_sorted_by_key(|span| span.entry(&text).sort_key()) {
            spans.sort_by(|left, right| {
                left.entry(&text).sort_key().cmp(&right.entry(&text).sort_key())
            });
        }
        Some(Self { text, spans })
    }

    /// The entries, sorted by name and stage.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = GitEntry<'_>> {
        self.spans.iter().map(|span| span.entry(&self.text))
    }

    /// Adds the entries to a digest, except for their flags, which are no part of the work.
    pub(super) fn digest(&self, hasher: &mut blake3::Hasher) {
        let length: usize =
            self.iter().map(|entry| 4 + 1 + entry.object.len() + entry.path.len() + 1).sum();
        hasher.update(&(length as u64).to_le_bytes());
        let mut batch = Vec::with_capacity(HASH_BATCH_BYTES + 4096);
        for entry in self.iter() {
            batch.extend_from_slice(&entry.mode.to_le_bytes());
            batch.push(entry.stage);
            batch.extend_from_slice(entry.object);
            batch.extend_from_slice(entry.path);
            batch.push(0);
            if batch.len() >= HASH_BATCH_BYTES {
                hasher.update(&batch);
                batch.clear();
            }
        }
        hasher.update(&batch);
    }
}

impl Span {
    fn entry<'t>(&self, text: &'t [u8]) -> GitEntry<'t> {
        let (object, path) = (self.object as usize, self.path as usize);
        GitEntry {
            mode: self.mode,
            stage: self.stage,
            may_be_absent: self.may_be_absent,
            object: &text[object..object + usize::from(self.object_length)],
            path: &text[path..self.end as usize],
        }
    }
}

/// The text before and after the first such byte.
fn split_at_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let index = memchr::memchr(byte, text)?;
    Some((&text[..index], &text[index + 1..]))
}

fn parse_octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(text).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read() {
        let text = b"H 100644 aa11 0\ta\tb\nc\0S 120000 bb22 2\t\xff\0".to_vec();
        let entries = GitEntries::parse_index(text).unwrap();
        let entry = |mode, stage, may_be_absent, object, path| GitEntry {
            mode,
            stage,
            may_be_absent,
            object,
            path,
        };
        let expected = [
            entry(0o100_644, 0, false, &b"aa11"[..], &b"a\tb\nc"[..]),
            entry(0o120_000, 2, true, &b"bb22"[..], &b"\xff"[..]),
        ];
        assert_eq!(entries.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_tree_is_read() {
        let text = b"160000 commit cc33\tlibs/x\0".to_vec();
        let entries = GitEntries::parse_tree(text).unwrap();
        let entry = entries.iter().next().unwrap();
        assert_eq!((entry.object, entry.path), (&b"cc33"[..], &b"libs/x"[..]));
        assert!(entry.is_submodule());
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for text in ["x", "H 100644 aa\tpath\0", "H 1x0644 aa 0\tpath\0", "H 100644 aa 0\tpath"] {
            assert!(GitEntries::parse_index(text.as_bytes().to_vec()).is_none(), "{text:?}");
        }
    }

    #[test]
    fn flags_do_not_change_the_digest() {
        let digest = |text: &str| {
            let mut hasher = blake3::Hasher::new();
            GitEntries::parse_index(text.as_bytes().to_vec()).unwrap().digest(&mut hasher);
            hasher.finalize()
        };
        assert_eq!(digest("H 100644 aa 0\tp\0"), digest("S 100644 aa 0\tp\0"));
        assert_ne!(digest("H 100644 aa 0\tp\0"), digest("H 100755 aa 0\tp\0"));
    }
}
