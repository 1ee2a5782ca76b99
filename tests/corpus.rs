//! Real transcripts with labels, in the folder beside the repository: no false
//! exit, and few missed ones.

use std::collections::BTreeMap;
use std::fs;

use gate_cli::{CheckSite, Gate, Places, Request, Selection, Source};
use gate_core::config::{self, Layer, Origin};
use gate_core::decide::evidence::{Evidence, Outcome};
use gate_core::decide::policy::{Mode, Policy};
use gate_core::{Input, Scan, Verdict, decide, scan};
use serde_json::Value;

use crate::needs::{needs, shared};
use crate::support::Run;

/// A file of the corpus, and what it says at the end.
struct Case {
    file: String,
    format: String,
    label: String,
    ambiguous: bool,
}

impl Case {
    /// Whether it must be found complete, must not be, or may.
    fn must(&self) -> Option<bool> {
        match (self.label.as_str(), self.ambiguous) {
            ("exit", true) => None,
            (label, _) => Some(label == "exit"),
        }
    }
}

fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(shared().join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn cases() -> Vec<Case> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let case = |it: &Value| Case {
        file: text(&it["file"]),
        format: text(&it["format"]),
        label: text(&it["label"]),
        ambiguous: it["ambiguous"] == true,
    };
    lines("corpus/manifest.jsonl").iter().map(case).collect()
}

fn policy(settings: &str) -> Policy {
    let layer = Layer::parse(Origin::Project("gate.toml".into()), settings).unwrap();
    config::resolve(&[layer], None).unwrap().policy
}

/// Under these settings, with every check that they configure ending like this.
fn verdict(scan: &Scan, policy: &Policy, outcome: Outcome) -> Verdict {
    let evidence = policy.checks.keys().map(|name| Evidence::new(name, Mode::Require, outcome));
    let mut input = Input::new(scan.signal.clone(), scan.hits.clone());
    input.evidence = evidence.collect();
    decide(&input, policy).verdict
}

/// What was judged wrongly, by format, and how many exits were found.
#[derive(Default)]
struct Score {
    found: usize,
    wrong: Vec<String>,
    missed: Vec<String>,
    formats: BTreeMap<String, [usize; 3]>,
}

impl Score {
    fn add(&mut self, case: &Case, is_exit: bool) {
        let [right, wrong, missed] = self.formats.entry(case.format.clone()).or_default();
        match (case.must(), is_exit) {
            (Some(false), true) => {
                *wrong += 1;
                self.wrong.push(format!("{} ({})", case.file, case.label));
            }
            (Some(true), false) => {
                *missed += 1;
                self.missed.push(case.file.clone());
            }
            (must, _) => {
                *right += 1;
                self.found += usize::from(must == Some(true));
            }
        }
    }

    #[track_caller]
    fn holds(&self, at_least: usize) {
        let good = self.wrong.is_empty() && self.found >= at_least;
        let Self { found, wrong, missed, formats } = self;
        assert!(
            good,
            "{found} of {} exits\nwrong: {wrong:#?}\nmissed: {missed:#?}\n[right, wrong, missed]: {formats:#?}",
            found + missed.len()
        );
    }
}

/// How many exits of the corpus are beyond doubt.
const EXITS: usize = 47;

#[test]
fn every_real_signal_is_found_and_nothing_else() {
    if !needs("shared") {
        return;
    }
    let cases = cases();
    let files = cases.iter().map(|case| shared().join("corpus").join(&case.file));
    let run = Run::new(crate::support::GATE).args(["scan", "--json"]).args(files);
    let records = run.code(0).json_lines();
    assert_eq!(records.len(), cases.len());
    let mut score = Score::default();
    for (case, record) in cases.iter().zip(&records) {
        assert!(record["file"].as_str().unwrap().ends_with(&case.file));
        score.add(case, record["signal"]["status"] == "complete");
    }
    score.holds(EXITS);
}

#[test]
fn the_shipped_settings_have_no_false_exit() {
    if !needs("shared") {
        return;
    }
    let resolved = config::resolve(
        &gate_cli::layers(&Places::default(), &Selection::default()).unwrap(),
        None,
    );
    let gate = Gate::open(resolved.unwrap(), CheckSite::new(".")).unwrap();
    let mut score = Score::default();
    for case in cases() {
        let source = Source::File(shared().join("corpus").join(&case.file));
        let record = gate.check_with(&source, &Request::default()).unwrap();
        score.add(&case, record.decision.verdict == Verdict::Exit);
    }
    score.holds(40);
}

#[test]
fn the_signal_and_green_evidence_always_suffice() {
    if !needs("shared") {
        return;
    }
    let one = "[checks.tests]\ncommand = [\"x\"]\n";
    let two = "[checks.tests]\ncommand = [\"x\"]\n[checks.build]\ncommand = [\"x\"]\n";
    let policies = [policy(one), policy(two)];
    let mut scores = [Score::default(), Score::default()];
    for case in cases() {
        let bytes = fs::read(shared().join("corpus").join(&case.file)).unwrap();
        let scan = scan(&bytes, &policies[0]).unwrap();
        for (policy, score) in policies.iter().zip(&mut scores) {
            score.add(&case, verdict(&scan, policy, Outcome::Pass) == Verdict::Exit);
            for outcome in [Outcome::Fail, Outcome::Inconclusive, Outcome::Tamper, Outcome::Skipped]
            {
                assert_ne!(verdict(&scan, policy, outcome), Verdict::Exit, "{}", case.file);
            }
        }
    }
    scores.iter().for_each(|score| score.holds(EXITS));
}

#[test]
fn the_known_failures_of_the_field_are_judged_right() {
    if !needs("shared") {
        return;
    }
    let checked = policy("[checks.tests]\ncommand = [\"x\"]\n");
    let bare = policy("");
    let mut wrong = Vec::new();
    for case in lines("field/failures.jsonl") {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (expected, evidence) = (word(&case["expected"]), word(&case["context"]["evidence"]));
        let scan = scan(word(&case["sample_output"]).as_bytes(), &checked).unwrap();
        let refuted = evidence.starts_with("exit0_") || evidence == "contradiction";
        let verdict = match (expected.as_str(), refuted) {
            ("exit", _) => verdict(&scan, &checked, Outcome::Pass),
            (_, true) => verdict(&scan, &checked, Outcome::Fail),
            (_, false) => verdict(&scan, &bare, Outcome::Pass),
        };
        if (verdict == Verdict::Exit) != (expected == "exit") {
            wrong.push(format!("{} {}: {verdict:?}", word(&case["id"]), word(&case["title"])));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
