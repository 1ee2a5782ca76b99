//! Plain text, and lines that are no records of any format.

use crate::ways::Format;
use crate::{Item, json};

pub(crate) const TEXT: Format = Format { head: "I begin.\n", record: text, idle };

fn idle(words: &str) -> String {
    format!("{}\n", words.replace("all tasks completed", "nothing to see"))
}

fn text(item: &Item) -> Vec<u8> {
    let Item { text, more, .. } = item;
    match item.kind % 24 {
        0..8 => format!("{text}\n").into_bytes(),
        8..10 => format!("{text} {more}\n\n").into_bytes(),
        10 => format!("{}\r\n", text.replace('\n', "\r\n")).into_bytes(),
        11 => format!("{text}\r{more}\n").into_bytes(),
        12 => format!("data: {{\"a\":{}}}\n", json(text, item.vary)).into_bytes(),
        13 => format!("{{\"a\":{}}}\n", json(text, item.vary)).into_bytes(),
        14 => format!("[{{\"a\":{}}}]\n", json(text, 1)).into_bytes(),
        15 => format!("{} {text}\n", "wörds ".repeat(1 << item.vary)).into_bytes(),
        16 => format!("{}{text}\n", "x".repeat((1 << 20) - 5 + item.id)).into_bytes(),
        17 => format!("\u{1b}]0;{text}\u{7}{more}\n").into_bytes(),
        18 => [text.as_bytes(), b"\xff\xfe", more.as_bytes(), b"\n"].concat(),
        19 => [b"\xc3", text.as_bytes(), b"\x1b[0m\xe2\x9c\n"].concat(),
        20 => b"\n".repeat(1 << item.vary),
        21 => "\u{1b}[2K\rstep\u{1b}[0m\n".repeat(1 << item.vary).into_bytes(),
        _ => noise(item),
    }
}

/// Lines that no format expects.
pub(crate) fn noise(item: &Item) -> Vec<u8> {
    let text = item.text;
    match item.vary {
        0 => b"\n\r\n \n".to_vec(),
        1 => format!("{text}\n").into_bytes(),
        2 => format!("warning: {}\n", text.replace('\n', " ")).into_bytes(),
        3 => b"{\n".to_vec(),
        4 => b"[\n".to_vec(),
        5 => b"]\n}\n".to_vec(),
        6 => b"{\"type\":\"assistant\",\n".to_vec(),
        7 => b"\xff\xfe\xfd\n".to_vec(),
        8 => "[1, 2]\n".repeat(60).into_bytes(),
        9 => format!("{}\n", "z".repeat(1 << (9 + item.id * 5))).into_bytes(),
        10 => b"{} {\"a\":1}\n".to_vec(),
        _ => b"{\"a\":[1}\n".to_vec(),
    }
}

/// A record on lines of its own, as a client would not write it.
pub(crate) fn dressed(record: &str, item: &Item) -> Vec<u8> {
    let pretty = || {
        let value: Result<serde_json::Value, _> = serde_json::from_str(record);
        value.ok().and_then(|value| serde_json::to_string_pretty(&value).ok())
    };
    let with = |member: &str| format!("{},\"x\":{member}}}\n", &record[..record.len() - 1]).into();
    match item.kind / 8 * 12 + item.vary {
        1 => format!("{record}\r\n").into_bytes(),
        2 => format!("  {record}\n").into_bytes(),
        3 => format!("{record}{record}\n").into_bytes(),
        4 => format!("{record} , {record} tail\n").into_bytes(),
        5 => format!("{}\n", pretty().unwrap_or_default()).into_bytes(),
        6 => format!("{}\n", &record[..record.floor_char_boundary(record.len() * 2 / 3)]).into(),
        7 => [
            &record.as_bytes()[..record.len() - 8],
            b"\xff\xff",
            &record.as_bytes()[record.len() - 8..],
            b"\n",
        ]
        .concat(),
        8 => format!("\u{1b}[?25h{record}\n").into_bytes(),
        9 => format!("{}\n", record.replacen(',', "", 1)).into_bytes(),
        10 => format!("{}\n", record.replacen("type", "\\u0074ype", 1)).into_bytes(),
        11 => format!("\u{feff}{record}\n").into_bytes(),
        25 => with(r#"[{"y":1]}"#),
        26 => with("[1,,2]"),
        27 => with(r#"{"y"}"#),
        28 => with(r#"{"y":[1,{"z":"w"},{}],"v":{"u":null},"t":[]}"#),
        29 => with(&format!("{}{}", "[".repeat(126), "]".repeat(126))),
        _ => format!("{record}\n").into_bytes(),
    }
}
