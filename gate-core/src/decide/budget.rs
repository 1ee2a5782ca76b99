//! The budget of a run, and the sentences about its overuse.

use super::policy::Policy;
use super::spent::Spent;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// Formats the use and its limit.
type Words = fn(u64, u64) -> String;

/// The budgets that a run has spent, each as a sentence for a person.
pub(crate) fn overspent(spent: &Spent, policy: &Policy) -> Vec<String> {
    let budget = &policy.budget;
    let all: [(u64, u64, Words); 4] = [
        (spent.iterations, u64::from(budget.iterations), |spent, limit| {
            format!("{} of {} iterations", grouped(spent), grouped(limit))
        }),
        (spent.tokens, budget.tokens, |spent, limit| {
            format!("{} of {} tokens", grouped(spent), grouped(limit))
        }),
        (spent.cost_micro_usd, budget.cost_micro_usd, |spent, limit| {
            format!("{} of {}", dollars(spent), dollars(limit))
        }),
        (spent.wall_ms, budget.wall_ms, |spent, limit| {
            format!("{} of {}", duration(spent), duration(limit))
        }),
    ];
    let over = all.into_iter().filter(|(spent, limit, _)| *limit > 0 && spent >= limit);
    over.map(|(spent, limit, words)| format!("budget spent: {}", words(spent, limit))).collect()
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
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

fn two_units(count: u64, unit: &str, rest: u64, smaller: &str) -> String {
    match rest {
        0 => format!("{count}{unit}"),
        rest => format!("{count}{unit} {rest}{smaller}"),
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
