//! Reads a transcript of any known format, and prints the agent's last words.
//!
//! ```sh
//! cargo run --example read_transcript -- examples/unfinished.jsonl
//! ```

#![allow(clippy::print_stdout, reason = "a program answers")]

use std::error::Error;
use std::fs::File;
use std::io::Read;

use gate_transcript::{Event, FinalTurn, Reader, Sink};

#[derive(Default)]
struct LastWords(FinalTurn);

impl Sink for LastWords {
    fn event(&mut self, event: Event<'_>) {
        self.0.event(&event);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_transcript FILE")?;
    let mut file = File::open(path)?;
    let mut last = LastWords::default();
    let mut reader = Reader::new(None);
    let mut block = vec![0; 64 << 10];
    loop {
        match file.read(&mut block)? {
            0 => break,
            length => reader.push(&block[..length], &mut last),
        }
    }
    reader.finish(&mut last);
    last.0.finish();
    println!("format: {}", reader.format().map_or("unknown", |format| format.name()));
    for word in last.0.words() {
        println!("{}", word.text);
    }
    Ok(())
}
