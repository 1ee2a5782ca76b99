//! The bytes before the tail, and the tail.

use super::*;

/// The bytes before the tail and the tail, of an input that comes in pieces of a size.
fn split(input: &[u8], size: usize) -> (Vec<u8>, Vec<u8>) {
    let (mut buffer, mut before) = (TailBuffer::default(), Vec::new());
    for bytes in input.chunks(size) {
        buffer.push(bytes, &mut |released| {
            let (Released::Lines(bytes) | Released::Part(bytes)) = released;
            before.extend_from_slice(bytes);
        });
    }
    while let Some(Released::Lines(bytes) | Released::Part(bytes)) = buffer.release_last() {
        before.extend_from_slice(bytes);
    }
    let tail = buffer.tail().to_vec();
    (before, tail)
}

#[test]
fn the_tail_is_the_same_however_the_bytes_come() {
    let short = "line\n".repeat(TAIL_BYTES);
    let long = format!("a\n{}\nb\n{}", "x".repeat(TAIL_BYTES + 9), "c\n".repeat(TAIL_BYTES / 4));
    let endless = format!("a\n{}\nb\n", "y".repeat(MAX_RECORD + 9));
    for (input, tail) in [
        (&short, TAIL_BYTES + 4 * TAIL_BYTES % 5),
        (&long, TAIL_BYTES / 2 + 12 + TAIL_BYTES),
        (&endless, 2),
    ] {
        let expected = split(input.as_bytes(), usize::MAX);
        assert_eq!(expected.1.len(), tail);
        assert_eq!(expected.0.len() + tail, input.len());
        for size in [70_001, TAIL_BYTES - 1, 3 * TAIL_BYTES] {
            assert!(split(input.as_bytes(), size) == expected, "{size}");
        }
    }
}

#[test]
fn a_short_input_is_all_tail() {
    assert_eq!(split(b"a\nb\n", 1), (Vec::new(), b"a\nb\n".to_vec()));
}

/// The parts that are released while these pieces come: their kind, length and last byte.
fn released(pieces: &[&[u8]]) -> (TailBuffer, Vec<(char, usize, u8)>) {
    let (mut buffer, mut parts) = (TailBuffer::default(), Vec::new());
    for piece in pieces {
        buffer.push(piece, &mut |part| {
            let (kind, bytes) = match part {
                Released::Lines(bytes) => ('l', bytes),
                Released::Part(bytes) => ('p', bytes),
            };
            parts.push((kind, bytes.len(), *bytes.last().unwrap()));
        });
    }
    (buffer, parts)
}

#[test]
fn nothing_is_released_before_a_step_beyond_the_tail_has_come() {
    let line = "x".repeat(999) + "\n";
    let bytes = line.repeat((TAIL_BYTES + STEP_BYTES) / 1000).into_bytes();
    let pieces: Vec<&[u8]> = bytes.chunks(4096).collect();
    let (mut buffer, parts) = released(&pieces);
    assert_eq!(parts, []);
    assert_eq!((buffer.tail(), buffer.has_released()), (&*bytes, false));
    let far = (bytes.len() - TAIL_BYTES) / 1000 * 1000;
    assert_eq!(buffer.release_last(), Some(Released::Lines(&bytes[..far])));
    assert_eq!(buffer.release_last(), None);
    assert_eq!((buffer.tail(), buffer.has_released()), (&bytes[far..], true));
}

#[test]
fn a_long_piece_passes_in_whole_lines() {
    let long = "line\n".repeat(TAIL_BYTES);
    let rest = long.len() - TAIL_BYTES;
    let (buffer, parts) = released(&[b"a", long.as_bytes()]);
    assert_eq!(parts, [('l', 6, b'\n'), ('l', rest / 5 * 5 - 5, b'\n')]);
    assert_eq!(buffer.tail().len(), TAIL_BYTES + rest % 5);
}

#[test]
fn a_line_that_is_too_long_is_released_in_parts_and_those_after_it_in_lines() {
    let endless = vec![b'y'; MAX_RECORD + 5];
    let (mut buffer, parts) = released(&[b"a\n", &endless, b"z\nb\n"]);
    assert_eq!(parts[0].0, 'l');
    let rest: usize = parts[1..].iter().map(|part| part.1).sum();
    assert!(parts[1..].iter().all(|part| part.0 == 'p'), "{parts:?}");
    assert_eq!((rest, parts.last().unwrap().2), (MAX_RECORD + 7, b'\n'));
    assert_eq!((buffer.tail(), buffer.has_released()), (&b"b\n"[..], true));
    assert_eq!(buffer.release_last(), None);
}

#[test]
fn a_buffer_is_empty_only_at_the_end_of_a_line_that_was_released() {
    assert!(TailBuffer::default().is_empty());
    assert!(!released(&[b"a\n"]).0.is_empty());
    let endless = vec![b'y'; MAX_RECORD + TAIL_BYTES + 1];
    let (buffer, _) = released(&[&endless]);
    assert!(buffer.tail().is_empty() && !buffer.is_empty(), "its line goes on");
    assert!(released(&[&endless, b"\n"]).0.is_empty());
}

#[test]
fn after_lines_that_were_left_out_a_short_input_is_the_tail_of_more() {
    let mut buffer = TailBuffer::default();
    assert_eq!((buffer.tail(), buffer.has_released()), (&b""[..], false));
    buffer.note_left_out();
    buffer.push(b"a\n", &mut |_| panic!("it is short"));
    assert_eq!((buffer.tail(), buffer.has_released()), (&b"a\n"[..], true));
}
