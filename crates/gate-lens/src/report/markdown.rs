//! The report as Markdown.

use std::time::Duration;

use super::behind::BehindClaims;
use super::figures::{AgentFigures, ReportRecord, agent_name};
use super::text::{
    check_figures, claim, claims, cost, covered, facts, failures, figures, found, headline, title,
};
use crate::loops::{IterationRecord, LoopRecord};
use gate_card::text::plain;
use gate_card::{local_time, span};

/// The latest iterations of a loop that are listed.
const MAX_ITERATIONS: usize = 50;

/// The report in Markdown.
pub fn document(report: &ReportRecord) -> String {
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
    lines.extend([String::new(), format!("- **Why**: {}", cell(&one.why))]);
    lines.extend(one.next.as_ref().map(|next| format!("- **Next**: {}", cell(next))));
    lines
        .extend(facts(one).iter().map(|fact| format!("- **{}**: {}", fact.name, cell(&fact.text))));
    lines.push(format!("- **Took**: {}", figures(one)));
    lines.extend([format!("- **Agent**: {}", cell(&agent_name(one))), String::new()]);
    for failure in failures(one) {
        let (check, summary) = (cell(&failure.check), cell(&failure.summary));
        lines.extend([format!("{check}: {summary}"), String::new()]);
        let excerpt = failure.excerpt.iter().flat_map(|excerpt| excerpt.lines());
        lines.extend(excerpt.map(|line| format!("    {}", plain(line))));
        lines.push(String::new());
    }
    if one.iterations.is_empty() {
        return;
    }
    lines.push("| # | time | verdict | agent said | found | took | cost |".to_owned());
    lines.push("| --: | --- | --- | --- | --- | --: | --: |".to_owned());
    let earlier = one.iterations.len().saturating_sub(MAX_ITERATIONS);
    lines.extend(one.iterations[earlier..].iter().map(row));
    if earlier > 0 {
        lines.extend([String::new(), format!("{earlier} earlier iterations are not listed.")]);
    }
    lines.push(String::new());
}

fn row(iteration: &IterationRecord) -> String {
    let took_ms = iteration.agent_ms.unwrap_or_default() + iteration.decision_ms;
    let (number, time) = (iteration.iteration, local_time(&iteration.time));
    let (verdict, cost) = (iteration.verdict.name(), iteration.usage.dollars());
    let (claim, found) = (cell(&claim(iteration)), cell(&found(iteration)));
    let took = span(Duration::from_millis(took_ms));
    format!("| {number} | {time} | {verdict} | {claim} | {found} | {took} | {cost} |")
}

fn summary(lines: &mut Vec<String>, report: &ReportRecord) {
    lines.extend(["## Over all".to_owned(), String::new()]);
    lines.push(format!("- Claims: {}", claims(&report.totals)));
    let behind = report.behind.as_ref().map(BehindClaims::sentence);
    lines.extend(behind.map(|behind| format!("- Behind them, in the transcripts: {behind}")));
    let refusals = report.refusals.iter();
    lines.extend(refusals.map(|one| format!("- Refused: {} × `{}`", one.count, one.code)));
    let checks = report.checks.iter();
    lines.extend(checks.map(|check| format!("- Check {}", cell(&check_figures(check)))));
    for agent in &report.agents {
        let AgentFigures { done, loops, .. } = agent;
        let (name, cost) = (cell(&agent.agent), cost(agent.usage.cost_micro_usd));
        let per_done = agent.cost_per_done_usd.map(|usd| format!(", ${usd:.2} each done"));
        let per_done = per_done.unwrap_or_default();
        lines.push(format!("- Agent {name}: {done} of {loops} done, {cost}{per_done}"));
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
