//! A program that embeds gate: checks of its own, the protocol, the baseline.

use std::path::Path;
use std::thread;
use std::time::Duration;

use gate_checks::{GatherOptions, gather};
use gate_cli::{
    Check, CheckContext, CheckId, CheckSite, Evidence, Gate, GateBuilder, Outcome, Record, Request,
    Verdict, async_trait,
};
use gate_core::Policy;
use gate_core::decide::policy::Mode;
use tempfile::TempDir;

use crate::handoff::WHOLE;
use crate::support::Run;

const COMPLETE: &str = "It is written.\n\nEXIT_STATUS: COMPLETE\nEXIT_REASON: it is written";

/// A check that is a function.
struct Own<F>(CheckId, F);

#[async_trait]
impl<F: Fn(&CheckContext) -> (Outcome, String) + Send + Sync> Check for Own<F> {
    fn id(&self) -> &CheckId {
        &self.0
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        let (outcome, summary) = self.1(cx);
        self.evidence(outcome, summary)
    }
}

fn own(
    name: &str,
    run: impl Fn(&CheckContext) -> (Outcome, String) + Send + Sync + 'static,
) -> impl Check + 'static {
    Own(CheckId::new(name), run)
}

/// One that fails without this file.
fn asks_for(file: &'static str) -> impl Check + 'static {
    own("file", move |cx| match cx.project().join(file).exists() {
        true => (Outcome::Pass, format!("{file} is there")),
        false => (Outcome::Fail, format!("{file} is missing")),
    })
}

/// A project with a state folder beside it.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(scratch.project()).unwrap();
        scratch
    }

    fn project(&self) -> std::path::PathBuf {
        self.0.path().join("work")
    }

    fn builder(&self, settings: &str) -> GateBuilder {
        Gate::builder(self.project()).settings(settings).state(self.0.path().join("state"))
    }

    fn decide(&self, settings: &str, check: impl Check + 'static) -> Record {
        self.builder(settings).check(check).build().unwrap().check(COMPLETE).unwrap()
    }
}

fn evidence(record: &Record) -> &Evidence {
    &record.decision.input.evidence[0]
}

#[test]
fn a_check_of_ones_own_is_required_and_recorded() {
    let scratch = Scratch::new();
    let gate = scratch.builder("").check(asks_for("notes.md")).build().unwrap();
    let record = gate.check(COMPLETE).unwrap();
    assert_eq!(record.decision.verdict, Verdict::Continue);
    assert!(record.decision.feedback.contains("notes.md is missing"), "{:?}", record.decision);
    assert!(record.ledger.is_some());
    std::fs::write(scratch.project().join("notes.md"), "done").unwrap();
    let record = gate.check(COMPLETE).unwrap();
    assert_eq!(record.decision.verdict, Verdict::Exit, "{:?}", record.decision.reasons);
    let found = evidence(&record);
    assert_eq!((found.check.as_str(), found.mode, found.cached), ("file", Mode::Require, false));
    assert_eq!((found.outcome, found.summary.as_str()), (Outcome::Pass, "notes.md is there"));
}

/// An `async` program hands its gate to a thread that may block.
#[test]
fn a_handoff_is_read_where_gate_is_embedded() {
    let scratch = Scratch::new();
    let settings = "[checks.handoff]\nfiles = [\"HANDOFF.md\"]\n";
    for (text, outcome) in [(WHOLE, Outcome::Pass), ("# Handoff\n", Outcome::Fail)] {
        std::fs::write(scratch.project().join("HANDOFF.md"), text).unwrap();
        let record = scratch.builder(settings).build().unwrap().check(COMPLETE).unwrap();
        let checks = &record.decision.input.evidence;
        let handoff = checks.iter().find(|check| check.check == "handoff").unwrap();
        assert_eq!(handoff.outcome, outcome, "{handoff:?}");
    }
}

#[test]
fn a_gate_decides_on_another_thread() {
    let scratch = Scratch::new();
    let gate = scratch.builder("").check(asks_for("notes.md")).build().unwrap();
    let decided = thread::spawn(move || gate.check(COMPLETE).unwrap().decision.verdict);
    assert_eq!(decided.join().unwrap(), Verdict::Continue);
}

