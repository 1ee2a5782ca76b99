//! Parts that several targets share: how an input is divided, and how bytes are cut.

/// Divides an input into the bytes that choose and the text. None for one that is too short.
pub fn choices<const N: usize>(input: &[u8]) -> Option<([u8; N], &[u8])> {
    input.split_first_chunk().map(|(choices, text)| (*choices, text))
}

/// Cuts bytes into pieces. The same choice cuts the same bytes alike.
pub fn pieces(bytes: &[u8], choice: u8) -> Vec<&[u8]> {
    let is_long = bytes.len() > 16 << 10;
    let longest = if is_long { 9_000 } else { [1, 7, 100, 9_000][usize::from(choice % 4)] };
    let mut random = u64::from(choice) | 1 << 32;
    let (mut pieces, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        // xorshift
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let length = 1 + random as usize % longest;
        let (piece, later) = rest.split_at(length.min(rest.len()));
        pieces.push(piece);
        rest = later;
    }
    pieces
}

/// The input, repeated until it is longer than what readers look at before they begin, and now
/// and then longer than the tail that they keep.
pub fn long(bytes: &[u8], choice: u8) -> Vec<u8> {
    let length = if choice % 8 == 0 { 400 << 10 } else { 80 << 10 };
    if bytes.is_empty() { Vec::new() } else { bytes.repeat(1 + length / bytes.len()) }
}
