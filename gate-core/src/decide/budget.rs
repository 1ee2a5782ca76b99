//! The budget of a run, and the sentences about its overuse.

use super::policy::Policy;
use super::spent::Spent;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// One budget of a run.
struct Budget {
    spent: u64,
    /// 0 is no limit.
    limit: u64,
    /// Formats a number of its unit.
    format: fn(u64) -> String,
    /// The noun behind the numbers, after a space.
    unit: &'static str,
}

/// The budgets that a run has spent, each as a sentence for a person.
pub(crate) fn overspent(spent: &Spent, policy: &Policy) -> Vec<String> {
    let limits = &policy.budget;
    let budgets = [
        Budget {
            spent: spent.iterations,
            limit: u64::from(limits.iterations),
            format: grouped,
            unit: " iterations",
        },
        Budget { spent: spent.tokens, limit: limits.tokens, format: grouped, unit: " tokens" },
        Budget {
            spent: spent.cost_micro_usd,
            limit: limits.cost_micro_usd,
            format: dollars,
            unit: "",
        },
        Budget { spent: spent.wall_ms, limit: limits.wall_ms, format: duration, unit: "" },
    ];
    let overspent =
        budgets.iter().filter(|budget| budget.limit > 0 && budget.spent >= budget.limit);
    let sentences = overspent.map(|Budget { spent, limit, format, unit }| {
        format!("budget spent: {} of {}{unit}", format(*spent), format(*limit))
    });
    sentences.collect()
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In cents; smaller sums in all their digits.
fn dollars(micro: u64) -> String {
    match micro {
        1..10_000 => format!("$0.{micro:06}").trim_end_matches('0').to_owned(),
        _ => format!("${}.{:02}", grouped(micro / 1_000_000), micro % 1_000_000 / 10_000),
    }
}

/// In the two largest units.
pub(super) fn duration(millis: u64) -> String {
    match millis {
        HOUR.. => two_units(millis / HOUR, "h", millis % HOUR / MINUTE, "m"),
        MINUTE.. => two_units(millis / MINUTE, "m", millis % MINUTE / SECOND, "s"),
        SECOND.. => format!("{}s", millis / SECOND),
        _ => format!("{millis}ms"),
    }
}

fn two_units(count: u64, unit: &str, small_count: u64, small_unit: &str) -> String {
    match small_count {
        0 => format!("{count}{unit}"),
        _ => format!("{count}{unit} {small_count}{small_unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_told_in_the_units_that_people_set_it_in() {
        let mut policy = Policy::default();
        policy.budget.iterations = 2;
        policy.budget.tokens = 1_000_000;
        policy.budget.cost_micro_usd = 1_000_000;
        policy.budget.wall_ms = HOUR;
        let spent = Spent {
            iterations: 3,
            tokens: 1_204_331,
            cost_micro_usd: 1_112_000,
            wall_ms: 3_725_000,
            ..Spent::default()
        };
        let told = [
            "budget spent: 3 of 2 iterations",
            "budget spent: 1,204,331 of 1,000,000 tokens",
            "budget spent: $1.11 of $1.00",
            "budget spent: 1h 2m of 1h",
        ];
        assert_eq!(overspent(&spent, &policy), told);
        assert_eq!(overspent(&Spent::default(), &policy), [""; 0]);
    }

    #[test]
    fn small_sums_and_times_are_not_told_as_nothing() {
        assert_eq!(
            (dollars(7), dollars(9_500), dollars(120_000)),
            ("$0.000007".into(), "$0.0095".into(), "$0.12".into())
        );
        assert_eq!(
            (duration(40), duration(1_500), duration(90_000)),
            ("40ms".into(), "1s".into(), "1m 30s".into())
        );
    }
}
