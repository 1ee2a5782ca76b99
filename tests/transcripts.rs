//! Transcripts of all formats, each of which ends with a word of the agent. A file in `transcripts/` is
//! named after its format, up to the first dot. The tests of gate-transcript and gate-core take this file
//! in by its path.

#![allow(clippy::disallowed_methods, reason = "those crates read no files, their tests may")]
#![allow(clippy::unwrap_used, reason = "a test says what it expects")]
#![allow(dead_code, reason = "not each crate's tests need all of it")]

use std::fs;
use std::path::Path;

/// A transcript in which `@` stands for the agent's last word, in JSON `"@"`.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    pub(crate) format: String,
    template: String,
}

impl Transcript {
    /// The format that gate takes it for.
    pub(crate) fn known_as(&self) -> &str {
        match &*self.format {
            // The same object, and nothing tells the two apart.
            "droid-json" => "claude-json",
            format => format,
        }
    }

    /// The transcript with this last word.
    pub(crate) fn ending(&self, word: &str) -> String {
        let json = serde_json::to_string(word).unwrap();
        self.template.replace("\"@\"", &json).replace('@', word)
    }
}

/// All transcripts.
pub(crate) fn all() -> Vec<Transcript> {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").is_file()).unwrap();
    let transcripts = fs::read_dir(root.join("tests/transcripts")).unwrap().map(|file| {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let format = name.split('.').next().unwrap_or_default().to_owned();
        Transcript { format, template: fs::read_to_string(file.path()).unwrap() }
    });
    transcripts.collect()
}
