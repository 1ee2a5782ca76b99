//! `gate trust`: shows what the project's settings start, and approves them.

use super::common::DONE;
use crate::approval::{TrustRecord, keep, memory, outcome, record, settings_card};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::operator::Operator;
use crate::record::Ledger;
use crate::render::{self, print, print_text};
use crate::sealing::sealed_after_trust;
use crate::settings::Selection;
use crate::trust::{self, Approved, TrustState};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Show what would be approved, with its digest for GATE_TRUST, and approve nothing.
    #[arg(long, visible_alias = "print", conflicts_with = "revoke")]
    pub(crate) show: bool,
    /// Take back what was approved here.
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn run(invocation: &Invocation, args: &Trust) -> Result<u8, Failure> {
    let mut record = record(invocation)?;
    if args.show {
        answer(args, &record, &settings_card(&record))?;
        return Ok(DONE);
    }
    let operator = invocation.operator("gate trust")?;
    if args.revoke {
        record.ledger = Some(revoke(invocation, &operator)?);
        record.approved = trust_state(invocation)? == TrustState::Approved;
        let other_approval = match record.approved {
            true => "; GATE_TRUST or the machine's own settings approve it still",
            false => "",
        };
        let text = format!("nothing is approved here any more{other_approval}\n");
        answer(args, &record, &text)?;
        return Ok(DONE);
    }
    // A person sees what the settings start before that is approved.
    let text = settings_card(&record);
    if !args.json {
        print_text(&text)?;
    }
    record.ledger = Some(approve_shown(invocation, &record, &operator)?);
    record.approved = trust_state(invocation)? == TrustState::Approved || record.file.is_none();
    answer(args, &record, &outcome(&record))?;
    // The approval stands, whatever comes of the sealed tests.
    let sealed = sealed_after_trust(invocation)?;
    match args.json {
        true => render::notes(&sealed.lines().map(str::to_owned).collect::<Vec<_>>()),
        false => print_text(&sealed)?,
    }
    Ok(DONE)
}

/// Approves the settings that a person was shown.
///
/// # Errors
///
/// They have changed since.
pub(super) fn approve_shown(
    invocation: &Invocation,
    shown: &TrustRecord,
    operator: &Operator,
) -> Result<Ledger, Failure> {
    let approved = Approved::read(&invocation.places)?;
    let file = approved.file.as_ref().map(|file| file.display().to_string());
    if approved.digest != shown.digest || file != shown.file {
        let message = "the settings changed while they were shown, and nothing was approved";
        return Err(Failure::usage("trust-moved", message));
    }
    keep(invocation, &approved, operator, "gate trust")
}

fn revoke(invocation: &Invocation, operator: &Operator) -> Result<Ledger, Failure> {
    let place = memory(invocation)?.trust("", None, operator)?;
    trust::withdraw(&invocation.places)?;
    Ok(place)
}

fn trust_state(invocation: &Invocation) -> Result<TrustState, Failure> {
    Ok(trust::settings_as_written(&invocation.places, &Selection::default())?.1.report()?.state)
}

fn answer(args: &Trust, record: &TrustRecord, text: &str) -> Result<(), Failure> {
    if args.json { print(&render::json(record)?) } else { print_text(text) }
}
