//! The failing tests in the record of a check, with their own messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::evidence::Evidence;

/// A test that failed, or an error outside of tests, in the runner's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFailure {
    /// The test's name, as in `failed_tests`. None for an error outside of tests, such as
    /// a file that does not compile.
    pub test: Option<String>,
    /// The assertion with the expected and the received value, in one or more lines.
    pub message: String,
    /// The file that the message points to, relative to the check's working folder.
    pub file: Option<String>,
    /// The line in that file, from 1.
    pub line: Option<u64>,
}

impl TestFailure {
    /// The test's own name, without its file, module and suites.
    pub fn short_name(&self) -> Option<&str> {
        let test = self.test.as_deref()?;
        // unittest has `test_sum (tests.test_cart.Cart)`, cargo and pytest part with `::`, and
        // runners of JavaScript with ` > `.
        let without_class = match test.rsplit_once(" (") {
            Some((name, _)) if test.ends_with(')') => name,
            _ => test,
        };
        let without_module = without_class.rsplit("::").next().unwrap_or(without_class);
        Some(without_module.rsplit(" > ").next().unwrap_or(without_module).trim())
    }

    /// `file:line`, or the file alone.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(self.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")))
    }
}

impl Evidence {
    /// The failures that the check's report explains, in its order. `failed_tests` in
    /// `detail` may name more tests.
    pub fn failures(&self) -> Vec<TestFailure> {
        let detail = self.detail.as_ref();
        let rows = detail.and_then(|detail| detail["tests"]["failures"].as_array());
        // A record may be another version's or a plug-in's: a row that does not fit is left out.
        let failures = rows.into_iter().flatten().map(TestFailure::deserialize);
        failures.filter_map(Result::ok).collect()
    }

    /// The names of the failing tests, in the report's order.
    pub fn failed_tests(&self) -> Vec<&str> {
        let detail = self.detail.as_ref();
        let names = detail.and_then(|detail| detail["tests"]["failed_tests"].as_array());
        names.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decide::evidence::Outcome;
    use crate::decide::policy::Mode;

    #[track_caller]
    fn check(detail: Value, places: &[Option<&str>], names: &[&str]) {
        let failed = Evidence::new("tests", Mode::Require, Outcome::Fail);
        let evidence = Evidence { detail: Some(detail), ..failed };
        let found: Vec<_> = evidence.failures().iter().map(TestFailure::place).collect();
        let expected: Vec<_> = places.iter().map(|place| place.map(str::to_owned)).collect();
        assert_eq!((found, evidence.failed_tests().as_slice()), (expected, names));
    }

    #[test]
    fn failures_are_read_from_the_detail_and_what_does_not_fit_is_left_out() {
        let whole =
            json!({"test": "a", "message": "left: 1\nright: 2", "file": "src/a.rs", "line": 3});
        let build = json!({"test": null, "message": "error: x", "file": "src/b.rs", "line": null});
        let bare = json!({"test": "c", "message": "no place"});
        let failures = json!([whole, build, bare, 7, {"message": 1}]);
        let tests = json!({"failures": failures, "failed_tests": ["a", "c", 1]});
        let places = [Some("src/a.rs:3"), Some("src/b.rs"), None];
        check(json!({ "tests": tests }), &places, &["a", "c"]);
    }

    #[test]
    fn a_short_name_is_the_test_s_own() {
        for (test, expected) in [
            ("tests/test_cart.py::TestCart::test_discount[a b]", "test_discount[a b]"),
            ("src/cart.test.ts > cart > takes a discount", "takes a discount"),
            ("test_a (test_u.T.test_a)", "test_a"),
            ("cart > adds (or not) twice", "adds (or not) twice"),
            ("shop::cart::tests::discount", "discount"),
            ("example.com/shop.TestDiscount", "example.com/shop.TestDiscount"),
        ] {
            let failure = TestFailure { test: Some(test.to_owned()), ..TestFailure::default() };
            assert_eq!(failure.short_name(), Some(expected));
        }
        assert_eq!(TestFailure::default().short_name(), None);
    }

    #[test]
    fn records_without_a_test_report_have_no_failures() {
        for detail in [Value::Null, json!({}), json!({"tests": null}), json!({"tests": []})] {
            check(detail, &[], &[]);
        }
    }
}
