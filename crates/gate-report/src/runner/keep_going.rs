//! Makes a runner go on after a test failed: the tests that it would not reach could end in any
//! way.

use super::options::{append, count, insert, options_end, remove_option, remove_switch};
use crate::Format;

const NO_FAIL_FAST: &str = "--no-fail-fast";

/// Removes the options that would end the run early, and adds one to go on if settings could end
/// it.
pub(super) fn apply(argv: &mut Vec<String>, start: usize, format: Format) {
    match format {
        Format::Libtest => {
            if count(argv, start, NO_FAIL_FAST) == 0 {
                insert(argv, start, [NO_FAIL_FAST.to_owned()]);
            }
        }
        Format::Nextest => {
            remove_option(argv, start, "--max-fail");
            for name in ["--fail-fast", "--ff", "--no-ff", NO_FAIL_FAST] {
                remove_switch(argv, start, name);
            }
            insert(argv, start, [NO_FAIL_FAST.to_owned()]);
        }
        // pytest takes the last of several, and puts those of the project's settings first.
        Format::Pytest => append(argv, start, ["--maxfail=0".to_owned()]),
        Format::Jest | Format::Vitest => {
            remove_bail(argv, start);
            append(argv, start, ["--bail=0".to_owned()]);
        }
        Format::Mocha => {
            remove_switch(argv, start, "--bail");
            remove_switch(argv, start, "-b");
            append(argv, start, ["--no-bail".to_owned()]);
        }
        Format::Go => {
            remove_switch(argv, start, "-failfast");
            // Without it, go repeats the result of an earlier run.
            if count(argv, start, "-count") == 0 {
                insert(argv, start, ["-count=1".to_owned()]);
            }
        }
        Format::Node | Format::Junit | Format::Tap => {}
    }
}

/// The number behind `--bail` may be left out: what follows is then a file or an option, and stays.
fn remove_bail(argv: &mut Vec<String>, start: usize) {
    for name in ["--bail", "-b"] {
        let assigned = format!("{name}=");
        while let Some(index) = (start..options_end(argv, start))
            .find(|index| argv[*index] == name || argv[*index].starts_with(&assigned))
        {
            let has_number = argv[index] == name
                && argv.get(index + 1).is_some_and(|value| value.parse::<u32>().is_ok());
            argv.drain(index..=index + usize::from(has_number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: Format, at: usize, line: &str, expected: &str) {
        let mut argv: Vec<_> = line.split(' ').map(str::to_owned).collect();
        apply(&mut argv, at, format);
        assert_eq!(argv.join(" "), expected);
    }

    #[test]
    fn what_ends_a_run_early_is_countered() {
        check(Format::Libtest, 2, "cargo test -p a -- -q", "cargo test --no-fail-fast -p a -- -q");
        check(Format::Libtest, 2, "cargo test --no-fail-fast", "cargo test --no-fail-fast");
        check(
            Format::Nextest,
            3,
            "cargo nextest run --fail-fast --max-fail 3 -p a",
            "cargo nextest run --no-fail-fast -p a",
        );
        check(Format::Pytest, 1, "pytest -x tests", "pytest -x tests --maxfail=0");
        check(Format::Jest, 1, "jest --bail 2 a", "jest a --bail=0");
        check(Format::Vitest, 1, "vitest run --bail -b=3 a", "vitest run a --bail=0");
        check(Format::Mocha, 1, "mocha -b --bail a", "mocha a --no-bail");
        check(Format::Go, 2, "go test -failfast ./...", "go test -count=1 ./...");
        check(Format::Node, 1, "node --test", "node --test");
    }
}