#[test]
fn settings_of_its_name_give_its_mode_its_timeout_and_its_place() {
    let scratch = Scratch::new();
    let record = scratch.decide("[checks.file]\nmode = \"warn\"\n", asks_for("notes.md"));
    assert_eq!(evidence(&record).mode, Mode::Warn);
    let needy = "[checks.after]\ncommand = [\"true\"]\nneeds = [\"file\"]\n";
    let record = scratch.decide(needy, asks_for("notes.md"));
    assert_eq!(evidence(&record).outcome, Outcome::Skipped);
    let record = scratch.decide("[checks.file]\nwhen = [\"run\"]\n", asks_for("notes.md"));
    assert_eq!(record.decision.input.evidence, []);
}

#[test]
fn one_that_blocks_is_left_behind_after_its_timeout() {
    let blocks = own("file", |_| {
        thread::sleep(Duration::from_secs(3_600));
        (Outcome::Pass, String::new())
    });
    let record = Scratch::new().decide("[checks.file]\ntimeout = \"50ms\"\n", blocks);
    assert_eq!(record.decision.verdict, Verdict::Continue);
    let found = evidence(&record);
    assert_eq!(found.outcome, Outcome::Inconclusive);
    assert_eq!(found.summary, "it did not end within 50ms and was ended");
}

struct Waits(CheckId);

#[async_trait]
impl Check for Waits {
    fn id(&self) -> &CheckId {
        &self.0
    }

    async fn run(&self, cx: &CheckContext) -> Evidence {
        cx.cancellation().cancelled().await;
        self.evidence(Outcome::Pass, "it saw its end")
    }
}

#[test]
fn one_that_sees_its_cancellation_has_still_not_passed() {
    let scratch = Scratch::new();
    let waits = Waits(CheckId::new("file"));
    let record = scratch.decide("[checks.file]\ntimeout = \"50ms\"\n", waits);
    assert_eq!(evidence(&record).outcome, Outcome::Inconclusive);
}

#[test]
fn a_panic_is_inconclusive() {
    let record = Scratch::new().decide("", own("file", |_| panic!("no table")));
    assert_eq!(record.decision.verdict, Verdict::Continue);
    let found = evidence(&record);
    assert_eq!((found.outcome, found.mode), (Outcome::Inconclusive, Mode::Require));
    assert_eq!(found.summary, "it panicked: no table");
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let scratch = Scratch::new();
    let refused = |settings: &str, names: &[&str]| {
        let checks = names.iter().map(|name| own(name, |_| (Outcome::Pass, String::new())));
        let builder = checks.fold(scratch.builder(settings), GateBuilder::check);
        let failure = builder.build().unwrap_err();
        assert_eq!(failure.exit_code, 2, "{failure:?}");
        failure.message
    };
    assert!(refused("", &["tests"]).contains("built in"));
    assert!(refused("[checks.file]\ncommand = [\"true\"]\n", &["file"]).contains("command"));
    assert!(refused("", &["file", "file"]).contains("two checks"));
    assert!(refused("", &["a file"]).contains("letters, digits"));
    assert!(refused("", &["jobs"]).contains("jobs"));
}

#[test]
fn gathering_takes_checks_too() {
    let scratch = Scratch::new();
    let mut options = GatherOptions::default();
    options.own_checks.add(asks_for("notes.md"));
    let site = || CheckSite::new(scratch.project());
    let gathered = gather(&Policy::default(), site(), &options).unwrap();
    let found = &gathered.evidence[0];
    assert_eq!((found.mode, found.outcome), (Mode::Require, Outcome::Fail));
    options.own_checks.add(asks_for("other.md"));
    let twice = gather(&Policy::default(), site(), &options).unwrap_err();
    assert!(twice.to_string().contains("checks.file"), "{twice}");
}

#[test]
fn the_prompt_is_that_of_the_program() {
    let gate = Scratch::new().builder("").build().unwrap();
    let printed = crate::support::gate("prompt").code(0).stdout;
    assert_eq!(gate.prompt(&Request::default()).unwrap().trim_end(), printed.trim_end());
}

#[test]
fn a_baseline_is_kept_for_the_next_run() {
    let scratch = Scratch::new();
    let gate = scratch.builder("[checks.integrity]\n").build().unwrap();
    assert_eq!(gate.baseline_for_next_runs().unwrap(), None);
    commit(&scratch.project());
    let taken = gate.baseline_for_next_runs().unwrap().unwrap();
    let record = gate.check(COMPLETE).unwrap();
    assert_eq!(record.baseline, Some(taken));
}

fn commit(folder: &Path) {
    let script = "git init -q && echo a >a && git add . && \
                  git -c user.name=A -c user.email=a@b.c commit -qm a";
    Run::new("sh").args(["-c", &format!("cd '{}' && {script}", folder.display())]).code(0);
}
