//! The lines that cargo prints on the standard error.

use gate_core::decide::test_failure::TestFailure;

use crate::Tally;

/// Most lines of an error.
const MAX_ERROR_LINES: usize = 60;

/// A program that cargo runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Its name, the same in every run.
    pub(super) name: String,
    pub(super) is_benchmark: bool,
}

/// `Running unittests src/lib.rs (target/debug/deps/name-0123456789abcdef)`
/// or `Doc-tests name`.
pub(super) fn parse_program(line: &str) -> Option<Program> {
    let text = line.trim();
    if let Some(name) = text.strip_prefix("Doc-tests ") {
        return Some(Program { name: format!("{name} (doc)"), is_benchmark: false });
    }
    let (source, path) = text.strip_prefix("Running ")?.strip_suffix(')')?.split_once(" (")?;
    let file = path.rsplit(['/', '\\']).next()?;
    // The hash behind the name changes with the flags and the version of the compiler.
    let (name, hash) = file.strip_suffix(".exe").unwrap_or(file).rsplit_once('-')?;
    if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let is_benchmark = source.starts_with("benches/") || source.starts_with("unittests benches/");
    Some(Program { name: program_name(name, source), is_benchmark })
}

/// A library and a program of one package share a name: the program's is followed by its source.
fn program_name(name: &str, source: &str) -> String {
    match source.strip_prefix("unittests ") {
        Some(source) if !source.ends_with("lib.rs") => format!("{name} ({source})"),
        _ => name.to_owned(),
    }
}

/// `error: could not compile …`.
pub(super) fn compile_error(line: &str) -> Option<&str> {
    let error = line.strip_prefix("error: ")?;
    error.starts_with("could not compile ").then_some(error)
}

/// `error: test failed, to rerun pass …`.
pub(super) fn failed_target(line: &str) -> Option<String> {
    let target = line.strip_prefix("error: test failed, to rerun pass ");
    let target = target.or_else(|| line.strip_prefix("error: doctest failed, to rerun pass "))?;
    Some(format!("cargo says that a test program failed: {}", target.trim_matches('`')))
}

/// The first error of the compiler or of cargo: from `error` to the blank line behind it,
/// and cargo's causes.
#[derive(Default)]
pub(crate) struct FirstError {
    lines: Vec<String>,
    is_closed: bool,
}

impl FirstError {
    /// Takes a line.
    pub(crate) fn take(&mut self, line: &str) {
        let line = line.trim_end();
        match self.lines.last().map(String::as_str) {
            None if is_explanation(line) => self.lines.push(line.to_owned()),
            None => {}
            // A blank line ends the error, but for the causes that cargo prints below it.
            Some("") => match line {
                "Caused by:" if !self.is_closed => self.lines.push(line.to_owned()),
                _ => self.is_closed = true,
            },
            Some(_) if self.lines.len() < MAX_ERROR_LINES && !self.is_closed => {
                self.lines.push(line.to_owned());
            }
            Some(_) => self.is_closed = true,
        }
    }

    /// Adds it to the report.
    pub(crate) fn add_to(&self, tally: &mut Tally) {
        let message = self.lines.join("\n");
        tally.add_failure(TestFailure { message, ..TestFailure::default() });
    }
}

/// An error that explains something: others only sum up.
fn is_explanation(line: &str) -> bool {
    let summaries = [
        "could not compile ",
        "aborting due to ",
        "test failed",
        "doctest failed",
        "test run failed",
    ];
    match line.strip_prefix("error: ") {
        Some(error) => {
            !summaries.iter().any(|summary| error.starts_with(summary))
                && !error.ends_with(" targets failed:")
        }
        None => line.starts_with("error["),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_without_hashes() {
        let check = |line, name: &str, is_benchmark| {
            let expected = Program { name: name.to_owned(), is_benchmark };
            assert_eq!(parse_program(line), Some(expected), "{line}");
        };
        check(
            "     Running unittests src/lib.rs (target/debug/deps/my_lib-e6daf73c296d6df0)",
            "my_lib",
            false,
        );
        check(
            "     Running unittests src/main.rs (/t/deps/my_lib-8917508c3a363e88)",
            "my_lib (src/main.rs)",
            false,
        );
        check("     Running tests/it.rs (target/debug/deps/it-57c68065b5a14c77)", "it", false);
        check("     Running benches/b.rs (target/release/deps/b-57c68065b5a14c77)", "b", true);
        check("   Doc-tests my_lib", "my_lib (doc)", false);
    }

    #[test]
    fn other_lines_name_no_program() {
        for line in ["Running 3 tests", "Running `target/debug/x`", "Running a (b)", "Doc-tests"] {
            assert_eq!(parse_program(line), None, "{line}");
        }
    }

    #[test]
    fn errors_of_cargo() {
        let error = "error: could not compile `x` (lib test) due to 1 previous error";
        assert_eq!(compile_error(error), Some(&error["error: ".len()..]));
        assert_eq!(compile_error("error: aborting due to 1 previous error"), None);
        let failed = failed_target("error: test failed, to rerun pass `--test it`");
        assert_eq!(failed.unwrap(), "cargo says that a test program failed: --test it");
    }
}
