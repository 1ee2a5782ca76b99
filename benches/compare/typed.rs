//! What a careful program does without gate: it parses every line into a type
//! that holds what it needs, and counts what the assistant has said.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

/// A record of any of the kinds, as far as the assistant's text goes. Texts
/// that are escaped have to be copied, so that they are owned.
#[derive(Deserialize)]
struct Record {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Message>,
    item: Option<Item>,
    payload: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

/// Parses every line, and prints how many bytes the assistant has said.
pub(crate) fn run(file: &Path) {
    let mut reader = BufReader::with_capacity(256 << 10, File::open(file).unwrap());
    let (mut line, mut said) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        said += serde_json::from_slice::<Record>(&line).map_or(0, |record| record.said());
        line.clear();
    }
    println!("{said}");
}

impl Record {
    fn said(&self) -> usize {
        let item = self.item.as_ref().filter(|item| item.kind == "agent_message");
        let item = item.and_then(|item| item.text.as_deref()).map_or(0, str::len);
        let payload = self.payload.as_ref().map_or(0, Message::said);
        let message = self.message.as_ref().filter(|_| self.kind == "assistant");
        item + payload + message.map_or(0, Message::said)
    }
}

impl Message {
    fn said(&self) -> usize {
        let own = self.role.as_deref() == Some("assistant");
        let texts = self.content.iter().filter_map(|block| block.text.as_deref());
        if own { texts.map(str::len).sum() } else { 0 }
    }
}
