//! `gate baseline`: what the work tree is before an agent acts.

pub(super) mod args;

use std::fmt::Write;
use std::io::IsTerminal;

use gate_checks::baseline::{Baseline, Origin, Tool};
use gate_checks::worktree::{WorkTree, no_commit_cause};
use gate_checks::{CheckSite, TooSlow};
use schemars::JsonSchema;
use serde::Serialize;

use super::common::DONE;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::record::Ledger;
use crate::render::{self, print, print_text};
use crate::test_approval::red_test_notes;
use crate::trust;

/// Exit code if there is no baseline.
const NO_BASELINE: u8 = 1;

/// `gate.baseline.v1`: what the work tree was before an agent acts.
#[non_exhaustive]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BaselineRecord {
    /// Always `gate.baseline.v1`.
    pub schema: &'static str,
    /// Its name, as in the field `baseline` of decisions; null if there is none.
    pub baseline: Option<String>,
    /// When it was taken (RFC 3339, UTC).
    pub time: Option<String>,
    /// The commit below it.
    pub commit: Option<String>,
    /// The number of guarded files that it knows: tests, files that they rest on, and
    /// settings of runners, of CI and of hooks.
    pub guarded: usize,
    /// The programs that the checks' commands name.
    pub tools: Vec<ToolRecord>,
    /// The record of the act.
    pub ledger: Option<Ledger>,
}

/// A program that a check's command names.
#[non_exhaustive]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ToolRecord {
    /// As the command names it.
    pub name: String,
    /// The path at which it was found.
    pub path: String,
    /// `blake3:` and 64 hex digits over its bytes.
    pub digest: String,
}

pub(super) fn run(invocation: &Invocation, args: &args::Baseline) -> Result<u8, Failure> {
    let (settings, trust) =
        trust::settings_as_written(&invocation.places, &args.settings.selection())?;
    let site = CheckSite { ignore: settings.policy.tree.ignore.clone(), ..invocation.site()? };
    if args.show {
        return answer(args, &record(Baseline::kept(&site, None)?.as_ref(), None), &site);
    }
    invocation.operator("gate baseline")?;
    let mut memory = invocation.memory(&settings.policy)?;
    if args.forget {
        Baseline::forget(&site, None)?;
        let ledger = memory.record_act("baseline-forget", None)?;
        return answer(args, &record(None, Some(ledger)), &site);
    }
    // With a new baseline, the person accepts the tests as they stand.
    let interrupt = Interrupt::listen()?;
    let gate = Gate::open(settings, site.clone())?.remembering(memory).trusting(trust)?;
    let baseline = gate.take_baseline(None)?;
    // A stored baseline that cannot be read would stop every later run of its loop.
    Baseline::forget_damaged(&site)?;
    if let Some(baseline) = &baseline {
        if std::io::stderr().is_terminal() {
            render::notes(&[
                "running the tests once, to tell which are red; Ctrl-C skips it".into()
            ]);
        }
        let learned = gate.learn_now(baseline, &interrupt);
        render::notes(&learned.too_slow.iter().map(too_slow_note).collect::<Vec<_>>());
        render::notes(&red_test_notes(&learned.red));
        render::notes(&gate.unknown_superseded(baseline));
    }
    let ledger = match (&baseline, gate.memory()) {
        (Some(baseline), Some(mut memory)) => {
            Some(memory.record_act("baseline", Some(baseline.digest()))?)
        }
        _ => None,
    };
    answer(args, &record(baseline.as_ref(), ledger), &site)
}

/// A note on tests that no check can wait for: they would give no result at any claim.
fn too_slow_note(too_slow: &TooSlow) -> String {
    let TooSlow { check, limit } = too_slow;
    format!(
        "{check} did not end within {}, its limit: raise `timeout` in [checks.{check}], or name a \
         part of the tests; then `gate trust`",
        render::span(*limit)
    )
}

impl From<&Tool> for ToolRecord {
    fn from(tool: &Tool) -> Self {
        Self {
            name: tool.name.clone(),
            path: tool.path.display().to_string(),
            digest: tool.digest.clone(),
        }
    }
}

fn record(baseline: Option<&Baseline>, ledger: Option<Ledger>) -> BaselineRecord {
    let Some(baseline) = baseline.filter(|baseline| baseline.origin() == Origin::Taken) else {
        return BaselineRecord {
            schema: "gate.baseline.v1",
            baseline: None,
            time: None,
            commit: None,
            guarded: 0,
            tools: Vec::new(),
            ledger,
        };
    };
    BaselineRecord {
        schema: "gate.baseline.v1",
        baseline: Some(baseline.digest().to_owned()),
        time: Some(baseline.time().to_owned()),
        commit: Some(baseline.commit().to_owned()),
        guarded: baseline.guarded_files(),
        tools: baseline.tools().iter().map(ToolRecord::from).collect(),
        ledger,
    }
}

fn answer(args: &args::Baseline, record: &BaselineRecord, site: &CheckSite) -> Result<u8, Failure> {
    if args.json { print(&render::json(record)?) } else { print_text(&card(record, args, site)) }?;
    Ok(if record.baseline.is_some() || args.forget { DONE } else { NO_BASELINE })
}

/// The reason why there is no baseline, and the command that changes that.
fn remedy(args: &args::Baseline, site: &CheckSite) -> &'static str {
    let is_in_git = WorkTree::open(site).is_ok_and(|tree| tree.git_folder().is_some());
    match args.show && is_in_git {
        true => "none was taken: `gate baseline` takes one",
        false => no_commit_cause(site),
    }
}

/// The baseline that was taken, or that waits for runs.
fn card(record: &BaselineRecord, args: &args::Baseline, site: &CheckSite) -> String {
    let (Some(digest), Some(commit)) = (&record.baseline, &record.commit) else {
        return match args.forget {
            true => "no baseline waits for runs: they compare with history\n".to_owned(),
            false => format!("no baseline: {}\n", remedy(args, site)),
        };
    };
    let time = render::local_time(record.time.as_deref().unwrap_or_default());
    let mut text = format!("baseline {digest}\n  taken     {time}, above commit {commit}\n");
    let guarded = record.guarded;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "  guarded   {guarded} files: tests, and what decides what they mean");
    for tool in &record.tools {
        let _ = writeln!(text, "  tool      {}: {}", tool.name, tool.path);
    }
    text.push_str("runs that begin from now on compare the work tree with it\n");
    text
}
