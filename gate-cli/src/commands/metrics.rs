//! `gate metrics`: counters of a store in the text format of Prometheus.
//!
//! Source: the exposition format of Prometheus, version 0.0.4.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use gate_core::Verdict;
use gate_core::decide::breaker::BreakerState;
use gate_core::decide::signal::Status;
use serde_json::Value;

use super::common::DONE;
use crate::context::Here;
use crate::failure::Failure;
use crate::governance::Runs;
use crate::loops::{self, IterationRecord, LoopRecord, Window};
use crate::render::print;
use crate::render::text::plain;
use crate::runner::live_loops;
use crate::settings::{self, Selection};

#[derive(Debug, Args)]
pub(crate) struct Metrics {}

/// A sample's labels, with their values.
type Labels = Vec<(&'static str, String)>;

/// A metric with all its samples.
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: &'static str,
    samples: BTreeMap<(&'static str, Labels), f64>,
}

impl Metric {
    fn new(name: &'static str, kind: &'static str, help: &'static str) -> Self {
        Self { name, help, kind, samples: BTreeMap::new() }
    }

    fn add(&mut self, labels: Labels, value: f64) {
        self.add_to("", labels, value);
    }

    /// `suffix` is `_sum` or `_count` of a summary.
    fn add_to(&mut self, suffix: &'static str, labels: Labels, value: f64) {
        *self.samples.entry((suffix, labels)).or_default() += value;
    }

    fn write(&self, text: &mut String) {
        let Self { name, help, kind, samples } = self;
        let _ = writeln!(text, "# HELP {name} {help}");
        let _ = writeln!(text, "# TYPE {name} {kind}");
        for ((suffix, labels), value) in samples {
            let labels: Vec<_> = labels
                .iter()
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let labels =
                if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(text, "{name}{suffix}{labels} {value}");
        }
    }
}

/// A label's value. Names come from settings and records, so they are cleaned.
fn escaped(value: &str) -> String {
    plain(value).replace('\\', "\\\\").replace('"', "\\\"")
}

pub(super) fn run(here: &Here) -> Result<u8, Failure> {
    let resolved = settings::resolve(&here.places, &Selection::default())?;
    let window = Window { since: None, all_projects: true };
    let loops = loops::read(&mut here.whole_store(&resolved.policy)?, &window)?;
    let folders = Runs::find(&here.places, resolved.run.folder.as_deref())?;
    let mut all = All::new();
    loops.iter().for_each(|one| all.count(one));
    all.running.add(Vec::new(), live_loops(&folders)?.len() as f64);
    print(&all.into_text())?;
    Ok(DONE)
}

/// All metrics.
struct All {
    decisions: Metric,
    claims: Metric,
    refusals: Metric,
    checks: Metric,
    check_time: Metric,
    tokens: Metric,
    cost: Metric,
    open_breakers: Metric,
    running: Metric,
}

impl All {
    fn new() -> Self {
        Self {
            decisions: Metric::new("gate_decisions_total", "counter", "Decisions by verdict."),
            claims: Metric::new("gate_claims_total", "counter", "Claims of completion."),
            refusals: Metric::new(
                "gate_refusals_total",
                "counter",
                "Claims of completion that did not end the loop, by the first reason.",
            ),
            checks: Metric::new("gate_check_runs_total", "counter", "Runs of checks by outcome."),
            check_time: Metric::new(
                "gate_check_duration_seconds",
                "summary",
                "Run times of checks.",
            ),
            tokens: Metric::new("gate_tokens_total", "counter", "Tokens of the judged iterations."),
            cost: Metric::new(
                "gate_cost_usd_total",
                "counter",
                "Dollars of the judged iterations.",
            ),
            open_breakers: Metric::new(
                "gate_open_breakers",
                "gauge",
                "Runs whose breaker was not closed after their last decision.",
            ),
            running: Metric::new(
                "gate_loops_running",
                "gauge",
                "Loops of gate run on this machine at this moment.",
            ),
        }
    }

    fn count(&mut self, one: &LoopRecord) {
        let project = || vec![("project", one.project.clone())];
        for iteration in &one.iterations {
            self.count_iteration(&one.project, iteration);
        }
        self.tokens.add(project(), one.usage.tokens as f64);
        self.cost.add(project(), one.usage.cost_usd);
        let is_open = one.breaker != BreakerState::Closed;
        self.open_breakers.add(project(), f64::from(u8::from(is_open)));
    }

    fn count_iteration(&mut self, project: &str, iteration: &IterationRecord) {
        let with = |label: &'static str, value: &str| {
            vec![("project", project.to_owned()), (label, value.to_owned())]
        };
        let verdict = match iteration.released {
            Some(_) => "released",
            None => iteration.verdict.name(),
        };
        self.decisions.add(with("verdict", verdict), 1.0);
        if iteration.claim == Status::Complete {
            self.claims.add(vec![("project", project.to_owned())], 1.0);
            if let Some(reason) = iteration.reason
                && iteration.verdict != Verdict::Exit
                && iteration.released.is_none()
            {
                self.refusals.add(with("reason", reason.code()), 1.0);
            }
        }
        for check in &iteration.checks {
            let outcome = serde_json::to_value(check.outcome).unwrap_or(Value::Null);
            let mut labels = with("check", &check.check);
            self.check_time.add_to("_sum", labels.clone(), check.duration_ms as f64 / 1e3);
            self.check_time.add_to("_count", labels.clone(), 1.0);
            labels.push(("outcome", outcome.as_str().unwrap_or_default().to_owned()));
            self.checks.add(labels, 1.0);
        }
    }

    fn into_text(self) -> String {
        let mut text = String::new();
        let Self {
            decisions,
            claims,
            refusals,
            checks,
            check_time,
            tokens,
            cost,
            open_breakers,
            running,
        } = self;
        for metric in
            [decisions, claims, refusals, checks, check_time, tokens, cost, open_breakers, running]
        {
            metric.write(&mut text);
        }
        text
    }
}
