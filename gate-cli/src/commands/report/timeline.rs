//! The timeline of a loop as SVG: a block for each iteration, as wide as it took.

use std::time::Duration;

use gate_core::Verdict;
use maud::{Markup, html};

use super::figures::is_refused;
use crate::loops::{IterationRecord, LoopRecord};
use crate::render::span;

/// The width of the drawing, in its own units.
const WIDTH: f64 = 1000.0;

/// The height of a block.
const HEIGHT: f64 = 28.0;

/// The narrowest block: one that is narrower cannot be seen.
const MIN_BLOCK: f64 = 3.0;

/// The latest iterations that are drawn.
const MAX_BLOCKS: usize = 120;

pub(super) fn svg(one: &LoopRecord) -> Markup {
    let earlier = one.iterations.len().saturating_sub(MAX_BLOCKS);
    let drawn = &one.iterations[earlier..];
    let times: Vec<f64> = drawn.iter().map(|iteration| time_ms(iteration) as f64).collect();
    let total: f64 = times.iter().sum::<f64>().max(1.0);
    let free = WIDTH - MIN_BLOCK * drawn.len() as f64;
    let mut x = 0.0;
    let blocks = drawn.iter().zip(times).map(|(iteration, time)| {
        let width = MIN_BLOCK + free.max(0.0) * time / total;
        let block = (iteration, x, width);
        x += width;
        block
    });
    let blocks: Vec<_> = blocks.collect();
    html! {
        svg.timeline viewBox=(format!("0 0 {:.0} {HEIGHT:.0}", x.max(1.0))) preserveAspectRatio="none"
            role="img" aria-label=(label(one)) {
            @for (iteration, x, width) in blocks {
                rect class=(class(iteration)) x=(format!("{x:.1}")) y="0"
                    width=(format!("{:.1}", (width - 1.0).max(1.0))) height=(format!("{HEIGHT:.0}")) {
                    title { (hint(iteration)) }
                }
            }
        }
    }
}

/// The agent's time and that of the decision.
fn time_ms(iteration: &IterationRecord) -> u64 {
    iteration.agent_ms.unwrap_or_default().saturating_add(iteration.decision_ms)
}

/// The class of a block and of a row: the colour of its verdict.
pub(super) fn class(iteration: &IterationRecord) -> &'static str {
    match iteration.verdict {
        Verdict::Exit => "good",
        Verdict::Tripped | Verdict::Blocked => "bad",
        Verdict::Continue if is_refused(iteration) => "refused",
        Verdict::Continue => "going",
    }
}

fn hint(iteration: &IterationRecord) -> String {
    let time = span(Duration::from_millis(time_ms(iteration)));
    format!("iteration {}: {}, {time}", iteration.iteration, iteration.verdict.name())
}

fn label(one: &LoopRecord) -> String {
    let refused = one.iterations.iter().filter(|iteration| is_refused(iteration)).count();
    format!("Timeline: {} iterations, {refused} refused claims", one.iterations.len())
}
