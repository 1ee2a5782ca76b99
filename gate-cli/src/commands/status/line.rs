//! `gate status --line`: one line for a status bar.

use gate_core::text::brief;

use crate::commands::goal::{OpenGoal, known_goals};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::memory::{RecordSelector, may_have_goal};
use crate::record::Record;
use crate::render::card::word;
use crate::render::text::without_ci_commands;
use crate::render::{local_time, print};
use crate::settings::Selection;
use crate::trust;

/// The longest line, in characters.
const MAX_CHARS: usize = 120;

/// The most of a goal's words, in characters.
const MAX_GOAL_CHARS: usize = 40;

/// Prints the line; an empty one if nothing is set up. Reads nothing from standard input, to
/// which a client may write.
pub(super) fn run(invocation: &Invocation) -> Result<(), Failure> {
    print(&format!("{}\n", line(invocation)?))
}

fn line(invocation: &Invocation) -> Result<String, Failure> {
    let places = &invocation.places;
    let has_goal = may_have_goal(places.state.as_deref(), &places.top());
    if places.project_file()?.is_none() && !has_goal {
        return Ok(String::new());
    }
    let policy = trust::settings_in_force(&invocation.places, &Selection::default())?.0.policy;
    let mut memory = invocation.memory(&policy)?;
    let switch = memory.switch()?;
    if switch.off {
        return Ok(match switch.until {
            Some(time) => format!("gate: off until {}", local_time(&time)),
            None => "gate: off".to_owned(),
        });
    }
    let text = match memory.latest(&RecordSelector::default())? {
        // A record holds no secrets: its texts were masked before it was written.
        Some(record) => decision_words(&record),
        None => "no decision yet".to_owned(),
    };
    let goals = known_goals(invocation, &mut memory)?;
    let text = goals.iter().rev().fold(text, |text, OpenGoal { goal, .. }| {
        format!("goal {}: {} · {text}", goal.state.words(), brief(&goal.text, MAX_GOAL_CHARS))
    });
    Ok(brief(&without_ci_commands(&format!("gate: {text}")), MAX_CHARS - 1))
}

/// The verdict, the iteration, the cost and the reason, the most important first: the line may be
/// cut.
fn decision_words(record: &Record) -> String {
    let decision = &record.decision;
    let mut facts = vec![match record.iteration {
        Some(iteration) => format!("{} #{iteration}", word(record)),
        None => word(record).to_owned(),
    }];
    let refused_claims = decision.breaker.counters.refused;
    if refused_claims > 1 {
        facts.push(format!("{refused_claims} claims refused"));
    }
    let cost = decision.spent().map(|spent| spent.cost_micro_usd).unwrap_or_default();
    if cost > 0 {
        facts.push(gate_lens::loops::dollars(cost));
    }
    if let Some(reason) = decision.reasons.first()
        && !decision.success
    {
        facts.push(reason.message.clone());
    }
    facts.join(" · ")
}
