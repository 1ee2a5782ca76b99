//! Labels, an earlier replay, and the files that are transcripts.

mod beside;
mod files;
mod kinds;
mod memory;
