//! The report as Markdown.

use std::time::Duration;

use super::figures::{ReportRecord, agent_name};
use super::text::{
    check_figures, claim, claims, cost, covered, failures, figures, found, headline, title,
};
use crate::loops::LoopRecord;
use crate::render::text::plain;
use crate::render::{local_time, span};

/// The latest iterations of a loop that are listed.
const MAX_ITERATIONS: usize = 50;

pub(super) fn document(report: &ReportRecord) -> String {
    let mut lines = vec![
        "# gate report".to_owned(),
        String::new(),
        format!("**{}** {}", headline(&report.totals), covered(report)),
        String::new(),
    ];
    for one in &report.loops {
        section(&mut lines, one);
    }
    if !report.loops.is_empty() {
        summary(&mut lines, report);
    }
    lines.join("\n")
}

fn section(lines: &mut Vec<String>, one: &LoopRecord) {
    lines.push(format!("## {}: {}", one.state.word(), cell(&title(one))));
    lines.push(String::new());
    lines.push(format!("- **Why**: {}", cell(&one.why)));
    if let Some(next) = &one.next {
        lines.push(format!("- **Next**: {}", cell(next)));
    }
    lines.push(format!("- **Took**: {}", figures(one)));
    lines.push(format!("- **Agent**: {}", cell(&agent_name(one))));
    lines.push(String::new());
    for failure in failures(one) {
        lines.push(format!("{}: {}", cell(&failure.check), cell(&failure.summary)));
        lines.push(String::new());
        for line in failure.excerpt.iter().flat_map(|excerpt| excerpt.lines()) {
            lines.push(format!("    {}", plain(line)));
        }
        lines.push(String::new());
    }
    if one.iterations.is_empty() {
        return;
    }
    lines.push("| # | time | verdict | agent said | found | took | cost |".to_owned());
    lines.push("| --: | --- | --- | --- | --- | --: | --: |".to_owned());
    let earlier = one.iterations.len().saturating_sub(MAX_ITERATIONS);
    for iteration in &one.iterations[earlier..] {
        let took = iteration.agent_ms.unwrap_or_default() + iteration.decision_ms;
        lines.push(format!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            iteration.iteration,
            local_time(&iteration.time),
            iteration.verdict.name(),
            cell(&claim(iteration)),
            cell(&found(iteration)),
            span(Duration::from_millis(took)),
            iteration.usage.dollars(),
        ));
    }
    if earlier > 0 {
        lines.push(String::new());
        lines.push(format!("{earlier} earlier iterations are not listed."));
    }
    lines.push(String::new());
}

fn summary(lines: &mut Vec<String>, report: &ReportRecord) {
    lines.push("## Over all".to_owned());
    lines.push(String::new());
    lines.push(format!("- Claims: {}", claims(&report.totals)));
    if let Some(behind) = &report.behind {
        lines.push(format!("- Behind them, in the transcripts: {}", behind.sentence()));
    }
    for refusals in &report.refusals {
        lines.push(format!("- Refused: {} × `{}`", refusals.count, refusals.code));
    }
    for check in &report.checks {
        lines.push(format!("- Check {}", cell(&check_figures(check))));
    }
    for agent in &report.agents {
        let per_done = agent.cost_per_done_usd.map(|usd| format!(", ${usd:.2} each done"));
        lines.push(format!(
            "- Agent {}: {} of {} done, {}{}",
            cell(&agent.agent),
            agent.done,
            agent.loops,
            cost(agent.usage.cost_micro_usd),
            per_done.unwrap_or_default(),
        ));
    }
    lines.push(String::new());
}

/// Words of others, which must not be read as Markdown or HTML.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in plain(text).chars() {
        if matches!(character, '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '\\') {
            cell.push('\\');
        }
        cell.push(character);
    }
    cell
}
