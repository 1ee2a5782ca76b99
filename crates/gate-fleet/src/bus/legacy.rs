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
    let text = Some(text.trim()).filter(|text| !text.is_empty())?;
    let typed = text.split_once(':').map(|(kind, body)| (kind.trim(), body.trim()));
    let (kind, body) = match typed.filter(|(kind, _)| is_type(kind)) {
        Some((kind, "")) => (kind, text),
        Some(typed) => typed,
        None => (INFO, text),
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
    let utc = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(utc.timestamp())
}

fn is_type(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_name_byte)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-/".contains(&byte)
}
