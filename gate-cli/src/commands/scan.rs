//! `gate scan`: the signal and the indicators alone.

use std::path::Path;

use gate_checks::Site;

use super::{Asked, DONE, Here, print};
use crate::args::Scan;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::render;
use crate::schema::ScanRecord;
use crate::settings;
use crate::source::Source;

/// A file that cannot be read is told, and does not stop the others.
pub(super) fn run(here: &Here, args: &Scan) -> Result<u8, Failure> {
    let settings = settings::resolve(&here.places, &args.reading.settings.selection())?;
    // No checks run: what is in the environment is masked, and nothing more.
    let environment = here.places.environment.clone();
    let site = Site { environment, ..Site::new(&here.places.folder) };
    let gate = Gate::open(settings, site)?;
    let mut code = DONE;
    for file in &args.files {
        match scan(here, &gate, args, file) {
            Ok(record) => print(&show(args, &record)?)?,
            Err(failure) => {
                code = code.max(render::failure(&failure, Asked { json: args.json, stop: false }));
            }
        }
    }
    Ok(code)
}

fn scan(here: &Here, gate: &Gate, args: &Scan, file: &Path) -> Result<ScanRecord, Failure> {
    let source = Source::named(file, &here.places.folder);
    let scan = gate.scan(&source, args.reading.format)?;
    let decision = gate.decide_scan(&scan);
    Ok(ScanRecord::new(file.display().to_string(), decision, scan.transcript))
}

fn show(args: &Scan, record: &ScanRecord) -> Result<String, Failure> {
    if args.json { render::json_line(record) } else { Ok(render::scan_card(record)) }
}
