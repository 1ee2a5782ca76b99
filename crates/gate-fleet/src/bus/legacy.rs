//! Lines of buses that are older than headers: `[2026-02-20 15:30:45] TYPE: text`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::message::Message;

/// Type of a line that names none.
const INFO: &str = "INFO";

/// The message in a line, if it is one. Its id is the line's number, from 1.
pub(super) fn message(line: &str, number: usize) -> Option<Message> {
    let (time, text) = line.trim().strip_prefix('[')?.split_once(']')?;
    let ts = moment(time.trim())?.to_string();
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let (kind, body) = match text.split_once(':') {
        Some((kind, body)) if is_type(kind.trim()) => match body.trim() {
            "" => (kind.trim(), text),
            body => (kind.trim(), body),
        },
        _ => (INFO, text),
    };
    let msg_id = format!("LEGACY-LINE-{number:09}");
    let (kind, body) = (kind.to_ascii_uppercase(), body.to_owned());
    Some(Message { msg_id, ts, kind, body, ..Message::default() })
}

fn moment(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    // A date alone parses as its midnight, and is no time of a message.
    if text.len() < "2026-02-20 15:30:45".len() {
        return None;
    }
    let time = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp())
}

fn is_type(text: &str) -> bool {
    let is_in_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_-/".contains(&byte);
    !text.is_empty() && text.bytes().all(is_in_type)
}
