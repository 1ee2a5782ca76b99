//! Lengths of time, for a person.

use std::time::Duration;

/// `1.2s`, `41s`, `2m5s`.
pub(super) fn length(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0..10 => format!("{:.1}s", took.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        _ => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_as_exact_as_it_is_short() {
        for (millis, text) in [(40, "0.0s"), (1_240, "1.2s"), (41_900, "41s"), (125_000, "2m5s")] {
            assert_eq!(length(Duration::from_millis(millis)), text);
        }
    }
}
