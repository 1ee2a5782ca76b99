//! Transcripts in memory.

use std::sync::Arc;
use std::time::Duration;

use gate_core::config::{Resolved, resolve};
use gate_core::mask::Masker;
use gate_core::{Failure, Policy};
use gate_transcript::Forced;

use crate::replay::{
    Finding, Findings, Host, Labels, ReplayRecord, Replayer, TranscriptText, Work, find,
};

#[derive(Debug)]
struct Plain;

impl Host for Plain {
    fn replayer(&self, settings: &Resolved) -> Result<Replayer, Failure> {
        Replayer::open(settings, Masker::new([]))
    }

    fn input_digest(&self, _: &Replayer, _: &std::path::Path, _: Option<Forced>) -> Option<String> {
        None
    }
}

fn untimed(record: ReplayRecord) -> ReplayRecord {
    ReplayRecord { duration_ms: 0, ..record }
}

#[test]
fn a_transcript_in_memory_has_the_rows_of_a_file_with_its_bytes() {
    let log = "=== Iteration 1 of 2 ===\nEXIT_STATUS: CONTINUE\n=== Iteration 2 of 2 ===\nEXIT_STATUS: COMPLETE\n";
    let json = "{\"type\":\"result\",\"session_id\":\"s\",\"result\":\"EXIT_STATUS: COMPLETE\"}\n";
    let long = "and so on, line after line\n".repeat(40_000) + log;
    let texts: [&[u8]; 6] = [
        log.as_bytes(),
        json.as_bytes(),
        long.as_bytes(),
        b"",
        b"\xff\xfe \xc3EXIT",
        b"{\"type\":",
    ];
    let settings = resolve(&[], None).unwrap();
    let host: Arc<dyn Host> = Arc::new(Plain);
    let gate = host.replayer(&settings).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut rows, mut paths) = (Vec::new(), Vec::new());
    for (number, bytes) in texts.into_iter().enumerate() {
        let name = format!("{number}.log");
        std::fs::write(folder.path().join(&name), bytes).unwrap();
        let transcript = TranscriptText { name: &name, bytes, format: None };
        let policies: &[Policy] = &[];
        gate.judge(transcript, policies, &mut |row| rows.push(untimed(row.record)));
        paths.push(name.into());
    }
    let inputs = find(folder.path(), &paths, false, &Labels::default()).unwrap().all;
    let work = Arc::new(Work::new(host, &settings, inputs));
    let mut findings = Findings::start(&work).unwrap();
    let mut of_files = Vec::new();
    while !findings.is_done() {
        of_files.extend(findings.next(Duration::from_millis(100)).into_iter().map(|finding| {
            let Finding::Row(row) = finding else { panic!("{finding:?}") };
            untimed(row.record)
        }));
    }
    assert_eq!((rows.len(), &rows), (7, &of_files));
    assert_eq!(rows[0].policy_digest, Some(gate.policy.digest()));
}
