//! Finds out whether a command runs only some of the tests: a good reason for a missing control.

use super::Runner;

/// A runner's options that select tests.
struct Ways {
    /// Options that choose.
    options: &'static [&'static str],
    /// Options that have a value and do not choose; known if words that are no option choose too.
    valued: Option<&'static [&'static str]>,
}

impl Runner {
    /// True if these arguments leave tests out.
    pub(crate) fn selects(self, args: &[String]) -> bool {
        let ways = self.ways();
        let mut words = args.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let name = word.split('=').next().unwrap_or(word);
            if ways.options.contains(&name) || word.contains("::") {
                return true;
            }
            let Some(valued) = ways.valued else { continue };
            if valued.contains(&word) {
                words.next();
            } else if !word.starts_with('-') && !VERBS.contains(&word) {
                return true;
            }
        }
        false
    }

    fn ways(self) -> Ways {
        let (options, valued): (&[&str], Option<&[&str]>) = match self {
            Self::Cargo => (&["--skip", "--exact", "--ignored", "--doc", "--exclude"], Some(CARGO)),
            Self::Nextest => {
                (&["-E", "--filterset", "--filter-expr", "--partition", "--exclude"], Some(CARGO))
            }
            Self::Pytest => {
                (&["-k", "-m", "--deselect", "--ignore", "--lf", "--last-failed", "--sw"], None)
            }
            Self::Jest | Self::Vitest => (JEST_CHOOSING, Some(JEST_VALUED)),
            Self::Node => (&["--test-name-pattern", "--test-only", "--test-shard"], None),
            Self::Go => (&["-run", "-skip", "--run", "--skip"], None),
            // Without a control nobody asks.
            Self::Unittest | Self::Mocha | Self::Bats | Self::Maven | Self::Gradle => (&[], None),
        };
        Ways { options, valued }
    }
}

/// Words that choose nothing: what a runner is to do.
const VERBS: [&str; 2] = ["run", "r"];

const CARGO: &[&str] = &[
    "-p",
    "--package",
    "--manifest-path",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "--features",
    "-F",
    "--target",
    "--target-dir",
    "--profile",
    "-P",
    "-j",
    "--jobs",
    "--test-threads",
    "--retries",
    "--color",
    "--config",
    "--message-format",
    "-Z",
];

const JEST_CHOOSING: &[&str] = &[
    "-t",
    "--testNamePattern",
    "--testPathPattern",
    "--testPathPatterns",
    "--testPathIgnorePatterns",
    "--findRelatedTests",
    "-o",
    "--onlyChanged",
    "--changedSince",
    "--changed",
    "--shard",
    "--project",
    "--exclude",
    "related",
];

const JEST_VALUED: &[&str] = &[
    "-c",
    "--config",
    "--reporters",
    "--reporter",
    "-w",
    "--maxWorkers",
    "--outputFile",
    "--env",
    "--root",
    "-r",
    "--dir",
];

#[cfg(test)]
mod tests {
    use super::Runner;

    #[track_caller]
    fn check(runner: Runner, line: &str, selects: bool) {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(runner.selects(&args), selects, "{line}");
    }

    #[test]
    fn a_filter_selects() {
        check(Runner::Cargo, "zzz", true);
        check(Runner::Cargo, "--workspace -- a::b", true);
        check(Runner::Cargo, "-- --skip slow", true);
        check(Runner::Nextest, "-E test(x)", true);
        check(Runner::Pytest, "-k fast", true);
        check(Runner::Pytest, "tests/test_a.py::test_b", true);
        check(Runner::Jest, "src/a", true);
        check(Runner::Vitest, "run src/a", true);
        check(Runner::Go, "-run=X ./...", true);
    }

    #[test]
    fn options_about_other_things_do_not() {
        check(Runner::Cargo, "--workspace -p a --features b -- --nocapture", false);
        check(Runner::Nextest, "--profile ci", false);
        check(Runner::Pytest, "-q tests", false);
        check(Runner::Jest, "--ci --config jest.json", false);
        check(Runner::Vitest, "run", false);
        check(Runner::Go, "-race ./...", false);
    }
}
